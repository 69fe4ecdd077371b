"""A question is put to the user where the agent cannot ask, ends once, and its ending becomes the agent's answer."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from house import PRE_TOOL_USE, House

from tray.engine.approval import confirming
from tray.engine.questions import MOST, End, Ending, Parked
from tray.engine.telling import explained
from tray.model.decision import Answer, Verdict
from tray.settings import Ask, Settings

X_CODE = {"event": "PreToolUse", "session": {"cwd": "/"}, "tool": {"name": "shell", "args": {"command": "ls"}}}
PERMISSION = {key: value for key, value in PRE_TOOL_USE.items() if key != "tool_use_id"} | {
    "hook_event_name": "PermissionRequest"
}
DENIED = Ending(end=End.DENIED, way="menu")


def says(end: End) -> Callable[[Parked], object]:
    return lambda parked: parked.questions.end(parked.question.id, Ending(end=end, way="menu" if end in USER else ""))


USER = (End.ALLOWED, End.DENIED)


@pytest.fixture
def asking(house: House) -> House:
    house.hook("careful", on="tool_before", type="rule", decision="ask", reason="it writes", matcher="ls")
    house.asks = ("x-code", "starchild", "claude-code")
    return house


def x_code(house: House) -> Answer:
    return house.knock("x-code", "PreToolUse", X_CODE)


def permission(house: House, **more: Any) -> dict[str, Any]:
    stdout = house.knock("claude-code", "PermissionRequest", PERMISSION, **more).stdout
    return dict(json.loads(stdout)["hookSpecificOutput"]["decision"]) if stdout else {}


def test_allowed_means_that_an_agent_without_an_allow_hears_nothing(asking: House) -> None:
    asking.user = says(End.ALLOWED)

    assert x_code(asking) == Answer()
    assert "asked on the desktop: allowed (menu)" in asking.last.remarks


@pytest.mark.parametrize("end", [End.DENIED, End.LATE, End.GONE, End.ELSEWHERE])
def test_every_other_ending_denies_where_the_agent_cannot_ask_by_itself(asking: House, end: End) -> None:
    asking.user = says(end)

    answer = x_code(asking)

    assert b"it writes" in answer.stdout + answer.stderr
    assert asking.last.verdict is Verdict.DENY
    assert any(end.value in remark for remark in asking.last.remarks)


def test_a_request_for_permission_is_asked_without_any_hook(house: House) -> None:
    house.asks = ("claude-code",)

    house.user = says(End.ALLOWED)
    assert permission(house) == {"behavior": "allow"}
    house.user = says(End.DENIED)
    assert permission(house)["behavior"] == "deny"
    house.user = says(End.LATE)
    assert permission(house) == {}, "the agent's own dialog decides"


@pytest.mark.parametrize("why", ["not turned on", "hooks are off", "the agent asks by itself"])
def test_nobody_is_asked_when(asking: House, why: str) -> None:
    if why == "not turned on":
        asking.asks = ()
    if why == "hooks are off":
        asking.stores.switch.turn(False, "test")

    if why == "the agent asks by itself":
        assert asking.tool("ls")["hookSpecificOutput"]["permissionDecision"] == "ask"
    else:
        x_code(asking)

    assert asking.asked == []


def test_the_first_answer_wins(asking: House) -> None:
    def twice(parked: Parked) -> None:
        assert parked.questions.answer(parked.question.id, allow=False, way="menu")
        assert not parked.questions.answer(parked.question.id, allow=True, way="notification")
        parked.late()

    asking.user = twice

    x_code(asking)

    assert asking.endings == [DENIED]
    assert asking.last.verdict is Verdict.DENY


AFTER = [
    ("the call came back", {"hook_event_name": "PostToolUse", "tool_response": {}, "tool_use_id": "toolu_1"}, True),
    ("another call came back", {"hook_event_name": "PostToolUse", "tool_input": {"command": "pwd"}}, False),
    ("another session", {"hook_event_name": "Stop", "session_id": "s-2"}, False),
    ("the turn is over", {"hook_event_name": "Stop"}, True),
    ("a new prompt", {"hook_event_name": "UserPromptSubmit", "prompt": "never mind"}, True),
    ("another tool begins", {"hook_event_name": "PreToolUse", "tool_name": "Read"}, False),
]


@pytest.mark.parametrize(("payload", "ended"), [case[1:] for case in AFTER], ids=[case[0] for case in AFTER])
def test_who_goes_on_was_answered_elsewhere(house: House, payload: dict[str, Any], ended: bool) -> None:
    house.asks = ("claude-code",)

    def meanwhile(parked: Parked) -> None:
        house.engine.begin(house.knocking("claude-code", {**PRE_TOOL_USE, **payload}, id="f" * 32))
        parked.late()

    house.user = meanwhile
    permission(house)

    assert [ending.end for ending in house.endings] == [End.ELSEWHERE if ended else End.LATE]


def test_beyond_the_limit_nobody_is_asked(house: House) -> None:
    house.asks = ("claude-code",)
    parked = []
    for number in range(MOST + 1):
        found = house.engine.begin(house.knocking("claude-code", PERMISSION, id=f"{number:032x}"))
        assert isinstance(found, Parked)
        parked.append(found)
    assert all(one.wait(lambda work: None) for one in parked[:MOST])

    assert not parked[MOST].wait(lambda work: None)
    assert parked[MOST].unasked() == Answer()
    assert len(house.questions.open) == MOST


def test_a_question_explains_itself_without_its_secrets(house: House) -> None:
    house.asks = ("claude-code",)
    tool = {"command": "curl -H 'Authorization: Bearer ghp_0123456789abcdefghijABCDEFGHIJ012345'"}
    permission_with = {**PERMISSION, "tool_input": tool}

    house.knock("claude-code", "PermissionRequest", permission_with)

    text = explained(house.asked[0])
    assert "curl -H" in text
    assert "ghp_0123456789" not in text


def test_taking_an_agent_out_of_the_file_counts_only_once_confirmed(house: House, tmp_path: Path) -> None:
    ledger, on, off = house.stores.ledger, Settings(ask=Ask(agents=["x-code"])), Settings()
    confirming.remember_asking(on, ledger)
    assert confirming.asking(off, ledger.book) == {"x-code"}

    (waiting,) = confirming.gated(off, ledger.book)
    assert (waiting.text, waiting.waiting) == ("ask: off for x-code", True)
    house.consent.confirm(waiting.key, waiting.digest, "tray", yes=True)

    assert confirming.asking(off, ledger.book) == frozenset()
    assert confirming.gated(off, ledger.book) == ()
