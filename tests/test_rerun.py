"""Which failed tests run a second time, in a small project with tests that fail."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path

import pytest
import rerun
from desktops import table

CONFTEST = f"""
import sys

sys.path.insert(0, {str(Path(__file__).parent)!r})
import pytest
import rerun


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(items):
    rerun.note(items)
"""
HEAD = """
import pathlib, pytest

def passes_the_second_time(name):
    tried = pathlib.Path(f"tried-{name}")
    if not tried.exists():
        tried.touch()
        assert name == "the first try"
"""
FLAKY = "passes_the_second_time({name!r})"
BROKEN = "assert {name!r} == 'right'"
GOOD = "pass"
SKIPPED = "pytest.skip('not here')"


class Project:
    """A folder with tests; names that end with `once` have that mark."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        (folder / "conftest.py").write_text(CONFTEST)
        (folder / "pytest.ini").write_text("[pytest]\nmarkers =\n  once: never again\n")

    def run(self, bodies: Mapping[str, str], *options: str, **variables: str) -> tuple[int, list[str]]:
        """Exit code and output of the runner, with these tests."""
        (self.folder / "test_all.py").write_text(HEAD + "".join(map(_test, bodies, bodies.values())))
        done = subprocess.run(
            [sys.executable, rerun.__file__, *options],
            cwd=self.folder, env={**os.environ, **variables},
            capture_output=True, text=True, timeout=120, check=False,
        )  # fmt: skip
        return done.returncode, done.stdout.splitlines()


def _test(name: str, body: str) -> str:
    mark = "@pytest.mark.once\n" if name.endswith("once") else '@pytest.mark.xdist_group("a@b")\n'
    parameters = '@pytest.mark.parametrize("sign", ["x@y"])\n'
    return f"\n{parameters}{mark}def test_{name}(sign):\n    {body.format(name=name)}\n"


def named(name: str) -> str:
    return f"test_all.py::test_{name}[x@y]"


@pytest.fixture
def project(tmp_path: Path) -> Project:
    return Project(tmp_path)


def test_a_test_that_failed_once_runs_again_and_is_printed_with_its_row(project: Project) -> None:
    code, lines = project.run({"late": FLAKY, "plain": GOOD}, "-n", "2", "--dist", "loadgroup")

    assert code == 0, "\n".join(lines)
    assert f"flaky: {named('late')}" in lines
    assert any(row and row[1] == named("late") for row in map(rerun.ROW.match, lines))
    assert "2 passed, 1 rerun in " in lines[-1]


@pytest.mark.parametrize(("rows", "expected"), [(rerun.LISTED - 1, 0), (rerun.LISTED, 1)])
def test_a_test_that_is_listed_three_times_fails_the_run(project: Project, rows: int, expected: int) -> None:
    (project.folder / "tests").mkdir()
    (project.folder / rerun.LIST).write_text(f"| 2026-11-29 | `{named('plain')}` | it was late |\n" * rows)

    code, lines = project.run({"plain": GOOD})

    assert code == expected
    assert (f"{named('plain')} is listed 3 times in tests/flaky.md: mend it" in lines) is bool(expected)


def test_a_test_that_fails_twice_fails_the_run_and_the_results_have_both_tries(project: Project) -> None:
    results = project.folder / "results"

    code, lines = project.run({"one": FLAKY, "two": BROKEN, "three": GOOD}, f"--junitxml={results}")

    assert code == 1
    assert f"failed twice: {named('two')}" in lines
    assert f"flaky: {named('one')}" in lines
    assert "1 failed, 2 passed, 2 rerun in " in lines[-1]
    assert table.read(results) == {"test_one": table.SECOND, "test_two": "failed", "test_three": "passed"}


MANY = {f"late_{number}": FLAKY for number in range(rerun.MOST + 1)}
REFUSED: dict[str, tuple[dict[str, str], tuple[str, ...], str]] = {
    "the mark once": ({"late": FLAKY, "rare_once": FLAKY}, (), "1 of the failures must not run again"),
    "too many": (MANY, (), f"{len(MANY)} tests failed, more than 8"),
    "stopped": ({"late": FLAKY, "plain": GOOD}, ("-x",), "the run stopped before its end"),
    "skips": ({"late": FLAKY, "plain": SKIPPED}, (), "tests were skipped"),
}


@pytest.mark.parametrize("case", REFUSED)
def test_nothing_runs_again_where_a_second_try_would_hide_something(project: Project, case: str) -> None:
    bodies, options, reason = REFUSED[case]

    code, lines = project.run(bodies, *options, NO_SKIPS="1")

    assert code == 1
    assert f"No test runs again: {reason}." in lines


def test_a_file_that_cannot_be_imported_fails_the_run(project: Project) -> None:
    (project.folder / "test_broken.py").write_text("import no_such_module\n")

    code, lines = project.run({"late": FLAKY})

    assert code != 0
    assert not any(line.startswith("flaky") for line in lines)
