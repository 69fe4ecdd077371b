"""Another agent runs a line of ours: no hook is asked, and the row has the reason under the agent's own name."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from agents.foreign_payloads import Sent, before_tool, named, sent
from desk.wait import wait
from house import PRE_TOOL_USE, House

from tray.cli.why import report
from tray.desktop.labels import last_event, record_label
from tray.engine.replay import recorded_event
from tray.engine.sentence import ending
from tray.errors import HooktrayError
from tray.model.decision import Answer, Record, SkipReason, Verdict
from tray.web.templating import reason_line

DENY = 'cat >/dev/null; echo \'{"decision":"block","reason":"no"}\''
NOT_UNDERSTOOD = {"hook": "tool.before", "token": "ghp_" + "a1B2" * 9, "text": "x" * 400}


def test_no_hook_is_asked_about_an_agent_without_support(house: House, tmp_path: Path) -> None:
    house.hook("guard", on="tool_before", script=f"touch {tmp_path}/ran; {DENY}", failure="block")
    house.hook("all", on="other", script=f"touch {tmp_path}/ran; {DENY}")
    one = before_tool("windsurf")

    answer = house.relay("claude-code", "PreToolUse", one.payload)

    assert answer == Answer()
    assert not (tmp_path / "ran").exists()
    assert house.tool("rm -rf build")["hookSpecificOutput"]["permissionDecision"] == "deny"


@pytest.mark.parametrize("one", sent(), ids=named)
def test_the_row_names_the_agent_and_holds_no_verdict_that_it_cannot_have_received(house: House, one: Sent) -> None:
    house.hook("rule", on="tool_before", type="rule", matcher=".", decision="deny", reason="no")

    answer = house.relay("claude-code", one.word, one.payload)

    found = house.last
    assert (found.agent, found.event, found.verdict, found.hooks) == (one.agent, one.event, Verdict.ABSTAIN, ())
    assert (found.reason, found.skip_reason, found.problem) == ("not supported yet", SkipReason.NOT_SUPPORTED, "")
    assert (found.via_agent, found.answer["stdout"]) == ("claude-code", answer.stdout.decode())


def test_neither_a_switch_that_is_off_nor_a_crowd_makes_a_difference(house: House) -> None:
    house.hook("guard", on="tool_before", script=DENY)
    one = before_tool("windsurf")
    request = house.relay_request("claude-code", one.payload, event="PreToolUse")

    assert house.engine.answer_busy(request).stdout == b""
    house.stores.switch.set_enabled(False, "test")
    assert house.relay("claude-code", "PreToolUse", one.payload, id="2" * 32).stdout == b""

    assert [record.skip_reason for _, _, record in house.decisions] == [SkipReason.NOT_SUPPORTED] * 2


def test_a_payload_that_no_protocol_understands_is_written_down_as_such_and_shortened(house: House) -> None:
    house.hook("guard", on="tool_before", script=DENY, failure="block")

    answer = house.relay("claude-code", "PreToolUse", NOT_UNDERSTOOD)

    found = house.last
    assert answer == Answer()
    assert (found.agent, found.reason, found.via_agent) == ("unknown", "not understood", "claude-code")
    assert "ghp_" not in found.payload
    assert found.payload.startswith('{"hook": "tool.before"')
    assert found.payload.endswith(f"… (the first 200 characters of {len(json.dumps(NOT_UNDERSTOOD))} bytes)")
    assert len(found.payload.partition("…")[0]) <= 200


def test_a_supported_agent_on_another_ones_line_is_judged_and_answered_in_its_own_words(house: House) -> None:
    house.hook("guard", on="tool_before", script=DENY)
    call = {"event": "pre_tool_call", "session_id": "s", "agent_id": "a", "cwd": "/", "tool_name": "bash"}

    answer = house.relay("claude-code", "PreToolUse", {**call, "tool_input": {"command": "ls"}})

    assert json.loads(answer.stdout) == {"decision": "block", "reason": "guard (Hooktray): no"}
    assert (house.last.agent, house.last.event, house.last.verdict) == ("starchild", "pre_tool_call", Verdict.DENY)


def test_a_system_prompt_that_looks_like_a_payload_is_still_a_system_prompt(house: House) -> None:
    prompt = json.dumps(before_tool("windsurf").payload).encode()

    assert house.relay("shelley", "system-prompt", prompt).stdout == prompt
    assert (house.last.agent, house.last.skip_reason) == ("shelley", None)


def test_a_hook_that_denies_with_the_same_words_is_not_taken_for_missing_support(house: House) -> None:
    house.hook(
        "guard", on="tool_before", script='cat >/dev/null; echo \'{"decision":"block","reason":"not supported yet"}\''
    )

    house.relay("claude-code", "PreToolUse", PRE_TOOL_USE)

    assert house.last.skip_reason is None


def test_everything_that_shows_a_row_says_plainly_what_is_missing(house: House) -> None:
    house.relay("claude-code", "PreToolUse", before_tool("windsurf").payload)
    found = house.last
    plainly = "windsurf is not supported yet: no hook was asked"

    assert reason_line(found) == ending(found).text == plainly
    assert f"because {plainly}" in report(found)
    assert "It ran the hooks that Hooktray wrote for claude-code." in report(found)
    assert "windsurf is not supported yet" in record_label(found, found.at)
    assert last_event(found, found.at) == "windsurf: not supported yet"


def test_such_a_row_cannot_be_replayed(house: House) -> None:
    house.relay("claude-code", "PreToolUse", before_tool("windsurf").payload)

    with pytest.raises(HooktrayError, match="no hook could be asked about it: not supported yet"):
        recorded_event(house.last, {})


def test_the_row_is_the_same_when_it_is_read_again(house: House) -> None:
    house.relay("claude-code", "PreToolUse", before_tool("windsurf").payload)

    def kept() -> Record | None:
        return next(iter(house.stores.journal.recent(1)), None)

    found = wait(kept, what="its row is written")
    assert (found.skip_reason, found.via_agent, found.agent) == (SkipReason.NOT_SUPPORTED, "claude-code", "windsurf")
    assert next(iter(house.stores.journal.recent(1, brief=True))).skip_reason is SkipReason.NOT_SUPPORTED
