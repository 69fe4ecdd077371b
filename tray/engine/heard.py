"""An event as it is judged: read by its dialect, by which version of the ledger, and whether it really happened."""

from __future__ import annotations

from dataclasses import replace

from tray.dialects import Payload, parse
from tray.dialects.callers import Caller
from tray.engine.callers.ancestry import DEPTH, sent_by
from tray.model.event import PROBE, TEST, Event, EventKind, Knock

TESTING = ("test",)  # starts relays itself
TRYING = ("connect", "connections", "doctor", "run")  # start agents' lines, maybe by a shell; the menu has a doctor


def heard(knock: Knock, version: int, payload: Payload | None = None) -> Event:
    """The event of a knock. What a command of ours sent (`test`, `doctor`) is a test: it did not happen.

    The variable only saves the look at who sent it: a project could set it.
    """
    return tried(parse(knock, version, payload), knock)


def of_foreign(knock: Knock, caller: Caller, version: int, payload: Payload) -> Event:
    """The event of an agent whose protocol is not here: only its own names for agent and event are known."""
    event = Event(
        id=knock.id,
        agent=caller.agent,
        name=caller.event,
        kind=EventKind.OTHER,
        session=caller.session,
        cwd=caller.cwd or knock.cwd,
        payload=payload,
        body=knock.body,
        environment=knock.environment,
        pid=knock.pid,
        unasked=caller.unasked,
        line=caller.line,
        ledger=version,
    )
    return tried(event, knock)


def tried(event: Event, knock: Knock) -> Event:
    """Marked as a test, where a command of ours sent it."""
    if TEST not in knock.environment:
        return event
    verbs, depth = (TRYING, DEPTH) if event.session.startswith(PROBE) else (TESTING, 1)
    return replace(event, test=sent_by(knock.pid, verbs, depth))
