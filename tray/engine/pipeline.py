"""From request to answer: receive, plan, gates, execute, merge, fit, respond. Read `begin` and `_judge` first."""

from __future__ import annotations

import logging
import os
import time
from collections.abc import Sequence
from functools import partial
from typing import TYPE_CHECKING

from msgspec.structs import replace

from tray.agents.protocol import fit, form, neutral
from tray.engine.async_output import AsyncOutput
from tray.engine.gates import BOUNDARIES, CAPPED_KINDS, MAX_DEPTH, TurnLimits, apply_switch
from tray.engine.merge import merge, skipped
from tray.engine.own_answers import TYPED_COMMAND_KINDS, answer_command
from tray.engine.plan import plan, split_async
from tray.engine.ports import (
    FREQUENT_KINDS,
    NO_CALLER,
    EngineListener,
    EngineOptions,
    EventCaller,
    Execution,
    RecordSink,
)
from tray.engine.receive import CallReport, CallReports, receive
from tray.engine.respond import Responder, SkippedHooks
from tray.engine.scopes import SkillScopes
from tray.engine.stores import Stores
from tray.engine.user_questions import (
    ASKING_KINDS,
    EngineResponse,
    PendingQuestion,
    Resolution,
    UserQuestion,
    apply_result,
)
from tray.execution.ancestry import HookAncestry
from tray.execution.process import CANCELLED
from tray.model.decision import NO_OPINION, RAN_BESIDE, Answer, Decision, Gate, Outcome, Status, Verdict
from tray.model.event import Event, EventKind, RelayRequest
from tray.model.hook import Rule
from tray.protection.self_protection import KINDS as PROTECTED_KINDS
from tray.protection.self_protection import Protection
from tray.store.ledger import ApprovedHook, LedgerState
from tray.threads import Workers

if TYPE_CHECKING:
    from tray.engine.execute import HookExecutor
    from tray.execution.command import Hangup

ANCESTRY_KINDS = ASKING_KINDS | {EventKind.ROUND_END}  # may have an effect without any hook

log = logging.getLogger(__name__)


class HookExecution(Execution, frozen=True):
    """The hooks of one event. The answer waits for the `awaited` ones; those `beside` it start after it."""

    engine: Engine
    event: Event
    ledger: LedgerState
    own: Outcome | None
    awaited: tuple[ApprovedHook, ...]
    beside: tuple[ApprovedHook, ...]
    started: float
    caller: EventCaller

    def run(self, hangup: Hangup | None) -> EngineResponse:
        return self.engine.execute(self, hangup)


class RepeatedCall(Execution, frozen=True):
    """A call that another line of ours has reported: it gets the same decision, without a second row."""

    engine: Engine
    event: Event
    first: CallReport
    ledger: LedgerState
    started: float

    def run(self, hangup: Hangup | None) -> EngineResponse:
        return self.engine.repeat(self, hangup)


class EngineQuestion(PendingQuestion, kw_only=True, eq=False):
    """A question, with the hooks of its event and their outcomes."""

    engine: Engine
    started: float
    hooks: Sequence[ApprovedHook]
    outcomes: Sequence[Outcome]

    def answer(self) -> Answer | None:
        return self.engine.answer_question(self)


class Engine:
    """Judges events by the approved hooks: in the tray, in the one-shot engine, in a trial and in a replay.

    `workers` run what no agent waits for. `records` takes the records of decisions in place of the journal.
    """

    def __init__(
        self,
        stores: Stores,
        listener: EngineListener,
        workers: Workers,
        options: EngineOptions,
        *,
        records: RecordSink | None = None,
    ) -> None:
        self._protection = Protection(
            protected_paths=stores.protected_paths,
            settings=options.settings,
            approved=stores.ledger,
            page=options.page,
        )
        self._stores, self._options = stores, options
        self._shutdown_state = options.shutdown_state
        self._ledger = stores.ledger
        self._switch = stores.switch
        self._limits = TurnLimits(stores.sessions)
        self._async_output = AsyncOutput(stores.sessions)
        self._scopes = SkillScopes(stores.sessions)
        self._reports = CallReports()
        self._executor: HookExecutor | None = None
        self._responder = Responder(
            records=records or stores.journal,
            listener=listener,
            limits=self._limits,
            scopes=self._scopes,
            reports=self._reports,
            offline=options.offline,
            notes=options.notes,
        )
        self._ancestry = HookAncestry(os.getpid())
        self._listener = listener
        self._workers = workers

    def executor(self) -> HookExecutor:
        """Returns the HookExecutor. The first call imports it: most events without the tray run no hook."""
        if self._executor is None:
            from tray.engine.execute import HookExecutor

            self._executor = HookExecutor(
                switch=self._switch,
                copies=self._stores.copies,
                settings=self._options.settings,
                limits=self._limits,
                async_output=self._async_output,
                listener=self._listener,
                background=self._options.background,
                shutdown_state=self._shutdown_state,
                runs=self._stores.runs,
            )
        return self._executor

    def begin(
        self, request: RelayRequest, caller: EventCaller = NO_CALLER, elapsed: float = 0.0
    ) -> EngineResponse | Execution:
        """Returns the answer if no process has to run for it, else the execution that leads to it.

        The caller has waited for `elapsed` seconds. The engine acknowledges it if patterns take long, and defers
        to it the work that can follow the answer.
        """
        started = time.monotonic() - elapsed
        ledger = self._ledger.state  # one for the whole event: the row names the version that it was judged by
        event, foreign = receive(request, ledger.version)
        if foreign is not None:
            return self._responder.respond_unsupported(event, foreign, started, caller)
        first = self._reports.earlier(event)
        if first is not None:
            if event.spec.observe_only:
                return neutral(event.sender, event.name, event.body)
            return RepeatedCall(self, event, first, ledger, started)
        if event.kind in BOUNDARIES:
            self._limits.begin(event)
        return self._judge(event, ledger, started, caller)

    def repeat(self, call: RepeatedCall, hangup: Hangup | None) -> EngineResponse:
        """Returns the answer by the decision of the first report; without one the call is judged again."""
        event = call.event
        decision = self._reports.wait(call.first, call.started + event.spec.deadline - time.monotonic())
        if decision is not None:
            return self._responder.render_again(event, decision)
        judged = self._judge(event, call.ledger, call.started, NO_CALLER)
        return judged.run(hangup) if isinstance(judged, Execution) else judged

    def _judge(
        self, event: Event, ledger: LedgerState, started: float, caller: EventCaller
    ) -> EngineResponse | Execution:
        own: Outcome | None = None
        try:
            own = self._own_outcome(event)
            if own is not None and own.output.verdict is Verdict.DENY:  # hooks and the switch cannot change it
                self._listener.arrived(event, answered=False)
                return self._responder.respond(event, fit(event, merge([own])), started)
            switch, switch_gate = self._switch.current, None
            if switch.pauses or not switch.enabled:
                switch_gate = self._switch.gate(time.time(), event.session, event.agent)
            if switch_gate is not None and own is None and event.kind not in ANCESTRY_KINDS:
                return self._answer_off(event, ledger, switch_gate, started, caller)
            hooks = plan(event, ledger, self._switch, self._scopes, caller)
            is_asked = (hooks and switch_gate is None) or event.kind in ANCESTRY_KINDS
            if is_asked and (found := self._ancestry.descent(event.pid)):  # now, while the relay still lives
                place = self._stores.runs.find(found, self._options.background)
                event = replace(event, above=place.above, depth=place.depth) if place.depth else event
            observed = bool(hooks) and event.spec.observe_only
            if self._options.questions.pending:
                self._options.questions.observe(event)
            self._listener.arrived(event, answered=observed)
            if not hooks or switch_gate is not None:
                outcomes = [skipped(one.hook, switch_gate) for one in hooks] if switch_gate is not None else []
                decision = self._decision(event, [own, *outcomes] if own else outcomes)
                if decision.ask_user:
                    return self._ask(event, decision, started, (), ())
                return self._responder.respond(event, decision, started, caller)
            if observed:
                caller.defer(partial(self._start, event, hooks, started), soon=True)
                return neutral(event.sender, event.name, event.body)
            awaited, beside = split_async(hooks)
            execution = HookExecution(self, event, ledger, own, awaited, beside, started, caller)
            for one in awaited:
                if one.hook.enabled and not isinstance(one.hook.action, Rule):
                    return execution  # it may block, which a thread that accepts connections must not
            return execution.run(None)
        except Exception as error:  # noqa: BLE001 - our own failure lets no event past its guards
            return self._fail(event, ledger, started, error, own)

    def execute(self, execution: HookExecution, hangup: Hangup | None) -> EngineResponse:
        """Returns the answer of the awaited hooks, and then starts those beside it."""
        event, own, awaited, started = execution.event, execution.own, execution.awaited, execution.started
        began = time.monotonic()
        try:
            deadline = started + event.spec.deadline
            outcomes = self.executor().run(event, awaited, deadline, hangup, None)
            # The hook's failure policy must not decide if the quitting tray kept it from its verdict. A session that
            # ends may end hooks itself, so a failure while the tray quits may not be the hook's own.
            if self._shutdown_state.begun and any(
                outcome.cause == CANCELLED or outcome.status is Status.FAILED for outcome in outcomes
            ):
                self._hand_back(event, awaited, outcomes, started)
                return None
            times = (began, time.monotonic())
            decision = self._decision(event, [own, *outcomes] if own else outcomes, times)
            if decision.ask_user:
                response = self._ask(event, decision, started, awaited, outcomes)
            else:
                response = self._responder.respond(event, decision, started, execution.caller)
        except Exception as error:  # noqa: BLE001 - the same
            return self._fail(event, execution.ledger, started, error, own)
        if execution.beside:  # no answer waits for them: their outcomes get a row of their own
            event = replace(event, id=os.urandom(16).hex(), answered=True)
            self._start(event, execution.beside, time.monotonic())
        return response

    def _fail(
        self, event: Event, ledger: LedgerState, started: float, error: Exception, own: Outcome | None
    ) -> Answer:
        """Answer as for an event that cannot be read: hooks have failed, `failure: block` blocks; `own` counts."""
        log.exception("%s of %s could not be judged", event.name, event.agent)
        event = replace(event, problem=event.problem or f"internal error: {type(error).__name__}")
        hooks = plan(event, ledger, self._switch, self._scopes)
        failed = self.executor().fail_busy(event, hooks)
        return self._responder.respond(event, fit(event, merge([own, *failed] if own else failed)), started)

    def _answer_off(
        self, event: Event, ledger: LedgerState, switch_gate: Gate, started: float, caller: EventCaller
    ) -> Answer:
        """Hooks are off: answer neutrally; matching hooks are looked up only for the journal."""
        if self._options.questions.pending:
            self._options.questions.observe(event)
        self._listener.arrived(event, answered=False)
        decision = self._limits.apply_cap(event, NO_OPINION) if event.kind in CAPPED_KINDS else NO_OPINION
        stopped = SkippedHooks(ledger, self._switch, self._scopes, switch_gate)
        return self._responder.respond(event, decision, started, caller, stopped)

    def _start(self, event: Event, hooks: Sequence[ApprovedHook], started: float) -> None:
        """Run hooks that no answer waits for; if too many run, record them as failed."""
        if not self._workers.spawn(partial(self._observe, event, hooks)):
            self._responder.respond(event, self._fail_busy(event, hooks), started)

    def observe(self, event: Event) -> None:
        """Run the hooks of an event that no relay sent; no agent waits for an answer."""
        ledger = self._ledger.state
        event = replace(event, ledger=ledger.version)
        hooks = plan(event, ledger, self._switch, self._scopes)
        self._start(event, hooks, time.monotonic())

    def _observe(self, event: Event, hooks: Sequence[ApprovedHook]) -> None:
        """Run the hooks under their own time-outs and record the decision; the agent gets no answer."""
        started = time.monotonic()
        decision = self.decide(event, hooks, started + 86400.0, self._options.stop_signal)
        self._responder.respond(event, decision, started)

    def decide(
        self,
        event: Event,
        hooks: Sequence[ApprovedHook],
        deadline: float,
        hangup: Hangup | None,
        own: Outcome | None = None,
    ) -> Decision:
        """Run the hooks and merge their outcomes into a decision that the event can carry; `own` comes first."""
        began = time.monotonic()
        switch_gate = self._switch.gate(time.time(), event.session, event.agent)
        outcomes = self.executor().run(event, hooks, deadline, hangup, switch_gate)
        return self._decision(event, [own, *outcomes] if own else outcomes, (began, time.monotonic()))

    def _hand_back(
        self, event: Event, hooks: Sequence[ApprovedHook], outcomes: Sequence[Outcome], started: float
    ) -> None:
        """Give no answer: the one-shot engine judges this event again."""
        is_gone = any(outcome.cause == CANCELLED for outcome in outcomes) and not self._shutdown_state.must_end_hooks
        self.executor().undo(event, hooks, outcomes)
        self._responder.hand_back(event, outcomes, started, is_gone=is_gone)

    def _decision(
        self, event: Event, outcomes: list[Outcome], hook_times: tuple[float, float] | None = None
    ) -> Decision:
        """Merge the outcomes with output that came too late for an earlier event, and cap refusals in a row."""
        if event.answered:
            decision = merge(outcomes, hook_times)
            adjustments = (*decision.adjustments, RAN_BESIDE)
            return replace(decision, verdict=Verdict.ABSTAIN, reason="", adjustments=adjustments)
        is_clear = self._stores.sessions.empty  # no session has any state, so no output waits
        if is_clear and not (outcomes or hook_times) and event.kind in FREQUENT_KINDS:
            return NO_OPINION  # most events: none of these is a question or an end
        if not is_clear and all(outcome.cause != CANCELLED for outcome in outcomes) and self._is_on(event):
            outcomes = [*outcomes, *self._async_output.take(event)]
        decision = merge(outcomes, hook_times) if outcomes or hook_times else NO_OPINION
        if event.depth > MAX_DEPTH and outcomes:
            note = f"the event comes from below {event.depth} hooks: only rules are asked there"
            decision = replace(decision, adjustments=(*decision.adjustments, note))
        may_ask = decision.verdict is Verdict.ASK or event.kind in ASKING_KINDS
        if may_ask and self._options.questions.should_ask(event, decision) and self._is_on(event):
            return replace(decision, verdict=Verdict.ASK, ask_user=True)
        if outcomes:
            decision = fit(event, decision)
        return self._limits.apply_cap(event, decision) if event.kind in CAPPED_KINDS else decision

    def _is_on(self, event: Event) -> bool:
        """Whether this event's hooks may run now: neither the switch nor a pause stops them."""
        return self._switch.gate(time.time(), event.session, event.agent) is None

    def _ask(
        self,
        event: Event,
        decision: Decision,
        started: float,
        hooks: Sequence[ApprovedHook],
        outcomes: Sequence[Outcome],
    ) -> EngineResponse:
        """The pending question to the user. While the tray quits it asks no question."""
        if self._shutdown_state.begun:
            self._hand_back(event, hooks, outcomes, started)
            return None
        left = started + event.spec.deadline - time.monotonic()
        return EngineQuestion(
            question=UserQuestion(id=os.urandom(16).hex(), event=event, decision=decision, form=form(event)),
            timeout=min(self._options.questions.seconds, left),
            questions=self._options.questions,
            engine=self,
            started=started,
            hooks=hooks,
            outcomes=outcomes,
        )

    def answer_question(self, asked: EngineQuestion) -> Answer | None:
        """Returns the answer by the result of the question; None if the tray quits."""
        event = asked.question.event
        if asked.result.resolution is Resolution.QUIT:
            self._hand_back(event, asked.hooks, asked.outcomes, asked.started)
            return None
        decision = fit(event, apply_result(event, asked.question.decision, asked.result))
        if event.kind in CAPPED_KINDS:
            decision = self._limits.apply_cap(event, decision)
        return self._responder.respond(event, decision, asked.started)

    def trial(self, event: Event, approved: ApprovedHook) -> Outcome:
        """One hook's turn on an event that did not happen, through the same gates; nothing is announced.

        The end of the tray cancels it.
        """
        limit = approved.hook.timeout + 5 if event.spec.observe_only else event.spec.deadline
        approved = apply_switch(approved, self._switch)
        return self.executor().run_one(event, approved, time.monotonic() + limit, self._options.stop_signal)

    def plan(self, event: Event) -> tuple[ApprovedHook, ...]:
        """Returns the hooks in force that this event asks."""
        return plan(event, self._ledger.state, self._switch, self._scopes)

    def rehearse(self, event: Event, hooks: Sequence[ApprovedHook]) -> Decision:
        """Returns the decision of these hooks; nothing is announced, nothing is recorded."""
        deadline = time.monotonic() + event.spec.deadline
        return self.decide(event, hooks, deadline, self._options.stop_signal, self._own_outcome(event))

    def answer_busy(self, request: RelayRequest) -> Answer:
        """Too many events at once: rules still count, a hook that needs a process has failed."""
        started = time.monotonic()
        ledger = self._ledger.state
        event, foreign = receive(request, ledger.version)
        if foreign is not None:
            return self._responder.respond_unsupported(event, foreign, started, NO_CALLER)
        if event.kind in BOUNDARIES:
            self._limits.begin(event)
        hooks = plan(event, ledger, self._switch, self._scopes)
        decision = self._fail_busy(event, hooks, self._own_outcome(event))
        return self._responder.respond(event, fit(event, decision), started)

    def _own_outcome(self, event: Event) -> Outcome | None:
        """Our own outcome: the answer to a typed command, else the stricter one of protection and lost approvals."""
        typed = answer_command(event, self._options.slash_commands) if event.kind in TYPED_COMMAND_KINDS else None
        if typed is not None:
            return typed
        own = self._protection.judge(event) if event.tool is not None and event.kind in PROTECTED_KINDS else None
        lost = self._options.lost.judge(event) if self._options.lost.guards else None
        if own is None or lost is None:
            return own or lost
        return lost if lost.output.verdict > own.output.verdict else own

    def _fail_busy(self, event: Event, hooks: Sequence[ApprovedHook], own: Outcome | None = None) -> Decision:
        busy = self.executor().fail_busy(event, hooks)
        return self._decision(event, [own, *busy] if own else busy)
