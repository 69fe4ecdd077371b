"""Runs an event's hooks: each through the gates, in waves, by one deadline, to its outcome."""

from __future__ import annotations

import logging
import os
import signal
import threading
import time
from collections.abc import Callable, Mapping, Sequence
from functools import cached_property, partial
from operator import attrgetter
from pathlib import Path

from msgspec.structs import replace

from tray.agents import patches
from tray.agents.agent import Agent
from tray.agents.placeholders import runtime_values
from tray.agents.registry import AGENTS, hook_rules
from tray.agents.tools import further_files
from tray.approvals.command_resolver import CommandResolver
from tray.engine.async_output import AsyncOutput
from tray.engine.gates import TurnLimits, gate
from tray.engine.hook_output import parse_output
from tray.engine.merge import failed, make_outcome, skipped
from tray.engine.plan import duplicates
from tray.engine.ports import EngineListener, EngineSettings
from tray.errors import PACKAGE_ERRORS, HooktrayError
from tray.execution.command import BackgroundProcesses, Hangup, run
from tray.execution.environment import USER_PACKAGES, add_withheld, clean
from tray.execution.hook_runs import HookRuns, RecordedTurn
from tray.execution.process import CANCELLED, CLOSED, HookTurn, Job
from tray.execution.request_job import AnyJob, Deadline, RequestJob, run_jobs
from tray.model.decision import Gate, HookOutput, Outcome, Result, Status, Target, Verdict
from tray.model.event import TEST_VARIABLE, Event, Tool
from tray.model.hook import AsyncMode, Command, Hook, Http, Prompt, Rule
from tray.store.copies import Copies
from tray.store.ledger import ApprovedHook
from tray.store.switch import Switch
from tray.threads import ShutdownState, failures_logged

ONCE_CAUSE = "it had its turn in this session"
# A session manager may end a hook together with the tray. A failure then must not count before the tray's own signal.
SESSION_ENDS = frozenset(getattr(signal, name, 0) for name in ("SIGHUP", "SIGINT", "SIGTERM")) - {0}
SIGNAL_GRACE = 0.25  # seconds that the tray's own signal may come later than the hook's
NOT_SHOWN = "a hook's status could not be shown"

log = logging.getLogger(__name__)


class HookExecutor:
    """Runs approved hooks; `plan` has chosen the hooks that the event asks."""

    def __init__(
        self,
        *,
        switch: Switch,
        copies: Copies,
        settings: EngineSettings,
        limits: TurnLimits,
        async_output: AsyncOutput,
        listener: EngineListener,
        background: BackgroundProcesses | None,
        shutdown_state: ShutdownState,
        runs: HookRuns,
    ) -> None:
        self._runs = runs
        self._switch = switch
        self._copies = copies
        self._settings = settings
        self._limits = limits
        self._async_output = async_output
        self._listener = listener
        self._background = background
        self._shutdown_state = shutdown_state

    @cached_property
    def _resolver(self) -> CommandResolver:
        return CommandResolver(self._copies)

    def run(
        self,
        event: Event,
        hooks: Sequence[ApprovedHook],
        deadline: float,
        hangup: Hangup | None,
        switch_gate: Gate | None,
    ) -> list[Outcome]:
        """Returns one outcome for each hook, in order. A hook that knows one file at a time runs for each of a patch.

        `switch_gate` is the switch at this moment; whatever starts later asks it again.
        """
        outcomes = self._run_once(event, hooks, deadline, hangup, switch_gate)
        if event.tool is None or not patches.text(event.tool.input):
            return outcomes
        for index, one in enumerate(hooks):
            for tool in further_files(event.agent, one.hook.dialect, event.tool):
                is_over = outcomes[index].status is not Status.OK or outcomes[index].output.verdict is Verdict.DENY
                if is_over or one.hook.once or isinstance(one.hook.action, Rule):
                    break
                (more,) = self._run_once(replace(event, tool=tool), [one], deadline, hangup, switch_gate)
                outcomes[index] = _both(outcomes[index], more, tool)
        return outcomes

    def _run_once(
        self,
        event: Event,
        hooks: Sequence[ApprovedHook],
        deadline: float,
        hangup: Hangup | None,
        switch_gate: Gate | None,
    ) -> list[Outcome]:
        """Hooks of a serial source wait for each other; all others run at once."""
        turns = self._prepare(event, hooks, switch_gate)
        outcomes: dict[int, Outcome] = {}
        waiting: dict[int, AnyJob] = {}
        for index, turn in enumerate(turns):
            if isinstance(turn, Outcome):
                outcomes[index] = turn
            else:
                waiting[index] = turn
        serial = not (event.answered or event.spec.observe_only)
        while waiting:
            running = ready(waiting, hooks) if serial and len(waiting) > 1 else dict(waiting)
            for index in list(running):
                del waiting[index]
                hook = hooks[index].hook
                if hook.once and not self._limits.claim_once(event, hook):
                    del running[index]
                    outcomes[index] = skipped(hook, Gate.ONCE, ONCE_CAUSE)
            if running:
                outcomes |= self._run_jobs(event, hooks, running, deadline, hangup)
            if waiting:
                cancelled = cancelled_after_deny(waiting, hooks, outcomes)
                outcomes |= cancelled
                waiting = {index: job for index, job in waiting.items() if index not in cancelled}
        return [*map(outcomes.__getitem__, range(len(turns)))]

    def undo(self, event: Event, hooks: Sequence[ApprovedHook], outcomes: Sequence[Outcome]) -> None:
        """These turns do not count, because the one-shot engine runs the hooks of this event again."""
        for one, outcome in zip(hooks, outcomes, strict=True):
            if one.hook.once and outcome.gate is None:
                self._limits.release_once(event, one.hook)

    def fail_busy(self, event: Event, hooks: Sequence[ApprovedHook]) -> list[Outcome]:
        """The outcomes without a process: rules still count, a hook that would have to run has failed."""
        switch_gate = self._switch.gate(time.time(), event.session, event.agent)
        pairs = zip(hooks, self._prepare(event, hooks, switch_gate), strict=True)
        return [
            turn if isinstance(turn, Outcome) else failed(event, one.hook, Gate.BUSY.value) for one, turn in pairs
        ]

    def run_one(self, event: Event, approved: ApprovedHook, deadline: float, hangup: Hangup | None) -> Outcome:
        """One hook's turn, without the event's other hooks; a pause of the event's own session does not count."""
        turn = self._turn(event, approved, self._switch.gate(time.time(), agent=event.agent))
        if isinstance(turn, Outcome):
            return turn
        return self._run_jobs(event, [approved], {0: turn}, deadline, hangup)[0]

    def _prepare(
        self, event: Event, hooks: Sequence[ApprovedHook], switch_gate: Gate | None
    ) -> list[AnyJob | Outcome]:
        """Each hook after the gates: the job that it has to run, or its outcome when there is none."""
        same_as = duplicates(hooks) if len(hooks) > 1 else {}
        turns: list[AnyJob | Outcome] = []
        for index, one in enumerate(hooks):
            if index in same_as:
                cause = f"the same as {hooks[same_as[index]].hook.name}, which is asked"
                turns.append(skipped(one.hook, Gate.DUPLICATE, cause))
            else:
                turns.append(self._turn(event, one, switch_gate))
        return turns

    def _turn(self, event: Event, approved: ApprovedHook, switch_gate: Gate | None) -> AnyJob | Outcome:
        hook = approved.hook
        reason = gate(hook, event, switch_gate=switch_gate)
        if reason is not None:
            return skipped(hook, reason)
        if event.problem and (hook.match.tool or hook.match.pattern or not isinstance(hook.action, Rule)):
            return failed(event, hook, event.problem)
        if isinstance(hook.action, Rule):
            if hook.once and not self._limits.claim_once(event, hook):
                return skipped(hook, Gate.ONCE, ONCE_CAUSE)
            output = HookOutput(verdict=hook.action.verdict, reason=hook.action.reason)
            return Outcome(hook=hook.name, status=Status.OK, output=output)
        turn = RecordedTurn(self._runs, self._switch, hook.key, event)
        hook = replace(hook, env=approved.env) if approved.granted else hook
        try:
            known = AGENTS.find(hook.dialect)
            if known is None:
                raise HooktrayError(f"it is written for {hook.dialect}, an agent that is not known here any more")
            if isinstance(hook.action, Command):
                return self._command_job(event, approved, hook, hook.action, known, turn)
            return _request_job(event, hook, self._settings, turn)
        except HooktrayError as error:
            return failed(event, hook, error.message)
        except PACKAGE_ERRORS as error:  # the hook's turn: one hook's failure leaves the others' verdicts
            log.exception("%s could not have its turn", hook.name)
            return failed(event, hook, _internal_error(hook, "stdin", error))

    def _command_job(
        self, event: Event, approved: ApprovedHook, hook: Hook, command: Command, known: Agent, turn: HookTurn
    ) -> Job:
        """The job that runs this command hook. Raises HooktrayError if it cannot run."""
        digest = approved.digest
        own = {"HOOK_SOURCE_DIR": command.folder, "PYTHONDONTWRITEBYTECODE": "1"}  # the approved copy stays as it is
        if USER_PACKAGES not in hook.env:
            own["PYTHONNOUSERSITE"] = "1"  # Python would run whatever an agent leaves in that folder
        values: Mapping[str, str] = {}
        if command.format:
            values = runtime_values(command, self._resolver.copy(digest, command.plugin), event.cwd)
        if event.test:
            own[TEST_VARIABLE] = "1"
        if command.storage:
            Path(command.storage).mkdir(parents=True, exist_ok=True)
        variables = known.protocol.environment(event)
        extra = {**variables, **(values if command.shell or command.plugin else {}), **own}
        stdin = known.protocol.stdin(event)
        if command.owner and known.rules.plugin_input:
            folder = values.get(known.rules.placeholders.plugin) or command.root
            stdin = known.rules.plugin_input(stdin, command.owner, folder)
        named = {**variables, **values} if command.format else {}
        argv = self._resolver.argv(hook, digest, named, approved.search_path)
        if approved.search_path:
            extra["PATH"] = approved.search_path
        # An agent's own hooks start where it would start them, as their relative paths mean that; others in `cwd`.
        folders = (event.hook_folder, event.cwd) if hook.match.format == event.agent else (event.cwd,)
        return Job(
            argv=argv,
            cwd=next(filter(os.path.isdir, folders), None) or str(Path.home()),
            environment=clean(event.environment, wanted=hook.env, extra=extra).environment,
            stdin=stdin,
            timeout=hook.timeout,
            background=hook.background_seconds,
            turn=turn,
        )

    def _run_jobs(
        self,
        event: Event,
        hooks: Sequence[ApprovedHook],
        jobs: Mapping[int, AnyJob],
        deadline: float,
        hangup: Hangup | None,
    ) -> dict[int, Outcome]:
        only_commands = {*map(type, jobs.values())} == {Job}
        run_all: Callable[..., tuple[Result, ...]] = run if only_commands else run_jobs
        shown: list[HookStatus] = []
        started: list[AnyJob] = []
        for index, job in jobs.items():
            if text := hooks[index].hook.status:
                shown.append(HookStatus(self._listener, f"{event.id}/{index}", text))
                job = replace(job, on_end=shown[-1].hide)
            started.append(job)
        try:
            results = run_all(started, deadline, hangup, background=self._background)
        finally:
            for status in shown:
                status.hide()
        if not SESSION_ENDS.isdisjoint(map(attrgetter("signal"), results)):
            self._shutdown_state.wait(SIGNAL_GRACE)
        outcomes: dict[int, Outcome] = {}
        for index, result in zip(jobs, results, strict=True):
            outcomes[index] = self._outcome(event, hooks[index], result)
        return outcomes

    def _outcome(self, event: Event, approved: ApprovedHook, result: Result) -> Outcome:
        """The hook's outcome, from the result of its job."""
        hook = approved.hook
        if result.cause:  # agents and users know their own files, not our copies
            result = replace(result, cause=self._copies.with_originals(approved.digest, result.cause))
        if hook.once and not result.started:
            self._limits.release_once(event, hook)
        if result.cause == CLOSED:
            switch_gate = self._switch.gate(time.time(), event.session, event.agent)
            return skipped(hook, switch_gate or Gate.SWITCH_OFF)
        if result.cause == CANCELLED:
            return Outcome(hook=hook.name, status=Status.SKIPPED, cause=CANCELLED, ms=result.ms)
        try:
            output = parse_output(event, hook, result)
            if output.warning:  # the warning may name the approved copy
                warning = self._copies.with_originals(approved.digest, output.warning)
                output = replace(output, warning=warning)
            if hook.async_mode is not AsyncMode.NO:
                output = self._async_output.save(event, hook, result, output)
        except PACKAGE_ERRORS as error:  # the hook's turn
            log.exception("the output of %s cannot be read", hook.name)
            output = HookOutput(problem=_internal_error(hook, "read", error))
        stderr = result.stderr.decode("utf-8", "replace")
        outcome = make_outcome(event, hook, output, timed_out=result.timed_out, ms=result.ms, stderr=stderr)
        if outcome.status is Status.FAILED and result.stderr:
            withheld = clean(event.environment, wanted=approved.env, extra={}).withheld
            outcome = replace(outcome, cause=add_withheld(outcome.cause, result.stderr, withheld))
        return outcome


def _internal_error(hook: Hook, function: str, error: BaseException) -> str:
    """Returns the cause of the hook's failure. If a package provides the hook's format, its function has failed."""
    if AGENTS.package(hook.dialect):
        return AGENTS.failure(hook.dialect, function, error).message
    return f"internal error: {type(error).__name__}"


def _both(first: Outcome, more: Outcome, tool: Tool) -> Outcome:
    """Returns the outcome for two files of one patch: the stricter one; an allow only if both allow."""
    one, other = first.output, more.output
    if more.status is not Status.OK:
        return more if more.status is not Status.SKIPPED and other.verdict >= one.verdict else first
    rewrite = one.rewrite or other.rewrite
    if other.rewrite is not None and other.rewrite.target is Target.INPUT:
        rewrite = one.rewrite
        if other.rewrite.value != tool.input:
            other = HookOutput(verdict=Verdict.DENY, reason="it changes one file of a patch, which cannot be carried")
    verdict = max(one.verdict, other.verdict)
    output = replace(
        other if other.verdict > one.verdict else one,
        verdict=Verdict.ABSTAIN if verdict is Verdict.ALLOW and one.verdict is not other.verdict else verdict,
        rewrite=rewrite,
        context="\n\n".join(dict.fromkeys(filter(None, (one.context, other.context)))),
        notes=tuple(dict.fromkeys((*one.notes, *other.notes))),
        stop=other.stop if one.stop is None else one.stop,
    )
    return replace(first, output=output, ms=first.ms + more.ms, cause=first.cause or more.cause)


def _request_job(event: Event, hook: Hook, settings: EngineSettings, turn: HookTurn) -> RequestJob:
    """The job that sends this hook's request, or its question to the model that a person confirmed."""
    action = hook.action
    ask: Callable[[Deadline], Result]
    if isinstance(action, Prompt):
        from tray.engine.prompt_hook import ask_model  # imports an HTTP client, which most events do not need

        ask = partial(ask_model, event, hook, action, settings.llm())
    else:
        from tray.engine.http_hook import post  # imports an HTTP client, which most events do not need

        assert isinstance(action, Http)
        ask = partial(post, event, hook, action)
    return RequestJob(ask=ask, timeout=hook.timeout, turn=turn)


class HookStatus:
    """The status of a hook, shown until it ends. A failure of the display never changes an answer (law 7)."""

    def __init__(self, display: EngineListener, turn: str, text: str) -> None:
        self._display, self._turn = display, turn
        self._end = threading.Lock()  # taken by the first end
        with failures_logged(NOT_SHOWN):
            display.status_shown(turn, text)

    def hide(self) -> None:
        """Called from any thread, maybe more than once."""
        if self._end.acquire(blocking=False):
            with failures_logged(NOT_SHOWN):
                self._display.status_hidden(self._turn)


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
