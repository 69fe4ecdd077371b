"""A Python hook that imports what `pip install --user` installed: the problem names the cure, and the cure works."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from approvals.declared import program
from house import House

from tray.approvals.checks import ImportCheck

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="the first line of a script")
SCRIPT = "import ownwords\nimport sys\nsys.stderr.write(ownwords.REASON)\nsys.exit(2)\n"


def interpreter() -> str:
    """One that is in no virtual environment, since those have no packages of the user."""
    return str(getattr(sys, "_base_executable", sys.executable))


@pytest.fixture(autouse=True)
def package() -> None:
    place = "import site; print(site.getusersitepackages())"
    found = subprocess.run([interpreter(), "-c", place], capture_output=True, text=True, check=True)
    folder = Path(found.stdout.strip())
    assert folder.is_relative_to(Path.home())
    folder.mkdir(parents=True)
    (folder / "ownwords.py").write_text("REASON = 'stay'\n")


def declare(house: House, **keys: Any) -> str:
    """Declares the hook; what is wrong with it."""
    program(house.paths.config.parent / "guard.py", f"#!{interpreter()}\n{SCRIPT}")
    house.hook("guard", on="tool_before", command="./guard.py", **keys)
    return ImportCheck().problem(house.state("guard").hook)


def test_a_hook_without_the_setting_for_user_packages_fails_and_the_problem_names_the_setting(house: House) -> None:
    problem = declare(house)
    house.tool(environment={"HOME": str(Path.home())})

    assert "`ownwords`, which" in problem
    assert "is installed for your user only, and hooks do not load such packages" in problem
    assert "write `env: [PYTHONUSERBASE]` into the hook" in problem
    assert house.last.hooks[0]["status"] == "failed"
    assert "No module named 'ownwords'" in str(house.last.hooks[0]["stderr"])


def test_with_the_cure_nothing_is_wrong_and_the_hook_decides(house: House) -> None:
    assert declare(house, env=["PYTHONUSERBASE"]) == ""
    house.tool(environment={"HOME": str(Path.home())})

    assert (house.last.hooks[0]["status"], house.last.reason) == ("ok", "guard: stay")
