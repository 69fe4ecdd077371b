"""From event to answer: plan, gates, runners, merge, fit. Read `decide` first."""

from __future__ import annotations

import logging
import os
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Protocol

from tray.dialects import DIALECTS, fit, neutral, parse, render, spec
from tray.engine.account import account
from tray.engine.ancestry import descends_from_hook
from tray.engine.covering import Covering
from tray.engine.gates import gate
from tray.engine.merge import failed, merge, settle
from tray.engine.placeholders import running
from tray.engine.plan import plan
from tray.engine.queue import over, together
from tray.engine.runners.command import Background, Gone, Job, run
from tray.engine.runners.environment import clean
from tray.errors import HooktrayError
from tray.model.decision import Answer, Decision, Gate, Outcome, Reading, Record, Result, Status, Verdict
from tray.model.event import Event, EventKind, Knock
from tray.model.hook import Command, Hook, Rule
from tray.store.copies import Copies
from tray.store.ledger import Approved, Ledger
from tray.store.switch import Switch

Later = Callable[[Callable[[], object]], bool]
After = Callable[[Callable[[], object]], object]

log = logging.getLogger(__name__)


class Ears(Protocol):
    """Who hears the news: `arrived` at once, and whether it is answered already; `decided` after its hooks' turns."""

    def arrived(self, event: Event, *, answered: bool) -> None: ...
    def decided(self, event: Event, decision: Decision, record: Record) -> None: ...


class Rows(Protocol):
    """Where accounts go. With `commit` the answer waits a moment for its row; it never waits longer (law 7)."""

    def append(self, record: Record, *, commit: bool) -> object: ...


def at_once(work: Callable[[], object]) -> object:
    return work()


class Engine:
    """Judges events by the approved hooks. `later` runs work whose answer has left; False when it takes no more."""

    def __init__(
        self,
        *,
        ledger: Ledger,
        copies: Copies,
        switch: Switch,
        rows: Rows,
        ears: Ears,
        later: Later,
        background: Background | None,
        ending: Gone | None = None,
        offline: bool = False,
    ) -> None:
        self._ending = ending
        self._ledger = ledger
        self._covering = Covering(copies)
        self._switch = switch
        self._rows = rows
        self._ears = ears
        self._later = later
        self._background = background
        self._offline = offline

    def begin(
        self,
        knock: Knock,
        spent: float = 0.0,
        *,
        after: After = at_once,
        slow: Callable[[], object] = lambda: None,
    ) -> Answer | Callable[[Gone | None], Answer]:
        """The answer at once when no process has to run for it, else the work that leads to it.

        What need not be written down before the answer leaves is left to `after`. `slow` hears of an event that has
        hooks to be looked at: their patterns and processes take time.
        """
        started = time.monotonic() - spent
        event = parse(knock)
        asked = self._ledger.asked(event.agent, event.kind.value, event.name)
        if asked:
            slow()
        hooks = plan(event, asked)
        switch = self._switch.gate(time.time(), session=event.session, agent=event.agent)
        if (hooks and switch is None) or event.kind is EventKind.ROUND_END:  # asked now, while the relay still lives
            event = replace(event, nested=descends_from_hook(event.pid, os.getpid()))
        observed = bool(hooks) and spec(event.agent, event.name).observe_only
        self._ears.arrived(event, answered=observed)
        if not any(_needs_process(one.hook, switch) for one in hooks):
            decision = fit(event, merge(self._without_processes(event, hooks, switch)))
            return self._finish(event, decision, started, after)
        if observed:
            return self._let_go(event, hooks, started)
        deadline = started + spec(event.agent, event.name).deadline
        return lambda gone: self._finish(event, self.decide(event, hooks, deadline, gone), started, after)

    def _let_go(self, event: Event, hooks: Sequence[Approved], started: float) -> Answer:
        """Answer at once; the hooks have their turn afterwards, unless there are too many of them already."""
        if not self._later(lambda: self.observe(event, hooks)):
            self._finish(event, self._refuse_to_run(event, hooks), started)
        return neutral(event.agent, event.name, event.body)

    def observe(self, event: Event, hooks: Sequence[Approved] | None = None) -> Decision:
        """An event whose agent waits for nothing: hooks run under their own time-outs, nothing is answered."""
        started = time.monotonic()
        hooks = self._plan(event) if hooks is None else hooks
        decision = self.decide(event, hooks, started + 86400.0, self._ending)
        self._finish(event, decision, started)
        return decision

    def decide(self, event: Event, hooks: Sequence[Approved], deadline: float, gone: Gone | None) -> Decision:
        """The one merged decision, made such that this event can carry it back to its agent."""
        switch = self._switch.gate(time.time(), session=event.session, agent=event.agent)
        turns = self._turns(event, hooks, switch)
        outcomes = {index: turn for index, turn in enumerate(turns) if isinstance(turn, Outcome)}
        waiting = {index: turn for index, turn in enumerate(turns) if isinstance(turn, Job)}
        serial = not spec(event.agent, event.name).observe_only
        while waiting:
            jobs = together(waiting, hooks) if serial else waiting
            outcomes |= zip(jobs, self._run(event, hooks, jobs, deadline, gone), strict=True)
            waiting = {index: job for index, job in waiting.items() if index not in jobs}
            ended = over(waiting, hooks, outcomes)
            outcomes |= ended
            waiting = {index: job for index, job in waiting.items() if index not in ended}
        return fit(event, merge([outcomes[index] for index in range(len(turns))]))

    def busy(self, knock: Knock) -> Answer:
        """Too many events at once: rules still speak, what would need a process has failed."""
        started = time.monotonic()
        event = parse(knock)
        return self._finish(event, self._refuse_to_run(event, self._plan(event)), started)

    def _refuse_to_run(self, event: Event, hooks: Sequence[Approved]) -> Decision:
        switch = self._switch.gate(time.time(), session=event.session, agent=event.agent)
        return fit(event, merge(self._without_processes(event, hooks, switch)))

    def _without_processes(self, event: Event, hooks: Sequence[Approved], switch: Gate | None) -> list[Outcome]:
        """What the hooks say when none may run a process: one that would have to has failed."""
        pairs = zip(hooks, self._turns(event, hooks, switch), strict=True)
        return [failed(one.hook, Gate.BUSY.value) if isinstance(turn, Job) else turn for one, turn in pairs]

    def _turns(self, event: Event, hooks: Sequence[Approved], switch: Gate | None) -> list[Job | Outcome]:
        """Each hook's way through the gates: what it has to run, or what came out without that."""
        return [self._turn(event, one, gate(one.hook, switch=switch, nested=event.nested)) for one in hooks]

    def _plan(self, event: Event) -> tuple[Approved, ...]:
        return plan(event, self._ledger.asked(event.agent, event.kind.value, event.name))

    def _turn(self, event: Event, approved: Approved, reason: Gate | None) -> Job | Outcome:
        hook = approved.hook
        if reason is not None:
            return Outcome(hook=hook.name, status=Status.SKIPPED, gate=reason, cause=reason.value)
        if event.problem and (hook.match.tool or hook.match.pattern or isinstance(hook.action, Command)):
            return failed(hook, event.problem)
        if isinstance(hook.action, Rule):
            return Outcome(hook=hook.name, status=Status.OK, reading=_rule(hook.action))
        try:
            return self._job(event, hook, hook.action, approved.digest)
        except HooktrayError as error:
            return failed(hook, error.message)
        except Exception as error:  # the hook's turn: one hook's trouble never takes the others' verdicts away
            log.exception("%s could not have its turn", hook.name)
            return failed(hook, f"internal error: {type(error).__name__}")

    def _job(self, event: Event, hook: Hook, command: Command, digest: str) -> Job:
        dialect = DIALECTS[hook.dialect]
        own = {"HOOK_SOURCE_DIR": command.folder, "PYTHONDONTWRITEBYTECODE": "1"}  # nothing joins the approved copy
        places = running(command, self._covering.copy(digest, command.plugin), event.cwd)
        said = dialect.environment(event)
        if command.storage:
            Path(command.storage).mkdir(parents=True, exist_ok=True)
        extra = {**said, **(places if command.shell or command.plugin else {}), **own}
        return Job(
            argv=self._covering.argv(hook, digest, {**said, **places} if command.format else {}),
            cwd=event.cwd if os.path.isdir(event.cwd) else str(Path.home()),  # noqa: PTH112 - Path raises for some
            environment=clean(event.environment, wanted=hook.env, extra=extra).environment,
            stdin=dialect.stdin(event),
            timeout=hook.timeout,
            background=hook.background,
        )

    def _run(
        self,
        event: Event,
        hooks: Sequence[Approved],
        jobs: Mapping[int, Job],
        deadline: float,
        gone: Gone | None,
    ) -> list[Outcome]:
        if not jobs:
            return []
        results = run(list(jobs.values()), deadline, gone, background=self._background)
        outcomes = []
        for index, result in zip(jobs, results, strict=True):
            hook = hooks[index].hook
            if result.cause == "cancelled":
                outcomes.append(Outcome(hook=hook.name, status=Status.SKIPPED, cause="cancelled", ms=result.ms))
                continue
            outcomes.append(self._read(event, hook, result))
        return outcomes

    def _read(self, event: Event, hook: Hook, result: Result) -> Outcome:
        try:
            reading = DIALECTS[hook.dialect].read(event, result)
        except Exception as error:  # the hook's turn
            log.exception("%s said what we cannot read", hook.name)
            reading = Reading(problem=f"internal error: {type(error).__name__}")
        stderr = result.stderr.decode("utf-8", "replace")
        return settle(hook, reading, timed_out=result.timed_out, ms=result.ms, stderr=stderr)

    def _finish(self, event: Event, decision: Decision, started: float, after: After = at_once) -> Answer:
        """Render, write down, tell the others; only an answer that refuses or rewrites waits for that (law 7)."""
        answer, ms, at = render(event, decision), (time.monotonic() - started) * 1000, time.time()
        commit = decision.verdict > Verdict.ALLOW or decision.stop is not None or decision.rewrite is not None

        def tell() -> None:
            try:
                record = account(event, decision, answer, at=at - ms / 1000, ms=ms, offline=self._offline)
                self._rows.append(record, commit=commit)
                self._ears.decided(event, decision, record)
            except Exception:  # our bookkeeping; the answer stands
                log.exception("%s of %s could not be written down", event.name, event.agent)

        (at_once if commit else after)(tell)
        return answer


def _needs_process(hook: Hook, switch: Gate | None) -> bool:
    return switch is None and hook.enabled and isinstance(hook.action, Command)


def _rule(rule: Rule) -> Reading:
    return Reading(verdict=rule.verdict, reason=rule.reason)
