"""T10: hooks that take too long; every agent has its answer before its own limit."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import threading
import time
from itertools import combinations
from pathlib import Path

from house import House

from torture.frame import Tally
from tray.agents.registry import AGENTS
from tray.model.event import EventSpec

TITLE = "hooks slower than their agents"
SUPERVISOR = Path(__file__).with_name("naive_supervisor.py")
TOGETHER = 64  # agents of each kind at once
# The event with the shortest limit of each dialect that waits for an answer.
EVENTS = {
    "claude-code": "MessageDisplay",
    "shelley": "chat-message",
    "starchild": "pre_tool_call",
    "x-code": "PreToolUse",
}
SAID = {  # a text in each sample that matchers look at
    "claude-code": b"All tests pass.",
    "shelley": b"Fix the parser.",
    "starchild": b"ls -la",
    "x-code": b"ls -la",
}
SLOW = {
    "sleeps": "sleep 400",
    "deaf": "trap '' TERM; while :; do sleep 1; done",
    "drips": "while :; do printf x; sleep 1; done",
    "pipe": "sleep 400 & sleep 400",
}


PAIRS = tuple(combinations(SLOW, 2))
CARELESS = 1.5  # seconds that the agent of the control waits: Claude Code at the end of a session


def torture(tally: Tally) -> None:
    for agent, known in AGENTS.items():
        for name, found in known.events.items():
            tally.attack(f"{agent} {name}: {found.deadline} of {found.timeout} s", 0 < found.deadline < found.timeout)
    chosen = dict(EVENTS) if tally.full else {"claude-code": EVENTS["claude-code"]}
    control = threading.Thread(target=_control, args=(tally,))  # at the same time: all of it is waiting
    control.start()
    left = tally.many(6, 1000)
    while left > 0:
        _wave(tally, chosen, min(left, TOGETHER))
        left -= TOGETHER
    control.join()


def _wave(tally: Tally, chosen: dict[str, str], each: int) -> None:
    """So many agents of each kind at once, each of which meets two slow hooks."""
    root = tally.folder / f"house-{time.monotonic_ns()}"
    house = House(root)
    try:
        for agent, event in chosen.items():
            for name, script in SLOW.items():
                house.hook(
                    f"{agent}-{name}", on=event, agent=agent, script=script, timeout=120, dialect=agent,
                    matcher=f"meets-{name}",
                )  # fmt: skip
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
    spec: EventSpec = AGENTS[agent].events[event]
    met = PAIRS[number % len(PAIRS)]
    words = " ".join(f"meets-{name}" for name in met).encode()
    payload = AGENTS[agent].protocol.sample(event).replace(SAID[agent], words)
    id = f"{agent}-{number}-{time.monotonic_ns()}"
    started = time.monotonic()
    try:
        house.relay(agent, event, payload, id=id)
        took = time.monotonic() - started
        record = next(record for _, _, record in list(house.decisions) if record.id == id)
        statuses = {str(hook["name"]): str(hook["status"]) for hook in record.hooks}
    except Exception as error:  # noqa: BLE001 - no answer at all
        with LOCK:
            tally.attack(f"{agent}: {error!r}", held=False)
        return
    with LOCK:
        # On a machine that is this busy a matcher may run out of time: then its hook is asked, too.
        slow = {f"{agent}-{name}" for name in met} <= statuses.keys() and set(statuses.values()) == {"timed_out"}
        said = f"{agent} {event} {met}: {took:.2f} of {spec.timeout} s, {statuses}"
        tally.attack(said, took < spec.timeout and slow, faults=len(met))


def _control(tally: Tally) -> None:
    """The same hooks below a supervisor that gives each the agent's whole patience; the agent waits no longer."""
    folder = tally.folder / "control"
    folder.mkdir()
    for number, (name, text) in enumerate(SLOW.items()):
        (folder / f"{number}-{name}.sh").write_text(text)
    argv = [sys.executable, "-I", "-S", str(SUPERVISOR), str(folder), str(CARELESS)]
    with subprocess.Popen(argv, stdout=subprocess.PIPE, start_new_session=True) as supervisor:
        try:
            said, _ = supervisor.communicate(timeout=CARELESS * 1.5)  # half as long again, and still nothing
        except subprocess.TimeoutExpired:
            said = b""
        os.killpg(supervisor.pid, signal.SIGKILL)
    with LOCK:
        tally.control("each hook has the agent's whole patience, one after another", b"decision" not in said)
