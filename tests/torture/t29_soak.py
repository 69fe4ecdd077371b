"""T29: events for a long time at a steady pace: memory, descriptors, threads and the journal's log stay flat."""

from __future__ import annotations

import json
import os
import time
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path

import psutil
from desk import wait
from house import PRE_TOOL_USE, House

from torture.frame import Tally
from torture.trays import LONG, RELAYS, Asked, Tray

TITLE = "a soak at a steady pace"
PACE = 40  # events in a second, where the machine can
HOOK_EVERY = 20  # this one of the events asks a process, the others a rule or nobody
DRIFT = 1.05  # times as much memory at the end as after the warm-up
SLACK = 6_000_000  # bytes: caches that were not full yet, in a form that ends before they are
WAL = 64_000_000  # bytes


@dataclass(frozen=True, slots=True)
class Sample:
    """What a process holds at one moment."""

    memory: int
    files: int
    threads: int
    wal: int = 0


def torture(tally: Tally) -> None:
    seconds = tally.many(5, 3600)
    tray = Tray(tally.folder / "t", _fill)
    process = psutil.Process(tray.process.pid)
    try:
        begun, silent = _events(tray, time.monotonic() + seconds / 3)
        warm = _settled(process, tray)
        samples, sent = [], 0
        for _ in range(4):
            count, wrong = _events(tray, time.monotonic() + seconds / 6)
            sent, silent = sent + count, silent + wrong
            samples.append(_settled(process, tray))
    finally:
        tray.stop()
    rows = len(tray.rows("id"))
    tally.inputs += begun + sent
    tally.keep(f"{silent} of {begun + sent} answers", not silent)
    tally.keep(f"{rows} rows of {begun + sent} events", rows == begun + sent)
    for name, held in _flat(warm, samples).items():
        tally.attack(f"{name}: {warm} at first, then {samples}", held)
    last = samples[-1]
    tally.measured.append(
        f"{sent:,} events; memory {warm.memory / 1e6:.1f} -> {last.memory / 1e6:.1f} MB, {last.files} descriptors,"
        f" {last.threads} threads, log {max(one.wal for one in samples) / 1e6:.1f} MB"
    )
    _controls(tally)


def _fill(house: House) -> None:
    house.hook("guard", on="tool_before", tool="Bash", script="cat >/dev/null; echo '{}'")
    house.hook("rule", on="tool_before", tool="Write", type="rule", decision="deny", reason="no")


def _events(tray: Tray, until: float) -> tuple[int, int]:
    """How many were sent at that pace, and how many were answered otherwise than they must be."""
    relay = RELAYS.get("native", RELAYS["portable"])
    sent = wrong = 0
    with ThreadPoolExecutor(4) as agents:
        while (now := time.monotonic()) < until:
            tools = [_tool(sent + more) for more in range(8)]
            wrong += sum(agents.map(lambda tool: not _right(tray, relay, tool), tools))
            sent += len(tools)
            time.sleep(max(0.0, now + len(tools) / PACE - time.monotonic()))  # the pace is part of what is tried
    return sent, wrong


def _tool(number: int) -> str:
    return "Bash" if number % HOOK_EVERY == 0 else "Write" if number % 2 else "Read"


def _right(tray: Tray, relay: Sequence[str], tool: str) -> bool:
    payload = PRE_TOOL_USE | {"session_id": f"s{time.monotonic_ns() % 50}", "tool_name": tool}
    code, said = Asked(tray, relay, "PreToolUse", json.dumps(payload).encode()).answer()
    return code == 0 and bool(said) is (tool == "Write")


def _settled(process: psutil.Process, tray: Tray) -> Sample:
    """Once nobody is inside any more: the threads and connections of the last callers have ended."""
    seen: list[tuple[int, int]] = []

    def quiet() -> bool:
        seen.append((process.num_threads(), process.num_fds()))
        return len(seen) > 5 and len(set(seen[-5:])) == 1

    wait(quiet, LONG, "the callers are seen off")
    wal = Path(f"{tray.paths.database}-wal")
    return Sample(
        process.memory_info().rss, process.num_fds(), process.num_threads(), wal.stat().st_size if wal.exists() else 0
    )


def _flat(warm: Sample, samples: Sequence[Sample]) -> dict[str, bool]:
    """What stayed as it was. A thread that is just coming or going is no drift."""
    last = samples[-1]
    return {
        "memory": last.memory <= warm.memory * DRIFT + SLACK,
        "descriptors": last.files <= warm.files + 2,
        "threads": last.threads <= warm.threads + 2,
        "the journal's log": max(one.wal for one in samples) <= WAL,
    }


def _controls(tally: Tally) -> None:
    """Whoever keeps a little of each event is noticed."""
    own = psutil.Process()

    def sample() -> Sample:
        return Sample(own.memory_info().rss, own.num_fds(), own.num_threads())

    kept: list[object] = []
    files: list[int] = []
    leaks: dict[str, Callable[[], object]] = {
        "memory": lambda: kept.append(os.urandom(2_000_000)),
        "descriptors": lambda: files.append(os.open(os.devnull, os.O_RDONLY)),
    }
    for name, leak in leaks.items():
        before = sample()
        for _ in range(60):
            leak()
        tally.control(f"a leak of {name}", not _flat(before, [sample()])[name])
    for opened in files:
        os.close(opened)
