"""A Python hook that imports what `pip install --user` installed: the problem names the cure, and the cure works."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
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


def declare(house: House, *, approved: bool = True, **keys: Any) -> str:
    """Declares the hook; what is wrong with it."""
    script = house.paths.config.parent / "guard.py"
    script.write_text(f"#!{interpreter()}\n{SCRIPT}")
    script.chmod(0o755)
    house.hook("guard", on="tool_before", approved=approved, command="./guard.py", **keys)
    return ImportCheck().problem(house.state("guard").hook)


def test_the_problem_names_the_users_own_packages_and_the_cure(house: House) -> None:
    problem = declare(house, approved=False)

    assert "`ownwords`, which" in problem
    assert "is installed for your user only, and hooks do not load such packages" in problem
    assert "write `env: [PYTHONUSERBASE]` into the hook" in problem


def test_without_the_cure_the_hook_fails(house: House) -> None:
    declare(house)
    house.tool(environment={"HOME": str(Path.home())})

    assert house.last.hooks[0]["status"] == "failed"
    assert "No module named 'ownwords'" in str(house.last.hooks[0]["stderr"])


def test_with_the_cure_nothing_is_wrong_and_the_hook_decides(house: House) -> None:
    assert declare(house, env=["PYTHONUSERBASE"]) == ""
    house.tool(environment={"HOME": str(Path.home())})

    assert (house.last.hooks[0]["status"], house.last.reason) == ("ok", "guard: stay")
