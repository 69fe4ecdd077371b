"""The real Grok CLI: all scenes, what reaches its model, its prompts and ends of turns, lines of other agents."""

from __future__ import annotations

import json

from clients.client import Session, Turn
from clients.grok import CONFIG, GROK
from clients.scenes import Scenes
from connect.sites import tree
from guards import REFUSED

TEXT = {"hookSpecificOutput": {"hookEventName": "PostToolUse", "updatedToolOutput": "another-output"}}


class TestGrok(Scenes):
    client = GROK
    contexts = ("tool_before", "tool_after")
    hooks = (
        REFUSED | {"name": "back", "event": "tool_after", "matcher": "the-output", "reason": "told-afterwards"},
        {
            "name": "text",
            "event": "tool_after",
            "matcher": "a-text",
            "command": "./text.sh",
            "dialect": "claude-code",
        },
        REFUSED | {"name": "own", "agent": "grok", "matcher": "for-grok", "reason": "refused-for-grok"},
    )
    lines = {"back": "echo the-output", "text": "echo a-text", "own": "touch for-grok"}
    scripts = {"text.sh": f"echo '{json.dumps(TEXT)}'"}

    def settings_hold_what_was_there(self, one: Session) -> None:
        """It appends settings of its own."""
        assert (one.home / ".grok" / "config.toml").read_text().startswith(CONFIG.format(one.model.url))
        assert (one.project / ".own-hook-ran").exists()

    def users_files(self, one: Session) -> object:
        return tree(one.home / ".grok")

    def test_a_refusal_after_a_tool_reaches_the_model_with_the_output(self, turn: Turn) -> None:
        assert "told-afterwards" in turn.told
        assert "the-output" in turn.results["back"]

    def test_a_text_replaces_an_output_of_its_own_form(self, turn: Turn) -> None:
        row = turn.row("tool_after", "a-text")
        assert (row["verdict"], bool(row["rewrites"])) == ("abstain", True)
        assert "another-output" in turn.results["text"]
        assert "a-text" not in turn.results["text"]

    def test_a_turn_ends_once_although_two_stops_come(self, turn: Turn) -> None:
        """The first of the two ends is the refused one."""
        ends = [(row["event"], row["kind"]) for row in turn.rows if row["event"].startswith("Stop")]
        assert ends == [("Stop", "turn_end"), ("Stop", "turn_end"), ("Stop at the session's end", "other")]

    def check_refused_prompt(self, turn: Turn) -> None:
        """Grok reports a refused prompt as an interrupted turn."""
        assert [row["event"] for row in turn.rows if row["kind"] == "turn_interrupted"] == ["StopCancelled"]
        assert turn.verdicts("turn_end") == []

    def test_a_hook_for_grok_only_runs(self, turn: Turn) -> None:
        assert "for-grok" not in turn.made
        assert "refused-for-grok" in turn.results["own"]

    def test_a_line_of_another_agent_in_its_file_is_answered_as_grok(self, connected: Session) -> None:
        with connected.edited(lambda text: text.replace(" grok ", " copilot-cli ")):
            turn = connected.ask({name: self.calls()[name] for name in ("forbidden", "asked", "wanted")})

        assert turn.made == {"wanted"}
        assert turn.verdicts("tool_before") == ["deny", "deny", "abstain"]
