"""The turns of an event's hooks: each through the gates, in waves, by one deadline, to what came out."""

from __future__ import annotations

import logging
import signal
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from functools import partial
from operator import attrgetter
from typing import TYPE_CHECKING, Protocol

from tray.agents.protocol import spec
from tray.agents.registry import hook_rules
from tray.engine.gates import TurnLimits, gate
from tray.engine.jobs import JobBuilder, parse_result
from tray.engine.merge import failed, make_outcome, skipped
from tray.engine.plan import duplicates
from tray.engine.ports import EngineListener
from tray.errors import HooktrayError, StoreError
from tray.execution.environment import add_withheld, clean
from tray.execution.hook_runs import HookRuns
from tray.execution.process import CANCELLED, CLOSED
from tray.lazy_dataclass import replace
from tray.model.decision import Gate, HookOutput, Outcome, Result, Status, Verdict
from tray.model.event import STOP_KINDS, Capability, Event, EventKind
from tray.model.hook import AsyncMode, Hook, Rule
from tray.store.ledger import ApprovedHook
from tray.store.sessions import SessionNote, Sessions
from tray.store.switch import Switch
from tray.threads import ShutdownState

if TYPE_CHECKING:  # most events ask no hook, and need nothing that starts processes
    from tray.execution.command import BackgroundProcesses, Hangup
    from tray.execution.request_job import AnyJob

ONCE_CAUSE = "it had its turn in this session"
# A session manager may end a hook together with the tray. A failure then must not count before the tray's own signal.
SESSION_ENDS = frozenset(getattr(signal, name, 0) for name in ("SIGHUP", "SIGINT", "SIGTERM")) - {0}
SIGNAL_GRACE = 0.25  # seconds that the tray's own signal may come later than the hook's
REWAKE_CODE = 2  # the exit code with which a hook wants the agent to go on

log = logging.getLogger(__name__)


class HookExecutor:
    """Runs approved hooks and nothing else; which hooks an event asks has been planned before."""

    def __init__(
        self,
        *,
        switch: Switch,
        builder: JobBuilder,
        limits: TurnLimits,
        async_output: AsyncOutput,
        listener: EngineListener,
        background: BackgroundProcesses | None,
        shutdown_state: ShutdownState,
        runs: HookRuns,
    ) -> None:
        self._runs = runs
        self._switch = switch
        self._builder = builder
        self._limits = limits
        self._async_output = async_output
        self._listener = listener
        self._background = background
        self._shutdown_state = shutdown_state

    def run(
        self,
        event: Event,
        hooks: Sequence[ApprovedHook],
        deadline: float,
        hangup: Hangup | None,
        switch_gate: Gate | None,
    ) -> list[Outcome]:
        """One outcome for each hook, in order. Hooks of a serial source wait for each other, all others for none.

        `switch_gate` is the switch at this moment; whatever starts later asks it again.
        """
        turns = self._prepare(event, hooks, switch_gate)
        outcomes: dict[int, Outcome] = {}
        waiting: dict[int, AnyJob] = {}
        for index, turn in enumerate(turns):
            if isinstance(turn, Outcome):
                outcomes[index] = turn
            else:
                waiting[index] = turn
        serial = not (event.answered or spec(event.agent, event.name).observe_only)
        while waiting:
            running = ready(waiting, hooks) if serial else dict(waiting)
            for index in list(running):
                del waiting[index]
                if not self._limits.claim_once(event, hooks[index].hook):
                    del running[index]
                    outcomes[index] = skipped(hooks[index].hook, Gate.ONCE, ONCE_CAUSE)
            outcomes |= zip(running, self._run_jobs(event, hooks, running, deadline, hangup), strict=True)
            if waiting:
                cancelled = cancelled_after_deny(waiting, hooks, outcomes)
                outcomes |= cancelled
                waiting = {index: job for index, job in waiting.items() if index not in cancelled}
        return [*map(outcomes.__getitem__, range(len(turns)))]

    def undo(self, event: Event, hooks: Sequence[ApprovedHook], outcomes: Sequence[Outcome]) -> None:
        """These turns do not count, because the one-shot engine runs the hooks of this event again."""
        for one, outcome in zip(hooks, outcomes, strict=True):
            if outcome.gate is None:
                self._limits.release_once(event, one.hook)

    def fail_busy(self, event: Event, hooks: Sequence[ApprovedHook]) -> list[Outcome]:
        """The same without a process: rules still count, a hook that would have to run has failed."""
        pairs = zip(hooks, self._prepare(event, hooks, self.gate(event)), strict=True)
        return [
            turn if isinstance(turn, Outcome) else failed(event, one.hook, Gate.BUSY.value) for one, turn in pairs
        ]

    def skip_all(self, hooks: Sequence[ApprovedHook], switch_gate: Gate) -> list[Outcome]:
        """What comes out while the switch or a pause keeps all of them from running."""
        return [skipped(one.hook, switch_gate) for one in hooks]

    def run_one(self, event: Event, approved: ApprovedHook, deadline: float, hangup: Hangup | None) -> Outcome:
        """One hook's turn, without the event's other hooks; a pause of the event's own session does not count."""
        switch_gate = self._switch.gate(time.time(), session="", agent=event.agent)
        turn = self._prepare_one(event, approved, gate(approved.hook, event, switch_gate=switch_gate))
        if isinstance(turn, Outcome):
            return turn
        return self._run_jobs(event, [approved], {0: turn}, deadline, hangup)[0]

    def gate(self, event: Event) -> Gate | None:
        """Whether the switch or a pause keeps this event's hooks from running, at this moment."""
        return self._switch.gate(time.time(), session=event.session, agent=event.agent)

    def _prepare(
        self, event: Event, hooks: Sequence[ApprovedHook], switch_gate: Gate | None
    ) -> list[AnyJob | Outcome]:
        """Each hook after the gates: the job that it has to run, or its outcome when there is none."""
        same_as = duplicates(hooks)
        turns: list[AnyJob | Outcome] = []
        for index, one in enumerate(hooks):
            if index in same_as:
                cause = f"the same as {hooks[same_as[index]].hook.name}, which is asked"
                turns.append(skipped(one.hook, Gate.DUPLICATE, cause))
            else:
                turns.append(self._prepare_one(event, one, gate(one.hook, event, switch_gate=switch_gate)))
        return turns

    def _prepare_one(self, event: Event, approved: ApprovedHook, reason: Gate | None) -> AnyJob | Outcome:
        hook = approved.hook
        if reason is not None:
            return skipped(hook, reason)
        if event.problem and (hook.match.tool or hook.match.pattern or not isinstance(hook.action, Rule)):
            return failed(event, hook, event.problem)
        if isinstance(hook.action, Rule):
            if not self._limits.claim_once(event, hook):
                return skipped(hook, Gate.ONCE, ONCE_CAUSE)
            output = HookOutput(verdict=hook.action.verdict, reason=hook.action.reason)
            return Outcome(hook=hook.name, status=Status.OK, output=output)
        try:
            start_gate = partial(self._runs.starting, partial(self._switch.starting, event.session, event.agent))
            return self._builder.build(event, approved, start_gate)
        except HooktrayError as error:
            return failed(event, hook, error.message)
        except Exception as error:  # the hook's turn: one hook's trouble never takes the others' verdicts away
            log.exception("%s could not have its turn", hook.name)
            return failed(event, hook, f"internal error: {type(error).__name__}")

    def _run_jobs(
        self,
        event: Event,
        hooks: Sequence[ApprovedHook],
        jobs: Mapping[int, AnyJob],
        deadline: float,
        hangup: Hangup | None,
    ) -> list[Outcome]:
        if not jobs:
            return []
        from tray.execution.request_job import run_jobs

        texts = {index: hooks[index].hook.status for index in jobs}
        with show_status(self._listener, event, texts) as hide:
            reporting = [replace(job, on_end=hide(index)) if texts[index] else job for index, job in jobs.items()]
            results = run_jobs(reporting, deadline, hangup, background=self._background)
        if not SESSION_ENDS.isdisjoint(map(attrgetter("signal"), results)):
            self._shutdown_state.wait(SIGNAL_GRACE)
        outcomes = []
        for index, result in zip(jobs, results, strict=True):
            hook = hooks[index].hook
            if result.cause:
                result = replace(result, cause=self._builder.with_originals(hooks[index], result.cause))
            if hook.once and not result.started:
                self._limits.release_once(event, hook)
            if result.cause == CLOSED:
                outcomes.append(skipped(hook, self.gate(event) or Gate.SWITCH_OFF))
                continue
            if result.cause == CANCELLED:
                outcomes.append(Outcome(hook=hook.name, status=Status.SKIPPED, cause=CANCELLED, ms=result.ms))
                continue
            outcome = self._parse(event, hook, result)
            if outcome.status is Status.FAILED and result.stderr:
                withheld = clean(event.environment, wanted=hooks[index].env, extra={}).withheld
                outcome = replace(outcome, cause=add_withheld(outcome.cause, result.stderr, withheld))
            outcomes.append(outcome)
        return outcomes

    def _parse(self, event: Event, hook: Hook, result: Result) -> Outcome:
        try:
            output = parse_result(event, hook, result)
            if hook.async_mode is not AsyncMode.NO:
                output = self._async_output.save(event, hook, result, output)
        except Exception as error:  # the hook's turn
            log.exception("the output of %s cannot be read", hook.name)
            output = HookOutput(problem=f"internal error: {type(error).__name__}")
        stderr = result.stderr.decode("utf-8", "replace")
        return make_outcome(event, hook, output, timed_out=result.timed_out, ms=result.ms, stderr=stderr)


class StatusDisplay(Protocol):
    """Where it is shown."""

    def status_shown(self, turn: str, text: str) -> None: ...
    def status_hidden(self, turn: str) -> None: ...


@contextmanager
def show_status(
    display: StatusDisplay, event: Event, texts: Mapping[int, str]
) -> Iterator[Callable[[int], Callable[[], None]]]:
    """Show the hooks' texts that are not empty; yields what to call when one of the hooks has ended."""
    turns: dict[int, str] = {}

    def hide(index: int) -> None:
        if turn := turns.pop(index, ""):
            _quietly(partial(display.status_hidden, turn))

    for index, text in texts.items():
        if text:
            turns[index] = f"{event.id}/{index}"
            _quietly(partial(display.status_shown, turns[index], text))
    try:
        yield lambda index: partial(hide, index)
    finally:
        for index in list(turns):
            hide(index)


def _quietly(call: Callable[[], None]) -> None:
    """What cannot be shown never changes an answer (law 7)."""
    try:
        call()
    except Exception:  # of our display; the hook runs on
        log.exception("a hook's status could not be shown")


def ready(waiting: Mapping[int, AnyJob], hooks: Sequence[ApprovedHook]) -> dict[int, AnyJob]:
    """The jobs that may start now: of each sequential source the first that waits, and everything else."""
    taken: set[str] = set()
    jobs = {}
    for index, job in waiting.items():
        source = _queue_key(hooks[index])
        if source not in taken:
            jobs[index] = job
        if source:
            taken.add(source)
    return jobs


def cancelled_after_deny(
    waiting: Mapping[int, AnyJob], hooks: Sequence[ApprovedHook], outcomes: Mapping[int, Outcome]
) -> dict[int, Outcome]:
    """The hooks that are not asked any more, because one before them in their source denied."""
    denied = {_queue_key(hooks[index]) for index, one in outcomes.items() if one.output.verdict is Verdict.DENY}
    denied.discard("")
    cause = "an earlier hook of its plugin denied"
    return {
        index: Outcome(hook=hooks[index].hook.name, status=Status.SKIPPED, cause=cause)
        for index in waiting
        if _queue_key(hooks[index]) in denied
    }


def _queue_key(one: ApprovedHook) -> str:
    """The queue of a hook; "" when it does not wait."""
    hook = one.hook
    return hook.source.path if hook.match.format and hook_rules(hook.match.format).sequential else ""


class AsyncOutput:
    """Output of hooks that run beside the answer: too late for its own event, it waits for the session's next one.

    No relay can wake an agent. What a hook wants to tell it goes along as context with the next event that can carry
    some; what shall make the agent go on also refuses the end of its turn, if that comes first.

    `save` keeps what such a hook printed, `take` returns it for an event that can carry it.
    """

    def __init__(self, sessions: Sessions) -> None:
        self._sessions = sessions

    def save(self, event: Event, hook: Hook, result: Result, output: HookOutput) -> HookOutput:
        """Keep what the agent must still get of it; returns what counts beside the answer."""
        if hook.async_mode is AsyncMode.REWAKE and result.code == REWAKE_CODE:
            note = SessionNote(hook=hook.name, text=_text(result.stderr) or _text(result.stdout), wake=True)
            output = replace(output, verdict=Verdict.ABSTAIN, reason="wants the agent to go on", problem="")
        else:
            note = SessionNote(hook=hook.name, text=output.context)
        if note.text and event.kind is not EventKind.SESSION_END and not event.test:
            try:
                self._sessions.add_note(event.agent, event.session, note)
            except StoreError as error:
                return HookOutput(problem=f"what it said could not be kept: {error.message}")
        return _without_verdict(output)

    @property
    def is_empty(self) -> bool:
        """Whether nothing at all is remembered of any session: then nothing waits."""
        return self._sessions.empty

    def take(self, event: Event) -> list[Outcome]:
        """What waits for this session, as outcomes of the hooks that printed it. It is never for a subagent."""
        if self.is_empty:
            return []
        can = spec(event.agent, event.name).can
        ending = event.kind is EventKind.TURN_END and Capability.DENY in can
        informs = Capability.CONTEXT in can and event.kind not in STOP_KINDS  # there it would make the agent go on
        if event.subagent or event.problem or event.test or not (ending or informs):
            return []
        try:
            notes = self._sessions.take_notes(event.agent, event.session, wake=not informs)
        except StoreError as error:
            log.warning("the saved output of hooks could not be taken: %s", error.message)
            return []
        return [_outcome(note, ending=ending and not informs) for note in notes]


def _outcome(note: SessionNote, *, ending: bool) -> Outcome:
    output = HookOutput(verdict=Verdict.DENY, reason=note.text) if ending else HookOutput(context=note.text)
    return Outcome(hook=note.hook, status=Status.OK, output=output, cause="said beside an earlier event's answer")


def _without_verdict(output: HookOutput) -> HookOutput:
    """A verdict and a rewrite came too late; notes for the user, and what went wrong, still count."""
    reason = output.reason
    if output.verdict is not Verdict.ABSTAIN or output.rewrite or output.stop is not None:
        word = "a rewrite" if output.verdict is Verdict.ABSTAIN else output.verdict.word
        reason = f"{word} came after the answer" + (f": {reason}" if reason else "")
    return HookOutput(reason=reason, notes=output.notes, warning=output.warning, problem=output.problem)


def _text(output: bytes) -> str:
    return output.decode("utf-8", "replace").strip()
