"""An event as it is judged: read by its dialect, by which version of the ledger, and whether it really happened."""

from __future__ import annotations

from dataclasses import replace

from tray.agents.agent import Payload
from tray.agents.protocol import parse
from tray.agents.recognition import RecognisedCaller
from tray.approvals.callers.ancestry import DEPTH, sent_by_command
from tray.model.event import PROBE_PREFIX, TEST_VARIABLE, Event, EventKind, RelayRequest

TEST_COMMANDS = ("test",)  # starts relays itself
# These start agents' lines, maybe by a shell; the menu has a doctor.
PROBE_COMMANDS = ("agents", "connect", "doctor", "run")


def parse_event(request: RelayRequest, version: int, payload: Payload | None = None) -> Event:
    """The event of a request. What a command of ours sent (`test`, `doctor`) is a test: it did not happen.

    The variable only saves looking up who sent it: a project could set it.
    """
    event = parse(request, version, payload)
    return mark_test(replace(event, via_agent=request.via_agent) if request.via_agent else event, request)


def foreign_event(request: RelayRequest, caller: RecognisedCaller, version: int, payload: Payload) -> Event:
    """The event of an agent whose protocol is not here: only its own names for agent and event are known."""
    event = Event(
        id=request.id,
        agent=caller.agent,
        name=caller.event,
        kind=EventKind.OTHER,
        session=caller.session,
        cwd=caller.cwd or request.cwd,
        payload=payload,
        body=request.body,
        environment=request.environment,
        pid=request.pid,
        skip_reason=caller.skip_reason,
        via_agent=caller.via_agent,
        ledger=version,
    )
    return mark_test(event, request)


def mark_test(event: Event, request: RelayRequest) -> Event:
    """Marked as a test, where a command of ours sent it."""
    if TEST_VARIABLE not in request.environment:
        return event
    verbs, depth = (PROBE_COMMANDS, DEPTH) if event.session.startswith(PROBE_PREFIX) else (TEST_COMMANDS, 1)
    return replace(event, test=sent_by_command(request.pid, verbs, depth))
