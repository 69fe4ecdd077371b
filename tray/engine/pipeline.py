"""From event to answer: plan, gates, execution, merge, fit. Read `decide` first."""

from __future__ import annotations

import logging
import os
import time
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

from tray.agents.agent import Payload
from tray.agents.protocol import fit, neutral, parse_payload, spec
from tray.agents.recognition import RecognisedCaller, recognise
from tray.approvals.callers.ancestry import HookAncestry
from tray.engine.execute import AsyncOutput, HookExecutor
from tray.engine.gates import MAX_DEPTH, TurnLimits, apply_switch, may_block
from tray.engine.jobs import JobBuilder
from tray.engine.merge import merge
from tray.engine.own_answers import LostApprovals, answer_command
from tray.engine.parse_event import parse_event
from tray.engine.plan import plan, split_async
from tray.engine.ports import FREQUENT_KINDS, Defer, EngineListener, EngineOptions, EngineState, Spawn, run_now
from tray.engine.reports import CallReport, CallReports
from tray.engine.respond import Responder
from tray.engine.scopes import SkillScopes
from tray.engine.user_questions import (
    ASKING_KINDS,
    EngineResponse,
    QuestionResult,
    Resolution,
    apply_result,
)
from tray.execution.process import CANCELLED
from tray.lazy_dataclass import replace
from tray.model.decision import NO_OPINION, Answer, Decision, Gate, Outcome, Status, Verdict
from tray.model.event import Event, EventKind, RelayRequest
from tray.model.hook import Hook
from tray.protection.self_protection import Protection
from tray.store.ledger import ApprovedHook, LedgerState

if TYPE_CHECKING:
    from tray.execution.command import Hangup

ANCESTRY_KINDS = ASKING_KINDS | {EventKind.ROUND_END}  # may have an effect without any hook

log = logging.getLogger(__name__)


class Engine:
    """Judges events by the approved hooks. `spawn` runs work whose answer has left; False when it takes no more."""

    def __init__(self, state: EngineState, listener: EngineListener, spawn: Spawn, options: EngineOptions) -> None:
        self._lost = LostApprovals(options.lost_guards)
        self._protection = Protection(
            protected_paths=state.protected_paths, exceptions=options.exceptions, page=options.page
        )
        self._command_answers = options.command_answers
        self._questions = options.questions
        self._stop_signal = options.stop_signal
        self._shutdown_state = options.shutdown_state
        self._background = options.background
        self._ledger = state.ledger
        self._switch = state.switch
        self._runs = state.runs
        self._limits = TurnLimits(state.sessions)
        self._async_output = AsyncOutput(state.sessions)
        self._scopes = SkillScopes(state.sessions)
        self._reports = CallReports()
        self._executor = HookExecutor(
            switch=state.switch,
            builder=JobBuilder(state.copies, options.llm, state.runs),
            limits=self._limits,
            async_output=self._async_output,
            listener=listener,
            background=options.background,
            shutdown_state=options.shutdown_state,
            runs=state.runs,
        )
        self._responder = Responder(
            records=state.records,
            listener=listener,
            limits=self._limits,
            scopes=self._scopes,
            reports=self._reports,
            offline=options.offline,
            note=options.note,
        )
        self._ancestry = HookAncestry(os.getpid())
        self._listener = listener
        self._spawn = spawn

    def begin(
        self,
        request: RelayRequest,
        elapsed: float = 0.0,
        *,
        defer: Defer = run_now,
        on_slow: Callable[[], object] = lambda: None,
    ) -> EngineResponse | Callable[[Hangup | None], EngineResponse]:
        """The answer at once when no process has to run for it, else the work that leads to it.

        What need not be recorded before the answer leaves is left to `defer`. `on_slow` is called for an event whose
        patterns take their time.
        """
        started = time.monotonic() - elapsed
        ledger = self._ledger.state  # one for the whole event: the row names the version that it was judged by
        request, payload, caller = _recognise(request)
        if caller is not None:
            return self._responder.respond_unsupported(request, caller, payload, ledger.version, started, defer)
        event = parse_event(request, ledger.version, payload)
        first = self._reports.earlier(event)
        if first is not None:
            return self._repeat(event, first, ledger, started)
        self._limits.begin(event)
        return self._judge(event, ledger, started, defer, on_slow)

    def _repeat(
        self, event: Event, first: CallReport, ledger: LedgerState, started: float
    ) -> EngineResponse | Callable[[Hangup | None], EngineResponse]:
        """The answer to a call that another line of ours has reported: the same decision, without a second row."""
        event_spec = spec(event.agent, event.name)
        if event_spec.observe_only:
            return neutral(event.agent, event.name, event.body)

        def answer(hangup: Hangup | None) -> EngineResponse:
            decision = first.wait(started + event_spec.deadline - time.monotonic())
            if decision is not None:
                return self._responder.render_again(event, decision)
            judged = self._judge(event, ledger, started, run_now, lambda: None)
            return judged(hangup) if callable(judged) else judged

        return answer

    def _judge(
        self, event: Event, ledger: LedgerState, started: float, defer: Defer, on_slow: Callable[[], object]
    ) -> EngineResponse | Callable[[Hangup | None], EngineResponse]:
        try:
            return self._dispatch(event, ledger, started, defer, on_slow)
        except Exception as error:  # noqa: BLE001 - ours: an event that we fail on has not got past its guards
            return self._fail(event, ledger, started, error)

    def _dispatch(
        self, event: Event, ledger: LedgerState, started: float, defer: Defer, on_slow: Callable[[], object]
    ) -> EngineResponse | Callable[[Hangup | None], EngineResponse]:
        own = self._own_outcome(event)
        if own is not None and own.output.verdict is Verdict.DENY:  # whatever hooks and the switch say
            self._listener.arrived(event, answered=False)
            return self._responder.respond(event, fit(event, merge([own])), started)
        switch_gate = self._executor.gate(event)
        if switch_gate is not None and own is None and event.kind not in ANCESTRY_KINDS:
            return self._answer_off(event, ledger, switch_gate, started, defer)
        hooks = self._plan(event, ledger, on_slow)
        asked = (hooks and switch_gate is None) or event.kind in ANCESTRY_KINDS
        if asked:
            event = self._with_place(event)  # now, while the relay still lives
        observed = bool(hooks) and spec(event.agent, event.name).observe_only
        self._questions.observe(event)
        self._listener.arrived(event, answered=observed)
        if not hooks or switch_gate is not None:
            skipped = self._executor.skip_all(hooks, switch_gate) if switch_gate is not None else []
            decision = self._decision(event, [own, *skipped] if own else skipped)
            return self._ask(event, decision, started, defer, lambda: self._hand_back(event, (), (), started))
        if observed:
            defer(lambda: self._start_observers(event, hooks, started), soon=True)
            return neutral(event.agent, event.name, event.body)
        awaited, beside = split_async(hooks)
        deadline = started + spec(event.agent, event.name).deadline

        def answer(hangup: Hangup | None) -> EngineResponse:
            began = time.monotonic()
            try:
                outcomes = self._executor.run(event, awaited, deadline, hangup, switch_gate)

                def hand_back() -> None:
                    self._hand_back(event, awaited, outcomes, started)

                if self._is_interrupted(outcomes):
                    hand_back()
                    return None
                times = (began, time.monotonic())
                decision = self._decision(event, [own, *outcomes] if own else outcomes, times)
                response = self._ask(event, decision, started, defer, hand_back)
            except Exception as error:  # noqa: BLE001 - the same
                return self._fail(event, ledger, started, error)
            if beside:
                self._start_async(event, beside)
            return response

        return answer if any(may_block(one.hook, switch_gate) for one in awaited) else answer(None)

    def _with_place(self, event: Event) -> Event:
        """The event with the hooks from which its relay descends."""
        descent = self._ancestry.descent(event.pid)
        if descent is None:
            return event
        place = self._runs.find(
            descent.chain, is_below_one_shot=descent.is_below_one_shot, background=self._background
        )
        return replace(event, above=place.above, depth=place.depth) if place.depth else event

    def _fail(self, event: Event, ledger: LedgerState, started: float, error: Exception) -> Answer:
        """As with an event that cannot be read: its hooks have failed, and `failure: block` blocks."""
        log.exception("%s of %s could not be judged", event.name, event.agent)
        event = replace(event, problem=event.problem or f"internal error: {type(error).__name__}")
        decision = merge(self._executor.fail_busy(event, self._plan(event, ledger)))
        return self._responder.respond(event, fit(event, decision), started)

    def _answer_off(
        self, event: Event, ledger: LedgerState, switch_gate: Gate, started: float, defer: Defer
    ) -> Answer:
        """Hooks are off: answer neutrally; matching hooks are looked up only for the journal."""
        self._questions.observe(event)
        self._listener.arrived(event, answered=False)
        decision = self._limits.apply_cap(event, NO_OPINION)
        return self._responder.respond(event, decision, started, defer, self._gated(ledger, switch_gate))

    def _gated(self, ledger: LedgerState, gate: Gate) -> Callable[[Event], Decision]:
        """The decision on an event whose hooks a gate keeps from running: looked up once it is answered."""
        return lambda event: merge(self._executor.skip_all(self._plan(event, ledger), gate))

    def _start_observers(self, event: Event, hooks: Sequence[ApprovedHook], started: float) -> None:
        """It is answered already; the hooks have their turn, unless there are too many of them at it."""
        if not self._spawn(lambda: self._observe(event, hooks)):
            self._responder.respond(event, self._fail_busy(event, hooks), started)

    def _start_async(self, event: Event, hooks: Sequence[ApprovedHook]) -> None:
        """Hooks that no answer waits for: a row of their own records what came out."""
        event = replace(event, id=os.urandom(16).hex(), answered=True)
        if not self._spawn(lambda: self._observe(event, hooks)):
            self._responder.respond(event, self._fail_busy(event, hooks), time.monotonic())

    def observe(self, event: Event) -> None:
        """An event that no relay brought: nobody waits for it, and its hooks have their turn."""
        ledger = self._ledger.state
        event = replace(event, ledger=ledger.version)
        self._start_observers(event, self._plan(event, ledger), time.monotonic())

    def _observe(self, event: Event, hooks: Sequence[ApprovedHook]) -> None:
        """Hooks run under their own time-outs, nothing is answered."""
        started = time.monotonic()
        self._responder.respond(event, self.decide(event, hooks, started + 86400.0, self._stop_signal), started)

    def decide(
        self,
        event: Event,
        hooks: Sequence[ApprovedHook],
        deadline: float,
        hangup: Hangup | None,
        own: Outcome | None = None,
    ) -> Decision:
        """The one merged decision, made such that this event can carry it back to its agent; `own` speaks first."""
        began = time.monotonic()
        outcomes = self._executor.run(event, hooks, deadline, hangup, self._executor.gate(event))
        return self._decision(event, [own, *outcomes] if own else outcomes, (began, time.monotonic()))

    def _is_interrupted(self, outcomes: Sequence[Outcome]) -> bool:
        """Whether the end of the tray kept a hook from its verdict: its failure policy must not decide then.

        A session that ends may end hooks by itself, so a hook that fails while the tray quits proves nothing.
        """
        if not self._shutdown_state.begun:
            return False
        return any(outcome.cause == CANCELLED or outcome.status is Status.FAILED for outcome in outcomes)

    def _hand_back(
        self, event: Event, hooks: Sequence[ApprovedHook], outcomes: Sequence[Outcome], started: float
    ) -> None:
        """No answer: the one-shot engine judges this event anew."""
        is_gone = any(outcome.cause == CANCELLED for outcome in outcomes) and not self._shutdown_state.must_end_hooks
        self._executor.undo(event, hooks, outcomes)
        self._responder.hand_back(event, outcomes, started, is_gone=is_gone)

    def _decision(
        self, event: Event, outcomes: list[Outcome], hook_times: tuple[float, float] | None = None
    ) -> Decision:
        """Merged with the output that came too late for an earlier event, and without endless refusals."""
        if event.answered:
            decision = merge(outcomes, hook_times)
            adjustments = (*decision.adjustments, "ran beside the answer, which was given without waiting")
            return replace(decision, verdict=Verdict.ABSTAIN, reason="", adjustments=adjustments)
        if not (outcomes or hook_times) and event.kind in FREQUENT_KINDS and self._async_output.is_empty:
            return NO_OPINION  # by far the most: none of these is a question or an end
        waits = not self._async_output.is_empty and all(outcome.cause != CANCELLED for outcome in outcomes)
        if waits and self._executor.gate(event) is None:
            outcomes = [*outcomes, *self._async_output.take(event)]
        decision = merge(outcomes, hook_times) if outcomes or hook_times else NO_OPINION
        if event.depth > MAX_DEPTH and outcomes:
            note = f"the event comes from below {event.depth} hooks: only rules are asked there"
            decision = replace(decision, adjustments=(*decision.adjustments, note))
        if self._questions.should_ask(event, decision) and self._executor.gate(event) is None:
            return replace(decision, verdict=Verdict.ASK, ask_user=True)
        return self._limits.apply_cap(event, fit(event, decision) if outcomes else decision)

    def _ask(
        self, event: Event, decision: Decision, started: float, defer: Defer, hand_back: Callable[[], None]
    ) -> EngineResponse:
        """The answer, or the pending question to the user. Once the tray quits, nobody is asked."""
        if not decision.ask_user:
            return self._responder.respond(event, decision, started, defer)
        if self._shutdown_state.begun:
            hand_back()
            return None

        def finish(result: QuestionResult) -> Answer | None:
            if result.resolution is Resolution.QUIT:
                hand_back()
                return None
            decided = self._limits.apply_cap(event, fit(event, apply_result(event, decision, result)))
            return self._responder.respond(event, decided, started)

        left = started + spec(event.agent, event.name).deadline - time.monotonic()
        return self._questions.make_pending(event, decision, left, finish)

    def trial(self, event: Event, approved: ApprovedHook) -> Outcome:
        """One hook's turn on an event that did not happen, through the same gates; nothing is announced.

        The end of the tray cancels it.
        """
        event_spec = spec(event.agent, event.name)
        limit = approved.hook.timeout + 5 if event_spec.observe_only else event_spec.deadline
        approved = apply_switch(approved, self._switch)
        return self._executor.run_one(event, approved, time.monotonic() + limit, self._stop_signal)

    def rehearse(self, event: Event, wanted: Callable[[Hook], bool]) -> Decision:
        """The decision of the hooks in force that are `wanted`; nothing is announced, nothing is recorded."""
        hooks = [one for one in self._plan(event, self._ledger.state) if wanted(one.hook)]
        deadline = time.monotonic() + spec(event.agent, event.name).deadline
        return self.decide(event, hooks, deadline, self._stop_signal, self._own_outcome(event))

    def answer_busy(self, request: RelayRequest) -> Answer:
        """Too many events at once: rules still count, a hook that needs a process has failed."""
        started = time.monotonic()
        ledger = self._ledger.state
        request, payload, caller = _recognise(request)
        if caller is not None:
            return self._responder.respond_unsupported(request, caller, payload, ledger.version, started, run_now)
        event = parse_event(request, ledger.version, payload)
        self._limits.begin(event)
        own = self._own_outcome(event)
        decision = self._fail_busy(event, self._plan(event, ledger), own)
        return self._responder.respond(event, fit(event, decision), started)

    def _own_outcome(self, event: Event) -> Outcome | None:
        """Our own answer, before any hook is asked."""
        own = answer_command(event, self._command_answers)
        found = [own] if own else [self._protection.judge(event), self._lost.judge(event)]
        return max(filter(None, found), key=lambda one: one.output.verdict, default=None)

    def _fail_busy(self, event: Event, hooks: Sequence[ApprovedHook], own: Outcome | None = None) -> Decision:
        busy = self._executor.fail_busy(event, hooks)
        return self._decision(event, [own, *busy] if own else busy)

    def _plan(
        self, event: Event, ledger: LedgerState, on_slow: Callable[[], object] = lambda: None
    ) -> tuple[ApprovedHook, ...]:
        """The hooks that are asked; `on_slow` is called when to find them takes long."""
        hooks = plan(event, ledger, self._scopes.skills, on_slow)
        if not hooks:
            return ()
        agent, switch = event.agent, self._switch
        return tuple(apply_switch(one, switch) for one in hooks if not switch.is_run_by(agent, one.hook))


def _recognise(request: RelayRequest) -> tuple[RelayRequest, Payload | None, RecognisedCaller | None]:
    """The request under its sender's own name, the payload if readable, the sender if no hook is asked about it.

    A plain event's text is a person's or a model's own: nothing in it counts as a mark.
    """
    if request.problem:
        return request, None, None
    try:
        payload = parse_payload(request)
    except ValueError:
        return request, None, None
    if spec(request.agent, request.event).plain:
        return request, payload, None
    caller = recognise(request.agent, request.event, payload, request.environment)
    if caller is not None and caller.skip_reason is None:
        return replace(request, agent=caller.agent, event=caller.event, via_agent=request.agent), payload, None
    return request, payload, caller
