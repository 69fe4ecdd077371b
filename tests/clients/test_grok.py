"""The real Grok CLI: all scenes, what reaches its model, its prompts and ends of turns, lines of other agents."""

from __future__ import annotations

import json

from clients.client import Session
from clients.grok import CONFIG, GROK
from clients.scenes import SCRIPTS, Scenes, Start
from connect.sites import tree
from guards import ASKED, NO_PROMPT, REFUSED

CONTEXTS = {"tool_before": "PreToolUse", "tool_after": "PostToolUse"}
SAYING = [{"name": kind, "event": kind, "command": f"./{kind}.sh", "dialect": "claude-code"} for kind in CONTEXTS]
FEEDBACK = REFUSED | {"name": "back", "event": "tool_after", "matcher": "the-output", "reason": "told-afterwards"}
AFTER_TEXT = {"name": "text", "event": "tool_after", "command": "./text.sh", "dialect": "claude-code"}
FOR_GROK = {"name": "own", "event": "tool_before", "agent": "grok", "command": "./own.sh", "dialect": "claude-code"}


def said(kind: str, **fields: str) -> str:
    return json.dumps({"hookSpecificOutput": {"hookEventName": CONTEXTS[kind]} | fields})


class TestGrok(Scenes):
    client = GROK
    scripts = {
        **SCRIPTS,
        **{f"{kind}.sh": f"echo '{said(kind, additionalContext=f'ctx-{kind}')}'" for kind in CONTEXTS},
        "text.sh": f"echo '{said('tool_after', updatedToolOutput='another-output')}'",
        "own.sh": "echo asked-for-grok >&2; exit 2",
    }

    def settings_hold_what_was_there(self, one: Session) -> None:
        """It appends settings of its own."""
        assert (one.home / ".grok" / "config.toml").read_text().startswith(CONFIG.format(one.model.url))
        assert (one.project / ".own-hook-ran").exists()

    def users_files(self, one: Session) -> object:
        return tree(one.home / ".grok")

    def test_contexts_reach_the_model(self, start: Start) -> None:
        one = start(["touch wanted"], *SAYING)

        assert one.turn().returncode == 0

        assert [kind for kind in CONTEXTS if f"ctx-{kind}" not in one.model.told()] == []

    def test_a_refusal_after_a_tool_is_told_to_the_model_beside_the_output(self, start: Start) -> None:
        one = start(["echo the-output"], FEEDBACK)

        one.turn()

        assert "told-afterwards" in one.model.told()
        assert "the-output" in one.model.results()[0]

    def test_a_text_replaces_an_output_of_its_own_form(self, start: Start) -> None:
        one = start(["echo the-output"], AFTER_TEXT)

        one.turn()

        (row,) = one.rows("tool_after")
        assert (row["verdict"], bool(row["rewrites"])) == ("abstain", True)
        assert "another-output" in one.model.results()[0]
        assert "the-output" not in one.model.results()[0]

    def test_a_turn_ends_once_although_two_stops_come(self, start: Start) -> None:
        one = start()

        one.turn()

        ends = [(row["event"], row["kind"]) for row in one.rows() if row["event"].startswith("Stop")]
        assert ends == [("Stop", "turn_end"), ("Stop at the session's end", "other")]

    def test_a_refused_prompt_is_an_interrupted_turn(self, start: Start) -> None:
        one = start([], NO_PROMPT)

        one.turn("a secret prompt")

        assert [row["event"] for row in one.rows("turn_interrupted")] == ["StopCancelled"]
        assert one.rows("turn_end") == []

    def test_a_hook_for_grok_alone_is_asked(self, start: Start) -> None:
        one = start(["touch forbidden"], FOR_GROK)

        one.turn()

        assert one.made() == set()
        assert "asked-for-grok" in one.model.results()[0]

    def test_a_line_of_another_agent_in_its_file_is_answered_as_grok(self, start: Start) -> None:
        one = start(["touch forbidden", "touch asked", "touch wanted"], REFUSED, ASKED | {"matcher": "asked"})
        text = one.settings.read_text()
        one.settings.write_text(text.replace(" grok ", " copilot-cli "))
        assert one.settings.read_text() != text

        one.turn()

        assert one.made() == {"wanted"}
        assert [row["verdict"] for row in one.rows("tool_before")] == ["deny", "deny", "abstain"]
