"""The turns of an event's hooks: each through the gates, in waves, by one deadline, to what came out."""

from __future__ import annotations

import logging
import signal
import time
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from functools import partial

from tray.dialects import spec
from tray.engine.duplicates import duplicates
from tray.engine.ears import Ears
from tray.engine.gates import gate
from tray.engine.late import Late
from tray.engine.loops import Loops
from tray.engine.merge import failed, settle, skipped
from tray.engine.queue import over, together
from tray.engine.runners.command import Background, Gone
from tray.engine.runners.errand import Work, run
from tray.engine.runners.process import CANCELLED, CLOSED
from tray.engine.showing import shown
from tray.engine.work import Works, read
from tray.errors import HooktrayError
from tray.model.decision import Gate, Outcome, Reading, Result, Status
from tray.model.event import Event
from tray.model.hook import Aside, Hook, Rule
from tray.store.ledger import Approved
from tray.store.switch import Switch
from tray.threads import Quit

ONCE = "it had its turn in this session"
# A session manager may end a hook together with the tray. A failure then must not count before the tray's own signal.
SESSION_ENDS = frozenset(getattr(signal, name, 0) for name in ("SIGHUP", "SIGINT", "SIGTERM")) - {0}
NOTICE = 0.25  # seconds that the tray's own signal may come later than the hook's

log = logging.getLogger(__name__)


class Rounds:
    """Runs approved hooks and nothing else; whom an event asks has been planned before."""

    def __init__(
        self,
        *,
        switch: Switch,
        works: Works,
        loops: Loops,
        late: Late,
        ears: Ears,
        background: Background | None,
        quit: Quit,
    ) -> None:
        self._switch = switch
        self._works = works
        self._loops = loops
        self._late = late
        self._ears = ears
        self._background = background
        self._quit = quit

    def outcomes(self, event: Event, hooks: Sequence[Approved], deadline: float, gone: Gone | None) -> list[Outcome]:
        """One for each hook, in their order. Those of a serial source wait for each other, all others for nobody."""
        turns = self._turns(event, hooks)
        outcomes = {index: turn for index, turn in enumerate(turns) if isinstance(turn, Outcome)}
        waiting = {index: turn for index, turn in enumerate(turns) if not isinstance(turn, Outcome)}
        serial = not (event.told or spec(event.agent, event.name).observe_only)
        while waiting:
            jobs = together(waiting, hooks) if serial else waiting
            outcomes |= self._held(event, hooks, jobs)
            running = {index: job for index, job in jobs.items() if index not in outcomes}
            outcomes |= zip(running, self._run(event, hooks, running, deadline, gone), strict=True)
            outcomes |= over({index: job for index, job in waiting.items() if index not in jobs}, hooks, outcomes)
            waiting = {index: job for index, job in waiting.items() if index not in outcomes}
        return [outcomes[index] for index in range(len(turns))]

    def take_back(self, event: Event, hooks: Sequence[Approved], outcomes: Sequence[Outcome]) -> None:
        """These turns do not count, because the one-shot engine runs the hooks of this event again."""
        for one, outcome in zip(hooks, outcomes, strict=True):
            if outcome.gate is None:
                self._loops.unused(event, one.hook)

    def refused(self, event: Event, hooks: Sequence[Approved]) -> list[Outcome]:
        """The same without a process: rules still speak, what would have to run has failed."""
        pairs = zip(hooks, self._turns(event, hooks), strict=True)
        return [turn if isinstance(turn, Outcome) else failed(one.hook, Gate.BUSY.value) for one, turn in pairs]

    def barred(self, hooks: Sequence[Approved], switch: Gate) -> list[Outcome]:
        """What comes out while the switch or a pause keeps all of them from running."""
        return [skipped(one.hook, switch) for one in hooks]

    def alone(self, event: Event, approved: Approved, deadline: float, gone: Gone | None) -> Outcome:
        """One hook's turn, whoever else would be asked; a pause of the event's own session does not count."""
        switch = self._switch.gate(time.time(), session="", agent=event.agent)
        turn = self._turn(event, approved, gate(approved.hook, switch=switch, nested=event.nested))
        return turn if isinstance(turn, Outcome) else self._run(event, [approved], {0: turn}, deadline, gone)[0]

    def gate(self, event: Event) -> Gate | None:
        """Whether the switch or a pause keeps this event's hooks from running, at this moment."""
        return self._switch.gate(time.time(), session=event.session, agent=event.agent)

    def _turns(self, event: Event, hooks: Sequence[Approved]) -> list[Work | Outcome]:
        """Each hook's way through the gates: what it has to run, or what came out without that."""
        switch = self.gate(event)
        spared = duplicates(hooks)
        return [
            skipped(one.hook, Gate.DUPLICATE, f"the same as {hooks[spared[index]].hook.name}, which is asked")
            if index in spared
            else self._turn(event, one, gate(one.hook, switch=switch, nested=event.nested))
            for index, one in enumerate(hooks)
        ]

    def _held(self, event: Event, hooks: Sequence[Approved], jobs: Iterable[int]) -> dict[int, Outcome]:
        """Those that may not start after all: the switch is hot, and whoever has a single turn may have had it."""
        switch = self.gate(event)
        if switch is not None:
            return {index: skipped(hooks[index].hook, switch) for index in jobs}
        spent = (index for index in jobs if not self._loops.first(event, hooks[index].hook))
        return {index: skipped(hooks[index].hook, Gate.ONCE, ONCE) for index in spent}

    def _turn(self, event: Event, approved: Approved, reason: Gate | None) -> Work | Outcome:
        hook = approved.hook
        if reason is not None:
            return skipped(hook, reason)
        if event.problem and (hook.match.tool or hook.match.pattern or not isinstance(hook.action, Rule)):
            return failed(hook, event.problem)
        if isinstance(hook.action, Rule):
            if not self._loops.first(event, hook):
                return skipped(hook, Gate.ONCE, ONCE)
            reading = Reading(verdict=hook.action.verdict, reason=hook.action.reason)
            return Outcome(hook=hook.name, status=Status.OK, reading=reading)
        try:
            may = partial(self._switch.passing, event.session, event.agent)
            return self._works.work(event, hook, approved.digest, may)
        except HooktrayError as error:
            return failed(hook, error.message)
        except Exception as error:  # the hook's turn: one hook's trouble never takes the others' verdicts away
            log.exception("%s could not have its turn", hook.name)
            return failed(hook, f"internal error: {type(error).__name__}")

    def _run(
        self,
        event: Event,
        hooks: Sequence[Approved],
        jobs: Mapping[int, Work],
        deadline: float,
        gone: Gone | None,
    ) -> list[Outcome]:
        if not jobs:
            return []
        with shown(self._ears, event, {index: hooks[index].hook for index in jobs}) as over_with:
            told = [
                replace(job, over=over_with(index)) if hooks[index].hook.status else job
                for index, job in jobs.items()
            ]
            results = run(told, deadline, gone, background=self._background)
        if any(result.signal in SESSION_ENDS for result in results):
            self._quit.wait(NOTICE)
        outcomes = []
        for index, result in zip(jobs, results, strict=True):
            hook = hooks[index].hook
            if not result.started:
                self._loops.unused(event, hook)
            if result.cause == CLOSED:
                outcomes.append(skipped(hook, self.gate(event) or Gate.SWITCH_OFF))
                continue
            if result.cause == CANCELLED:
                outcomes.append(Outcome(hook=hook.name, status=Status.SKIPPED, cause=CANCELLED, ms=result.ms))
                continue
            outcomes.append(self._read(event, hook, result))
        return outcomes

    def _read(self, event: Event, hook: Hook, result: Result) -> Outcome:
        try:
            reading = read(event, hook, result)
            if hook.aside is not Aside.NO:
                reading = self._late.heard(event, hook, result, reading)
        except Exception as error:  # the hook's turn
            log.exception("%s said what we cannot read", hook.name)
            reading = Reading(problem=f"internal error: {type(error).__name__}")
        stderr = result.stderr.decode("utf-8", "replace")
        return settle(hook, reading, timed_out=result.timed_out, ms=result.ms, stderr=stderr)
