"""What CI runs is what everybody runs: without the variables of a machine, and without a judgement of time."""

from __future__ import annotations

import os
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest
from installed import table

ROOT = Path(__file__).parent.parent
SCRIPTS = (".ci/full", ".ci/run", "tests/all")
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

    assert lines[:3] == ["set -eu", 'cd "$(dirname "$0")/.."', ". tests/environment.sh"]


@pytest.mark.parametrize(
    "script", ["tests/clients/all", "tests/desktops/all", "tests/installed/all", "tests/wine/all"]
)
def test_so_does_a_script_in_a_deeper_folder(script: str) -> None:
    lines = [line for line in (ROOT / script).read_text().splitlines() if not line.startswith("#")]

    assert lines[:3] == ["set -eu", 'cd "$(dirname "$0")/../.."', ". tests/environment.sh"]


@pytest.mark.parametrize("script", [".ci/run", "tests/all", "tests/check"])
def test_ci_judges_no_time(script: str) -> None:
    assert "tests/bench" not in (ROOT / script).read_text()


def test_a_release_judges_times() -> None:
    assert "tests/bench --gate" in (ROOT / ".ci" / "full").read_text()


def test_ci_runs_the_real_clients_and_the_other_tests_do_not() -> None:
    options = tomllib.loads((ROOT / "pyproject.toml").read_text())["tool"]["pytest"]["ini_options"]

    assert "tests/clients/all" in (ROOT / ".ci" / "run").read_text()
    assert "clients" in options["norecursedirs"]


def test_ci_runs_gnome_and_a_release_runs_every_desktop() -> None:
    options = tomllib.loads((ROOT / "pyproject.toml").read_text())["tool"]["pytest"]["ini_options"]

    assert "tests/desktops/all gnome" in (ROOT / ".ci" / "run").read_text()
    assert "tests/desktops/all --long --write\n" in (ROOT / ".ci" / "full").read_text()
    assert "desktops" in options["norecursedirs"]
    modules = {path.stem.removeprefix("test_") for path in (ROOT / "tests" / "desktops").glob("test_*.py")}
    assert modules == {path.stem for path in (ROOT / "tests" / "desktops" / "packages").glob("*.txt")}


def test_a_release_installs_it_in_every_way_and_the_other_tests_do_not() -> None:
    options = tomllib.loads((ROOT / "pyproject.toml").read_text())["tool"]["pytest"]["ini_options"]

    assert "tests/installed/all --write\n" in (ROOT / ".ci" / "full").read_text()
    assert "DIST=dist\nexport DIST\nrun tests/installed/all\n" in (ROOT / "installers" / "release").read_text()
    assert "installed" in options["norecursedirs"]


def test_a_release_runs_windows_under_wine() -> None:
    options = tomllib.loads((ROOT / "pyproject.toml").read_text())["tool"]["pytest"]["ini_options"]

    assert "tests/wine/all --write\n" in (ROOT / ".ci" / "full").read_text()
    assert "wine" in options["norecursedirs"]


@pytest.mark.parametrize("name", ["desktops", "installed", "wine"])
def test_a_table_of_results_is_that_of_the_stored_ones(name: str) -> None:
    done = subprocess.run(
        [sys.executable, f"tests/{name}/table.py"], cwd=ROOT, capture_output=True, text=True, timeout=60, check=True
    )

    assert (ROOT / "docs" / "generated" / f"{name}.md").read_text() == done.stdout


FIRST = """<testsuite>
<testcase classname="installed.test_wheels" name="test_a_b[x]"><properties>
<property name="MB" value="3"/>
<property name="test_to_run_again" value="tests/installed/test_wheels.py::test_a_b[x]"/>
</properties><failure/></testcase>
<testcase classname="installed.test_wheels" name="test_a_b[x-uv]"/>
<testcase classname="installed.test_wheels" name="test_c"><failure/></testcase>
</testsuite>"""
SECOND = """<testsuite>
<testcase classname="installed.test_wheels" name="test_a_b[x]"><properties>
<property name="MB" value="4"/></properties>
</testcase></testsuite>"""


def test_a_table_says_what_passed_the_second_time(tmp_path: Path) -> None:
    results = tmp_path / "results.xml"
    results.write_text(FIRST)
    results.with_name("results.xml.second1").write_text(SECOND)

    rows = table.read(results)["test_wheels"]

    assert rows == {"a b": {"x": "passed the second time"}, "MB": {"x": "4"}, "c": {"result": "failed"}}
