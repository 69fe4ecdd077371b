"""T36: hooks that are killed on a machine under load: a guarded call is denied or asked about, never let through."""

from __future__ import annotations

import contextlib
import itertools
import json
import os
import signal
import subprocess
import sys
import threading
from collections import Counter
from collections.abc import Iterator

from house import PRE_TOOL_USE, House

from torture.frame import Tally
from torture.trays import RELAYS, Asked, Tray

TITLE = "killed hooks and a busy machine"
AT_ONCE = 8  # calls
# Each guard denies after a moment in which it can be killed.
DENY = 'cat >/dev/null; sleep 0.2; echo \'{"decision": "block", "reason": "no"}\''
# What may come out for each tool: its guard's own denial, or what its failure means.
WANTED = {"Bash": {"ask", "deny"}, "Write": {"deny"}, "Read": {"silence"}}
LENIENT = "Edit"  # the vulnerable control: `failure: allow`


def torture(tally: Tally) -> None:
    tray = Tray(tally.folder / "t", _fill)
    said: Counter[tuple[str, str]] = Counter()
    killed = itertools.count()
    try:
        with _busy(tally.many(6, 120)), _killer(tray.process.pid, killed):
            for number in range(tally.many(5, 250)):
                for tool, verdict in _calls(tray, number):
                    said[tool, verdict] += 1
                    if tool == "Read":
                        tally.keep(f"{tool}: {verdict}", verdict in WANTED[tool])
                    elif tool in WANTED:
                        tally.attack(f"{tool}: {verdict}", verdict in WANTED[tool])
    finally:
        tray.stop()
    tally.control("a guard whose failure means allow", said[LENIENT, "silence"] > 0)
    tally.measured.append(
        f"{next(killed)} hooks killed; {said['Bash', 'ask']} calls asked, {said['Bash', 'deny']} denied"
    )


def _fill(house: House) -> None:
    house.hook("default", on="tool_before", tool="Bash", script=DENY)
    house.hook("strict", on="tool_before", tool="Write", script=DENY, failure="block")
    house.hook("lenient", on="tool_before", tool=LENIENT, script=DENY, failure="allow")


def _calls(tray: Tray, number: int) -> Iterator[tuple[str, str]]:
    """One burst: each tool with each relay."""
    calls = []
    for index in range(AT_ONCE):
        tool, relay = [*WANTED, LENIENT][index % 4], list(RELAYS.values())[(index + number) % len(RELAYS)]
        payload = PRE_TOOL_USE | {"tool_name": tool, "tool_use_id": f"{number}-{index}"}
        calls.append((tool, Asked(tray, relay, "PreToolUse", json.dumps(payload).encode())))
    for tool, call in calls:
        yield tool, verdict(*call.answer())


def verdict(code: int | None, output: bytes) -> str:
    """What the agent is told."""
    if code != 0:
        return f"exit {code}"
    return str(json.loads(output)["hookSpecificOutput"]["permissionDecision"]) if output else "silence"


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
