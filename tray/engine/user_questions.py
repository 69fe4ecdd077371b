"""Questions that are put to the user on the desktop: no thread waits for the answer, and the first one wins.

A question begins with a Decision of ask on an agent that cannot ask by itself, with an agent's own request for
permission, or with a form that it puts to its user. It ends once: answered here, answered elsewhere, the agent gone,
or the time over.
"""

from __future__ import annotations

import enum
import os
import threading
from collections.abc import Callable, Collection
from functools import partial

import msgspec
from msgspec.structs import replace

from tray.agents.protocol import answered, form
from tray.execution.process import CANCELLED
from tray.model.decision import Answer, Decision, Verdict
from tray.model.event import Capability, Event, EventKind
from tray.model.form import Answers, Form
from tray.threads import run_logged

# The agent itself then asks its user, whatever hooks say.
ASKING_KINDS = frozenset({EventKind.ELICITATION, EventKind.PERMISSION_REQUEST})
NOT_SHOWN = "a question could not be shown"
LIMIT = 256  # open at once; beyond it no question is asked, as if it had not been answered

AFTER_CALL = frozenset({EventKind.TOOL_AFTER, EventKind.TOOL_FAILED, EventKind.PERMISSION_DENIED})
AFTER_TURN = frozenset(
    {
        EventKind.PROMPT,
        EventKind.SESSION_END,
        EventKind.TURN_END,
        EventKind.TURN_FAILED,
        EventKind.TURN_INTERRUPTED,
    }
)


class Resolution(enum.StrEnum):
    """How a question ended; the value is what people read."""

    ALLOWED = "allowed"
    ANSWERED = "answered"  # a form
    DENIED = "denied"
    ELSEWHERE = "answered elsewhere"
    AGENT_GONE = "the agent no longer waits"
    TIMED_OUT = "nobody answered in time"
    QUIT = "Hooktray quit"


class QuestionResult(msgspec.Struct, frozen=True, kw_only=True):
    resolution: Resolution
    channel: str = ""  # "notification", "menu", "page"
    answers: Answers = {}  # to a form

    @property
    def by_user(self) -> bool:
        return self.resolution in (Resolution.ALLOWED, Resolution.ANSWERED, Resolution.DENIED)

    def __str__(self) -> str:
        return f"{self.resolution} ({self.channel})" if self.channel else self.resolution.value


class UserQuestion(msgspec.Struct, frozen=True, kw_only=True):
    """What the user is asked: may this happen? Or, with a form, what is the answer?"""

    id: str
    event: Event
    decision: Decision  # as merged, before it is fitted to what the event can carry
    form: Form | None = None


Resume = Callable[[Callable[[], Answer | None]], None]


class PendingQuestion(msgspec.Struct, frozen=True, kw_only=True):
    """An answer that waits for the user. The server holds the connection, and no thread."""

    question: UserQuestion
    timeout: float  # seconds until it is too late
    questions: UserQuestions
    finish: Callable[[QuestionResult], Answer | None]

    def on_ready(self, resume: Resume) -> bool:
        """`resume` is called once, from any thread, with the work that makes the answer; False: it cannot wait."""
        return self.questions.open_question(self.question, lambda result: resume(lambda: self.finish(result)))

    def client_disconnected(self) -> None:
        self.questions.resolve(self.question.id, QuestionResult(resolution=Resolution.AGENT_GONE))

    def expired(self) -> None:
        self.questions.resolve(self.question.id, QuestionResult(resolution=Resolution.TIMED_OUT))

    def shut_down(self) -> None:
        """The tray ends: the relay gets no answer, and asks the one-shot engine."""
        self.questions.resolve(self.question.id, QuestionResult(resolution=Resolution.QUIT))

    def fallback(self) -> Answer | None:
        """The answer when the user cannot be asked."""
        return self.finish(QuestionResult(resolution=Resolution.TIMED_OUT))


# None: the tray quits and gives no answer, so that the relay asks the one-shot engine.
EngineResponse = Answer | PendingQuestion | None


class UserQuestions:
    """The open ones, of `agents` only. `on_asked` and `on_ended` must not block; their failures are logged."""

    def __init__(
        self,
        *,
        agents: Callable[[], Collection[str]] = tuple,
        seconds: Callable[[], float] = float,
        on_asked: Callable[[UserQuestion], None] = lambda _: None,
        on_ended: Callable[[UserQuestion, QuestionResult], None] = lambda *_: None,
    ) -> None:
        self._agents = agents
        self._seconds = seconds
        self._on_asked = on_asked
        self._on_ended = on_ended
        self._lock = threading.Lock()
        self.pending: dict[str, tuple[UserQuestion, Callable[[QuestionResult], None]]] = {}  # the open ones, by id

    @property
    def open(self) -> tuple[UserQuestion, ...]:
        """Oldest first."""
        with self._lock:
            return tuple(question for question, _ in self.pending.values())

    def should_ask(self, event: Event, decision: Decision) -> bool:
        """Whether this ask, or this event of ASKING_KINDS, is one for the user at the desktop."""
        if event.test or event.answered or event.depth or event.problem:
            return False
        if event.agent not in self._agents():
            return False
        if any(outcome.cause == CANCELLED for outcome in decision.outcomes):  # no caller waits any more
            return False
        if event.spec.after_the_fact or Capability.DENY not in event.spec.can or decision.stop is not None:
            return False
        if event.kind is EventKind.PERMISSION_REQUEST:
            is_open = decision.verdict in (Verdict.ABSTAIN, Verdict.ASK)
            return is_open or (_is_bare_allow(decision) and form(event) is not None)
        if event.kind is EventKind.ELICITATION:
            return decision.verdict is Verdict.ABSTAIN and decision.rewrite is None and form(event) is not None
        return decision.verdict is Verdict.ASK and Capability.ASK not in event.spec.can

    def make_pending(
        self, event: Event, decision: Decision, left: float, finish: Callable[[QuestionResult], Answer | None]
    ) -> PendingQuestion:
        """`left` is how long the agent waits at most."""
        question = UserQuestion(id=os.urandom(16).hex(), event=event, decision=decision, form=form(event))
        return PendingQuestion(question=question, timeout=min(self._seconds(), left), questions=self, finish=finish)

    def open_question(self, question: UserQuestion, resume: Callable[[QuestionResult], None]) -> bool:
        with self._lock:
            if len(self.pending) >= LIMIT:
                return False
            self.pending[question.id] = (question, resume)
        run_logged((partial(self._on_asked, question),), NOT_SHOWN)
        return True

    def find(self, id: str) -> UserQuestion | None:
        """The open question with this id."""
        return next((one for one in self.open if one.id == id), None)

    def answer(self, id: str, *, allow: bool, channel: str) -> bool:
        """The user's word; False when it comes too late, or for an unknown question. A form takes no bare yes."""
        question = self.find(id)
        if question is None or (allow and question.form is not None):
            return False
        return self.resolve(
            id, QuestionResult(resolution=Resolution.ALLOWED if allow else Resolution.DENIED, channel=channel)
        )

    def answer_form(self, id: str, answers: Answers, *, channel: str) -> bool:
        """The user's answers to a form; False when they come too late, or are not those that it takes."""
        question = self.find(id)
        if question is None or question.form is None or not question.form.accepts(answers):
            return False
        return self.resolve(id, QuestionResult(resolution=Resolution.ANSWERED, channel=channel, answers=answers))

    def observe(self, event: Event) -> None:
        """Takes every event while a question is pending: an agent that goes on has been answered elsewhere."""
        if event.answered or event.test:
            return
        for question in self.open:
            if _resolves(event, question):
                self.resolve(question.id, QuestionResult(resolution=Resolution.ELSEWHERE))

    def resolve(self, id: str, result: QuestionResult) -> bool:
        """The first result counts."""
        with self._lock:
            question, resume = self.pending.pop(id, (None, None))
        if question is None or resume is None:
            return False
        run_logged((partial(self._on_ended, question, result),), NOT_SHOWN)
        resume(result)
        return True


def apply_result(event: Event, decision: Decision, result: QuestionResult) -> Decision:
    """What the result makes of the decision. No answer leaves it as it was: an ask, or a denial (law 2)."""
    adjustment = f"asked on the desktop: {result}"
    decision = replace(decision, adjustments=(*decision.adjustments, adjustment))
    if result.resolution is Resolution.ANSWERED:
        decision = answered(event, decision, result.answers)
        return replace(decision, reason=f"The user answered it ({result.channel})")
    if result.resolution is Resolution.ALLOWED:
        return replace(decision, verdict=Verdict.ALLOW, reason=f"The user allowed it ({result.channel})")
    reason = " · ".join(filter(None, (decision.reason, f"The user denied it ({result.channel})")))
    if result.resolution is Resolution.DENIED:
        return replace(decision, verdict=Verdict.DENY, reason=reason, rewrite=None)
    return replace(decision, reason=" · ".join(filter(None, (decision.reason, result.resolution.value))))


def _is_bare_allow(decision: Decision) -> bool:
    """Which answers no form: the agent asks its user all the same."""
    return decision.verdict is Verdict.ALLOW and decision.rewrite is None


def _resolves(event: Event, question: UserQuestion) -> bool:
    asked = question.event
    if (event.agent, event.session) != (asked.agent, asked.session) or event.id == asked.id:
        return False
    if event.kind in AFTER_TURN:
        return not event.subagent
    return event.kind in AFTER_CALL and _same_call(event, question)


def _same_call(event: Event, question: UserQuestion) -> bool:
    """By the agent's id of the call, else by what is called: a request for permission names no id."""
    asked = question.event.tool
    if event.tool is None or asked is None:
        return False
    if event.tool.call and asked.call:
        return event.tool.call == asked.call
    called = event.tool.input
    if question.form is not None:  # whose answers were added
        called = {key: value for key, value in called.items() if key in asked.input}
    return (event.tool.name, called) == (asked.name, asked.input)
