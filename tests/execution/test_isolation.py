"""Our own processes start without what others put into their environment, and find their packages all the same."""

from __future__ import annotations

import json
import os
import subprocess
from pathlib import Path

import pytest
from execution.environments import DENY, Environment
from house import House

import tray
from tray.desktop.autostart import command
from tray.execution.isolation import is_isolated, one_shot_command, package_folders
from tray.paths import locate

PINE = """
from msgspec.structs import replace
from tray.agents.registry import AGENTS
AGENT = replace(next(iter(AGENTS.values())), id="pine", name="Pine")
"""


@pytest.fixture(scope="module")
def shared_environment(tmp_path_factory: pytest.TempPathFactory) -> Environment:
    return Environment(tmp_path_factory.mktemp("shared") / "environment")


@pytest.fixture
def environment(shared_environment: Environment) -> Environment:
    """The shared environment; a test must not add anything to it."""
    shared_environment.ran.unlink(missing_ok=True)
    return shared_environment


def test_the_one_shot_engine_runs_no_code_of_its_environment(environment: Environment, house: House) -> None:
    house.hook("guard", on="tool_before", script=DENY)
    house.close()
    options = ["--home", str(house.paths.home), "claude-code", "PreToolUse"]

    done = environment.run(*environment.ask("execution.isolation", "one_shot_command"), *options)
    ran = environment.ran.exists()
    environment.run(str(environment.python), "-I", "-m", "tray", "once", *options)  # the control

    assert json.loads(done.stdout)["hookSpecificOutput"]["permissionDecision"] == "deny"
    assert not ran
    assert set(environment.ran.read_text().split()) == {"pth", "sitecustomize"}


@pytest.mark.parametrize("is_gone", [False, True])
def test_the_start_at_login_runs_no_code_of_its_environment(
    environment: Environment, tmp_path: Path, is_gone: bool
) -> None:
    home = repr(str(tmp_path / "h"))
    words = environment.ask("desktop.autostart", "command", f"__import__('tray.paths').paths.locate({home})")[:-1]
    if is_gone:
        words = [word.replace("isolated.py", "of-another-python.py") for word in words]

    done = environment.run(*words, "--version")

    assert done.stdout.decode().split()[-1] == tray.__version__
    assert is_gone or not environment.ran.exists()


def test_an_agent_of_an_editable_package_is_found(tmp_path: Path) -> None:
    environment = Environment(tmp_path / "environment")
    checkout = tmp_path / "pine"
    checkout.mkdir()
    (checkout / "hooktray_pine.py").write_text(PINE)
    (environment.site / "pine.pth").write_text(f"{checkout}\n")
    metadata = environment.site / "hooktray_pine-1.0.dist-info"
    metadata.mkdir()
    (metadata / "METADATA").write_text("Name: hooktray-pine\nVersion: 1.0\n")
    (metadata / "entry_points.txt").write_text("[hooktray.agents]\npine = hooktray_pine:AGENT\n")

    *start, _ = environment.ask("execution.isolation", "one_shot_command")
    done = environment.run(*start, "agents", "--json")

    assert str(checkout) in start[-1].split(os.pathsep)
    assert "pine" in done.stdout.decode(), done.stderr.decode()


def test_the_doctor_lists_what_runs_in_the_environment(environment: Environment, tmp_path: Path) -> None:
    done = environment.run(
        str(environment.python), "-I", "-m", "tray", "--home", str(tmp_path / "h"), "doctor", "--static", "--json"
    )
    rows = [json.loads(line) for line in done.stdout.splitlines()]

    found = {row["name"] for row in rows if row["check"] == "environment"}
    assert found == {"editable.pth", "evil.pth", "sitecustomize.py", "usercustomize.py"}


def test_an_isolated_process_starts_the_next_one_with_the_same_folders() -> None:
    code = "import json; from tray.execution.isolation import package_folders as made; print(json.dumps(made()))"
    add = f"import sys; sys.path += {list(package_folders())!r}; {code}"

    done = subprocess.run([one_shot_command()[0], "-I", "-S", "-c", add], capture_output=True, check=True, timeout=60)

    assert tuple(json.loads(done.stdout)) == package_folders()


def test_a_command_is_told_by_its_words(tmp_path: Path) -> None:
    assert is_isolated((*one_shot_command(), "claude-code"), "once")
    assert is_isolated(("/usr/lib/hooktray/hooktray", "-I", "-m", "tray", "once"), "once")
    assert is_isolated(command(locate(str(tmp_path)))[4:], "run")
    assert not is_isolated(one_shot_command(), "run")
    assert not is_isolated(("/usr/bin/python3", "-I", "-S", "/x/isolated.py", "/x", "once"), "once")
    assert not is_isolated(("/usr/bin/python3",), "once")
