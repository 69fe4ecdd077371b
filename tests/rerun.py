"""Runs pytest, and each test that failed once more, alone: `.venv/bin/python tests/rerun.py [pytest arguments]`.

A test that waits for other programs may fail on a busy machine. When at most MOST tests failed, each runs again in a
fresh process of its own. One that passes then is printed as `flaky: NAME` and belongs in tests/flaky.md until it is
mended; a test that is listed there LISTED times fails the run. Tests with the mark `once`, which look for rare
failures, do not run again.
"""

from __future__ import annotations

import datetime
import os
import re
import subprocess
import sys
import time
from collections import Counter
from collections.abc import Iterable, Sequence
from pathlib import Path

import pytest

MOST = 8
LISTED = 3
LIST = Path("tests", "flaky.md")  # below the folder of the run
ROW = re.compile(r"^\| \d{4}-\d\d-\d\d \| `(.+?)` \| ")
CAUSE_LIMIT = 100  # characters of the first failure that a row quotes
ONCE = "once"
NAME = "test_to_run_again"  # the property of a report that has the name of its test; xdist alters the report's own
SECOND = "--second"  # this is the fresh process; pytest arguments follow
RESULTS = "--junitxml="  # where pytest writes the results; those of the second runs are beside them
SECOND_RESULTS = ".second"  # behind that name, and then a number
SHOWN = ("passed", "skipped", "deselected", "xfailed")


def note(items: Iterable[pytest.Item]) -> None:
    """Put the name of each test that may run again into its reports. A `tryfirst` hook calls this."""
    for item in items:
        if item.get_closest_marker(ONCE) is None:
            item.user_properties.append((NAME, item.nodeid))


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
        self._causes: dict[str, str] = {}
        self._elsewhere: dict[str, None] = {}
        self._started = time.monotonic()

    @property
    def again(self) -> dict[str, str]:
        """The tests that run a second time, each with the first line of its failure."""
        failed = self.code == pytest.ExitCode.TESTS_FAILED and not self.refusal
        return self._causes if failed else {}

    @property
    def seconds(self) -> float:
        return time.monotonic() - self._started

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        if not report.failed:
            return
        if name := dict(report.user_properties).get(NAME):
            self._causes.setdefault(str(name), _cause(report))
        else:
            self._elsewhere[report.nodeid] = None

    def pytest_collectreport(self, report: pytest.CollectReport) -> None:
        if report.failed:
            self._elsewhere[report.nodeid] = None

    @pytest.hookimpl(trylast=True)
    def pytest_sessionfinish(self, session: pytest.Session) -> None:
        reporter = session.config.pluginmanager.get_plugin("terminalreporter")
        self.folder = session.config.rootpath
        self.counts = {word: len(reporter.stats.get(word, ())) for word in SHOWN} if reporter else {}
        if len(self._causes) > MOST:
            self.refusal = f"{len(self._causes)} tests failed, more than {MOST}"
        elif self._elsewhere:
            self.refusal = f"{len(self._elsewhere)} of the failures must not run again"
        elif forbidden_skips(reporter):
            self.refusal = "tests were skipped"
        elif session.shouldfail or session.shouldstop:
            self.refusal = "the run stopped before its end"
        elif not self._causes:
            self.refusal = "no test failed"

    def pytest_terminal_summary(self, terminalreporter: pytest.TerminalReporter) -> None:
        if self._causes and self.refusal:
            terminalreporter.write_line(f"No test runs again: {self.refusal}.", red=True)


def _cause(report: pytest.TestReport) -> str:
    """The first line of the failure, for a cell of a table."""
    crash = getattr(report.longrepr, "reprcrash", None)
    message = str(crash.message if crash else report.longrepr).strip()
    return " ".join(message.splitlines()[:1]).replace("|", "\\|")[:CAUSE_LIMIT]


def main(argv: Sequence[str]) -> int:
    if argv[:1] == [SECOND]:
        return second(argv[1:])
    if names := listed_too_often():
        print(*(f"{name} is listed {LISTED} times in {LIST}: mend it" for name in names), sep="\n")
        return int(pytest.ExitCode.TESTS_FAILED)
    first = run(argv)
    if not first.again:
        return first.code
    print(f"\n{len(first.again)} tests failed. Each runs again, alone in a fresh process.", flush=True)
    broken = [name for number, name in enumerate(first.again) if not _passes(first.folder, name, argv, number)]
    flaky = [name for name in first.again if name not in broken]
    print(*(f"failed twice: {name}" for name in broken), *(f"flaky: {name}" for name in flaky), sep="\n")
    if flaky:
        today = datetime.date.today().isoformat()
        rows = (f"| {today} | `{name}` | {first.again[name]} |" for name in flaky)
        print(f"\nMend what is flaky, or append to {LIST} with the next commit:", *rows, sep="\n")
    print(closing(first, passed=len(flaky), failed=len(broken)))
    return int(pytest.ExitCode.TESTS_FAILED if broken else pytest.ExitCode.OK)


def listed_too_often() -> list[str]:
    """The tests that have LISTED rows or more in the list of flaky tests."""
    if not LIST.exists():
        return []
    rows = Counter(found[1] for line in LIST.read_text(encoding="utf-8").splitlines() if (found := ROW.match(line)))
    return [name for name, times in rows.items() if times >= LISTED]


def _passes(folder: Path, name: str, argv: Sequence[str], number: int) -> bool:
    results = (f"{word}{SECOND_RESULTS}{number}" for word in argv if word.startswith(RESULTS))
    command = [sys.executable, __file__, SECOND, *results, name]
    return subprocess.run(command, cwd=folder, check=False).returncode == 0


def second(argv: Sequence[str]) -> int:
    """The test has to pass: one that is skipped, or is not found, has failed."""
    found = run(argv)
    return found.code or int(found.counts.get("passed") != 1)


def run(argv: Sequence[str]) -> Run:
    found = Run()
    found.code = int(pytest.main(list(argv), plugins=[found]))
    return found


def closing(first: Run, *, passed: int, failed: int) -> str:
    """The line that pytest ends with, for all the runs together."""
    counts = first.counts | {"passed": first.counts.get("passed", 0) + passed}
    parts = [f"{failed} failed"] if failed else []
    parts += [f"{count} {word}" for word, count in counts.items() if count]
    return f" {', '.join(parts)}, {passed + failed} rerun in {first.seconds:.2f}s ".center(80, "=")


if __name__ == "__main__":
    sys.path[0] = os.getcwd()  # as `python -m pytest` has it  # noqa: PTH109
    sys.exit(main(sys.argv[1:]))
