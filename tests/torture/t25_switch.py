"""T25: the master switch under load: after `off` has returned no hook starts, and a kill loses no turn of it."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Self

from desk import wait
from house import PRE_TOOL_USE, House

from torture.frame import Tally
from torture.trays import LONG
from tray.app.start import SWITCH_INTERVAL
from tray.engine.ports import Execution
from tray.engine.stores import open_stores
from tray.execution.process_table import boot_ticks
from tray.model.decision import Answer
from tray.model.event import RelayRequest

TITLE = "the master switch under load"
AGENTS = 4  # that send events all the time
HOOKS = ("first", "second")
MARK = 'read -r s </proc/$$/stat; set -- ${s##*) }; echo ${20} >>"$SAW"'  # when it started, in ticks since boot
TOGGLER = """
import itertools, sys
from tray.engine.stores import open_stores
from tray.paths import locate
switch = open_stores(locate(sys.argv[1]), create=False).switch
for number in itertools.count():
    switch.set_enabled(bool(number % 2), "test")
    print(int(number % 2), flush=True)
"""


def torture(tally: Tally) -> None:
    house = House(tally.folder / "house")
    try:
        for name in HOOKS:
            house.hook(name, on="tool_before", script=MARK, timeout=30)
        load = Load(house, tally.folder / "started", house.engine.begin)
        with _as_in_the_tray(), load:
            for number in range(tally.many(5, 5000)):
                late = load.toggle()
                tally.attack(f"toggle {number}: {late} started after it", not late)
                tally.inputs += 1  # off, and on again
        tally.measured.append(f"the switch was turned in {load.longest * 1000:.0f} ms at most")
        careless = Careless(house, tally.folder / "control")
        with Load(house, tally.folder / "control", careless.begin, careless.note_off) as load:
            tally.control("a supervisor that reads the switch when it plans", load.toggle() > 0)
    finally:
        house.join()
        house.close()
    house = House(tally.folder / "killed")
    house.close()
    _killed(tally, house)


@contextmanager
def _as_in_the_tray() -> Iterator[None]:
    """Its threads go from one to the next far more often than Python's do; the control keeps to what others have."""
    usual = sys.getswitchinterval()
    sys.setswitchinterval(SWITCH_INTERVAL)
    try:
        yield
    finally:
        sys.setswitchinterval(usual)


class Planned(Execution, frozen=True):
    """Runs what was planned, whatever the switch is now."""

    planned: Sequence[str]
    environment: Mapping[str, str]

    def run(self, hangup: object) -> Answer:
        for path in self.planned:
            subprocess.run([path], env=dict(self.environment), check=False)
        return Answer()


class Careless:
    """The supervisor that others have: it asks the switch while it plans, and then runs what it has planned.

    Once hooks have started, a thread that has planned is held until the switch has been off for a while, as a busy
    machine may hold it: a start after `off` does not depend on how quick this machine is.
    """

    def __init__(self, house: House, started: Path) -> None:
        self._switch = house.stores.switch
        self._plan = [str(house.paths.config.parent / f"{name}.sh") for name in HOOKS]
        self._started = started
        self._off = 0.0  # in ticks since boot; 0 = it was not switched off yet

    def note_off(self, ticks: float) -> None:
        self._off = ticks

    def begin(self, request: RelayRequest) -> Execution:
        planned = self._plan if self._switch.gate(time.time()) is None else []
        if planned and self._started.exists():
            wait(lambda: 0 < self._off < boot_ticks() - 2, LONG, "the switch is off")
        return Planned(planned, request.environment)


class Load:
    """Agents that send events without a pause while the switch is turned; every hook writes down when it started."""

    def __init__(
        self,
        house: House,
        started: Path,
        begin: Callable[[RelayRequest], object],
        note_off: Callable[[float], object] = lambda ticks: None,
    ) -> None:
        self._house, self._started, self._begin, self._note_off = house, started, begin, note_off
        self.longest = 0.0  # seconds that a turn of the switch took
        self._over = threading.Event()
        self._rounds = [0] * AGENTS
        self._threads = [threading.Thread(target=self._send_events, args=(number,)) for number in range(AGENTS)]

    def __enter__(self) -> Self:
        for thread in self._threads:
            thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._over.set()
        for thread in self._threads:
            thread.join()

    def toggle(self) -> int:
        """Off while hooks run, and on again: how many of them started after it was off."""
        # A turn of the switch during which nobody sends an event would show nothing.
        wait(lambda: self._started.exists() and self._started.stat().st_size > 0, LONG, "a hook starts")
        self._turn(False)
        off = boot_ticks()
        self._note_off(off)
        before = list(self._rounds)
        # Each agent's turn from before is over, and one that began later, too.
        wait(lambda: all(now >= then + 2 for now, then in zip(self._rounds, before, strict=True)), LONG, "two rounds")
        late = _late(self._started, off + 1)
        self._started.unlink(missing_ok=True)
        self._house.decisions.clear()
        self._turn(True)
        return late

    def _turn(self, on: bool) -> None:
        started = time.monotonic()
        self._house.stores.switch.set_enabled(on, "test")
        self.longest = max(self.longest, time.monotonic() - started)

    def _send_events(self, agent: int) -> None:
        body = json.dumps(PRE_TOOL_USE).encode()
        environment = {"PATH": os.environ["PATH"], "SAW": str(self._started)}
        while not self._over.is_set():
            id = f"{agent}-{self._rounds[agent]}"
            begun = self._begin(
                RelayRequest(
                    agent="claude-code", event="PreToolUse", id=id, body=body, cwd="/", environment=environment
                )
            )
            if isinstance(begun, Execution):
                begun.run(None)
            self._rounds[agent] += 1


def _late(started: Path, moment: float) -> int:
    whole, _, _ = started.read_text().rpartition("\n")
    return sum(float(word) > moment for word in whole.split())


def _killed(tally: Tally, house: House) -> None:
    """What was printed after a turn was on the disk before it."""
    said = 0
    for number in range(tally.many(2, 100)):
        argv = [sys.executable, "-c", TOGGLER, str(house.root / "home")]
        with subprocess.Popen(argv, stdout=subprocess.PIPE) as process:
            assert process.stdout is not None
            lines = [process.stdout.readline() for _ in range(3 + number % 5)]
            process.send_signal(signal.SIGKILL)
            lines += process.stdout.read().splitlines()
        said += len(lines)
        found = open_stores(house.paths, create=True)
        with found.database.connect() as connection:
            turns = [row["what"] for row in connection.execute("SELECT what FROM switch_log ORDER BY seq")]
        enabled = found.switch.state().enabled
        found.journal.close()
        # What was said was on the disk before; one turn more may have been.
        kept = len(turns) >= said and enabled is (turns[-1] == "on") and not found.database.damaged
        tally.attack(f"kill {number}: {said} said, {len(turns)} kept, {turns[-1]} last, {enabled} now", kept)
        said = len(turns)
