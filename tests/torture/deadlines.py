"""Hooks that outstay their time, asked by a real tray whose clock jumps and which is stopped: for T14."""

from __future__ import annotations

import json
import os
import random
import signal
import struct
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

from desk import wait
from house import PRE_TOOL_USE

from torture.frame import Tally
from torture.shims import shim
from torture.trays import LONG, RELAYS, Asked, Tray
from tray.execution.process_table import boot_ticks

assert sys.platform != "win32"

TIMEOUT = 2.0  # seconds that the hook has
SLACK = 1.0  # seconds that it may have less or more
EACH = 4  # hooks at once
JUMPS = (1, 60, 3600, 86_400, 30 * 86_400, 3650 * 86_400)
HERTZ = os.sysconf("SC_CLK_TCK")
# When it was started, then for as long as it lives the seconds since boot: clocks that nobody has touched.
HOOK = 'read -r s </proc/$$/stat; set -- ${{s##*) }}; echo ${{20}} >"{notes}/$$"\n'
HOOK += 'while :; do read -r now _ </proc/uptime; echo $now >>"{notes}/$$"; sleep 0.05; done'
NAIVE = "import time; end = time.time() + {seconds}; begun = time.monotonic()\n"
NAIVE += "print('begun', flush=True)\nwhile time.time() < end: time.sleep(0.01)\nprint(time.monotonic() - begun)"


class Deadlines:
    """One tray with a wrong clock, and rounds of hooks that it has to end in time."""

    def __init__(self, tally: Tally) -> None:
        self._tally = tally
        self.latest = 0.0  # seconds after which the slowest was ended too late
        self._chance = random.Random(14)
        self._notes = tally.folder / "notes"
        self._notes.mkdir()
        self._wrong = tally.folder / "wrong"
        self._set(0)
        library = shim(tally, "clock", "a wall clock that jumps while hooks run")
        self._environment = {"LD_PRELOAD": str(library), "CLOCK_FILE": str(self._wrong)} if library else {}
        script = HOOK.format(notes=self._notes)
        self._tray = Tray(
            tally.folder / "tray",
            lambda house: house.hook("guard", on="tool_before", script=script, timeout=TIMEOUT),
            self._environment,
        )

    def close(self) -> None:
        self._tray.stop()

    def round(self, name: str, meanwhile: Callable[[], float]) -> None:
        """Some hooks at once; `meanwhile` does what it does, and says when the tray could do something again."""
        relay = next(iter(RELAYS.values()))
        asked = [
            Asked(self._tray, relay, "PreToolUse", json.dumps({**PRE_TOOL_USE, "session_id": f"s{number}"}).encode())
            for number in range(EACH)
        ]
        wait(lambda: len(self._begun()) == EACH, LONG, "all hooks have begun")
        awake = meanwhile()
        for one in asked:
            code, _ = one.answer()
            self._tally.keep(f"{name}: an answer", code == 0)
        for note in self._begun():
            times = note.read_text().split()
            begun, last = float(times[0]) / HERTZ, float(times[-1])
            took, least = last - begun, max(TIMEOUT, awake - begun)
            most = least + SLACK * self._tally.patience
            self.latest = max(self.latest, took - least)
            self._tally.attack(f"{name}: ended after {took:.2f} of {TIMEOUT} s", TIMEOUT - SLACK < took < most)
            note.unlink()

    def jump(self, times: int) -> float:
        """While the hooks run, the wall clock jumps."""
        for _ in range(times):
            self._set(self._chance.choice(JUMPS) * self._chance.choice((1, -1)))
            self._tally.faults += 1
            time.sleep(TIMEOUT / 2 / times)
        self._set(0)
        return 0.0  # at any time

    def stop(self, seconds: float) -> float:
        """The tray sleeps; time goes on."""
        self._tray.signal(signal.SIGSTOP)
        time.sleep(seconds)
        self._tray.signal(signal.SIGCONT)
        return boot_ticks() / HERTZ

    def control(self) -> None:
        """Who takes the wall clock for a stopwatch."""
        if not self._environment:
            return
        argv = [sys.executable, "-c", NAIVE.format(seconds=LONG)]
        environment = {**os.environ, **self._environment}
        with subprocess.Popen(argv, env=environment, stdout=subprocess.PIPE, text=True) as naive:
            assert naive.stdout
            naive.stdout.readline()
            self._set(3600)
            took = float(naive.stdout.readline())
        self._set(0)
        self._tally.control("a deadline by the wall clock", took < LONG / 2)

    def _begun(self) -> list[Path]:
        return [note for note in self._notes.iterdir() if len(note.read_text().split()) > 1]

    def _set(self, seconds: int) -> None:
        if not self._wrong.exists():
            self._wrong.write_bytes(struct.pack("q", seconds))
        with self._wrong.open("r+b") as file:  # in place: the tray has it mapped
            file.write(struct.pack("q", seconds))
