"""Hooks that run beside the answer: it never waits for them, and what they say reaches the session's next event."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from desk import wait
from engine.declared import claude as settings
from engine.declared import declare, write
from house import PRE_TOOL_USE, House

from tray.engine.guards_in_force import guards
from tray.engine.ports import Execution
from tray.model.decision import Answer, Verdict
from tray.notify.alert import AlertClass
from tray.notify.policy import alerts

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="scripts for a POSIX shell")

WAITED: dict[str, Any] = {"async": False}
COMMON = {"session_id": "s-1", "cwd": "/"}
NAME = "beside"


def beside(house: House, script: str, event: str = "PreToolUse", **handler: Any) -> None:
    """One approved hook in Claude's own settings."""
    path = write(house.root / "c" / f"{NAME}.sh", f"#!/bin/sh\ncat >/dev/null\n{script}\n", executable=True)
    hook = {"command": f"./{NAME}.sh", "async": True, **handler}
    declare(house, {"claude-code": str(settings(path.parent, hook, event=event))})


def claude(house: House, event: str, session: str = "s-1", **fields: Any) -> dict[str, Any]:
    body = {**COMMON, "session_id": session, "hook_event_name": event, **fields}
    answer = house.relay("claude-code", event, body)
    return dict(json.loads(answer.stdout)) if answer.stdout else {}


def context(answer: dict[str, Any]) -> str:
    return str(answer.get("hookSpecificOutput", {}).get("additionalContext", ""))


def test_the_answer_is_there_before_the_hook_has_ended(house: House, tmp_path: Path) -> None:
    beside(house, f"while [ ! -e {tmp_path}/go ]; do sleep 0.01; done; touch {tmp_path}/ran; exit 2")

    begun = house.engine.begin(house.relay_request("claude-code", PRE_TOOL_USE))

    assert (begun.run(None) if isinstance(begun, Execution) else begun) == Answer()
    assert not (tmp_path / "ran").exists()
    (tmp_path / "go").touch()
    house.join()
    assert (tmp_path / "ran").exists()


def test_a_verdict_beside_the_answer_is_none_and_the_journal_says_so(house: House) -> None:
    beside(house, "echo no >&2; exit 2")

    assert house.tool() == {}

    answered, late = house.decisions
    assert (answered[2].hooks, answered[2].adjustments) == ((), ())
    assert late[2].verdict is Verdict.ABSTAIN
    assert late[2].hooks[0]["reason"] == "deny came after the answer: no"
    assert late[2].answer["stdout"] == ""
    assert "beside the answer" in late[2].adjustments[0]
    assert late[2].id != answered[2].id


@pytest.mark.parametrize(("script", "timeout", "status"), [("exit 1", 20, "failed"), ("sleep 60", 0.2, "timed_out")])
def test_what_fails_beside_the_answer_is_told(house: House, script: str, timeout: float, status: str) -> None:
    beside(house, script, timeout=timeout)

    house.tool()

    event, decision, record = house.decisions[-1]
    assert record.hooks[0]["status"] == status
    assert [alert.cls for alert in alerts(event, decision)] == [
        AlertClass.HOOK_FAILED if status == "failed" else AlertClass.HOOK_TIMED_OUT
    ]


def test_a_note_for_the_user_is_told_and_context_waits_for_the_next_prompt(house: House) -> None:
    said = {"hookEventName": "PreToolUse", "additionalContext": "the build is red"}
    beside(house, f"echo '{json.dumps({'systemMessage': 'look', 'hookSpecificOutput': said})}'")

    house.tool()
    assert house.decisions[-1][1].notes == ("look",)

    assert claude(house, "Stop") == {}
    assert context(claude(house, "UserPromptSubmit", session="other")) == ""
    assert context(claude(house, "UserPromptSubmit")) == "the build is red"
    assert house.last.hooks[0]["name"] == NAME
    assert context(claude(house, "UserPromptSubmit")) == ""


def test_a_hook_that_wants_to_wake_the_agent_refuses_its_end(house: House) -> None:
    beside(house, "echo tests fail >&2; exit 2", event="UserPromptSubmit", asyncRewake=True)
    claude(house, "UserPromptSubmit")

    answer = claude(house, "Stop")

    assert (answer["decision"], answer["reason"]) == ("block", "beside (Hooktray): tests fail")
    assert claude(house, "Stop") == {}


def test_a_hook_that_wants_to_wake_the_agent_is_heard_as_context_where_that_comes_first(house: House) -> None:
    beside(house, "echo tests fail; exit 2", asyncRewake=True)
    house.tool()

    assert context(claude(house, "UserPromptSubmit")) == "tests fail"
    assert claude(house, "Stop") == {}


def test_what_was_said_ends_with_the_session_and_is_not_for_a_subagent(house: House) -> None:
    beside(house, "echo tests fail >&2; exit 2", event="UserPromptSubmit", asyncRewake=True)

    claude(house, "UserPromptSubmit")
    assert claude(house, "SubagentStart", agent_id="a", agent_type="Explore") == {}
    claude(house, "SessionEnd", reason="other")

    assert claude(house, "Stop") == {}


def test_switched_off_nothing_that_was_said_goes_out(house: House) -> None:
    beside(house, "echo tests fail >&2; exit 2", event="UserPromptSubmit", asyncRewake=True)
    claude(house, "UserPromptSubmit")
    house.stores.switch.set_enabled(False, "test")

    assert claude(house, "Stop") == {}

    house.stores.switch.set_enabled(True, "test")
    assert claude(house, "Stop")["decision"] == "block"


def test_with_too_many_at_once_it_is_busy_and_the_answer_stands(house: House) -> None:
    beside(house, "exit 0")
    house.full = True

    assert house.tool() == {}
    assert house.last.hooks[0]["cause"] == "busy"


def test_without_the_tray_it_runs_after_the_answer_and_is_heard_by_the_tray(house: House, tmp_path: Path) -> None:
    beside(house, f"echo tests fail >&2; touch {tmp_path}/ran; exit 2", event="UserPromptSubmit", asyncRewake=True)
    argv = [sys.executable, "-I", "-m", "tray", "once", "--home", str(house.paths.home), "claude-code"]
    with house.stores.database.connect() as ours:
        # While ours is open, nobody who leaves is the last one, who would lock the others out while it tidies up.
        ours.execute("SELECT count(*) FROM journal").fetchone()
        for event in ("UserPromptSubmit", "Stop"):
            body = json.dumps({**COMMON, "hook_event_name": event}).encode()
            done = subprocess.run([*argv, event], input=body, capture_output=True, timeout=60, check=True)
            wait(lambda: house.stores.journal.count() >= 2)

    assert json.loads(done.stdout)["reason"] == "beside (Hooktray): tests fail"


def test_what_a_hook_wants_shown_is_shown_until_it_ends(house: House) -> None:
    beside(house, "exit 1", statusMessage="Linting", **WAITED)

    house.tool()
    house.tool(pid=0)

    turn = house.shown[0][0]
    assert house.shown[:2] == [(turn, "Linting"), (turn, "")]
    assert len(house.shown) == 4


@pytest.mark.parametrize("script", ["sleep 60", "kill -9 $$"])
def test_the_status_message_is_removed_however_the_hook_ends(house: House, script: str) -> None:
    beside(house, script, statusMessage="Linting", timeout=0.2, **WAITED)

    house.tool()

    assert house.last.hooks[0]["status"] in ("failed", "timed_out")
    assert [text for _, text in house.shown] == ["Linting", ""]


@pytest.mark.parametrize(("handler", "guarded"), [({}, False), (WAITED, True)])
def test_the_relay_guards_no_call_for_an_async_hook(house: House, handler: dict[str, Any], guarded: bool) -> None:
    beside(house, "exit 0", **handler)

    assert bool(guards(house.stores.ledger.state, house.stores.switch, ("claude-code",))) is guarded
