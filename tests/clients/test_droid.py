"""The real Factory Droid: all scenes, what reaches its model, hooks in both of its files."""

from __future__ import annotations

import json

import pytest
from clients.client import Session
from clients.droid import DROID
from clients.scenes import SCRIPTS, Scenes, Start
from guards import MASK, REFUSED

CONTEXTS = {"session_start": "SessionStart", "tool_after": "PostToolUse"}
SAYING = [{"name": kind, "event": kind, "command": f"./{kind}.sh", "dialect": "claude-code"} for kind in CONTEXTS]
FEEDBACK = REFUSED | {"name": "back", "event": "tool_after", "matcher": "the-output", "reason": "told-afterwards"}
HALT_BEFORE = {"name": "halt", "event": "tool_before", "command": "./halt.sh", "dialect": "claude-code"}
OWN = {"matcher": "Execute", "hooks": [{"type": "command", "command": "touch .own-before"}]}
YES = json.dumps({"hookSpecificOutput": {"hookEventName": "PreToolUse", "permissionDecision": "allow"}})


def said(kind: str) -> str:
    return json.dumps({"hookSpecificOutput": {"hookEventName": CONTEXTS[kind], "additionalContext": f"ctx-{kind}"}})


class TestDroid(Scenes):
    client = DROID
    scripts = {**SCRIPTS, **{f"{kind}.sh": f"echo '{said(kind)}'" for kind in CONTEXTS}}

    def settings_hold_what_was_there(self, one: Session) -> None:
        super().settings_hold_what_was_there(one)
        assert (one.project / ".own-hook-ran").exists()
        assert not (one.home / ".factory" / "hooks.json").exists()  # it would hide the user's hooks

    def test_an_output_is_replaced_or_withheld_where_the_client_can(self, start: Start) -> None:
        """It cannot, and no row says that it did."""
        one = start(["echo first-secret"], MASK)

        one.turn()

        assert "first-secret" in one.model.results()[0]
        (row,) = one.rows("tool_after")
        assert (row["verdict"], bool(row["rewrites"])) == ("abstain", False)

    def test_contexts_reach_the_model(self, start: Start) -> None:
        one = start(["touch wanted"], *SAYING)

        assert one.turn().returncode == 0

        assert [kind for kind in CONTEXTS if f"ctx-{kind}" not in one.model.told()] == []

    def test_a_refusal_after_a_tool_is_told_to_the_model_beside_the_output(self, start: Start) -> None:
        one = start(["echo the-output"], FEEDBACK)

        one.turn()

        assert "told-afterwards" in one.model.told()
        assert "the-output" in one.model.results()[0]

    def test_a_hook_stops_the_agent_before_a_tool(self, start: Start) -> None:
        one = start(["touch wanted", "touch other"], HALT_BEFORE)

        one.turn()

        assert (one.made(), len(one.model.requests)) == (set(), 1)

    def test_a_hook_of_its_users_that_allows_does_not_beat_a_refusal(self, start: Start) -> None:
        """It takes the first decision, and the user's hook comes first."""
        one = start(["touch forbidden"], REFUSED)
        settings = json.loads(one.settings.read_text())
        allowing = {"hooks": [{"type": "command", "command": f"echo '{YES}'"}]}
        settings["hooks"]["PreToolUse"].insert(0, allowing)
        one.settings.write_text(json.dumps(settings))

        one.turn()

        assert one.made() == set()

    @pytest.mark.parametrize("name", ["hooks.json", "hooks/hooks.json"])
    def test_hooks_in_both_of_its_files_run_beside_ours(self, start: Start, name: str) -> None:
        """Those of hooks.json hide those of settings.json, by event."""
        one = start(["touch forbidden", "touch wanted"], REFUSED)
        assert one.hooktray("disconnect", "droid", "--yes").returncode == 0
        other = one.home / ".factory" / name
        other.parent.mkdir(exist_ok=True)
        other.write_text(json.dumps({"PreToolUse": [OWN]}))
        before = (one.settings.read_bytes(), other.read_bytes())
        one.connect()

        one.turn()

        assert one.made() == {"wanted"}
        assert (one.project / ".own-before").exists()
        assert (one.project / ".own-hook-ran").exists()
        assert len(one.rows("turn_end")) == 1
        assert one.hooktray("disconnect", "droid", "--yes").returncode == 0
        assert (one.settings.read_bytes(), other.read_bytes()) == before

    def test_it_has_no_prompts_in_a_printed_session(self, start: Start) -> None:
        """So they are refused in its terminal only."""
        one = start()

        one.turn()

        assert one.rows("prompt") == []
