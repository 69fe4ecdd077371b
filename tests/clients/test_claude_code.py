"""The real Claude Code: all scenes, what its hooks add to the context, and a turn in a terminal."""

from __future__ import annotations

import json
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
from clients.claude_code import CLAUDE_CODE, program
from clients.client import LONG, Session
from clients.desk import at_a_desk
from clients.scenes import COLOUR, SCRIPTS, QuestionScenes, Start
from desk import Overdue, wait
from guards import ONCE_MORE, REFUSED
from terminal import Terminal

CONTEXTS = {
    "session_start": "context-of-the-start",
    "prompt": "context-of-the-prompt",
    "tool_after": "context-after-the-tool",
}
NAMES = {"session_start": "SessionStart", "prompt": "UserPromptSubmit", "tool_after": "PostToolUse"}
SAYING = [{"name": event, "event": event, "command": f"./{event}.sh", "dialect": "claude-code"} for event in CONTEXTS]


def shows(terminal: Terminal, text: str) -> bool:
    """Whether it was drawn; blanks may be jumps of the cursor."""
    return "".join(text.split()) in "".join(terminal.text.split())


def said(event: str) -> str:
    return json.dumps({"hookSpecificOutput": {"hookEventName": NAMES[event], "additionalContext": CONTEXTS[event]}})


class TestClaudeCode(QuestionScenes):
    client = CLAUDE_CODE
    question_tool, takes_several = "AskUserQuestion", "multiSelect"
    scripts = SCRIPTS | {f"{event}.sh": f"echo '{said(event)}'" for event in CONTEXTS}

    @contextmanager
    def typed(self, one: Session, prompt: str) -> Iterator[Terminal]:
        """Claude Code in a terminal of its own, with this prompt entered."""
        terminal = Terminal([*program(), "--permission-mode", "default"], one.project, dict(one.environment))
        try:
            one.wait_rows("session_start")
            wait(lambda: "\u276f" in terminal.text or ">" in terminal.text, LONG, "the prompt")
            terminal.type(prompt)
            wait(lambda: shows(terminal, prompt), LONG, "the typed text")
            terminal.type("\r")
            yield terminal
        finally:
            terminal.close()

    def test_contexts_reach_the_model(self, start: Start) -> None:
        one = start(["touch wanted"], *SAYING)

        assert one.turn().returncode == 0

        assert [text for text in CONTEXTS.values() if text not in one.model.told()] == []

    def test_a_turn_in_a_terminal(self, start: Start) -> None:
        """Its own question for a permission is notified, and answered in the terminal."""
        one = start(["touch forbidden", "touch wanted"], REFUSED, ONCE_MORE)
        with self.typed(one, "hello") as terminal:
            one.wait_rows("notification")
            terminal.type("\r")
            wait(lambda: len(one.rows("turn_end")) == 2, LONG, "the second stop")
            terminal.type("/exit")
            wait(lambda: "/exit" in terminal.text, LONG, "the typed command")
            terminal.type("\r")
            one.wait_rows("session_end")
            terminal.process.wait(LONG)

        assert one.made() == {"wanted"}
        assert "refused-by-a-rule" in one.model.results()[0]
        assert len(one.rows("permission_request")) == 1
        assert [row["alerted"] for row in one.rows("notification")] == ["failed"]  # here is nothing that shows it

    @pytest.mark.parametrize(
        ("line", "said"),
        [
            ("/hooktray", "✓ no · tool_before"),
            ("/hooktray off", "only a person can do that"),
            ("/hooktray help", "/hooktray list, doctor, help and on are answered here"),
        ],
    )
    def test_the_command_of_hooktray_is_answered_by_its_tray(self, start: Start, line: str, said: str) -> None:
        """`connect` has written it; the model hears nothing of it."""
        one = start([], REFUSED)
        with self.typed(one, line) as terminal:
            wait(lambda: shows(terminal, said), LONG, "the answer")

        assert one.model.requests == []
        (row,) = [row for row in one.rows() if row["hooks"]]
        assert (row["verdict"], [hook["name"] for hook in row["hooks"]]) == ("deny", ["hooktray"])
        assert one.live.switch().enabled

    def test_without_a_tray_the_command_of_hooktray_says_what_starts_it(self, start: Start) -> None:
        one = start([], REFUSED)
        assert one.live.quit() == 0

        with self.typed(one, "/hooktray") as terminal:
            wait(lambda: shows(terminal, "the tray is not running; `hooktray run` starts it"), LONG, "the answer")

        assert one.model.requests == []

    @pytest.mark.desktop
    def test_a_declined_question_is_refused(self, tmp_path: Path) -> None:
        with at_a_desk(self.client, tmp_path, self.asking(COLOUR)) as desk:
            one = desk.session
            with self.typed(one, "hello"):
                desk.notification("Asks you: Which colour?")
                desk.answer_on_page({"act": "decline"})
                one.wait_rows("turn_end")

            assert "The user denied it (page)" in one.model.results()[0]

    def test_a_bare_allow_leaves_its_question_to_its_user(self, start: Start) -> None:
        allow = {"name": "yes", "event": "permission_request", "type": "rule", "decision": "allow"}
        one = start([], allow)
        one.model.calls = self.asking(COLOUR)
        with self.typed(one, "hello") as terminal:
            one.wait_rows("permission_request")
            wait(lambda: "Which colour?" in terminal.text, LONG, "its dialogue")
            assert one.model.results() == []
            wait(lambda: self.is_chosen(one, terminal), LONG, "its first answer")

        assert "Red" in one.model.results()[0]

    @staticmethod
    def is_chosen(one: Session, terminal: Terminal) -> bool:
        """Whether the turn has ended. The first answer is taken, again if the key came too early."""
        terminal.type("\r")
        try:
            return bool(wait(lambda: one.rows("turn_end"), 3))
        except Overdue:
            return False
