"""A question is put to the user where the agent cannot ask, ends once, and its ending becomes the agent's answer."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from typing import Any

import pytest
from house import PRE_TOOL_USE, House

from tray.agents.protocol import parse
from tray.engine.sentence import details, sentence
from tray.engine.user_questions import (
    LIMIT,
    PendingQuestion,
    QuestionResult,
    Resolution,
    UserQuestion,
    UserQuestions,
)
from tray.model.decision import Answer, Decision, Verdict
from tray.model.form import Answers

X_CODE = {"event": "PreToolUse", "session": {"cwd": "/"}, "tool": {"name": "shell", "args": {"command": "ls"}}}
PERMISSION = {key: value for key, value in PRE_TOOL_USE.items() if key != "tool_use_id"} | {
    "hook_event_name": "PermissionRequest"
}
DENIED = QuestionResult(resolution=Resolution.DENIED, channel="menu")
COLOUR = {"question": "Which colour?", "options": [{"label": "Red"}, {"label": "Blue"}]}
FORM = PERMISSION | {"tool_name": "AskUserQuestion", "tool_input": {"questions": [COLOUR]}}
ELICITATION = {"opencode_plugin": 1, "session_id": "s-1", "hook_event_name": "Elicitation", "questions": [COLOUR]}
BLUE = {"Which colour?": ("Blue",)}


def says(end: Resolution) -> Callable[[PendingQuestion], object]:
    return lambda pending: pending.questions.resolve(
        pending.question.id, QuestionResult(resolution=end, channel="menu" if end in USER else "")
    )


USER = (Resolution.ALLOWED, Resolution.DENIED)


@pytest.fixture
def asking(house: House) -> House:
    house.hook("careful", on="tool_before", type="rule", decision="ask", reason="it writes", matcher="ls")
    house.asks = ("x-code", "starchild", "claude-code")
    return house


def x_code(house: House) -> Answer:
    return house.relay("x-code", "PreToolUse", X_CODE)


def permission(house: House, **more: Any) -> dict[str, Any]:
    stdout = house.relay("claude-code", "PermissionRequest", PERMISSION, **more).stdout
    return dict(json.loads(stdout)["hookSpecificOutput"]["decision"]) if stdout else {}


def test_allowed_means_that_an_agent_without_an_allow_hears_nothing(asking: House) -> None:
    asking.user = says(Resolution.ALLOWED)

    assert x_code(asking) == Answer()
    assert "asked on the desktop: allowed (menu)" in asking.last.adjustments


@pytest.mark.parametrize(
    "end", [Resolution.DENIED, Resolution.TIMED_OUT, Resolution.AGENT_GONE, Resolution.ELSEWHERE]
)
def test_every_other_ending_denies_where_the_agent_cannot_ask_by_itself(asking: House, end: Resolution) -> None:
    asking.user = says(end)

    answer = x_code(asking)

    assert b"it writes" in answer.stdout + answer.stderr
    assert asking.last.verdict is Verdict.DENY
    assert any(end.value in adjustment for adjustment in asking.last.adjustments)


def test_a_request_for_permission_is_asked_without_any_hook(house: House) -> None:
    house.asks = ("claude-code",)

    house.user = says(Resolution.ALLOWED)
    assert permission(house) == {"behavior": "allow"}
    house.user = says(Resolution.DENIED)
    assert permission(house)["behavior"] == "deny"
    house.user = says(Resolution.TIMED_OUT)
    assert permission(house) == {}, "the agent's own dialog decides"


@pytest.mark.parametrize("why", ["not turned on", "hooks are off", "the agent asks by itself"])
def test_nobody_is_asked_when(asking: House, why: str) -> None:
    if why == "not turned on":
        asking.asks = ()
    if why == "hooks are off":
        asking.stores.switch.set_enabled(False, "test")

    if why == "the agent asks by itself":
        assert asking.tool("ls")["hookSpecificOutput"]["permissionDecision"] == "ask"
    else:
        x_code(asking)

    assert asking.asked == []


def test_the_first_answer_wins(asking: House) -> None:
    def twice(pending: PendingQuestion) -> None:
        assert pending.questions.answer(pending.question.id, allow=False, channel="menu")
        assert not pending.questions.answer(pending.question.id, allow=True, channel="notification")
        pending.expired()

    asking.user = twice

    x_code(asking)

    assert asking.endings == [DENIED]
    assert asking.last.verdict is Verdict.DENY


FILLED_FORM = {"questions": [COLOUR], "answers": {"Which colour?": "Red"}}
CAME_BACK = {"hook_event_name": "PostToolUse", "tool_response": {}, "tool_use_id": "toolu_1"}
AFTER = [
    ("the call came back", CAME_BACK, True),
    ("the form came back", FORM | CAME_BACK | {"tool_input": FILLED_FORM}, True),
    ("another call came back", {"hook_event_name": "PostToolUse", "tool_input": {"command": "pwd"}}, False),
    ("another session", {"hook_event_name": "Stop", "session_id": "s-2"}, False),
    ("the turn is over", {"hook_event_name": "Stop"}, True),
    ("a new prompt", {"hook_event_name": "UserPromptSubmit", "prompt": "never mind"}, True),
    ("another tool begins", {"hook_event_name": "PreToolUse", "tool_name": "Read"}, False),
]


@pytest.mark.parametrize(("payload", "ended"), [case[1:] for case in AFTER], ids=[case[0] for case in AFTER])
def test_who_goes_on_was_answered_elsewhere(house: House, payload: dict[str, Any], ended: bool) -> None:
    house.asks = ("claude-code",)

    def meanwhile(pending: PendingQuestion) -> None:
        house.engine.begin(house.relay_request("claude-code", {**PRE_TOOL_USE, **payload}, id="f" * 32))
        pending.expired()

    house.user = meanwhile
    house.relay(
        "claude-code", "PermissionRequest", FORM if payload.get("tool_name") == FORM["tool_name"] else PERMISSION
    )

    assert [ending.resolution for ending in house.endings] == [
        Resolution.ELSEWHERE if ended else Resolution.TIMED_OUT
    ]


def test_beyond_the_limit_nobody_is_asked(house: House) -> None:
    house.asks = ("claude-code",)
    pending = []
    for number in range(LIMIT + 1):
        found = house.engine.begin(house.relay_request("claude-code", PERMISSION, id=f"{number:032x}"))
        assert isinstance(found, PendingQuestion)
        pending.append(found)
    for one in pending[:LIMIT]:
        one.open(house)
    assert len(house.questions.open) == LIMIT

    pending[LIMIT].open(house)

    assert house.resumed == [pending[LIMIT]]
    assert pending[LIMIT].answer() == Answer()
    assert len(house.questions.open) == len(house.asked) == LIMIT


def test_a_question_explains_itself_without_its_secrets(house: House) -> None:
    house.asks = ("claude-code",)
    tool = {"command": "curl -H 'Authorization: Bearer ghp_0123456789abcdefghijABCDEFGHIJ012345'"}
    permission_with = {**PERMISSION, "tool_input": tool}

    house.relay("claude-code", "PermissionRequest", permission_with)

    text = details(house.asked[0])
    assert "curl -H" in text
    assert re.search(r"^folder {3}/", text, re.M)
    assert "ghp_0123456789" not in text


def answers(given: Answers, seen: list[bool] | None = None) -> Callable[[PendingQuestion], None]:
    """A user who gives these answers; whatever does not count is followed by no answer at all."""

    def answer(pending: PendingQuestion) -> None:
        taken = pending.questions.answer_form(pending.question.id, given, channel="page")
        if seen is not None:
            seen.append(taken)
        if not taken:
            pending.expired()

    return answer


def test_a_form_is_answered_by_the_tools_input(house: House) -> None:
    house.asks = ("claude-code",)
    house.user = answers(BLUE)

    said = json.loads(house.relay("claude-code", "PermissionRequest", FORM).stdout)["hookSpecificOutput"]["decision"]

    assert said == {
        "behavior": "allow",
        "updatedInput": {"questions": [COLOUR], "answers": {"Which colour?": "Blue"}},
    }
    assert house.last.verdict is Verdict.ALLOW
    assert "asked on the desktop: answered (page)" in house.last.adjustments
    assert sentence(house.last) == "Permission for AskUserQuestion · The user answered it (page)"


def test_a_question_of_opencode_is_answered_and_declined(house: House) -> None:
    house.asks = ("opencode",)

    said = []
    for user in (answers(BLUE), says(Resolution.DENIED), says(Resolution.TIMED_OUT)):
        house.user = user
        stdout = house.relay("opencode", "Elicitation", ELICITATION).stdout
        said.append(json.loads(stdout)["hookSpecificOutput"] if stdout else {})

    assert said == [
        {"hookEventName": "Elicitation", "action": "accept", "content": {"Which colour?": ["Blue"]}},
        {"hookEventName": "Elicitation", "action": "decline"},
        {},
    ]


@pytest.mark.parametrize(
    "given", [{}, {"Which colour?": ()}, {"Which colour?": ("Red", "Blue")}, BLUE | {"Which size?": ("big",)}]
)
def test_answers_that_the_form_does_not_take_are_none(house: House, given: Answers) -> None:
    seen: list[bool] = []
    house.asks = ("claude-code",)
    house.user = answers(given, seen)

    assert house.relay("claude-code", "PermissionRequest", FORM) == Answer()
    assert seen == [False]


def test_a_bare_yes_answers_no_form(house: House) -> None:
    house.asks = ("claude-code",)

    def allow(pending: PendingQuestion) -> None:
        assert not pending.questions.answer(pending.question.id, allow=True, channel="menu")
        pending.expired()

    house.user = allow

    assert house.relay("claude-code", "PermissionRequest", FORM) == Answer()


def test_a_hook_that_answers_a_form_leaves_nothing_to_ask(house: House) -> None:
    house.asks = ("opencode",)
    said = {"hookEventName": "Elicitation", "action": "accept", "content": {"Which colour?": "Red"}}
    house.hook("red", on="elicitation", script=f"echo '{json.dumps({'hookSpecificOutput': said})}'",
               dialect="claude-code")  # fmt: skip

    stdout = house.relay("opencode", "Elicitation", ELICITATION).stdout

    assert json.loads(stdout)["hookSpecificOutput"] == said
    assert house.asked == []


def test_a_hook_that_allows_every_permission_answers_no_form(house: House) -> None:
    house.asks = ("claude-code",)
    house.hook("yes", on="permission_request", type="rule", decision="allow")
    house.user = answers(BLUE)

    said = json.loads(house.relay("claude-code", "PermissionRequest", FORM).stdout)["hookSpecificOutput"]["decision"]

    assert said["updatedInput"]["answers"] == {"Which colour?": "Blue"}
    assert len(house.asked) == 1
    assert permission(house) == {"behavior": "allow"}


class BrokenDesk:
    """A desk without a screen."""

    def asking_agents(self) -> tuple[str, ...]:
        return ("claude-code",)

    def question_seconds(self) -> float:
        return 60.0

    def question_opened(self, question: UserQuestion) -> None:
        raise RuntimeError("no screen")

    def question_closed(self, question: UserQuestion, result: QuestionResult) -> None:
        raise RuntimeError("no screen")


def test_a_question_that_cannot_be_shown_is_answered(house: House, caplog: pytest.LogCaptureFixture) -> None:
    questions = UserQuestions(BrokenDesk())
    event = parse(house.relay_request("claude-code", PERMISSION, event="PermissionRequest"))
    question = UserQuestion(id="q", event=event, decision=Decision())
    pending = PendingQuestion(question=question, timeout=60.0, questions=questions)

    pending.open(house)
    assert questions.answer("q", allow=False, channel="page")

    assert house.resumed == [pending]
    assert pending.result.resolution is Resolution.DENIED
    assert caplog.text.count("a question could not be shown") == 2
