"""Questions that are put to the user on the desktop: no thread waits for the answer, and the first one wins.

A question begins with a Decision of ask on an agent that cannot ask by itself, with an agent's own request for
permission, or with a form that it puts to its user. It ends once: answered here, answered elsewhere, the agent gone,
or the time over.
"""

from __future__ import annotations

import enum
import threading
from collections.abc import Collection
from typing import Protocol

import msgspec
from msgspec.structs import replace

from tray.agents.protocol import answered, form
from tray.execution.process import CANCELLED
from tray.model.decision import Answer, Decision, Verdict
from tray.model.event import Capability, Event, EventKind
from tray.model.form import Answers, Form
from tray.threads import failures_logged

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


class PendingQuestion(msgspec.Struct, kw_only=True, eq=False):
    """An answer that waits for the user. The server holds the connection, and no thread."""

    question: UserQuestion
    timeout: float  # seconds until it is too late
    questions: UserQuestions
    result: QuestionResult = QuestionResult(resolution=Resolution.TIMED_OUT)
    waiter: AnswerWaiter | None = None

    def open(self, waiter: AnswerWaiter) -> None:
        """Ask the user. `waiter.resume` is called once, from any thread, as soon as `answer` may be called."""
        self.waiter = waiter
        self.questions.open_question(self)

    def answer(self) -> Answer | None:
        """Returns the answer by the result, once; by the time-out if the user was not asked."""
        raise NotImplementedError

    def client_disconnected(self) -> None:
        self.questions.resolve(self.question.id, QuestionResult(resolution=Resolution.AGENT_GONE))

    def expired(self) -> None:
        self.questions.resolve(self.question.id, QuestionResult(resolution=Resolution.TIMED_OUT))

    def shut_down(self) -> None:
        """The tray ends: the relay gets no answer, and asks the one-shot engine."""
        self.questions.resolve(self.question.id, QuestionResult(resolution=Resolution.QUIT))

    def resolve(self, result: QuestionResult) -> None:
        self.result = result
        if self.waiter is not None:
            self.waiter.resume(self)


class AnswerWaiter(Protocol):
    """Holds the connection of an agent whose answer waits for the user."""

    def resume(self, answer: PendingQuestion, /) -> None: ...


class QuestionDisplay(Protocol):
    """Shows the questions to the user. `question_opened` and `question_closed` must not block."""

    def asking_agents(self) -> Collection[str]:
        """Returns the agents whose questions the user gets here."""

    def question_seconds(self) -> float: ...
    def question_opened(self, question: UserQuestion) -> None: ...
    def question_closed(self, question: UserQuestion, result: QuestionResult) -> None: ...


# None: the tray quits and gives no answer, so that the relay asks the one-shot engine.
EngineResponse = Answer | PendingQuestion | None


class UserQuestions:
    """The open ones. Without a display no question is asked; its failures are logged."""

    def __init__(self, display: QuestionDisplay | None = None) -> None:
        self._display = display
        self._lock = threading.Lock()
        self.pending: dict[str, PendingQuestion] = {}  # the open ones, by id

    @property
    def open(self) -> tuple[UserQuestion, ...]:
        """Oldest first."""
        with self._lock:
            return tuple(one.question for one in self.pending.values())

    def should_ask(self, event: Event, decision: Decision) -> bool:
        """Whether this ask, or this event of ASKING_KINDS, is one for the user at the desktop."""
        if event.test or event.answered or event.depth or event.problem:
            return False
        if self._display is None or event.agent not in self._display.asking_agents():
            return False
        if any(outcome.cause == CANCELLED for outcome in decision.outcomes):  # no caller waits any more
            return False
        if event.spec.after_the_fact or Capability.DENY not in event.spec.can or decision.stop is not None:
            return False
        if event.kind is EventKind.PERMISSION_REQUEST:
            if decision.verdict is Verdict.ALLOW and decision.rewrite is None:  # it answers no form
                return form(event) is not None
            return decision.verdict in (Verdict.ABSTAIN, Verdict.ASK)
        if event.kind is EventKind.ELICITATION:
            return decision.verdict is Verdict.ABSTAIN and decision.rewrite is None and form(event) is not None
        return decision.verdict is Verdict.ASK and Capability.ASK not in event.spec.can

    @property
    def seconds(self) -> float:
        """How long a question may wait for the user."""
        return self._display.question_seconds() if self._display else 0.0

    def open_question(self, pending: PendingQuestion) -> None:
        """Show the question; beyond the limit it ends at once, as if no answer had come in time."""
        with self._lock:
            is_full = len(self.pending) >= LIMIT
            if not is_full:
                self.pending[pending.question.id] = pending
        if is_full:
            pending.resolve(QuestionResult(resolution=Resolution.TIMED_OUT))
        elif self._display is not None:
            with failures_logged(NOT_SHOWN):
                self._display.question_opened(pending.question)

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
            pending = self.pending.pop(id, None)
        if pending is None:
            return False
        if self._display is not None:
            with failures_logged(NOT_SHOWN):
                self._display.question_closed(pending.question, result)
        pending.resolve(result)
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
