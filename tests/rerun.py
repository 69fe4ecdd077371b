"""Runs pytest, and what failed on the desktop a second time: `.venv/bin/python tests/rerun.py [pytest arguments]`.

A test with the mark `client` or `desktop` waits for programs that are not ours, and one of them may be late on a
busy machine. When nothing but such tests failed, and at most MOST of them, each runs once more in a fresh process.
All other tests run once, and so do those with the mark `once`, which look for rare failures.
"""

from __future__ import annotations

import os
import subprocess
import sys
import time
from collections.abc import Iterable, Sequence
from pathlib import Path

import pytest

MOST = 3
MARKS = ("client", "desktop")
ONCE = "once"
MARKED = "marked_test"  # the property of a report that names such a test
SECOND = "--second"  # this is the fresh process; pytest arguments follow
RESULTS = "--junitxml="  # where pytest writes the results; those of the second run are beside them
SECOND_RESULTS = ".second"  # behind that name
SHOWN = ("passed", "skipped", "deselected", "xfailed")


def note(items: Iterable[pytest.Item]) -> None:
    """Put the name of each marked test into its reports. A `tryfirst` hook calls this, as xdist alters the names."""
    for item in items:
        marks = {mark.name for mark in item.iter_markers()}
        if ONCE not in marks and not marks.isdisjoint(MARKS):
            item.user_properties.append((MARKED, item.nodeid))


def forbidden_skips(reporter: pytest.TerminalReporter | None) -> int:
    """Skips that fail a run with NO_SKIPS, as in CI: all but those of programs of others that cannot be fetched."""
    if reporter is None or not os.environ.get("NO_SKIPS"):
        return 0
    return sum("cannot be fetched" not in str(one.longrepr) for one in reporter.stats.get("skipped", []))


class Run:
    """One run, as a plugin of pytest: what failed in it, and why that cannot run again."""

    def __init__(self) -> None:
        self.code = 0
        self.folder = Path()
        self.counts: dict[str, int] = {}
        self.refusal = ""  # why nothing may run again
        self._marked: dict[str, None] = {}
        self._elsewhere: dict[str, None] = {}
        self._started = time.monotonic()

    @property
    def again(self) -> list[str]:
        """The tests that may run a second time."""
        failed = self.code == pytest.ExitCode.TESTS_FAILED and not self.refusal
        return list(self._marked) if failed else []

    @property
    def seconds(self) -> float:
        return time.monotonic() - self._started

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        if report.failed:
            name = dict(report.user_properties).get(MARKED)
            self._fail(str(name) if name else "", report.nodeid)

    def pytest_collectreport(self, report: pytest.CollectReport) -> None:
        if report.failed:
            self._fail("", report.nodeid)

    def _fail(self, marked: str, name: str) -> None:
        if marked:
            self._marked[marked] = None
        else:
            self._elsewhere[name] = None

    @pytest.hookimpl(trylast=True)
    def pytest_sessionfinish(self, session: pytest.Session) -> None:
        reporter = session.config.pluginmanager.get_plugin("terminalreporter")
        self.folder = session.config.rootpath
        self.counts = {word: len(reporter.stats.get(word, ())) for word in SHOWN} if reporter else {}
        if len(self._marked) > MOST:
            self.refusal = f"{len(self._marked)} tests of desktop and clients failed, more than {MOST}"
        elif self._elsewhere:
            self.refusal = f"{len(self._elsewhere)} of the failures must not run again"
        elif forbidden_skips(reporter):
            self.refusal = "tests were skipped"
        elif session.shouldfail or session.shouldstop:
            self.refusal = "the run stopped before its end"
        elif not self._marked:
            self.refusal = "no test failed"

    def pytest_terminal_summary(self, terminalreporter: pytest.TerminalReporter) -> None:
        if self._marked and self.refusal:
            terminalreporter.write_line(f"No test runs again: {self.refusal}.", red=True)


def main(argv: Sequence[str]) -> int:
    if argv[:1] == [SECOND]:
        return second(argv[1:])
    first = run(argv)
    if not first.again:
        return first.code
    print(f"\nOnly tests of desktop and clients failed. They run again, in a fresh process: {len(first.again)}")
    print(*(f"  {name}" for name in first.again), sep="\n", flush=True)
    results = (f"{word}{SECOND_RESULTS}" for word in argv if word.startswith(RESULTS))
    command = [sys.executable, __file__, SECOND, *results, *first.again]
    if subprocess.run(command, cwd=first.folder, check=False).returncode:
        return int(pytest.ExitCode.TESTS_FAILED)
    print(*(f"Failed once, passed the second time: {name}" for name in first.again), sep="\n")
    print(closing(first))
    return 0


def second(argv: Sequence[str]) -> int:
    """Each of these has to pass: one that is skipped, or is not found, has failed."""
    found = run(argv)
    names = [word for word in argv if not word.startswith(RESULTS)]
    return found.code or int(found.counts.get("passed") != len(names))


def run(argv: Sequence[str]) -> Run:
    found = Run()
    found.code = int(pytest.main(list(argv), plugins=[found]))
    return found


def closing(first: Run) -> str:
    """The line that pytest ends with, for both runs together."""
    counts = first.counts | {"passed": first.counts.get("passed", 0) + len(first.again)}
    parts = [f"{count} {word}" for word, count in counts.items() if count]
    return f" {', '.join(parts)}, {len(first.again)} rerun in {first.seconds:.2f}s ".center(80, "=")


if __name__ == "__main__":
    sys.path[0] = os.getcwd()  # as `python -m pytest` has it  # noqa: PTH109
    sys.exit(main(sys.argv[1:]))
