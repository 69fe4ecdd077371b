"""The counts that one event may take: upper limits, of which only what is above is a problem."""

from __future__ import annotations

import platform
import tempfile
from collections.abc import Iterator, Mapping
from pathlib import Path

from counts import python_calls, system_calls
from counts.scene import ONE_HOOK, ZERO_MATCH, tray

PYTHON = "3.11"  # the CPython that the budgets hold for
TOLERANCE = 0.10  # above a budget
ELSEWHERE = 0.25  # above a budget, with any other Python

BUDGETS: Mapping[str, int] = {
    f"{ZERO_MATCH}: system calls of the relay in C": 25,
    f"{ZERO_MATCH}: system calls of the relay in Python": 23,
    f"{ZERO_MATCH}: system calls of the tray": 27,
    f"{ZERO_MATCH}: calls of Python functions in the tray": 115,
    f"{ZERO_MATCH}: functions of the tray": 100,
    f"{ZERO_MATCH}: files of the tray": 27,
    f"{ONE_HOOK}: system calls of the tray": 86,
    f"{ONE_HOOK}: calls of Python functions in the tray": 224,
    f"{ONE_HOOK}: functions of the tray": 181,
    f"{ONE_HOOK}: files of the tray": 45,
}


def measure() -> dict[str, int]:
    """Every count, by the name of its budget."""
    return dict(_measured())


def _measured() -> Iterator[tuple[str, int]]:
    with tempfile.TemporaryDirectory(prefix="counts-") as folder:
        trace = Path(folder, "trace")
        with tray(system_calls.strace(trace)) as started:
            for kind, count in system_calls.measure(started, trace).items():
                yield f"{kind}: system calls of the tray", count
            for relay, count in system_calls.measure_relays(started, Path(folder, "relay")).items():
                yield f"{ZERO_MATCH}: system calls of the relay in {relay}", count
            for kind, found in python_calls.measure(started).items():
                yield f"{kind}: calls of Python functions in the tray", found.calls
                yield f"{kind}: functions of the tray", found.functions
                yield f"{kind}: files of the tray", found.files


def problem(name: str, count: int, python: str = "") -> str:
    """What is wrong with a count, and what to do; "" when it is within its budget."""
    budget, version = BUDGETS[name], python or running()
    above = TOLERANCE if version == PYTHON else ELSEWHERE
    if count > budget * (1 + above):
        return (
            f"{name}: {count}, the budget is {budget} and {above:.0%} more ({version}): find what the event does"
            " more than before (`.venv/bin/python tests/counts`), or raise the budget in tests/counts/budgets.py"
            " and write the reason into the commit."
        )
    return ""


def running() -> str:
    """The version of this CPython; another implementation by its name."""
    version = ".".join(platform.python_version_tuple()[:2])
    return version if platform.python_implementation() == "CPython" else platform.python_implementation()
