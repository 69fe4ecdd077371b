from __future__ import annotations

import json
import shutil
import subprocess
import threading
from pathlib import Path
from typing import Any

import pytest
from desk import wait
from engine.declared import DENY
from house import PRE_TOOL_USE, House

from tray.engine.trial import synthetic_event
from tray.errors import HooktrayError
from tray.model.decision import Answer, Verdict
from tray.model.hook import ApprovalState
from tray.store.copies import SPARE

SESSION_END = {"session_id": "s", "cwd": "/", "hook_event_name": "SessionEnd", "reason": "other"}


def test_a_hook_that_denies_blocks_in_the_agents_own_form(house: House) -> None:
    house.hook("guard", on="tool_before", script=DENY)

    answer = house.tool("rm -rf /")

    assert answer["hookSpecificOutput"]["permissionDecision"] == "deny"
    assert answer["hookSpecificOutput"]["permissionDecisionReason"] == "guard (Hooktray): no"
    assert (house.last.verdict, house.last.reason) == (Verdict.DENY, "guard: no")


def test_an_unapproved_hook_never_runs(house: House, tmp_path: Path) -> None:
    house.hook("guard", on="tool_before", script=f"touch {tmp_path}/ran; {DENY}", approved=False)

    assert house.tool() == {}
    assert not (tmp_path / "ran").exists()
    assert house.state("guard").state is ApprovalState.PENDING


def test_after_an_edit_the_approved_copy_goes_on_and_the_change_is_flagged(house: House) -> None:
    house.hook("guard", on="tool_before", script=DENY)
    script = house.paths.config.parent / "guard.sh"
    script.write_text("#!/bin/sh\nexit 0\n")

    assert house.tool()["hookSpecificOutput"]["permissionDecision"] == "deny"
    assert house.state("guard").state is ApprovalState.CHANGED


@pytest.mark.parametrize("how", ["script deleted", "entry deleted", "switched off in the file", "file broken"])
def test_nobody_switches_a_guard_off_by_touching_it(house: House, how: str) -> None:
    house.hook("guard", on="tool_before", script=DENY)
    entry = {"name": "guard", "event": "tool_before", "command": "./guard.sh"}
    match how:
        case "script deleted":
            (house.paths.config.parent / "guard.sh").unlink()
        case "entry deleted":
            house.configure({"hooks": []})
        case "switched off in the file":
            house.configure({"hooks": [entry | {"enabled": False}]})
        case _:
            house.configure("hooks: [")

    assert house.tool()["hookSpecificOutput"]["permissionDecision"] == "deny"


def test_nobody_with_an_opinion_says_nothing(house: House) -> None:
    house.hook("watch", on="tool_before", script="cat >/dev/null")

    assert house.tool() == {}
    assert house.last.verdict is Verdict.ABSTAIN
    assert [hook["status"] for hook in house.last.hooks] == ["ok"]


@pytest.mark.parametrize(
    ("script", "cause"), [("exit 1", "exit"), ("kill -9 $$", "signal 9"), ("exec ./missing", "12")]
)
def test_broken_is_neither_deny_nor_allow(house: House, script: str, cause: str) -> None:
    house.hook("guard", on="tool_before", script=script, failure="allow")

    assert house.tool() == {}
    assert house.last.hooks[0]["status"] == "failed"
    assert cause in str(house.last.hooks[0]["cause"])


def test_a_hook_whose_script_is_not_there_cannot_be_approved(house: House) -> None:
    state = house.hook("guard", on="tool_before", command="python3 ./nowhere.py", approved=False)

    assert (state.digest, state.state) == ("", ApprovalState.PENDING)
    assert "nowhere.py" in state.health
    for decide in (house.consent.approve, house.consent.deny):
        with pytest.raises(HooktrayError, match=r"cannot be decided as it stands: \./nowhere.py") as caught:
            decide(state.key, state.digest, "test")
        assert "write its whole path" in caught.value.hint
    assert house.state("guard").state is ApprovalState.PENDING


def test_the_master_switch_skips_every_hook_and_the_journal_says_so(house: House, tmp_path: Path) -> None:
    house.hook("guard", on="tool_before", script=f"touch {tmp_path}/ran; {DENY}")
    house.stores.switch.set_enabled(False, "test")

    assert house.tool() == {}
    assert not (tmp_path / "ran").exists()
    assert (house.last.hooks[0]["status"], house.last.hooks[0]["gate"]) == ("skipped", "switch off")

    house.stores.switch.set_enabled(True, "test")
    assert house.tool() != {}


def test_a_pause_skips_and_ends_by_itself(house: House) -> None:
    house.hook("guard", on="tool_before", script=DENY)
    house.stores.switch.pause(9e9, channel="test")

    assert house.tool() == {}
    assert house.last.hooks[0]["gate"] == "paused"

    house.stores.switch.pause(1.0, channel="test")
    assert house.tool() != {}


def test_a_rule_answers_without_a_process(house: House) -> None:
    house.hook("rule", on="tool_before", type="rule", decision="ask", reason="sure?", matcher="curl .*\\| *sh")

    assert house.tool("curl x | sh")["hookSpecificOutput"]["permissionDecision"] == "ask"
    assert house.tool("curl x") == {}


def test_a_rule_is_no_rule_before_it_is_approved(house: House) -> None:
    house.hook("rule", on="tool_before", type="rule", decision="deny", approved=False)

    assert house.tool() == {}


def test_a_rewrite_reaches_the_agent_as_a_whole(house: House) -> None:
    house.hook("safer", on="tool_before", script='cat >/dev/null; echo \'{"tool_input":{"command":"ls -l"}}\'')

    assert house.tool()["hookSpecificOutput"]["updatedInput"] == {"command": "ls -l", "description": "look"}
    assert house.last.rewrites == ("input",)


def test_an_observe_only_event_is_answered_before_its_hooks_have_run(house: House, tmp_path: Path) -> None:
    house.hook(
        "done", on="session_end", script=f"while [ ! -e {tmp_path}/go ]; do sleep 0.01; done; touch {tmp_path}/ran"
    )

    assert house.engine.begin(house.relay_request("claude-code", SESSION_END)) == Answer()
    assert not (tmp_path / "ran").exists()
    (tmp_path / "go").touch()
    house.join()
    assert (tmp_path / "ran").exists()
    assert [(event.name, answered) for event, answered in house.arrivals] == [("SessionEnd", True)]


def test_what_a_hook_gets_is_the_dialect_it_speaks(house: House, tmp_path: Path) -> None:
    house.hook("ours", on="tool_before", script=f"cat >{tmp_path}/starchild")
    house.hook("theirs", on="tool_before", script=f"cat >{tmp_path}/claude", dialect="claude-code")

    house.tool("ls")

    assert json.loads((tmp_path / "starchild").read_text())["event"] == "pre_tool_call"
    assert json.loads((tmp_path / "claude").read_text())["hook_event_name"] == "PreToolUse"


UNREADABLE = {b"": "empty", b"nonsense": "not JSON", b"[1]": "array", b"\xff\xfe{}": "UTF-8", b"3": "number"}


@pytest.mark.parametrize(
    ("keys", "word"), [({}, b'"ask"'), ({"failure": "block"}, b'"deny"'), ({"failure": "allow"}, b"")]
)
def test_an_unreadable_payload_is_answered_by_the_policy(house: House, keys: dict[str, Any], word: bytes) -> None:
    house.hook("guard", on="tool_before", script=DENY, **keys)

    for body, problem in UNREADABLE.items():
        answer = house.relay("claude-code", "PreToolUse", body)

        assert (answer.stdout == b"", word in answer.stdout, answer.code) == (not word, True, 0)
        assert problem in house.last.problem
        assert house.last.hooks[0]["status"] == "failed"


def test_an_unknown_event_is_abstained_and_journaled(house: House) -> None:
    answer = house.relay("claude-code", "Brand/New", {**PRE_TOOL_USE, "hook_event_name": "BrandNew"})

    assert answer.stdout == b""
    assert (house.last.event, house.last.kind) == ("BrandNew", "other")


def test_an_unknown_agent_is_abstained_and_journaled(house: House) -> None:
    answer = house.relay("nobody", "PreToolUse", PRE_TOOL_USE)

    assert answer.stdout == b""
    assert "unknown agent" in house.last.problem


def test_secrets_reach_hooks_untouched_and_the_journal_masked(house: House, tmp_path: Path) -> None:
    secret = "ghp_" + "a1B2" * 9
    house.hook("watch", on="tool_before", script=f"cat >{tmp_path}/seen")

    house.tool(f"curl -H 'Authorization: Bearer {secret}'")

    assert secret in (tmp_path / "seen").read_text()
    assert secret not in house.last.payload
    assert house.last.masked > 0


def test_nothing_that_a_hook_says_is_written_down_with_its_secrets(house: House) -> None:
    secret = "ghp_" + "a1B2" * 9
    said = {
        "hookSpecificOutput": {
            "hookEventName": "PreToolUse",
            "permissionDecision": "deny",
            "permissionDecisionReason": f"reason {secret}",
            "additionalContext": f"context {secret}",
        },
        "systemMessage": f"note {secret}",
    }
    house.script("said.sh", f"echo 'stderr {secret}' >&2; cat <<'E'\n{json.dumps(said)}\nE")
    house.hook("talks", on="tool_before", command="./said.sh", dialect="claude-code")
    house.hook("fails", on="tool_before", script=f"echo 'cause {secret}' >&2; exit 1", failure="block")

    told = house.tool()

    assert secret in json.dumps(told)
    assert "talks" in str(house.last)
    assert secret not in str(house.last)


def test_an_event_from_below_a_hook_does_not_run_that_hook_and_runs_all_others(house: House, tmp_path: Path) -> None:
    wait_for_go = f"echo $$ >>{tmp_path}/pid; while [ ! -e {tmp_path}/go ]; do sleep 0.02; done"
    house.hook("outer", on="tool_before", matcher="outer", script=wait_for_go)
    house.hook("guard", on="tool_before", matcher="inner", script=DENY)
    outer = threading.Thread(target=house.tool, args=("outer",))
    outer.start()
    wait((tmp_path / "pid").exists, what="the hook runs")

    answer = house.tool("outer inner", pid=int((tmp_path / "pid").read_text()))
    row = house.last
    (tmp_path / "go").touch()
    outer.join(60)

    assert answer["hookSpecificOutput"]["permissionDecision"] == "deny"
    assert [(hook["name"], hook["gate"]) for hook in row.hooks] == [("outer", "nested"), ("guard", "")]


def test_an_event_from_below_an_unknown_process_of_ours_runs_every_hook(house: House, tmp_path: Path) -> None:
    house.hook("guard", on="tool_before", script=DENY)
    with subprocess.Popen(["sleep", "60"]) as relay:
        assert house.tool(pid=relay.pid) != {}
        relay.kill()


@pytest.mark.parametrize("cwd", ["/" + "x" * 300, "/proc/1/cwd/x", "\0", "relative"])
def test_a_folder_that_cannot_be_looked_at_takes_no_verdict_away(house: House, cwd: str) -> None:
    house.hook("rule", on="tool_before", type="rule", decision="deny")
    house.hook("watch", on="tool_before", script="cat >/dev/null")

    answer = house.relay("claude-code", "PreToolUse", {**PRE_TOOL_USE, "cwd": cwd})

    assert b'"deny"' in answer.stdout
    assert house.last.verdict is Verdict.DENY


def test_a_journal_that_cannot_be_written_changes_no_answer(house: House) -> None:
    house.hook("guard", on="tool_before", script=DENY)
    with house.stores.database.write():  # somebody else holds the only right to write
        answer = house.tool()

    assert answer["hookSpecificOutput"]["permissionDecision"] == "deny"
    house.stores.journal.close()
    assert [record.verdict for record in house.stores.journal.recent(5)] == [Verdict.DENY]


def test_a_listener_that_fails_changes_no_answer(house: House) -> None:
    house.hook("guard", on="tool_before", script=DENY)
    house.listener_fails = True

    assert house.tool()["hookSpecificOutput"]["permissionDecision"] == "deny"
    wait(lambda: house.stores.journal.count() == 1, what="its row is there")


def test_an_observed_event_over_the_limit_is_recorded_as_busy(house: House) -> None:
    house.hook("done", on="session_end", script="exit 0")
    house.full = True

    assert house.relay("claude-code", "SessionEnd", SESSION_END) == Answer()
    house.engine.observe(synthetic_event("claude-code", "SessionEnd", b"{}", environment={}, cwd="/"))

    assert [record.hooks[0]["cause"] for _, _, record in house.decisions] == ["busy", "busy"]


def test_the_last_declared_rewrite_counts_whatever_was_approved_first(house: House) -> None:
    for name in ("a", "b"):
        house.script(f"{name}.sh", f'cat >/dev/null; echo \'{{"tool_input":{{"command":"{name}"}}}}\'')
    entries = [{"name": name, "event": "tool_before", "command": f"./{name}.sh"} for name in ("b", "a")]
    house.configure({"hooks": entries[1:]})
    house.consent.approve(house.state("a").key, house.state("a").digest, "test")
    house.configure({"hooks": entries})
    house.consent.approve(house.state("b").key, house.state("b").digest, "test")

    assert house.tool()["hookSpecificOutput"]["updatedInput"]["command"] == "a"


def test_names_of_the_agents_side_are_masked_and_short_in_the_journal(house: House) -> None:
    secret = "ghp_" + "a1B2" * 9
    house.relay("claude-code", "PreToolUse", {**PRE_TOOL_USE, "session_id": secret + "x" * 9999, "cwd": f"/{secret}"})

    assert secret not in repr(house.last)
    assert len(house.last.session) <= 200


def test_a_damaged_copy_fails_closed_and_the_original_does_not_stand_in(house: House, tmp_path: Path) -> None:
    state = house.hook("guard", on="tool_before", script=f"touch {tmp_path}/ran; {DENY}")
    copy = house.stores.copies.path(state.digest, state.covered[0])
    copy.chmod(0o700)
    copy.write_text("#!/bin/sh\nexit 0\n")
    house.script("guard.sh", f"touch {tmp_path}/ran; exit 0")
    shutil.rmtree(house.stores.copies.folder / state.digest / SPARE)

    assert house.tool()["hookSpecificOutput"]["permissionDecision"] == "ask"
    assert not (tmp_path / "ran").exists()
    assert "altered" in str(house.last.hooks[0]["cause"])


@pytest.mark.parametrize(("wanted", "told"), [([], "no site: 1"), (["PYTHONUSERBASE"], "no site: ")])
def test_python_guards_load_no_packages_of_the_user_unasked(house: House, wanted: list[str], told: str) -> None:
    house.hook("guard", on="tool_before", script='echo "no site: $PYTHONNOUSERSITE" >&2; exit 2', env=wanted)

    assert house.tool()["hookSpecificOutput"]["permissionDecisionReason"] == f"guard (Hooktray): {told}".strip()
