"""T10: hooks that take too long; every agent has its answer before its own limit."""

from __future__ import annotations

import subprocess
import threading
import time

from house import House

from torture.frame import Tally
from tray.dialects import DIALECTS
from tray.model.event import EventSpec

TITLE = "hooks slower than their agents"
# The event with the shortest limit of each dialect that waits for an answer.
EVENTS = {
    "claude-code": "MessageDisplay",
    "shelley": "chat-message",
    "starchild": "pre_tool_call",
    "x-code": "PreToolUse",
}
SLOW = {
    "sleeps": "sleep 400",
    "deaf": "trap '' TERM; while :; do sleep 1; done",
    "drips": "while :; do printf x; sleep 1; done",
    "pipe": "sleep 400 & sleep 400",
}


def torture(tally: Tally) -> None:
    for agent, dialect in DIALECTS.items():
        for name, found in dialect.EVENTS.items():
            tally.attack(f"{agent} {name}: {found.deadline} of {found.timeout} s", 0 < found.deadline < found.timeout)
    chosen = dict(EVENTS) if tally.full else {"claude-code": EVENTS["claude-code"]}
    for _ in range(tally.many(1, 3)):
        _wave(tally, chosen, tally.many(4, 25))
    _control(tally)


def _wave(tally: Tally, chosen: dict[str, str], each: int) -> None:
    """So many agents of each kind at once."""
    house = House(tally.folder / f"house-{time.monotonic_ns()}")
    try:
        for agent, event in chosen.items():
            for name, script in SLOW.items():
                house.hook(f"{agent}-{name}", on=event, agent=agent, script=script, timeout=120, dialect=agent)
        threads = [
            threading.Thread(target=_ask, args=(tally, house, agent, event, number))
            for agent, event in chosen.items()
            for number in range(each)
        ]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
    finally:
        house.join()
        house.close()


LOCK = threading.Lock()


def _ask(tally: Tally, house: House, agent: str, event: str, number: int) -> None:
    spec: EventSpec = DIALECTS[agent].EVENTS[event]
    started = time.monotonic()
    try:
        house.knock(agent, event, DIALECTS[agent].sample(event), id=f"{agent}-{number}-{time.monotonic_ns()}")
        took = time.monotonic() - started
    except Exception as error:  # noqa: BLE001 - no answer at all
        with LOCK:
            tally.attack(f"{agent}: {error!r}", held=False)
        return
    with LOCK:
        tally.attack(f"{agent} {event}: {took:.2f} of {spec.timeout} s", took < spec.timeout)


def _control(tally: Tally) -> None:
    """Others give each hook its own time-out, and forget whose patience it is."""
    started = time.monotonic()
    subprocess.run(["sleep", "1.2"], timeout=120, check=False)
    tally.control("a time-out that knows no agent", time.monotonic() - started > 1.0)
