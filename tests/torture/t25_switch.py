"""T25: the master switch under load: after `off` has returned no hook starts, and a kill loses no turn of it."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import threading
import time
from pathlib import Path

from house import House

from torture.frame import Tally
from tray.app import stores
from tray.engine.runners.tree import ticks

TITLE = "the master switch under load"
AGENTS = 4  # that knock all the time
TOGGLER = """
import itertools, sys
from tray.app import stores
from tray.paths import locate
switch = stores(locate(sys.argv[1]), migrate=False).switch
for number in itertools.count():
    switch.turn(bool(number % 2), "test")
    print(int(number % 2), flush=True)
"""


def torture(tally: Tally) -> None:
    house = House(tally.folder / "house")
    try:
        _under_load(tally, house)
    finally:
        house.join()
        house.close()
    house = House(tally.folder / "killed")
    house.close()
    _killed(tally, house)


def _under_load(tally: Tally, house: House) -> None:
    started = tally.folder / "started"
    house.hook(
        "mark", on="tool_before", script='read -r s </proc/$$/stat; set -- ${s##*) }; echo ${20} >>"$SAW"', timeout=30
    )
    over = threading.Event()
    agents = [threading.Thread(target=_knock, args=(house, started, over, number)) for number in range(AGENTS)]
    for agent in agents:
        agent.start()
    switch = house.stores.switch
    careless = False
    try:
        for number in range(tally.many(15, 2000)):
            _wait_for(started, 1)
            switch.turn(False, "test")
            off = ticks()
            careless = careless or bool(_late(started, off - 5))
            time.sleep(0.05)
            late = _late(started, off + 1)
            tally.attack(f"toggle {number}: {late} started after it", not late)
            started.unlink(missing_ok=True)
            switch.turn(True, "test")
            tally.inputs += 1
    finally:
        over.set()
        for agent in agents:
            agent.join()
    tally.control("asking the switch beforehand only", careless or _stale(house))


def _late(started: Path, moment: float) -> int:
    try:
        return sum(float(word) > moment for word in started.read_text().split())
    except (FileNotFoundError, ValueError):
        return 0


def _wait_for(started: Path, count: int) -> None:
    end = time.monotonic() + 20
    while time.monotonic() < end and not (started.exists() and len(started.read_text().split()) >= count):
        time.sleep(0.002)


def _knock(house: House, started: Path, over: threading.Event, agent: int) -> None:
    import json

    from house import PRE_TOOL_USE

    from tray.model.event import Knock

    body = json.dumps(PRE_TOOL_USE).encode()
    count = 0
    while not over.is_set():
        count += 1
        knock = Knock(
            agent="claude-code", event="PreToolUse", id=f"{agent}-{count}", body=body, cwd="/",
            environment={"PATH": os.environ["PATH"], "SAW": str(started)},
        )  # fmt: skip
        begun = house.engine.begin(knock)
        if callable(begun):
            begun(None)


def _stale(house: House) -> bool:
    """Who looks once and remembers runs on after the switch was turned."""
    switch = house.stores.switch
    remembered = switch.gate(time.time())
    switch.turn(False, "test")
    fell = remembered is None and switch.gate(time.time()) is not None
    switch.turn(True, "test")
    return fell


def _killed(tally: Tally, house: House) -> None:
    """What was printed after a turn was on the disk before it."""
    said = 0
    for number in range(tally.many(3, 100)):
        argv = [sys.executable, "-c", TOGGLER, str(house.root / "home")]
        with subprocess.Popen(argv, stdout=subprocess.PIPE) as process:
            assert process.stdout is not None
            lines = [process.stdout.readline() for _ in range(3 + number % 5)]
            process.send_signal(signal.SIGKILL)
            lines += process.stdout.read().splitlines()
        said += len(lines)
        found = stores(house.paths, migrate=True)
        with found.database.connect() as connection:
            turns = [row["what"] for row in connection.execute("SELECT what FROM switch_log ORDER BY seq")]
        enabled = found.switch.state().enabled
        found.journal.close()
        # What was said was on the disk before; one turn more may have been.
        kept = len(turns) >= said and enabled is (turns[-1] == "on") and not found.database.damaged
        tally.attack(f"kill {number}: {said} said, {len(turns)} kept, {turns[-1]} last, {enabled} now", kept)
        said = len(turns)
