"""CI runs the same commands as a developer, without the machine's variables and without time limits as results."""

from __future__ import annotations

import os
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent
SCRIPTS = [
    ".ci/full",
    ".ci/run",
    "tests/all",
    *(f"tests/{name}/all" for name in ("clients", "desktops", "installed", "wine")),
]
VARIABLES = {
    "PYTHONDONTWRITEBYTECODE": "1",
    "PYTHONPATH": "/nowhere:/no where",
    "PYTHONWARNINGS": "a\nPYTHONSECOND=b",
    "PYTHON": "python3.12",
    "OTHER": "PYTHONPATH=kept",
}


def test_no_variable_is_left_that_changes_how_python_runs() -> None:
    done = subprocess.run(
        ["sh", "-euc", '. tests/environment.sh; env | grep -a "^PYTHON\\|^OTHER"'],
        cwd=ROOT, env={"PATH": os.environ["PATH"], **VARIABLES},
        capture_output=True, text=True, timeout=60, check=False,
    )  # fmt: skip

    assert (done.stderr, sorted(done.stdout.splitlines())) == ("", ["OTHER=PYTHONPATH=kept", "PYTHON=python3.12"])


@pytest.mark.parametrize("script", SCRIPTS)
def test_a_script_unsets_them_before_anything_else(script: str) -> None:
    lines = [line for line in (ROOT / script).read_text().splitlines() if not line.startswith("#")]
    above = "/".join([".."] * script.count("/"))

    assert lines[:3] == ["set -eu", f'cd "$(dirname "$0")/{above}"', ". tests/environment.sh"]


def test_the_time_of_each_part_and_of_the_whole_is_printed_though_one_fails() -> None:
    script = "set -eu; . tests/environment.sh; timed one true; timed two sh -c 'exit 3'; timed three true"

    done = subprocess.run(["sh", "-c", script], cwd=ROOT, capture_output=True, text=True, timeout=60, check=False)

    assert done.returncode == 3
    assert [part.split()[0] for part in done.stdout.split(", ")] == ["one", "two", "whole"]


def test_ci_and_a_release_run_what_the_other_tests_do_not() -> None:
    ci, full = ((ROOT / ".ci" / name).read_text() for name in ("run", "full"))
    options = tomllib.loads((ROOT / "pyproject.toml").read_text())["tool"]["pytest"]["ini_options"]
    desktops = {path.stem.removeprefix("test_") for path in (ROOT / "tests" / "desktops").glob("test_*.py")}

    assert {"clients", "desktops", "installed", "wine"} <= set(options["norecursedirs"])
    assert [part in ci for part in ("tests/clients/all", "tests/desktops/all gnome", "tests/bench")] == [
        True,
        True,
        False,
    ]
    for part in ("desktops/all --long --write", "installed/all --write", "wine/all --write", "bench --gate"):
        assert f"tests/{part}\n" in full
    assert "DIST=dist\nexport DIST\nrun tests/installed/all\n" in (ROOT / "installers" / "release").read_text()
    assert desktops == {path.stem for path in (ROOT / "tests" / "desktops" / "packages").glob("*.txt")}


@pytest.mark.parametrize("name", ["desktops", "installed", "wine"])
def test_a_table_of_results_is_that_of_the_stored_ones(name: str) -> None:
    done = subprocess.run(
        [sys.executable, f"tests/{name}/table.py"], cwd=ROOT, capture_output=True, text=True, timeout=60, check=True
    )

    assert (ROOT / "docs" / "generated" / f"{name}.md").read_text() == done.stdout
