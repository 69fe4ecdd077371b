"""T09: hooks that leave processes behind, by every way out of their group, their session and their mark."""

from __future__ import annotations

import contextlib
import os
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable
from pathlib import Path

from torture.frame import Tally
from tray.execution.background import SET_SUBREAPER, BackgroundProcesses, _prctl, become_subreaper, orphans
from tray.execution.command import Job, run

TITLE = "processes that a hook leaves behind"
TIMEOUT = 0.5
TRIES = 5  # the time-out may come before a loaded machine has started everybody
HELD = "echo $$ >>pids; exec sleep 307"
SHAPES = {
    "plain": f"sh -c '{HELD}' &",
    "double fork": f"(sh -c '{HELD}' &)",
    "setsid": f"setsid sh -c '{HELD}' &",
    "setsid, forked twice": f"(setsid -f sh -c '{HELD}' &)",
    "deaf to SIGTERM": "sh -c 'trap \"\" TERM; echo $$ >>pids; sleep 307 & wait; sleep 307' &",
    "stopped": "sh -c 'echo $$ >>pids; kill -STOP $$; sleep 307' &",
    "holds the pipe": "sh -c 'echo $$ >>pids; exec sleep 307' 1>&1 2>&2 &",
    "no mark": f"env -i /usr/bin/setsid -f /bin/sh -c '{HELD}'",
    "many": f"for i in 1 2 3 4 5 6 7 8 9 10 11 12; do (setsid sh -c '{HELD}' &) ; done",
    "zombies": f"sh -c 'for i in 1 2 3; do (exit 0) & done; {HELD}' &",
}
MANY = {"many": 12}  # who escape, where it is more than one


def torture(tally: Tally) -> None:
    if sys.platform != "linux" or not become_subreaper():
        tally.not_run.append("process trees: there is no subreaper here")
        return
    thread = threading.Thread(target=_shapes, args=(tally,))  # as in the tray, where no hook is the main thread's
    thread.start()
    thread.join()
    _prctl(SET_SUBREAPER, 0)


def _shapes(tally: Tally) -> None:
    background = BackgroundProcesses()
    try:
        _turns(tally, background, "plain", [SHAPES["plain"]])  # whatever is opened once is open now
        before = _held()
        for name, line in SHAPES.items():
            for _ in range(tally.many(1, 50)):
                _turns(tally, background, name, [line] * tally.many(2, 10))
        _soon(lambda: _held() <= before)
        tally.keep(f"descriptors and threads: {before} before, {_held()} after", _held() <= before)
        _dead_are_let_go(tally, background)
        _control(tally)
    finally:
        background.close()


def _turns(tally: Tally, background: BackgroundProcesses, name: str, lines: list[str]) -> None:
    """So many hooks of this shape at once, each of which is timed out: once it had started whoever shall escape."""
    for _ in range(TRIES):
        if _tried(tally, background, name, lines):
            return
    tally.lost.append(f"{name}: it was timed out before it had begun")


def _tried(tally: Tally, background: BackgroundProcesses, name: str, lines: list[str]) -> bool:
    folders = [tally.folder / f"{name}-{time.monotonic_ns()}-{number}" for number in range(len(lines))]
    for folder in folders:
        folder.mkdir()
    jobs = [
        Job(argv=("/bin/sh", "-c", f"{line}\nsleep 307"), cwd=str(folder), timeout=TIMEOUT,
            environment={"PATH": os.environ["PATH"]})
        for line, folder in zip(lines, folders, strict=True)
    ]  # fmt: skip
    results = run(jobs, time.monotonic() + 60, None, background=background)
    begun = all(len(_pids(folder)) == MANY.get(name, 1) for folder in folders)
    for folder, result in zip(folders, results, strict=True):
        in_time = result.timed_out and result.ms <= (TIMEOUT + 1 + SLACK * tally.patience) * 1000
        _soon(lambda folder=folder: not _living(folder))  # type: ignore[misc]
        left = _living(folder)
        tally.attack(f"{name}: {result.cause}, {result.ms:.0f} ms, left: {left}", in_time and not left)
        for pid in left:
            os.kill(pid, signal.SIGKILL)
    return begun


SLACK = 4.0  # seconds that a loaded machine may take besides; what is lost is time, not a process


def _dead_are_let_go(tally: Tally, background: BackgroundProcesses) -> None:
    def none() -> bool:
        background.reap()
        return not [pid for pid in orphans() if _state(pid) == "Z"]

    tally.keep("the dead are let go", _soon(none, 10.0))


def _control(tally: Tally) -> None:
    """What others do: kill the group."""
    folder = tally.folder / "control"
    folder.mkdir()
    line = f"{SHAPES['setsid']}\n{SHAPES['no mark']}\nsleep 307"
    with subprocess.Popen(["/bin/sh", "-c", line], cwd=folder, start_new_session=True) as shell:
        _soon(lambda: len(_pids(folder)) == 2)
        os.killpg(shell.pid, signal.SIGKILL)
    left = _living(folder)
    tally.control("killing the group", bool(left))
    for pid in left:
        with contextlib.suppress(ProcessLookupError):
            os.kill(pid, signal.SIGKILL)


def _pids(folder: Path) -> list[int]:
    path = folder / "pids"
    return [int(word) for word in path.read_text().split()] if path.exists() else []


def _living(folder: Path) -> list[int]:
    return [pid for pid in _pids(folder) if _state(pid) not in ("", "Z", "X")]


def _state(pid: int) -> str:
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(") ")[2][0]
    except OSError:
        return ""


def _held() -> tuple[int, int]:
    return len(os.listdir("/proc/self/fd")), threading.active_count()  # noqa: PTH208 - counts


def _soon(condition: Callable[[], bool], seconds: float = 20.0) -> bool:
    end = time.monotonic() + seconds
    while not condition():
        if time.monotonic() > end:
            return False
        threading.Event().wait(0.01)
    return True
