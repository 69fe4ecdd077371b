"""Questions that are put to the user on the desktop: no thread waits for the answer, and the first one wins.

A question begins with a Decision that says ask on an agent that cannot ask by itself, or with an agent's own request
for permission. It ends once: answered here, answered elsewhere, the agent gone, or the time over.
"""

from __future__ import annotations

import enum
import logging
import os
import threading
from collections.abc import Callable, Collection
from dataclasses import dataclass, replace

from tray.dialects import spec
from tray.engine.runners.process import CANCELLED
from tray.model.decision import Answer, Decision, Gate, Verdict
from tray.model.event import Can, Event, EventKind

MOST = 256  # open at once; beyond it nobody is asked, as if nobody had answered

AFTER_CALL = frozenset({EventKind.TOOL_AFTER, EventKind.TOOL_FAILED, EventKind.PERMISSION_DENIED})
AFTER_TURN = frozenset({EventKind.PROMPT, EventKind.SESSION_END, EventKind.TURN_END, EventKind.TURN_FAILED})

log = logging.getLogger(__name__)


class End(enum.StrEnum):
    """How a question ended; the value is what people are told."""

    ALLOWED = "allowed"
    DENIED = "denied"
    ELSEWHERE = "answered elsewhere"
    GONE = "the agent no longer waits"
    LATE = "nobody answered in time"
    QUIT = "Hooktray quit"


@dataclass(frozen=True, slots=True, kw_only=True)
class Ending:
    end: End
    way: str = ""  # "notification", "menu", "page"

    @property
    def by_user(self) -> bool:
        return self.end in (End.ALLOWED, End.DENIED)

    def __str__(self) -> str:
        return f"{self.end} ({self.way})" if self.way else self.end.value


@dataclass(frozen=True, slots=True, kw_only=True)
class Question:
    """What the user is asked: may this happen?"""

    id: str
    event: Event
    decision: Decision  # as merged, before it is fitted to what the event can carry


Resume = Callable[[Callable[[], Answer | None]], None]


@dataclass(frozen=True, slots=True, kw_only=True)
class Parked:
    """An answer that waits for the user. The door holds the connection, and nobody's thread."""

    question: Question
    seconds: float  # until it is too late
    questions: Questions
    finish: Callable[[Ending], Answer | None]

    def wait(self, resume: Resume) -> bool:
        """`resume` is called once, from any thread, with the work that makes the answer; False: it cannot wait."""
        return self.questions.put(self.question, lambda ending: resume(lambda: self.finish(ending)))

    def gone(self) -> None:
        self.questions.end(self.question.id, Ending(end=End.GONE))

    def late(self) -> None:
        self.questions.end(self.question.id, Ending(end=End.LATE))

    def quit(self) -> None:
        """The tray ends: the relay gets no answer, and asks the one-shot engine."""
        self.questions.end(self.question.id, Ending(end=End.QUIT))

    def unasked(self) -> Answer | None:
        """The answer when nobody can be asked."""
        return self.finish(Ending(end=End.LATE))


Said = Answer | Parked | None  # None: the tray quits and gives no answer, so that the relay asks the one-shot engine


class Questions:
    """The open ones; nobody is asked unless `agents` says so. `asked` and `ended` must only hand over."""

    def __init__(
        self,
        *,
        agents: Callable[[], Collection[str]] = tuple,
        seconds: Callable[[], float] = float,
        asked: Callable[[Question], None] = lambda _: None,
        ended: Callable[[Question, Ending], None] = lambda *_: None,
    ) -> None:
        self._agents = agents
        self._seconds = seconds
        self._asked = asked
        self._ended = ended
        self._lock = threading.Lock()
        self._open: dict[str, tuple[Question, Callable[[Ending], None]]] = {}

    @property
    def pending(self) -> bool:
        """Whether any is open, without waiting for those who open and end them."""
        return bool(self._open)

    @property
    def open(self) -> tuple[Question, ...]:
        """Oldest first."""
        with self._lock:
            return tuple(question for question, _ in self._open.values())

    def wanted(self, event: Event, decision: Decision, switch: Gate | None) -> bool:
        """Whether this decision is one for the user at the desktop; never while hooks are switched off."""
        if decision.verdict is not Verdict.ASK and event.kind is not EventKind.PERMISSION_REQUEST:
            return False  # nearly all: asked first, since the rest takes longer
        if switch is not None or event.test or event.told or event.nested or event.problem:
            return False
        if event.agent not in self._agents():
            return False
        if any(outcome.cause == CANCELLED for outcome in decision.outcomes):  # nobody waits any more
            return False
        found = spec(event.agent, event.name)
        if found.late or Can.DENY not in found.can or decision.stop is not None:
            return False
        if event.kind is EventKind.PERMISSION_REQUEST:
            return decision.verdict in (Verdict.ABSTAIN, Verdict.ASK)
        return decision.verdict is Verdict.ASK and Can.ASK not in found.can

    def park(
        self, event: Event, decision: Decision, left: float, finish: Callable[[Ending], Answer | None]
    ) -> Parked:
        """`left` is how long the agent waits at most."""
        question = Question(id=os.urandom(16).hex(), event=event, decision=decision)
        return Parked(question=question, seconds=min(self._seconds(), left), questions=self, finish=finish)

    def put(self, question: Question, resume: Callable[[Ending], None]) -> bool:
        with self._lock:
            if len(self._open) >= MOST:
                return False
            self._open[question.id] = (question, resume)
        self._tell(lambda: self._asked(question))
        return True

    def answer(self, id: str, *, allow: bool, way: str) -> bool:
        """The user's word; False when it comes too late, or there is no such question."""
        return self.end(id, Ending(end=End.ALLOWED if allow else End.DENIED, way=way))

    def heard(self, event: Event) -> None:
        """Every event goes by here: whoever goes on has been answered elsewhere."""
        if not self._open or event.told or event.test:
            return
        for question in self.open:
            if _settles(event, question.event):
                self.end(question.id, Ending(end=End.ELSEWHERE))

    def end(self, id: str, ending: Ending) -> bool:
        """The first ending counts."""
        with self._lock:
            question, resume = self._open.pop(id, (None, None))
        if question is None or resume is None:
            return False
        self._tell(lambda: self._ended(question, ending))
        resume(ending)
        return True

    def _tell(self, news: Callable[[], None]) -> None:
        try:
            news()
        except Exception:  # who shows questions never keeps an answer back (law 7)
            log.exception("a question could not be shown")


def settled(decision: Decision, ending: Ending) -> Decision:
    """What the ending makes of the decision. No answer leaves it as it was: an ask, or a denial (law 2)."""
    remark = f"asked on the desktop: {ending}"
    decision = replace(decision, remarks=(*decision.remarks, remark))
    if ending.end is End.ALLOWED:
        return replace(decision, verdict=Verdict.ALLOW, reason=f"The user allowed it ({ending.way})")
    reason = " · ".join(filter(None, (decision.reason, f"The user denied it ({ending.way})")))
    if ending.end is End.DENIED:
        return replace(decision, verdict=Verdict.DENY, reason=reason, rewrite=None)
    return replace(decision, reason=" · ".join(filter(None, (decision.reason, ending.end.value))))


def _settles(event: Event, asked: Event) -> bool:
    if (event.agent, event.session) != (asked.agent, asked.session) or event.id == asked.id:
        return False
    if event.kind in AFTER_TURN:
        return not event.subagent
    return event.kind in AFTER_CALL and _same_call(event, asked)


def _same_call(event: Event, asked: Event) -> bool:
    """By the agent's id of the call, else by what is called: a request for permission names no id."""
    if event.tool is None or asked.tool is None:
        return False
    if event.tool.call and asked.tool.call:
        return event.tool.call == asked.tool.call
    return (event.tool.name, event.tool.input) == (asked.tool.name, asked.tool.input)
