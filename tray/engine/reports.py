"""A tool call that an agent reports by two lines of ours is judged once, and each line gets the same decision.

Some agents run their own hooks and also those in another agent's settings. Both lines then report the same call.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Callable
from operator import attrgetter

from tray.agents import tools
from tray.execution.process import CANCELLED
from tray.model.decision import Decision
from tray.model.event import Event

WINDOW = 10.0  # seconds for which a call is remembered after its decision
LIMIT = 64  # calls that are remembered; beyond it a call may be judged twice
LARGEST = 1024 * 1024  # bytes of a payload; a larger one is not kept for this, so it may be judged twice
MEMORY = 4 * LARGEST  # bytes of all payloads that are kept: the last calls stay until the next one, however late

CallKey = tuple[str, str, str, str]  # agent, session, kind, the agent's id of the call


class CallReport:
    """One call as it was reported first. `wait` returns its decision once there is one."""

    def __init__(self, event: Event) -> None:
        self.event = event
        self._lock = threading.Lock()
        self._is_settled = False
        self._decisions: list[tuple[Decision, float]] = []
        self._signal: threading.Event | None = None  # of those that wait: nobody does for nearly every call

    def settle(self, decision: Decision | None, at: float) -> None:
        """None: the agent gets no decision for it."""
        with self._lock:
            if decision is not None:
                self._decisions.append((decision, at))
            self._is_settled = True
            if self._signal is not None:
                self._signal.set()

    def wait(self, seconds: float) -> Decision | None:
        """None: there was no decision in this time, or there will be none."""
        with self._lock:
            signal = self._signal = self._signal or threading.Event()
            if self._is_settled:
                signal.set()
        signal.wait(max(seconds, 0.0))
        return self._decisions[0][0] if self._decisions else None

    def is_fresh(self, now: float) -> bool:
        if not self._is_settled:
            return True
        return bool(self._decisions) and now - self._decisions[0][1] < WINDOW


class CallReports:
    """The calls that were reported in the last seconds."""

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        self._clock = clock
        self._lock = threading.Lock()
        self._reports: dict[CallKey, CallReport] = {}

    def earlier(self, event: Event) -> CallReport | None:
        """The same call as another line of ours reported it; None: this is the first report, and is remembered."""
        key = _key(event)
        if key is None:
            return None
        now = self._clock()
        with self._lock:
            found = self._reports.get(key)
            if found is not None and found.is_fresh(now) and _is_same_call(found.event, event):
                return found
            self._reports.pop(key, None)
            self._reports[key] = CallReport(event)
            for old in [each for each, report in self._reports.items() if not report.is_fresh(now)]:
                del self._reports[old]
            while len(self._reports) > LIMIT or self._size() > MEMORY:
                del self._reports[next(iter(self._reports))]
            return None

    def _size(self) -> int:
        return sum(map(len, map(attrgetter("event.body"), self._reports.values())))

    def decided(self, event: Event, decision: Decision) -> None:
        """The decision for the report that was first. One that was cancelled half-way counts only for itself."""
        is_cut = any(outcome.cause == CANCELLED for outcome in decision.outcomes)
        self._settle(event, None if is_cut else decision)

    def dropped(self, event: Event) -> None:
        """The first report gets no answer from here."""
        self._settle(event, None)

    def _settle(self, event: Event, decision: Decision | None) -> None:
        key = _key(event)
        if key is None:
            return
        with self._lock:
            report = self._reports.get(key)
        if report is not None and report.event.id == event.id:
            report.settle(decision, self._clock())


def _key(event: Event) -> CallKey | None:
    """None for what cannot be recognised: no session, no id of a call, unreadable, very large, or a test."""
    if event.tool is None or not (event.tool.call and event.session):
        return None
    if event.test or event.answered or event.problem or len(event.body) > LARGEST:
        return None
    return (event.agent, event.session, event.kind.value, event.tool.call)


def _is_same_call(first: Event, second: Event) -> bool:
    """Whether another line reports the same. The same line again is another report, which is judged anew."""
    if first.via_agent == second.via_agent or first.tool is None or second.tool is None:
        return False
    return tools.canonical_call(first.agent, first.tool) == tools.canonical_call(second.agent, second.tool)
