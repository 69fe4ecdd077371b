"""Has the processes that a test starts measured, too: half a plugin of pytest, half what those processes begin with.

`covered.py` puts a line into the environment's site folder for as long as it runs. With it each new Python that runs
something of ours looks for the test above it, by process, and writes down under that test's file what it ran.
"""

from __future__ import annotations

import atexit
import os
from pathlib import Path
from typing import NoReturn

FOLDER = "COV_CHILDREN"  # for pytest itself, which keeps such names; its children may have lost every variable
LINE = (
    "import sys; 'pytest' in sys.orig_argv or any('tray' in word for word in sys.orig_argv)"
    " and (sys.path.append({tests!r}), __import__('covered_child').begin({folder!r}))\n"
)


def pytest_runtest_logstart(nodeid: str) -> None:
    """Say which file's tests this process is at."""
    if folder := os.environ.get(FOLDER):
        Path(folder, str(os.getpid())).write_text(nodeid.split("::", 1)[0], encoding="utf-8")


def begin(folder: str) -> None:
    """Measure this process when a test is above it."""
    test = _test(Path(folder))
    if test is None:
        return
    from coverage import Coverage

    kept = Path(folder, "child.coverage")
    ours = str(Path(__file__).parents[1] / "tray" / "*")
    coverage = Coverage(data_file=kept, data_suffix=True, config_file=False, include=[ours], context=test)
    coverage.set_option("run:disable_warnings", ["no-data-collected"])
    coverage.start()

    def save() -> None:
        coverage.stop()
        coverage.save()

    atexit.register(save)
    leave = os._exit

    def leave_saved(status: int) -> NoReturn:
        save()
        leave(status)

    os._exit = leave_saved


def _test(folder: Path) -> str | None:
    process = os.getpid()
    while process > 1:
        try:
            return (folder / str(process)).read_text(encoding="utf-8")
        except OSError:
            process = _parent(process)
    return None


def _parent(process: int) -> int:
    try:
        return int(Path(f"/proc/{process}/stat").read_bytes().rsplit(b")", 1)[1].split()[1])
    except (OSError, ValueError, IndexError):
        return 0
