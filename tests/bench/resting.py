"""What a tray takes while nobody asks it."""

from __future__ import annotations

import contextlib
import json
import sys
import time
from dataclasses import dataclass
from pathlib import Path

from bench.scenes import tray
from bench.trays import CALL
from desk import Desk


@dataclass(frozen=True, slots=True)
class Idle:
    """What a tray that nobody asks does in half a minute."""

    what: str
    wakeups: int
    cpu: float  # ms
    memory: float  # MB


def idle(folder: Path, seconds: float = 30.0) -> list[Idle]:
    found = []
    with tray(folder / "h", hooks=1) as one:
        assert one.process is not None
        found.append(watch("headless", one.process.pid, seconds))
    on_desk = Desk(folder / "d"), tray(folder / "i", mode="down", hooks=1)
    with contextlib.suppress(FileNotFoundError), on_desk[0] as desk, on_desk[1] as one:
        started = desk.start([sys.executable, "-I", "-m", "tray", "--home", one.home, "run"])
        desk.wait_item(started.pid)
        desk.run(one.relay("Notification"), input=json.dumps({**CALL, "message": "look"}).encode())
        found.append(watch("with icon, after an alert and a sound", started.pid, seconds))
        desk.stop(started)
    return found


def watch(what: str, pid: int, seconds: float) -> Idle:
    time.sleep(5)
    before = spent(pid)
    time.sleep(seconds)
    wakeups, cpu = (after - earlier for after, earlier in zip(spent(pid), before, strict=True))
    status = Path(f"/proc/{pid}/status").read_text()
    return Idle(what, int(wakeups), cpu, int(status.partition("VmRSS:")[2].split()[0]) / 1024)


def spent(pid: int) -> tuple[int, float]:
    """Wake-ups and ms on a processor, of all threads so far."""
    wakeups, cpu = 0, 0.0
    for task in Path(f"/proc/{pid}/task").iterdir():
        status = (task / "status").read_text()
        wakeups += int(status.partition("voluntary_ctxt_switches:")[2].split()[0])
        cpu += int((task / "schedstat").read_text().split()[0]) / 1e6
    return wakeups, cpu
