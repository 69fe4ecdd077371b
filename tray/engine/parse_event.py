"""An event as it is judged: read by its dialect, by which version of the ledger, and whether it really happened."""

from __future__ import annotations

import time
from functools import lru_cache
from pathlib import Path

from tray.agents.agent import Payload
from tray.agents.protocol import parse
from tray.agents.recognition import RecognisedCaller
from tray.approvals.callers.ancestry import DEPTH, sent_by_command
from tray.lazy_dataclass import replace
from tray.model.event import PROBE_PREFIX, TEST_VARIABLE, Event, EventKind, RelayRequest

TEST_COMMANDS = ("test",)  # starts relays itself
# These start agents' lines, maybe by a shell; the menu has a doctor.
PROBE_COMMANDS = ("agents", "connect", "doctor", "run")
KEPT = 60.0  # seconds that the repository of a folder is remembered


def parse_event(request: RelayRequest, version: int, payload: Payload | None = None) -> Event:
    """The event of a request. What a command of ours sent (`test`, `doctor`) is a test: it did not happen.

    The variable only saves looking up who sent it: a project could set it.
    """
    event = _with_project(parse(request, version, payload))
    return mark_test(replace(event, via_agent=request.via_agent) if request.via_agent else event, request)


def _with_project(event: Event) -> Event:
    """With the repository's folder, where the agent does not say what its project is."""
    if event.project_folder or not event.cwd:
        return event
    root = _repository(event.cwd, int(time.monotonic() / KEPT))
    return replace(event, project_folder=root) if root not in ("", event.cwd) else event


@lru_cache(maxsize=256)
def _repository(folder: str, _period: int) -> str:
    """The root of the repository that this folder is in; "" for none. The home folder is not a project."""
    try:
        place, home = Path(folder), Path.home()
        above = (one for one in (place, *place.parents) if place.is_absolute() and one != home)
        return next((str(one) for one in above if (one / ".git").exists()), "")
    except (OSError, RuntimeError, ValueError):
        return ""


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
