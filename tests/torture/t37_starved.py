"""T37: killed hooks, and a tray without resources: a guarded call is denied or asked about, never let through."""

from __future__ import annotations

import contextlib
import itertools
import json
import os
import resource
import signal
import subprocess
import sys
import threading
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

from house import PRE_TOOL_USE, House

from torture.frame import Tally
from torture.trays import RELAYS, Asked, Tray, verdict

TITLE = "killed hooks, and a tray without resources"
AT_ONCE = 8  # calls
# Each guard denies after a moment in which it can be killed.
DENY = 'cat >/dev/null; sleep 0.2; echo \'{"decision": "block", "reason": "no"}\''
# What may come out for each tool: its guard's own denial, or what its failure means.
WANTED = {"Bash": {"ask", "deny"}, "Write": {"deny"}, "Read": {"silence"}}
LENIENT = "Edit"  # the vulnerable control: `failure: allow`
MEGABYTE = 1024 * 1024
LIMITS = {  # how much more than it uses now a tray may get
    "descriptors": (resource.RLIMIT_NOFILE, (0, 8, 2, 4, 6, 10, 12, 16)),
    "memory": (resource.RLIMIT_AS, (0, 4 * MEGABYTE, MEGABYTE, 16 * MEGABYTE)),
    "processes": (resource.RLIMIT_NPROC, (0, 1)),
}


def torture(tally: Tally) -> None:
    tray = Tray(tally.folder / "t", _fill)
    try:
        _killed(tally, tray)
        for name in LIMITS:
            _limited(tally, tray, name)
    finally:
        tray.stop()


def _fill(house: House) -> None:
    house.hook("default", on="tool_before", tool="Bash", script=DENY)
    house.hook("strict", on="tool_before", tool="Write", script=DENY, failure="block")
    house.hook("lenient", on="tool_before", tool=LENIENT, script=DENY, failure="allow")


def _judge(tally: Tally, what: str, tool: str, found: str) -> None:
    note = tally.keep if tool == "Read" else tally.attack
    note(f"{what}, {tool}: {found}", found in WANTED[tool])


def _asked(tray: Tray, tool: str, number: int) -> Asked:
    relay = list(RELAYS.values())[number % len(RELAYS)]
    payload = PRE_TOOL_USE | {"tool_name": tool, "tool_use_id": f"{tool}-{number}"}
    return Asked(tray, relay, "PreToolUse", json.dumps(payload).encode())


# ---- killed hooks


def _killed(tally: Tally, tray: Tray) -> None:
    """Sends bursts of calls and kills their hooks; in the full form the machine is busy too."""
    said: Counter[tuple[str, str]] = Counter()
    killed = itertools.count()
    with _busy(tally.many(0, 120)), _killer(tray.process.pid, killed):
        for number in range(tally.many(3, 250)):
            tools = [[*WANTED, LENIENT][index % 4] for index in range(AT_ONCE)]
            calls = [_asked(tray, tool, number + index // 4) for index, tool in enumerate(tools)]
            for tool, call in zip(tools, calls, strict=True):
                found = verdict(*call.answer())
                said[tool, found] += 1
                if tool != LENIENT:
                    _judge(tally, "killed hooks", tool, found)
    tally.control("a guard whose failure means allow", said[LENIENT, "silence"] > 0)
    tally.measured.append(
        f"{next(killed)} hooks killed; {said['Bash', 'ask']} calls asked, {said['Bash', 'deny']} denied"
    )


@contextlib.contextmanager
def _busy(number: int) -> Iterator[None]:
    """So many processes that do nothing but compute."""
    processes = [subprocess.Popen([sys.executable, "-I", "-S", "-c", "while True: pass"]) for _ in range(number)]
    try:
        yield
    finally:
        for process in processes:
            process.kill()
            process.wait()


@contextlib.contextmanager
def _killer(tray: int, killed: Iterator[int]) -> Iterator[None]:
    """Kills every second process that the tray starts."""
    done = threading.Event()
    thread = threading.Thread(target=_kill, args=(tray, killed, done))
    thread.start()
    try:
        yield
    finally:
        done.set()
        thread.join()


def _kill(tray: int, killed: Iterator[int], done: threading.Event) -> None:
    seen: set[int] = set()
    while not done.wait(0.01):
        for pid in set(_children(tray)) - seen:
            seen.add(pid)
            if len(seen) % 2:
                with contextlib.suppress(ProcessLookupError):
                    os.kill(pid, signal.SIGKILL)
                    next(killed)


def _children(tray: int) -> Iterator[int]:
    with contextlib.suppress(OSError):
        for thread in os.listdir(f"/proc/{tray}/task"):  # noqa: PTH208
            with contextlib.suppress(OSError), open(f"/proc/{tray}/task/{thread}/children") as file:  # noqa: PTH123
                yield from map(int, file.read().split())


# ---- a tray without resources


def _limited(tally: Tally, tray: Tray, name: str) -> None:
    limit, steps = LIMITS[name]
    if limit == resource.RLIMIT_NPROC and os.geteuid() == 0:
        tally.not_run.append("a limit of processes: the kernel does not hold root to it")
        return
    for number, step in enumerate(steps[: tally.many(2, len(steps))] * tally.many(1, 12)):
        with _starved(tray, limit, step):
            for tool in WANTED:
                _judge(tally, f"{name} + {step}", tool, verdict(*_asked(tray, tool, number).answer()))


@contextlib.contextmanager
def _starved(tray: Tray, limit: int, step: int) -> Iterator[None]:
    """Limits the tray to `step` more of this than it uses, then puts its soft limit back, which it may not raise.

    A tray that has ended is started again first: it ends when it cannot even start its parts, which relays know.
    """
    if tray.process.poll() is not None:
        tray.start()
    pid = tray.process.pid
    before = resource.prlimit(pid, limit)
    resource.prlimit(pid, limit, (_most(pid, limit, step), before[1]))
    try:
        yield
    finally:
        with contextlib.suppress(ProcessLookupError):
            resource.prlimit(pid, limit, before)


def _most(pid: int, limit: int, step: int) -> int:
    """The limit that leaves this process `step` more than it uses now; of descriptors, so many free numbers."""
    if limit == resource.RLIMIT_NOFILE:
        used: set[int] = set()
        with contextlib.suppress(OSError):  # it has just ended
            used.update(map(int, os.listdir(f"/proc/{pid}/fd")))  # noqa: PTH208
        return next(itertools.islice((number for number in itertools.count() if number not in used), step, None))
    if limit == resource.RLIMIT_AS:
        return int(Path(f"/proc/{pid}/statm").read_text().split()[0]) * resource.getpagesize() + step
    uid = os.geteuid()
    return sum(path.stat().st_uid == uid for path in Path("/proc").glob("[0-9]*/task/*")) + step
