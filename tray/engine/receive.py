"""Turns a relay's request into an event: recognises its sender, parses it, and finds an earlier report of it.

Some agents run their own hooks and also those in another agent's settings. Two lines of ours then report the same
tool call: it is judged once, and each line gets the same decision.
"""

from __future__ import annotations

import math
import threading
import time
from functools import lru_cache
from pathlib import Path

import msgspec
from msgspec.structs import replace

from tray.agents import tools
from tray.agents.agent import Payload
from tray.agents.protocol import parse, parse_payload, spec
from tray.agents.recognition import RecognisedCaller, recognise
from tray.clock import Clock
from tray.execution.ancestry import DEPTH, sent_by_command
from tray.execution.process import CANCELLED
from tray.model.decision import Decision
from tray.model.event import PROBE_PREFIX, TEST_VARIABLE, Event, EventKind, RelayRequest

TEST_COMMANDS = ("test",)  # starts relays itself
# These run agents' lines, maybe through a shell; `run` does for the menu's doctor.
PROBE_COMMANDS = ("agents", "connect", "doctor", "run")
REPOSITORY_LIFETIME = 60.0  # seconds for which the repository of a folder is remembered

REPORT_LIFETIME = 10.0  # seconds for which a call is remembered after its decision
REPORT_LIMIT = 64  # calls that are remembered; beyond it a call may be judged twice
LARGEST_REPORT = 1024 * 1024  # bytes of a payload; a larger one is not kept, so its call may be judged twice
REPORT_MEMORY = 4 * LARGEST_REPORT  # bytes of all payloads that are kept; the last calls stay until the next one

CallKey = tuple[str, str, str, str]  # agent, session, kind, the agent's id of the call


def receive(request: RelayRequest, version: int) -> tuple[Event, RecognisedCaller | None]:
    """The event under its sender's own name; and the sender, if hooks are not asked about its events.

    A plain event has free text, in which no mark of an agent counts. `version` is the ledger's.
    """
    try:
        payload = None if request.problem else parse_payload(request)
    except ValueError:
        payload = None
    if payload is None or spec(request.agent, request.event).plain:
        return parse_event(request, version, payload), None
    caller = recognise(request.agent, request.event, payload, request.environment)
    if caller is None:
        return parse_event(request, version, payload), None
    if caller.skip_reason is not None:
        return _foreign_event(request, caller, version, payload), caller
    own = replace(request, agent=caller.agent, event=caller.event, via_agent=request.agent)
    return parse_event(own, version, payload), None


def parse_event(request: RelayRequest, version: int, payload: Payload | None = None) -> Event:
    """The event of a request; an event that our own `test` or `doctor` sent is marked as a test.

    If the agent names no project folder, it is the repository's. The variable only saves a look at the sender's
    ancestors: a project could set it, so it proves nothing.
    """
    event = parse(request, version, payload)
    if event.cwd and not event.project_folder:
        root = _repository(event.cwd, int(time.monotonic() / REPOSITORY_LIFETIME))
        if root not in ("", event.cwd):
            event = replace(event, project_folder=root)
    if request.via_agent:
        event = replace(event, via_agent=request.via_agent)
    return _mark_test(event, request) if TEST_VARIABLE in request.environment else event


@lru_cache(maxsize=256)
def _repository(folder: str, _period: int) -> str:
    """The root of the repository that this folder is in; "" for none. The home folder is not a project."""
    try:
        place, home = Path(folder), Path.home()
        above = (one for one in (place, *place.parents) if place.is_absolute() and one != home)
        return next((str(one) for one in above if (one / ".git").exists()), "")
    except (OSError, RuntimeError, ValueError):
        return ""


def _foreign_event(request: RelayRequest, caller: RecognisedCaller, version: int, payload: Payload) -> Event:
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
    return _mark_test(event, request) if TEST_VARIABLE in request.environment else event


def _mark_test(event: Event, request: RelayRequest) -> Event:
    """Marked as a test, if a command of ours sent it."""
    verbs, depth = (PROBE_COMMANDS, DEPTH) if event.session.startswith(PROBE_PREFIX) else (TEST_COMMANDS, 1)
    return replace(event, test=sent_by_command(request.pid, verbs, depth))


class CallReport(msgspec.Struct, eq=False):
    """One call as it was reported first, and its decision once there is one."""

    event: Event
    decision: Decision | None = None
    fresh_until: float = math.inf  # inf: it is not decided yet
    signal: threading.Event | None = None  # for those that wait for the decision; None for nearly every call


class CallReports:
    """The calls that were reported in the last seconds."""

    def __init__(self, clock: Clock = time) -> None:
        self._clock = clock
        self._lock = threading.Lock()
        self._reports: dict[CallKey, CallReport] = {}

    def earlier(self, event: Event) -> CallReport | None:
        """The same call as another line of ours reported it; None: this is the first report, and is remembered."""
        key = _key(event)
        if key is None:
            return None
        now, size = self._clock.monotonic(), 0
        with self._lock:
            found = self._reports.pop(key, None)
            # The same line again is another report, which is judged anew.
            is_other_line = found is not None and found.event.via_agent != event.via_agent
            if found is not None and is_other_line and now < found.fresh_until and _is_same_call(found.event, event):
                self._reports[key] = found
                return found
            if found is not None:
                _forget(found)
            self._reports[key] = CallReport(event)
            for other, report in tuple(self._reports.items()):
                if now < report.fresh_until:
                    size += len(report.event.body)
                else:
                    del self._reports[other]
            while len(self._reports) > REPORT_LIMIT or size > REPORT_MEMORY:
                oldest = self._reports.pop(next(iter(self._reports)))
                size -= len(oldest.event.body)
                _forget(oldest)
        return None

    def decided(self, event: Event, decision: Decision | None) -> None:
        """Set the decision of the first report; None: the tray gives none.

        A decision with a cancelled hook does not count for another report.
        """
        key = _key(event)
        if key is None:
            return
        for outcome in decision.outcomes if decision else ():
            if outcome.cause == CANCELLED:
                decision = None
        with self._lock:
            report = self._reports.get(key)
            if report is None or report.event.id != event.id:
                return
            if report.decision is None:
                report.decision = decision
                report.fresh_until = self._clock.monotonic() + REPORT_LIFETIME if decision else -math.inf
            if report.signal is not None:
                report.signal.set()

    def wait(self, report: CallReport, seconds: float) -> Decision | None:
        """The decision of the first report. None: there was none in this time, or there will be none."""
        with self._lock:
            signal = report.signal = report.signal or threading.Event()
            if report.fresh_until != math.inf:
                signal.set()
        signal.wait(max(seconds, 0.0))
        return report.decision


def _forget(report: CallReport) -> None:
    """End the waiting for a report that no decision can reach any more."""
    report.fresh_until = -math.inf
    if report.signal is not None:
        report.signal.set()


def _key(event: Event) -> CallKey | None:
    """None for what cannot be recognised: no session, no id of a call, unreadable, very large, or a test."""
    if event.tool is None or not (event.tool.call and event.session):
        return None
    if event.test or event.answered or event.problem or len(event.body) > LARGEST_REPORT:
        return None
    return (event.agent, event.session, event.kind.value, event.tool.call)


def _is_same_call(first: Event, second: Event) -> bool:
    """Whether two lines report the same."""
    if first.tool is None or second.tool is None:
        return False
    return tools.canonical_call(first.agent, first.tool) == tools.canonical_call(second.agent, second.tool)
