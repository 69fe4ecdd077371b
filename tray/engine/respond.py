"""The end of an event: renders its answer, records it, and calls the listener."""

from __future__ import annotations

import os
import time
from collections.abc import Sequence
from functools import partial

import msgspec
from msgspec.structs import replace

from tray.agents.protocol import neutral, render, unanswered
from tray.agents.recognition import RecognisedCaller
from tray.agents.tools import canonical
from tray.engine.gates import ENDS_TURN, TurnLimits
from tray.engine.merge import merge, skipped
from tray.engine.plan import plan
from tray.engine.ports import FREQUENT_KINDS, NO_CALLER, EngineListener, EventCaller, EventNotes, RecordSink
from tray.engine.receive import CallReports
from tray.engine.record import make_record
from tray.engine.scopes import SCOPE_KINDS, SKILL_TOOL, SkillScopes
from tray.errors import AgentError
from tray.model.decision import EMPTY_ANSWER, Answer, Decision, Gate, Outcome, Verdict
from tray.model.event import Capability, Event
from tray.store.ledger import LedgerState
from tray.store.switch import Switch
from tray.threads import failures_logged

HANDED_BACK = "the tray quit before the hooks had ended and gave no answer: the relay asks the one-shot engine"
NOT_RECORDED = "an event could not be written down"
GIVEN_UP = "the agent stopped waiting while the tray quit, and got no answer"


class SkippedHooks(msgspec.Struct, frozen=True):
    """The hooks that a gate kept from an event. They are looked up only when the event is recorded."""

    ledger: LedgerState
    switch: Switch
    scopes: SkillScopes
    gate: Gate

    def decision(self, event: Event) -> Decision:
        """Returns the decision to record and announce."""
        hooks = plan(event, self.ledger, self.switch, self.scopes)
        return merge([skipped(one.hook, self.gate) for one in hooks])


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
        notes: EventNotes | None,
    ) -> None:
        self._records = records
        self._listener = listener
        self._limits = limits
        self._scopes = scopes
        self._reports = reports
        self._offline = offline
        self._notes = notes

    def respond(
        self,
        event: Event,
        decision: Decision,
        started: float,
        caller: EventCaller = NO_CALLER,
        stopped: SkippedHooks | None = None,
    ) -> Answer:
        """Render, record, announce; only an answer that refuses or rewrites waits for that (law 7).

        With `stopped` it records and announces the decision of these hooks.
        """
        if self._notes is not None and Capability.NOTE in event.spec.can:
            decision = _with_note(decision, self._notes.note(event))
        answer, decision = self._render(event, decision)
        is_skill = False
        if event.tool is not None:
            self._reports.decided(event, decision)
            is_skill = canonical(event.agent, event.tool.name) == SKILL_TOOL
        commit = decision.verdict > Verdict.ALLOW or decision.stop is not None or decision.rewrite is not None
        took = time.monotonic() - started
        record = partial(self._record, event, decision, answer, started, time.time() - took, took, commit, stopped)
        if event.kind in ENDS_TURN:
            self._limits.end(event, decision)
        if is_skill or event.kind in SCOPE_KINDS:
            self._scopes.update(event, decision)
        if commit:
            with failures_logged(NOT_RECORDED):
                record()
        else:
            caller.defer(record, soon=event.kind not in FREQUENT_KINDS)
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
            return neutral(event.sender, event.name, event.body), unanswered(event, decision, error)

    def hand_back(self, event: Event, outcomes: Sequence[Outcome], started: float, *, is_gone: bool) -> None:
        """Record that the tray gave no answer, because it quits or because the agent stopped waiting meanwhile.

        The one-shot engine writes its answer under the event's own id.
        """
        self._reports.decided(event, None)
        reason = GIVEN_UP if is_gone else HANDED_BACK
        row = replace(event, id=os.urandom(16).hex())
        adjustment = f"the row of its answer, if there is one, begins with {event.id[:8]}"
        decision = Decision(reason=reason, outcomes=tuple(outcomes), adjustments=(adjustment,))
        took = time.monotonic() - started
        with failures_logged(NOT_RECORDED):
            self._record(row, decision, None, started, time.time() - took, took)

    def respond_unsupported(
        self, event: Event, sender: RecognisedCaller, started: float, caller: EventCaller
    ) -> Answer:
        """Give an agent whose protocol is not here its own neutral answer, and record the reason."""
        decision = Decision(reason=sender.skip_reason or "")
        took = time.monotonic() - started
        record = partial(self._record, event, decision, sender.answer, started, time.time() - took, took)
        caller.defer(record, soon=True)
        return sender.answer

    def _record(
        self,
        event: Event,
        decision: Decision,
        answer: Answer | None,
        started: float,
        at: float,
        took: float,
        commit: bool = False,
        stopped: SkippedHooks | None = None,
    ) -> None:
        """Record and announce the event, which came in at `at` and whose answer took `took` seconds.

        An event without an answer is only recorded. The callers log a failure of journal or listener, which
        must not change an answer.
        """
        decision = stopped.decision(event) if stopped else decision
        ms, offline, sent = took * 1000, self._offline, answer or EMPTY_ANSWER
        record = make_record(event, decision, sent, at=at, ms=ms, offline=offline, started=started)
        if answer is None:
            record = replace(record, reason=decision.reason, answer={})
        self._records.append(record, commit=commit)
        if answer is not None:
            self._listener.decided(event, decision, record)


def _with_note(decision: Decision, note: str) -> Decision:
    return replace(decision, notes=(*decision.notes, note)) if note else decision
