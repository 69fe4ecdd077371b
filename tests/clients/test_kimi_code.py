"""The real Kimi Code: all scenes, what its hooks add to a prompt, one wrong key, a session in a terminal."""

from __future__ import annotations

import json
import subprocess

from clients.client import LONG, Session
from clients.kimi_code import EXISTING, KIMI_CODE
from clients.scenes import Scenes, Start
from desk import Overdue, wait
from guards import ASKED, ONCE_MORE, REFUSED
from terminal import Terminal

SAYING = {"name": "prompt", "event": "prompt", "command": "./prompt.sh", "dialect": "claude-code"}
SAID = {
    "systemMessage": "note-for-the-user",
    "hookSpecificOutput": {"hookEventName": "UserPromptSubmit", "additionalContext": "ctx-prompt"},
}
SECRET = {
    "name": "no-secret",
    "event": "tool_after",
    "type": "rule",
    "matcher": "the-output",
    "decision": "deny",
    "reason": "withheld",
}
# Written for it, and run below Hooktray.
OWN = {"name": "own", "event": "tool_before", "command": "./own.sh", "dialect": "kimi-code"}


class TestKimiCode(Scenes):
    client = KIMI_CODE
    limit = r"event = ['\"]{event}['\"].*?timeout = (\d+)"
    scripts = {
        **Scenes.scripts,
        "prompt.sh": f"echo '{json.dumps(SAID)}'",
        "own.sh": """grep -q '"tool_name":"Bash"' && { echo refused-in-its-words >&2; exit 2; }""",
    }

    def settings_hold_what_was_there(self, one: Session) -> None:
        assert one.settings.read_text().startswith(EXISTING.format(one.model.url))
        assert (one.project / ".own-hook-ran").exists()

    def test_a_context_reaches_the_model_and_nothing_else_is_added_to_the_prompt(self, start: Start) -> None:
        one = start([], SAYING)

        done = one.turn()

        assert "ctx-prompt" in done.stdout.decode()  # it shows what was added
        assert "ctx-prompt" in one.model.told()
        assert "note-for-the-user" not in one.model.told() + done.stdout.decode()

    def test_an_output_cannot_be_withheld(self, start: Start) -> None:
        one = start(["echo the-output"], SECRET)

        one.turn()

        assert "the-output" in one.model.results()[0]
        assert {row["verdict"] for row in one.rows("tool_after")} <= {"abstain"}  # it may be lost at the turn's end

    def test_a_refused_end_of_a_turn_is_refused_once_and_the_next_one_is_not_reported(self, start: Start) -> None:
        one = start([], ONCE_MORE)

        assert one.turn().returncode == 0

        assert [row["verdict"] for row in one.rows("turn_end")] == ["deny"]
        assert len(one.model.requests) == 2
        assert "once-more-please" in one.model.told()

    def test_a_hook_in_its_own_format_refuses(self, start: Start) -> None:
        one = start(["touch forbidden"], OWN)

        one.turn()

        assert one.made() == set()
        assert "refused-in-its-words" in one.model.results()[0]

    def test_one_hook_with_a_key_that_it_does_not_know_switches_all_off(self, start: Start) -> None:
        one = start(["touch forbidden"], REFUSED)
        assert one.trust() == "trusted"
        text = one.settings.read_text()
        one.settings.write_text(text.replace('event = "Stop"\n', 'event = "Stop"\nname = "mine"\n', 1))

        one.turn()

        assert (one.made(), one.rows()) == ({"forbidden"}, [])
        assert "hooks[0]" in one.trust()
        assert "has the key `name`: take it out" in one.trust()

    def test_a_session_in_a_terminal(self, start: Start) -> None:
        """Its own question is notified and answered there. A hook's question is a refusal."""
        one = start([f"touch {name}" for name in ("forbidden", "asked", "wanted")], REFUSED,
                    ASKED | {"name": "ask", "matcher": "asked"})  # fmt: skip
        terminal = Terminal([*self.client.program()], one.project, dict(one.environment))
        try:
            wait(lambda: "Trust this folder" in terminal.text, LONG, "its question about MCP servers of the project")
            wait(lambda: self.is_ready(terminal), LONG, "the prompt")
            self.enter(terminal, "hello")
            one.wait_announced("permission_request")
            wait(lambda: self.is_over(one, terminal), LONG, "the end of the turn")
            self.enter(terminal, "/exit")
            wait(lambda: self.has_left(terminal), LONG, "the end of the program")
            one.wait_rows("session_end")
        finally:
            terminal.close()

        assert one.made() == {"wanted"}
        assert "refused-by-a-rule" in terminal.text
        assert [row["verdict"] for row in one.rows("tool_before")] == ["deny", "deny", "abstain"]
        assert len(one.rows("session_end")) == 1

    @staticmethod
    def is_over(one: Session, terminal: Terminal) -> bool:
        """Whether the turn has ended. What is asked is confirmed, again if the key came too early."""
        terminal.type("\r")
        try:
            return bool(wait(lambda: one.rows("turn_end"), 3))
        except Overdue:
            return False

    @staticmethod
    def is_ready(terminal: Terminal) -> bool:
        """Whether it waits for a prompt. Its question is answered, again if the key came too early."""
        terminal.type("\r")
        try:
            return bool(wait(lambda: "mock" in terminal.text, 3))
        except Overdue:
            return False

    @staticmethod
    def has_left(terminal: Terminal) -> bool:
        """Whether the program has ended. The first key may only choose the command from a list."""
        try:
            terminal.process.wait(3)
        except subprocess.TimeoutExpired:
            terminal.type("\r")
            return False
        return True

    @staticmethod
    def enter(terminal: Terminal, text: str) -> None:
        terminal.type(text)
        wait(lambda: text in terminal.text, LONG, "the typed text")
        terminal.type("\r")
