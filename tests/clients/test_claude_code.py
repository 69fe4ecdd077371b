"""The real Claude Code: all scenes, what its hooks add to the context, and a turn in a terminal."""

from __future__ import annotations

import json

from clients.claude_code import CLAUDE_CODE, program
from clients.client import LONG
from clients.scenes import ONCE_MORE, REFUSED, SCRIPTS, Scenes, Start
from desk import wait
from terminal import Terminal

CONTEXTS = {
    "session_start": "context-of-the-start",
    "prompt": "context-of-the-prompt",
    "tool_after": "context-after-the-tool",
}
NAMES = {"session_start": "SessionStart", "prompt": "UserPromptSubmit", "tool_after": "PostToolUse"}
SAYING = [{"name": event, "event": event, "command": f"./{event}.sh", "dialect": "claude-code"} for event in CONTEXTS]


def said(event: str) -> str:
    return json.dumps({"hookSpecificOutput": {"hookEventName": NAMES[event], "additionalContext": CONTEXTS[event]}})


class TestClaudeCode(Scenes):
    client = CLAUDE_CODE
    scripts = SCRIPTS | {f"{event}.sh": f"echo '{said(event)}'" for event in CONTEXTS}

    def test_contexts_reach_the_model(self, start: Start) -> None:
        one = start(["touch wanted"], *SAYING)

        assert one.turn().returncode == 0

        assert [text for text in CONTEXTS.values() if text not in one.model.told()] == []

    def test_a_turn_in_a_terminal(self, start: Start) -> None:
        """Its own question for a permission is notified, and answered in the terminal."""
        one = start(["touch forbidden", "touch wanted"], REFUSED, ONCE_MORE)
        argv = [*program(), "--permission-mode", "default"]
        terminal = Terminal(argv, one.project, dict(one.environment))
        try:
            one.wait_rows("session_start")
            wait(lambda: "\u276f" in terminal.text or ">" in terminal.text, LONG, "the prompt")
            terminal.type("hello")
            wait(lambda: "hello" in terminal.text, LONG, "the typed text")
            terminal.type("\r")
            one.wait_rows("notification")
            terminal.type("\r")
            wait(lambda: len(one.rows("turn_end")) == 2, LONG, "the second stop")
            terminal.type("/exit")
            wait(lambda: "/exit" in terminal.text, LONG, "the typed command")
            terminal.type("\r")
            one.wait_rows("session_end")
            terminal.process.wait(LONG)
        finally:
            terminal.close()

        assert one.made() == {"wanted"}
        assert "refused-by-a-rule" in one.model.results()[0]
        assert len(one.rows("permission_request")) == 1
        assert [row["alerted"] for row in one.rows("notification")] == ["failed"]  # here is nothing that shows it
