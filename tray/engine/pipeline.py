"""From request to answer: receive, plan, gates, execute, merge, fit, respond. Read `begin` and `_judge` first."""

from __future__ import annotations

import logging
import os
import time
from collections.abc import Callable, Sequence
from functools import partial
from typing import TYPE_CHECKING

from msgspec.structs import replace

from tray.agents.protocol import fit, neutral
from tray.engine.async_output import AsyncOutput
from tray.engine.gates import BOUNDARIES, CAPPED_KINDS, MAX_DEPTH, TurnLimits, apply_switch
from tray.engine.merge import merge, skipped
from tray.engine.own_answers import TYPED_COMMAND_KINDS, answer_command
from tray.engine.plan import plan, split_async
from tray.engine.ports import FREQUENT_KINDS, Defer, EngineListener, EngineOptions, EngineState, Spawn, run_now
from tray.engine.receive import CallReport, CallReports, receive
from tray.engine.respond import Responder
from tray.engine.scopes import SkillScopes
from tray.engine.user_questions import ASKING_KINDS, EngineResponse, QuestionResult, Resolution, apply_result
from tray.execution.ancestry import descent
from tray.execution.hook_runs import Descent, HookAncestry
from tray.execution.process import CANCELLED
from tray.model.decision import NO_OPINION, RAN_BESIDE, Answer, Decision, Gate, Outcome, Status, Verdict
from tray.model.event import Event, EventKind, RelayRequest
from tray.model.hook import Hook, Rule
from tray.protection.self_protection import KINDS as PROTECTED_KINDS
from tray.protection.self_protection import Protection
from tray.store.ledger import ApprovedHook, LedgerState

if TYPE_CHECKING:
    from tray.engine.execute import HookExecutor
    from tray.execution.command import Hangup

ANCESTRY_KINDS = ASKING_KINDS | {EventKind.ROUND_END}  # may have an effect without any hook

log = logging.getLogger(__name__)


class Engine:
    """Judges events by the approved hooks. `spawn` runs work after its answer has left; False if it takes no more."""

    def __init__(self, state: EngineState, listener: EngineListener, spawn: Spawn, options: EngineOptions) -> None:
        self._lost = options.lost
        self._protection = Protection(
            protected_paths=state.protected_paths,
            exceptions=options.exceptions,
            guards=lambda: state.ledger.state.uncovered,
            page=options.page,
        )
        self._command_answers = options.command_answers
        self._questions = options.questions
        self._stop_signal = options.stop_signal
        self._shutdown_state = options.shutdown_state
        self._background = options.background
        self._ledger = state.ledger
        self._switch = state.switch
        self._runs = state.runs
        self._sessions = state.sessions
        self._limits = TurnLimits(state.sessions)
        self._async_output = AsyncOutput(state.sessions)
        self._scopes = SkillScopes(state.sessions)
        self._reports = CallReports()
        self._copies, self._llm = state.copies, options.llm
        self._executor: HookExecutor | None = None
        self._responder = Responder(
            records=state.records,
            listener=listener,
            limits=self._limits,
            scopes=self._scopes,
            reports=self._reports,
            offline=options.offline,
            note=options.note,
        )
        self._ancestry = HookAncestry(partial(descent, own=os.getpid()))
        self._listener = listener
        self._spawn = spawn

    def executor(self) -> HookExecutor:
        """Returns the HookExecutor. The first call imports it: most events without the tray run no hook."""
        if self._executor is None:
            from tray.engine.execute import HookExecutor

            self._executor = HookExecutor(
                switch=self._switch,
                copies=self._copies,
                llm=self._llm,
                limits=self._limits,
                async_output=self._async_output,
                listener=self._listener,
                background=self._background,
                shutdown_state=self._shutdown_state,
                runs=self._runs,
            )
        return self._executor

    def begin(
        self,
        request: RelayRequest,
        elapsed: float = 0.0,
        *,
        defer: Defer = run_now,
        on_slow: Callable[[], object] = lambda: None,
    ) -> EngineResponse | Callable[[Hangup | None], EngineResponse]:
        """The answer if no process has to run for it, else the work that leads to it.

        `defer` gets what may be recorded after the answer has left. `on_slow` is called when patterns take long.
        """
        started = time.monotonic() - elapsed
        ledger = self._ledger.state  # one for the whole event: the row names the version that it was judged by
        event, foreign = receive(request, ledger.version)
        if foreign is not None:
            return self._responder.respond_unsupported(event, foreign, started, defer)
        first = self._reports.earlier(event)
        if first is not None:
            return self._repeat(event, first, ledger, started)
        if event.kind in BOUNDARIES:
            self._limits.begin(event)
        return self._judge(event, ledger, started, defer, on_slow)

    def _repeat(
        self, event: Event, first: CallReport, ledger: LedgerState, started: float
    ) -> EngineResponse | Callable[[Hangup | None], EngineResponse]:
        """The answer to a call that another line of ours has reported: the same decision, without a second row."""
        if event.spec.observe_only:
            return neutral(event.sender, event.name, event.body)

        def answer(hangup: Hangup | None) -> EngineResponse:
            decision = self._reports.wait(first, started + event.spec.deadline - time.monotonic())
            if decision is not None:
                return self._responder.render_again(event, decision)
            judged = self._judge(event, ledger, started, run_now, lambda: None)
            return judged(hangup) if callable(judged) else judged

        return answer

    def _judge(
        self, event: Event, ledger: LedgerState, started: float, defer: Defer, on_slow: Callable[[], object]
    ) -> EngineResponse | Callable[[Hangup | None], EngineResponse]:
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
                return self._answer_off(event, ledger, switch_gate, started, defer)
            hooks = plan(event, ledger, self._switch, self._scopes.skills, on_slow)
            if (hooks and switch_gate is None) or event.kind in ANCESTRY_KINDS:
                found = self._ancestry.descent(event.pid)  # now, while the relay still lives
                event = event if found is None else self._with_place(event, found)
            observed = bool(hooks) and event.spec.observe_only
            if self._questions.pending:
                self._questions.observe(event)
            self._listener.arrived(event, answered=observed)
            if not hooks or switch_gate is not None:
                outcomes = [skipped(one.hook, switch_gate) for one in hooks] if switch_gate is not None else []
                decision = self._decision(event, [own, *outcomes] if own else outcomes)
                if decision.ask_user:
                    return self._ask(event, decision, started, (), ())
                return self._responder.respond(event, decision, started, defer)
            if observed:
                defer(lambda: self._start_observers(event, hooks, started), soon=True)
                return neutral(event.sender, event.name, event.body)
            awaited, beside = split_async(hooks)
            run = partial(self._run_hooks, event, ledger, own, awaited, beside, started, defer)
            for one in awaited:
                if one.hook.enabled and not isinstance(one.hook.action, Rule):
                    return run  # it may block, which a thread that accepts connections must not
            return run(None)
        except Exception as error:  # noqa: BLE001 - our own failure lets no event past its guards
            return self._fail(event, ledger, started, error, own)

    def _run_hooks(
        self,
        event: Event,
        ledger: LedgerState,
        own: Outcome | None,
        awaited: Sequence[ApprovedHook],
        beside: Sequence[ApprovedHook],
        started: float,
        defer: Defer,
        hangup: Hangup | None,
    ) -> EngineResponse:
        """The answer of the `awaited` hooks; the hooks `beside` it start once it is there."""
        began = time.monotonic()
        try:
            deadline = started + event.spec.deadline
            outcomes = self.executor().run(event, awaited, deadline, hangup, None)
            if self._shutdown_state.begun and _is_interrupted(outcomes):
                self._hand_back(event, awaited, outcomes, started)
                return None
            times = (began, time.monotonic())
            decision = self._decision(event, [own, *outcomes] if own else outcomes, times)
            if decision.ask_user:
                response = self._ask(event, decision, started, awaited, outcomes)
            else:
                response = self._responder.respond(event, decision, started, defer)
        except Exception as error:  # noqa: BLE001 - the same
            return self._fail(event, ledger, started, error, own)
        if beside:
            self._start_async(event, beside)
        return response

    def _with_place(self, event: Event, found: Descent) -> Event:
        """The event with the hooks from which its relay descends."""
        place = self._runs.find(found.chain, is_below_one_shot=found.is_below_one_shot, background=self._background)
        return replace(event, above=place.above, depth=place.depth) if place.depth else event

    def _fail(
        self, event: Event, ledger: LedgerState, started: float, error: Exception, own: Outcome | None
    ) -> Answer:
        """Answer as for an event that cannot be read: hooks have failed, `failure: block` blocks; `own` counts."""
        log.exception("%s of %s could not be judged", event.name, event.agent)
        event = replace(event, problem=event.problem or f"internal error: {type(error).__name__}")
        hooks = plan(event, ledger, self._switch, self._scopes.skills)
        failed = self.executor().fail_busy(event, hooks)
        return self._responder.respond(event, fit(event, merge([own, *failed] if own else failed)), started)

    def _answer_off(
        self, event: Event, ledger: LedgerState, switch_gate: Gate, started: float, defer: Defer
    ) -> Answer:
        """Hooks are off: answer neutrally; matching hooks are looked up only for the journal."""
        if self._questions.pending:
            self._questions.observe(event)
        self._listener.arrived(event, answered=False)
        decision = self._limits.apply_cap(event, NO_OPINION) if event.kind in CAPPED_KINDS else NO_OPINION

        def journalled(event: Event) -> Decision:
            hooks = plan(event, ledger, self._switch, self._scopes.skills)
            return merge([skipped(one.hook, switch_gate) for one in hooks])

        return self._responder.respond(event, decision, started, defer, journalled)

    def _start_observers(self, event: Event, hooks: Sequence[ApprovedHook], started: float) -> None:
        """Run the hooks of an event that is answered already; if too many run, record them as failed."""
        if not self._spawn(lambda: self._observe(event, hooks)):
            self._responder.respond(event, self._fail_busy(event, hooks), started)

    def _start_async(self, event: Event, hooks: Sequence[ApprovedHook]) -> None:
        """Run hooks that no answer waits for; their outcomes get a row of their own."""
        event = replace(event, id=os.urandom(16).hex(), answered=True)
        if not self._spawn(lambda: self._observe(event, hooks)):
            self._responder.respond(event, self._fail_busy(event, hooks), time.monotonic())

    def observe(self, event: Event) -> None:
        """Run the hooks of an event that no relay sent; no agent waits for an answer."""
        ledger = self._ledger.state
        event = replace(event, ledger=ledger.version)
        hooks = plan(event, ledger, self._switch, self._scopes.skills)
        self._start_observers(event, hooks, time.monotonic())

    def _observe(self, event: Event, hooks: Sequence[ApprovedHook]) -> None:
        """Run the hooks under their own time-outs and record the decision; the agent gets no answer."""
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
        is_clear = self._sessions.empty  # nothing is remembered of any session, so no output waits
        if is_clear and not (outcomes or hook_times) and event.kind in FREQUENT_KINDS:
            return NO_OPINION  # most events: none of these is a question or an end
        if not is_clear and all(outcome.cause != CANCELLED for outcome in outcomes) and self._is_on(event):
            outcomes = [*outcomes, *self._async_output.take(event)]
        decision = merge(outcomes, hook_times) if outcomes or hook_times else NO_OPINION
        if event.depth > MAX_DEPTH and outcomes:
            note = f"the event comes from below {event.depth} hooks: only rules are asked there"
            decision = replace(decision, adjustments=(*decision.adjustments, note))
        may_ask = decision.verdict is Verdict.ASK or event.kind in ASKING_KINDS
        if may_ask and self._questions.should_ask(event, decision) and self._is_on(event):
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

        def finish(result: QuestionResult) -> Answer | None:
            if result.resolution is Resolution.QUIT:
                self._hand_back(event, hooks, outcomes, started)
                return None
            decided = fit(event, apply_result(event, decision, result))
            if event.kind in CAPPED_KINDS:
                decided = self._limits.apply_cap(event, decided)
            return self._responder.respond(event, decided, started)

        left = started + event.spec.deadline - time.monotonic()
        return self._questions.make_pending(event, decision, left, finish)

    def trial(self, event: Event, approved: ApprovedHook) -> Outcome:
        """One hook's turn on an event that did not happen, through the same gates; nothing is announced.

        The end of the tray cancels it.
        """
        limit = approved.hook.timeout + 5 if event.spec.observe_only else event.spec.deadline
        approved = apply_switch(approved, self._switch)
        return self.executor().run_one(event, approved, time.monotonic() + limit, self._stop_signal)

    def rehearse(self, event: Event, wanted: Callable[[Hook], bool]) -> Decision:
        """The decision of the hooks in force that are `wanted`; nothing is announced, nothing is recorded."""
        planned = plan(event, self._ledger.state, self._switch, self._scopes.skills)
        hooks = [one for one in planned if wanted(one.hook)]
        deadline = time.monotonic() + event.spec.deadline
        return self.decide(event, hooks, deadline, self._stop_signal, self._own_outcome(event))

    def answer_busy(self, request: RelayRequest) -> Answer:
        """Too many events at once: rules still count, a hook that needs a process has failed."""
        started = time.monotonic()
        ledger = self._ledger.state
        event, foreign = receive(request, ledger.version)
        if foreign is not None:
            return self._responder.respond_unsupported(event, foreign, started, run_now)
        if event.kind in BOUNDARIES:
            self._limits.begin(event)
        hooks = plan(event, ledger, self._switch, self._scopes.skills)
        decision = self._fail_busy(event, hooks, self._own_outcome(event))
        return self._responder.respond(event, fit(event, decision), started)

    def _own_outcome(self, event: Event) -> Outcome | None:
        """Our own outcome: the answer to a typed command, else the stricter one of protection and lost approvals."""
        typed = answer_command(event, self._command_answers) if event.kind in TYPED_COMMAND_KINDS else None
        if typed is not None:
            return typed
        own = self._protection.judge(event) if event.tool is not None and event.kind in PROTECTED_KINDS else None
        lost = self._lost.judge(event) if self._lost.guards else None
        if own is None or lost is None:
            return own or lost
        return lost if lost.output.verdict > own.output.verdict else own

    def _fail_busy(self, event: Event, hooks: Sequence[ApprovedHook], own: Outcome | None = None) -> Decision:
        busy = self.executor().fail_busy(event, hooks)
        return self._decision(event, [own, *busy] if own else busy)


def _is_interrupted(outcomes: Sequence[Outcome]) -> bool:
    """Whether the quitting tray kept a hook from its verdict; the hook's failure policy must not decide then.

    A session that ends may end hooks itself, so a failure while the tray quits may not be the hook's own.
    """
    return any(outcome.cause == CANCELLED or outcome.status is Status.FAILED for outcome in outcomes)
