"""From event to answer: plan, gates, runners, merge, fit. Read `decide` first."""

from __future__ import annotations

import logging
import os
import time
from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

from tray.dialects import Payload, fit, neutral, payload_of, spec
from tray.dialects.callers import Caller, recognise
from tray.engine.approval.covering import Covering
from tray.engine.callers.ancestry import Lineage
from tray.engine.closing import Closing
from tray.engine.duplicates import beside
from tray.engine.ears import OFTEN, After, Ears, Later, Rows, at_once
from tray.engine.fast_path import FastPath
from tray.engine.gates import switched, takes_time
from tray.engine.heard import heard
from tray.engine.late import Late
from tray.engine.loops import Loops
from tray.engine.merge import merge
from tray.engine.plan import plan
from tray.engine.protection.places import Places
from tray.engine.protection.rule import Protection
from tray.engine.questions import End, Ending, Questions, Said, settled
from tray.engine.rounds import Rounds
from tray.engine.runners.command import Background, Gone
from tray.engine.runners.process import CANCELLED
from tray.engine.scopes import Scopes
from tray.engine.typed import Answers, answered, nobody
from tray.engine.work import Works
from tray.model.decision import NOTHING, Answer, Decision, Gate, Outcome, Status, Verdict
from tray.model.event import Event, EventKind, Knock
from tray.model.hook import Hook
from tray.store.copies import Copies
from tray.store.ledger import Approved, Book, Ledger
from tray.store.sessions import Sessions
from tray.store.switch import Switch
from tray.threads import Quit

if TYPE_CHECKING:  # reading YAML is none of the business of `once`
    from tray.settings import Llm

ANCESTRY = frozenset({EventKind.PERMISSION_REQUEST, EventKind.ROUND_END})  # may lead to something without any hook

log = logging.getLogger(__name__)


class Engine:
    """Judges events by the approved hooks. `later` runs work whose answer has left; False when it takes no more."""

    def __init__(
        self,
        *,
        ledger: Ledger,
        copies: Copies,
        switch: Switch,
        sessions: Sessions,
        rows: Rows,
        ears: Ears,
        later: Later,
        background: Background | None,
        llm: Callable[[], Llm | None],
        ending: Gone | None = None,
        offline: bool = False,
        protection: Protection | None = None,
        answers: Answers = nobody,
        questions: Questions | None = None,
        quit: Quit | None = None,
    ) -> None:
        self._quit = quit or Quit()
        self._answers = answers
        self._questions = questions or Questions()
        self._ending = ending
        self._protection = protection or Protection(places=Places())
        self._ledger = ledger
        self._switch = switch
        self._loops = Loops(sessions)
        self._late = Late(sessions)
        self._rounds = Rounds(
            switch=switch,
            works=Works(Covering(copies), llm),
            loops=self._loops,
            late=self._late,
            ears=ears,
            background=background,
            quit=self._quit,
        )
        self._scopes = Scopes(sessions)
        self._closing = Closing(rows=rows, ears=ears, loops=self._loops, scopes=self._scopes, offline=offline)
        self._fast_path = FastPath(
            switch=switch, protection=self._protection, late=self._late, questions=self._questions, ears=ears
        )
        self._lineage = Lineage(os.getpid())
        self._ears = ears
        self._later = later

    def begin(
        self,
        knock: Knock,
        spent: float = 0.0,
        *,
        after: After = at_once,
        slow: Callable[[], object] = lambda: None,
    ) -> Said | Callable[[Gone | None], Said]:
        """The answer at once when no process has to run for it, else the work that leads to it.

        What need not be written down before the answer leaves is left to `after`. `slow` hears of an event whose
        patterns take their time.
        """
        started = time.monotonic() - spent
        book = self._ledger.book  # one for the whole event: the row names the version that it was judged by
        knock, payload, caller = _called(knock)
        if caller is not None:
            return self._closing.finish_unasked(knock, caller, payload, book.version, started, after)
        seen = self._fast_path.look(knock, book, payload)
        if seen.fast:
            kept = None if seen.gate is None else self._kept(book, seen.gate)  # the hooks that a gate keeps out
            return self._closing.finish_fast(knock, payload, book.version, started, after, kept)
        event = heard(knock, book.version, payload)
        self._loops.began(event)
        try:
            return self._begun(event, book, started, after, slow)
        except Exception as error:  # noqa: BLE001 - ours: an event that we fail on has not got past its guards
            return self._fallen(event, book, started, error)

    def _begun(
        self, event: Event, book: Book, started: float, after: After, slow: Callable[[], object]
    ) -> Said | Callable[[Gone | None], Said]:
        own = self._own(event)
        if own is not None and own.reading.verdict is Verdict.DENY:  # whatever hooks and the switch say
            self._ears.arrived(event, answered=False)
            return self._closing.finish(event, fit(event, merge([own])), started)
        switch = self._rounds.gate(event)
        if switch is not None and own is None and event.kind not in ANCESTRY:
            return self._barred(event, book, switch, started, after)
        hooks = self._plan(event, book, slow)
        asked = (hooks and switch is None) or event.kind in ANCESTRY
        if asked and self._lineage.from_hook(event.pid):  # now, while the relay still lives
            event = replace(event, nested=True)
        observed = bool(hooks) and spec(event.agent, event.name).observe_only
        self._questions.heard(event)
        self._ears.arrived(event, answered=observed)
        if not hooks or switch is not None:
            barred = self._rounds.barred(hooks, switch) if switch is not None else []
            decision = self._decision(event, [own, *barred] if own else barred)
            return self._ask(event, decision, started, after, lambda: self._hand_back(event, (), (), started))
        if observed:
            after(lambda: self._let_go(event, hooks, started), soon=True)
            return neutral(event.agent, event.name, event.body)
        waited, apart = beside(hooks)
        deadline = started + spec(event.agent, event.name).deadline

        def answer(gone: Gone | None) -> Said:
            began = time.monotonic()
            try:
                outcomes = self._rounds.outcomes(event, waited, deadline, gone)

                def hand_back() -> None:
                    self._hand_back(event, waited, outcomes, started)

                if self._is_interrupted(outcomes):
                    hand_back()
                    return None
                said = self._ask(event, self._decided(event, outcomes, own, began), started, after, hand_back)
            except Exception as error:  # noqa: BLE001 - the same
                return self._fallen(event, book, started, error)
            if apart:
                self._go_beside(event, apart)
            return said

        return answer if any(takes_time(one.hook, switch) for one in waited) else answer(None)

    def _fallen(self, event: Event, book: Book, started: float, error: Exception) -> Answer:
        """As with an event that cannot be read: its hooks have failed, and `failure: block` blocks."""
        log.exception("%s of %s could not be judged", event.name, event.agent)
        event = replace(event, problem=event.problem or f"internal error: {type(error).__name__}")
        decision = merge(self._rounds.refused(event, self._plan(event, book)))
        return self._closing.finish(event, fit(event, decision), started)

    def _barred(self, event: Event, book: Book, switch: Gate, started: float, after: After) -> Answer:
        """Nobody speaks while hooks are off: who would have been asked is looked up for the row alone."""
        self._questions.heard(event)
        self._ears.arrived(event, answered=False)
        decision = self._loops.heed(event, NOTHING)
        return self._closing.finish(event, decision, started, after, self._kept(book, switch))

    def _kept(self, book: Book, gate: Gate) -> Callable[[Event], Decision]:
        """Who would have been asked of an event, and is kept from it: looked up once it is answered."""
        return lambda event: merge(self._rounds.barred(self._plan(event, book), gate))

    def _let_go(self, event: Event, hooks: Sequence[Approved], started: float) -> None:
        """It is answered already; the hooks have their turn, unless there are too many of them at it."""
        if not self._later(lambda: self._observe(event, hooks)):
            self._closing.finish(event, self._refuse_to_run(event, hooks), started)

    def _go_beside(self, event: Event, hooks: Sequence[Approved]) -> None:
        """What no answer waits for, and none can heed: a row of its own tells what came out."""
        told = replace(event, id=os.urandom(16).hex(), told=True)
        if not self._later(lambda: self._observe(told, hooks)):
            self._closing.finish(told, self._refuse_to_run(told, hooks), time.monotonic())

    def observe(self, event: Event) -> None:
        """An event that no relay brought: nobody waits for it, and its hooks have their turn."""
        book = self._ledger.book
        event = replace(event, ledger=book.version)
        self._let_go(event, self._plan(event, book), time.monotonic())

    def _observe(self, event: Event, hooks: Sequence[Approved]) -> None:
        """Hooks run under their own time-outs, nothing is answered."""
        started = time.monotonic()
        self._closing.finish(event, self.decide(event, hooks, started + 86400.0, self._ending), started)

    def decide(
        self, event: Event, hooks: Sequence[Approved], deadline: float, gone: Gone | None, own: Outcome | None = None
    ) -> Decision:
        """The one merged decision, made such that this event can carry it back to its agent; `own` speaks first."""
        began = time.monotonic()
        return self._decided(event, self._rounds.outcomes(event, hooks, deadline, gone), own, began)

    def _decided(self, event: Event, outcomes: list[Outcome], own: Outcome | None, began: float) -> Decision:
        decision = self._decision(event, [own, *outcomes] if own else outcomes)
        return replace(decision, span=(began, time.monotonic()))

    def _is_interrupted(self, outcomes: Sequence[Outcome]) -> bool:
        """Whether the end of the tray kept a hook from its verdict: its failure policy must not decide then.

        A session that ends may end hooks by itself, so a hook that fails while the tray quits proves nothing.
        """
        if not self._quit.begun:
            return False
        return any(outcome.cause == CANCELLED or outcome.status is Status.FAILED for outcome in outcomes)

    def _hand_back(
        self, event: Event, hooks: Sequence[Approved], outcomes: Sequence[Outcome], started: float
    ) -> None:
        """No answer: the one-shot engine judges this event anew."""
        is_gone = any(outcome.cause == CANCELLED for outcome in outcomes) and not self._quit.ends_hooks
        self._rounds.take_back(event, hooks, outcomes)
        self._closing.hand_back(event, outcomes, started, is_gone=is_gone)

    def _decision(self, event: Event, outcomes: list[Outcome]) -> Decision:
        """Merged with what hooks said too late for an earlier event, and no endless refusal."""
        if event.told:
            remark = "ran beside the answer, which was given without waiting"
            decision = merge(outcomes)
            return replace(decision, verdict=Verdict.ABSTAIN, reason="", remarks=(*decision.remarks, remark))
        if not outcomes and event.kind in OFTEN and self._late.nothing:
            return NOTHING  # by far the most: none of these is a question or an end
        switch = self._rounds.gate(event)
        if switch is None and not (outcomes and any(outcome.cause == CANCELLED for outcome in outcomes)):
            outcomes = [*outcomes, *self._late.said(event)]
        decision = merge(outcomes) if outcomes else NOTHING
        if self._questions.wanted(event, decision, switch):
            return replace(decision, verdict=Verdict.ASK, open=True)
        return self._loops.heed(event, fit(event, decision) if outcomes else decision)

    def _ask(
        self, event: Event, decision: Decision, started: float, after: After, hand_back: Callable[[], None]
    ) -> Said:
        """The answer, or the place where it waits for the user's. Once the tray quits, it asks no one."""
        if not decision.open:
            return self._closing.finish(event, decision, started, after)
        if self._quit.begun:
            hand_back()
            return None

        def finish(ending: Ending) -> Answer | None:
            if ending.end is End.QUIT:
                hand_back()
                return None
            return self._closing.finish(
                event, self._loops.heed(event, fit(event, settled(decision, ending))), started
            )

        left = started + spec(event.agent, event.name).deadline - time.monotonic()
        return self._questions.park(event, decision, left, finish)

    def trial(self, event: Event, approved: Approved) -> Outcome:
        """One hook's turn on an event that did not happen, through the same gates; nobody is told of it.

        The end of the tray cancels it.
        """
        found = spec(event.agent, event.name)
        limit = approved.hook.timeout + 5 if found.observe_only else found.deadline
        return self._rounds.alone(event, switched(approved, self._switch), time.monotonic() + limit, self._ending)

    def rehearse(self, event: Event, may: Callable[[Hook], bool]) -> Decision:
        """What the hooks in force that `may` be asked make of an event; nobody is told, nothing is written down."""
        hooks = [one for one in self._plan(event, self._ledger.book) if may(one.hook)]
        deadline = time.monotonic() + spec(event.agent, event.name).deadline
        return self.decide(event, hooks, deadline, self._ending, self._own(event))

    def busy(self, knock: Knock) -> Answer:
        """Too many events at once: rules still speak, what would need a process has failed."""
        started = time.monotonic()
        book = self._ledger.book
        knock, payload, caller = _called(knock)
        if caller is not None:
            return self._closing.finish_unasked(knock, caller, payload, book.version, started, at_once)
        event = heard(knock, book.version, payload)
        self._loops.began(event)
        own = self._own(event)
        return self._closing.finish(
            event, fit(event, self._refuse_to_run(event, self._plan(event, book), own)), started
        )

    def _own(self, event: Event) -> Outcome | None:
        """What we say ourselves, before any hook is asked."""
        return answered(event, self._answers) or self._protection.judge(event)

    def _refuse_to_run(self, event: Event, hooks: Sequence[Approved], own: Outcome | None = None) -> Decision:
        busy = self._rounds.refused(event, hooks)
        return self._decision(event, [own, *busy] if own else busy)

    def _plan(self, event: Event, book: Book, slow: Callable[[], object] = lambda: None) -> tuple[Approved, ...]:
        """Who is asked; `slow` is called first when that takes more than a look."""
        hooks = plan(event, book, self._scopes.skills, slow)
        return tuple(switched(one, self._switch) for one in hooks) if hooks else ()


def _called(knock: Knock) -> tuple[Knock, Payload | None, Caller | None]:
    """The knock under its sender's own name, the payload if readable, and the sender if no hook is asked about it.

    A plain event's text is a person's or a model's own: nothing in it counts as a mark.
    """
    if knock.problem:
        return knock, None, None
    try:
        payload = payload_of(knock)
    except ValueError:
        return knock, None, None
    if spec(knock.agent, knock.event).plain:
        return knock, payload, None
    caller = recognise(knock.agent, knock.event, payload, knock.environment)
    if caller is not None and caller.unasked is None:
        return replace(knock, agent=caller.agent, event=caller.event), payload, None
    return knock, payload, caller
