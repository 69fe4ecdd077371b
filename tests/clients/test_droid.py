"""The real Factory Droid: all scenes, what reaches its model, hooks in both of its files."""

from __future__ import annotations

import json

from clients.client import Session, Turn
from clients.droid import DROID
from clients.scenes import Scenes, Start
from guards import HALT, REFUSED

OWN = {"matcher": "Execute", "hooks": [{"type": "command", "command": "touch .own-before"}]}
YES = json.dumps({"hookSpecificOutput": {"hookEventName": "PreToolUse", "permissionDecision": "allow"}})


class TestDroid(Scenes):
    client = DROID
    contexts = ("session_start", "tool_after")
    hooks = (
        REFUSED | {"name": "back", "event": "tool_after", "matcher": "the-output", "reason": "told-afterwards"},
        HALT | {"name": "halt-before", "event": "tool_before", "matcher": "end-here"},
    )
    lines = {"back": "echo the-output"}

    def settings_hold_what_was_there(self, one: Session) -> None:
        super().settings_hold_what_was_there(one)
        assert (one.project / ".own-hook-ran").exists()
        assert not (one.home / ".factory" / "hooks.json").exists()  # it would hide the user's hooks

    def test_an_output_is_replaced_or_withheld_where_the_client_can(self, turn: Turn) -> None:
        """It cannot, and no row says that it did."""
        row = turn.row("tool_after", "first-secret")
        assert "first-secret" in turn.results["masked"]
        assert (row["verdict"], bool(row["rewrites"])) == ("abstain", False)

    def test_a_refusal_after_a_tool_reaches_the_model_with_the_output(self, turn: Turn) -> None:
        assert "told-afterwards" in turn.told
        assert "the-output" in turn.results["back"]

    def test_a_hook_stops_the_agent_before_a_tool(self, connected: Session) -> None:
        turn = connected.ask({line: self.client.shell_call(line) for line in ("touch end-here", "touch other")})

        assert (turn.made, turn.requests) == (set(), 1)

    def test_the_users_own_hooks_run_too_and_do_not_override_a_refusal(self, start: Start) -> None:
        """Droid takes the first decision. For each event, the hooks of its second file hide those of the first."""
        one = start(["touch forbidden", "touch wanted"], REFUSED)
        assert one.hooktray("disconnect", "droid", "--yes").returncode == 0
        other = one.home / ".factory" / "hooks.json"
        allowing = {"hooks": [{"type": "command", "command": f"echo '{YES}'"}]}
        other.write_text(json.dumps({"PreToolUse": [allowing, OWN]}))
        before = (one.settings.read_bytes(), other.read_bytes())
        one.connect()

        one.turn()

        assert one.made() == {"wanted"}
        assert (one.project / ".own-before").exists()
        assert (one.project / ".own-hook-ran").exists()
        assert len(one.rows("turn_end")) == 1
        assert one.hooktray("disconnect", "droid", "--yes").returncode == 0
        assert (one.settings.read_bytes(), other.read_bytes()) == before
