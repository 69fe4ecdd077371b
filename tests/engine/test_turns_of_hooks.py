"""When a hook has its turn: once in a session, one of two alike, refusing so often, by the switch as it stands."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest
from engine.declared import DENY, STOP, declare, write
from house import PRE_TOOL_USE, House

from tray.engine.sentence import sentence
from tray.model.decision import Answer, Verdict
from tray.notify.alert import AlertClass
from tray.notify.policy import alerts
from tray.store.copies import SPARE

COMMON = {"session_id": "s-1", "cwd": "/"}
STARCHILD_STOP = {"event": "on_stop", "session_id": "s", "cwd": "/", "response": "r", "stop_hook_active": True}


def claude(house: House, event: str, **fields: Any) -> Answer:
    return house.relay("claude-code", event, {**COMMON, "hook_event_name": event, **fields})


def settings(folder: Path, *groups: tuple[str, Mapping[str, Any]]) -> dict[str, str]:
    """A source with these handlers before a tool, each behind its matcher."""
    written = [{"matcher": matcher, "hooks": [{"type": "command", **handler}]} for matcher, handler in groups]
    return {"claude-code": str(write(folder / "settings.json", {"hooks": {"PreToolUse": written}}))}


def refusing(house: House, on: str = "turn_end") -> None:
    """A hook that refuses each end."""
    house.hook("more", on=on, type="rule", decision="deny", reason="go on")


def hooks(house: House) -> list[tuple[str, str]]:
    return [(str(hook["status"]), str(hook["gate"])) for hook in house.last.hooks]


# ---- once


def test_once_is_once_in_a_session(house: House, tmp_path: Path) -> None:
    house.hook("hello", on="tool_before", script=f"echo x >>{tmp_path}/runs", once=True)

    for session in ("s-1", "s-1", "s-2"):
        house.relay("claude-code", "PreToolUse", PRE_TOOL_USE | {"session_id": session})

    assert (tmp_path / "runs").read_text() == "x\nx\n"
    assert [record.hooks[0]["gate"] for _, _, record in house.decisions] == ["", "once", ""]


def test_a_rule_can_speak_once(house: House) -> None:
    house.hook("rule", on="tool_before", type="rule", decision="deny", once=True)

    assert [bool(house.tool()) for _ in range(3)] == [True, False, False]


def test_once_counts_from_the_start_and_not_when_nothing_started(house: House, tmp_path: Path) -> None:
    house.hook("hello", on="tool_before", script=f"echo x >>{tmp_path}/runs; exit 1", once=True)
    house.stores.switch.set_enabled(False, "test")
    house.tool()
    house.stores.switch.set_enabled(True, "test")

    house.tool()  # it fails, and has run
    house.tool()

    assert [record.hooks[0]["gate"] for _, _, record in house.decisions] == ["switch off", "", "once"]
    assert (tmp_path / "runs").read_text() == "x\n"


def test_what_could_not_be_started_has_its_turn_later(house: House, tmp_path: Path) -> None:
    house.hook("hello", on="tool_before", script=f"echo x >>{tmp_path}/runs", once=True)
    copy = next(house.stores.copies.path(one.digest, one.covered[0]) for one in house.catalog.states)
    aside = copy.with_name("aside")
    copy.parent.chmod(0o700)
    copy.rename(aside)
    house.script("hello.sh", "exit 1")  # else the copy would be made anew
    spare = next(house.stores.copies.folder.glob(f"*/{SPARE}"))
    spare.rename(spare.with_name("gone"))  # else it would be restored
    house.tool()
    aside.rename(copy)

    house.tool()

    assert [record.hooks[0]["status"] for _, _, record in house.decisions] == ["failed", "ok"]


def test_the_one_shot_engine_and_the_tray_agree_on_once(house: House, tmp_path: Path) -> None:
    house.hook("hello", on="tool_before", script=f"echo x >>{tmp_path}/runs", once=True)
    argv = [sys.executable, "-I", "-m", "tray", "once", "--home", str(house.paths.home), "claude-code", "PreToolUse"]

    for _ in range(2):
        subprocess.run(argv, input=json.dumps(PRE_TOOL_USE).encode(), timeout=60, check=True)
    house.tool()

    assert (tmp_path / "runs").read_text() == "x\n"
    assert hooks(house) == [("skipped", "once")]


def test_a_session_that_ended_begins_anew(house: House, tmp_path: Path) -> None:
    house.hook("hello", on="tool_before", script=f"echo x >>{tmp_path}/runs", once=True)

    house.tool()
    claude(house, "SessionEnd", reason="other")
    house.tool()

    assert (tmp_path / "runs").read_text() == "x\nx\n"


# ---- the same handler twice


def test_the_same_command_in_two_groups_runs_once(house: House, tmp_path: Path) -> None:
    command = {"command": f"echo x >>{tmp_path}/runs"}
    declare(house, settings(tmp_path, ("Bash", command), ("Bash|Write", command)))

    house.tool()

    assert (tmp_path / "runs").read_text() == "x\n"
    assert sorted(hooks(house)) == [("ok", ""), ("skipped", "duplicate")]
    assert "the same as" in next(str(hook["cause"]) for hook in house.last.hooks if hook["gate"])


def test_of_two_alike_the_one_that_guards_is_asked(house: House, tmp_path: Path) -> None:
    command = f"echo x >>{tmp_path}/runs; exit 1"
    guarding = {"command": command, "onFailure": "block"}
    declare(house, settings(tmp_path, ("Bash", {"command": command, "async": True}), ("*", guarding)))

    assert house.tool()["hookSpecificOutput"]["permissionDecision"] == "deny"
    house.join()
    assert (tmp_path / "runs").read_text() == "x\n"


def test_handlers_that_differ_all_run(house: House, tmp_path: Path) -> None:
    commands = [{"command": f"echo x >>{tmp_path}/{name}"} for name in ("a", "b")]
    declare(house, settings(tmp_path, *(("Bash", command) for command in commands)))

    house.tool()

    assert (tmp_path / "a").exists()
    assert (tmp_path / "b").exists()


# ---- refusals without an end


def test_after_eight_refusals_in_a_row_the_agent_may_end(house: House) -> None:
    refusing(house)

    said = [b'"block"' in claude(house, "Stop", stop_hook_active=number > 0).stdout for number in range(10)]

    assert said == [True] * 8 + [False, True]
    event, decision, record = house.decisions[8]
    assert (decision.verdict, record.hooks[0]["gate"]) == (Verdict.ABSTAIN, "loop cap")
    told = next(alert for alert in alerts(event, decision) if alert.cls is AlertClass.HOOK_FAILED)
    assert "refused 8 times in a row" in told.body


@pytest.mark.parametrize("event", ["UserPromptSubmit", "SessionEnd"])
def test_a_prompt_begins_the_count_anew(house: House, event: str) -> None:
    refusing(house)

    for _ in range(2):
        assert all(claude(house, "Stop").stdout for _ in range(8))
        claude(house, event)

    assert claude(house, "Stop").stdout


def test_a_session_that_starts_again_after_its_compaction_goes_on_with_the_count(house: House) -> None:
    refusing(house)

    assert all(claude(house, "Stop").stdout for _ in range(8))
    claude(house, "SessionStart", source="compact")

    assert not claude(house, "Stop").stdout
    assert all(claude(house, "Stop").stdout for _ in range(8))
    claude(house, "SessionStart", source="resume")
    assert claude(house, "Stop").stdout


def test_a_refusals_reason_that_an_agent_reports_as_a_prompt_begins_no_turn(house: House) -> None:
    refusing(house)
    common = COMMON | {"timestamp": "2026-01-01T00:00:00Z"}
    said: list[str] = []
    for _ in range(9):
        stop = {"hook_event_name": "Stop", "stop_hook_active": bool(said)}
        answer = house.relay("copilot-cli", "Stop", common | stop).stdout
        said.append(json.loads(answer or b"{}").get("reason", ""))
        prompt = {"hook_event_name": "UserPromptSubmit", "prompt": said[-1] or "thanks"}
        house.relay("copilot-cli", "UserPromptSubmit", common | prompt)

    assert said == [*["more (Hooktray): go on"] * 8, ""]


def test_each_subagent_has_its_own_count(house: House) -> None:
    refusing(house, on="subagent_end")

    said = [bool(claude(house, "SubagentStop", agent_id=f"a{number % 2}").stdout) for number in range(16)]

    assert all(said)
    assert not claude(house, "SubagentStop", agent_id="a0").stdout


@pytest.mark.parametrize(
    ("agent", "event", "payload"), [("claude-code", "Stop", STOP), ("starchild", "on_stop", STARCHILD_STOP)]
)
def test_a_raised_limit_of_claude_code_applies_to_every_agent(
    house: House, agent: str, event: str, payload: dict[str, Any]
) -> None:
    refusing(house)
    cap = {"CLAUDE_CODE_STOP_HOOK_BLOCK_CAP": "10"}

    said = [bool(house.relay(agent, event, payload, environment=cap).stdout) for _ in range(11)]

    assert said == [True] * 10 + [False]


@pytest.mark.parametrize("script", [DENY, "exit 3"])
def test_a_claim_of_completion_is_refused_however_often_it_is_repeated(house: House, script: str) -> None:
    house.hook("more", on="completion_claim", script=script, failure="block")
    payload = {"event": "on_completion_claim", "session_id": "s", "cwd": "/", "goal": "g", "summary": "s"}

    said = [house.relay("starchild", "on_completion_claim", payload).stdout for _ in range(9)]

    assert [b'"block"' in one for one in said] == [True] * 9


def test_a_failing_guard_is_capped_too_and_stays_a_failure(house: House) -> None:
    house.hook("more", on="turn_end", script="exit 3", failure="block")

    said = [house.relay("starchild", "on_stop", STARCHILD_STOP).stdout for _ in range(9)]

    assert [bool(one) for one in said] == [True] * 8 + [False]
    assert (house.last.hooks[0]["status"], house.last.hooks[0]["gate"]) == ("failed", "loop cap")


def test_a_stop_hooks_reminder_makes_claude_go_on_without_an_error_and_not_for_ever(house: House) -> None:
    said = {"hookSpecificOutput": {"hookEventName": "Stop", "additionalContext": "run the tests"}}
    script = f"cat >/dev/null; echo '{json.dumps(said)}'"
    house.hook("tests", on="turn_end", script=script, dialect="claude-code")

    answers = [house.relay("claude-code", "Stop", STOP).stdout for _ in range(9)]

    assert [json.loads(answer) for answer in answers[:8]] == [said] * 8
    assert answers[8] == b""
    assert sentence(house.decisions[0][2]) == "End of turn · tests added a reminder"
    assert "reminder" not in sentence(house.decisions[8][2])


def test_context_that_another_formats_hook_gives_at_a_stop_makes_no_agent_go_on(house: House) -> None:
    house.hook("own", on="turn_end", script='cat >/dev/null; echo \'{"context": "by the way"}\'')

    assert house.relay("claude-code", "Stop", STOP).stdout == b""
    assert any("context at a stop" in one for one in house.last.adjustments)
    assert sentence(house.last) == "End of turn · own had no objection"


def test_context_that_an_event_cannot_carry_was_not_added(house: House) -> None:
    house.hook("sprint", on="tool_before", script='cat >/dev/null; echo \'{"context": "Sprint 42"}\'')
    house.hook("more", on="prompt", script='cat >/dev/null; echo \'{"context": "Sprint 42"}\'')

    house.relay("x-code", "PreToolUse", {"event": "PreToolUse", "tool": {"name": "shell", "args": {}}})
    dropped = sentence(house.last)
    house.relay("x-code", "UserPromptSubmit", {"event": "UserPromptSubmit", "prompt": "mend it"})

    assert dropped == "shell · sprint had no objection"
    assert sentence(house.last) == "Prompt · mend it · more added context"


def test_refusing_a_tool_has_no_cap(house: House) -> None:
    house.hook("guard", on="tool_before", type="rule", decision="deny")

    assert all(house.tool() for _ in range(12))
