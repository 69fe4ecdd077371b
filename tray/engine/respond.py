"""The end of an event: renders its answer, records it, and calls the listener."""

from __future__ import annotations

import logging
import os
import time
from collections.abc import Callable, Sequence
from functools import partial

from tray.agents.agent import Payload
from tray.agents.protocol import neutral, render, unanswered
from tray.agents.recognition import RecognisedCaller
from tray.engine.gates import TurnLimits
from tray.engine.parse_event import foreign_event
from tray.engine.ports import FREQUENT_KINDS, Defer, EngineListener, RecordSink, run_now
from tray.engine.record import make_record
from tray.engine.reports import CallReports
from tray.engine.scopes import SkillScopes
from tray.errors import AgentError
from tray.lazy_dataclass import replace
from tray.model.decision import EMPTY_ANSWER, Answer, Decision, Outcome, Verdict
from tray.model.event import Event, RelayRequest

HANDED_BACK = "the tray quit before the hooks had ended and gave no answer: the relay asks the one-shot engine"
GIVEN_UP = "the agent stopped waiting while the tray quit, and got no answer"

log = logging.getLogger(__name__)


class Responder:
    """The end of every event, whichever path it took."""

    def __init__(
        self,
        *,
        records: RecordSink,
        listener: EngineListener,
        limits: TurnLimits,
        scopes: SkillScopes,
        reports: CallReports,
        offline: bool,
    ) -> None:
        self._records = records
        self._listener = listener
        self._limits = limits
        self._scopes = scopes
        self._reports = reports
        self._offline = offline

    def respond(
        self,
        event: Event,
        decision: Decision,
        started: float,
        defer: Defer = run_now,
        journalled: Callable[[Event], Decision] | None = None,
    ) -> Answer:
        """Render, record, announce; only an answer that refuses or rewrites waits for that (law 7).

        `journalled` gives the decision to record and announce where that is more than the answer depends on.
        """
        answer, decision = self._render(event, decision)
        self._reports.decided(event, decision)
        commit = decision.verdict > Verdict.ALLOW or decision.stop is not None or decision.rewrite is not None
        record_event = self._recorder(event, journalled or (lambda _: decision), answer, started, commit=commit)
        self._limits.end(event, decision)
        self._scopes.update(event, decision)
        if commit:
            record_event()
        elif event.kind in FREQUENT_KINDS:
            defer(record_event)
        else:
            defer(record_event, soon=True)
        return answer

    def render_again(self, event: Event, decision: Decision) -> Answer:
        """The answer for another report of the same call. Nothing is recorded or announced."""
        return self._render(event, decision)[0]

    def _render(self, event: Event, decision: Decision) -> tuple[Answer, Decision]:
        """The answer, and the decision that it carries."""
        if event.answered:
            return EMPTY_ANSWER, decision
        try:
            return render(event, decision), decision
        except AgentError as error:
            return neutral(event.agent, event.name, event.body), unanswered(event, decision, error)

    def hand_back(self, event: Event, outcomes: Sequence[Outcome], started: float, *, is_gone: bool) -> None:
        """Write down that the tray gave no answer, because it quits or because the agent stopped waiting meanwhile.

        The one-shot engine writes its answer under the event's own id.
        """
        self._reports.dropped(event)
        reason = GIVEN_UP if is_gone else HANDED_BACK
        row = replace(event, id=os.urandom(16).hex())
        adjustment = f"the row of its answer, if there is one, begins with {event.id[:8]}"
        decision = Decision(reason=reason, outcomes=tuple(outcomes), adjustments=(adjustment,))
        seconds = time.monotonic() - started

        def record_event() -> None:
            record = make_record(
                row, decision, EMPTY_ANSWER, at=time.time() - seconds, ms=seconds * 1000, offline=self._offline
            )
            self._records.append(replace(record, reason=reason, answer={}), commit=False)

        _write_down(event, record_event)

    def respond_unsupported(
        self,
        request: RelayRequest,
        caller: RecognisedCaller,
        payload: Payload | None,
        ledger: int,
        started: float,
        defer: Defer,
    ) -> Answer:
        """Give an agent whose protocol is not here its own neutral answer, and write the reason into the row."""
        event = foreign_event(request, caller, ledger, payload or {})
        decision = Decision(reason=caller.skip_reason or "")
        defer(self._recorder(event, lambda _: decision, caller.answer, started, commit=False), soon=True)
        return caller.answer

    def _recorder(
        self,
        event: Event,
        journalled: Callable[[Event], Decision],
        answer: Answer,
        started: float,
        *,
        commit: bool,
    ) -> Callable[[], None]:
        """What records and announces the event, whenever it is called; the recorded times are those of now."""
        seconds = time.monotonic() - started
        at, ms = time.time() - seconds, seconds * 1000

        def record_event() -> None:
            decision = journalled(event)
            record = make_record(event, decision, answer, at=at, ms=ms, offline=self._offline, started=started)
            self._records.append(record, commit=commit)
            self._listener.decided(event, decision, record)

        return partial(_write_down, event, record_event)


def _write_down(event: Event, record_event: Callable[[], None]) -> None:
    """Our bookkeeping, whose failure changes no answer: that stands, or its relay has another way to one."""
    try:
        record_event()
    except Exception:  # of the journal and the listener
        log.exception("%s of %s could not be written down", event.name, event.agent)
