"""The real Gemini CLI: all scenes, what reaches its model, its trusted folders, a session in a terminal."""

from __future__ import annotations

import json
import subprocess
from typing import Any

import pytest
from clients.client import LONG, Session
from clients.gemini_cli import AUTH, GEMINI_CLI
from clients.scenes import Scenes, Start
from desk import Overdue, wait
from guards import ASKED, HALT, REFUSED
from terminal import Terminal

CONTEXTS = {"session_start": "SessionStart", "prompt": "UserPromptSubmit", "tool_after": "PostToolUse"}
SAYING = [{"name": kind, "event": kind, "command": f"./{kind}.sh", "dialect": "claude-code"} for kind in CONTEXTS]
SECRET = {
    "name": "no-secret",
    "event": "tool_after",
    "type": "rule",
    "matcher": "the-output",
    "decision": "deny",
    "reason": "withheld",
}
# Written for it, and run below Hooktray.
OWN = {"name": "own", "event": "tool_before", "command": "./own.sh", "dialect": "gemini-cli"}
NEVER = {"name": "never", "event": "turn_end", "type": "rule", "decision": "deny", "reason": "never-end"}
UNTRUSTED = 55  # its exit code


def said(kind: str) -> str:
    inner = {"hookEventName": CONTEXTS[kind], "additionalContext": f"ctx-{kind}"}
    return json.dumps({"systemMessage": f"note-{kind}", "hookSpecificOutput": inner})


class TestGeminiCli(Scenes):
    client = GEMINI_CLI
    scripts = {
        **Scenes.scripts,
        **{f"{kind}.sh": f"echo '{said(kind)}'" for kind in CONTEXTS},
        "own.sh": """grep -q '"tool_name":"run_shell_command"' && { echo refused-in-its-words >&2; exit 3; }""",
    }

    def test_contexts_reach_the_model_and_notes_its_user(self, start: Start) -> None:
        one = start(["echo the-output", "touch wanted"], *SAYING)

        done = one.turn()

        assert [kind for kind in CONTEXTS if f"ctx-{kind}" not in one.model.told()] == []
        assert [kind for kind in CONTEXTS if f"note-{kind}" not in done.stderr.decode()] == []
        assert one.made() == {"wanted"}

    def test_a_refused_output_never_reaches_the_model(self, start: Start) -> None:
        one = start(["echo the-output"], SECRET)

        one.turn()

        assert "the-output" not in one.model.results()[0]
        assert "withheld" in one.model.results()[0]

    def test_a_hook_that_stops_the_agent_ends_the_turn(self, start: Start) -> None:
        one = start(["touch wanted", "touch other"], HALT | {"event": "tool_before"})

        done = one.turn()

        assert (one.made(), len(one.model.requests)) == (set(), 1)
        assert "halted-by-a-hook" in done.stderr.decode()

    def test_a_hook_in_its_own_format_refuses_by_any_code_from_2_on(self, start: Start) -> None:
        one = start(["touch forbidden"], OWN)

        one.turn()

        assert one.made() == set()
        assert "refused-in-its-words" in one.model.results()[0]

    def test_an_end_that_is_always_refused_comes_all_the_same(self, start: Start) -> None:
        """Gemini CLI itself knows no limit."""
        one = start([], NEVER)

        assert one.turn().returncode == 0

        assert [row["verdict"] for row in one.rows("turn_end")] == [*["deny"] * 8, "abstain"]

    def test_a_line_of_claude_code_is_answered_as_gemini_cli(self, start: Start) -> None:
        """Its user took our line out of Claude Code's settings."""
        one = start(["touch forbidden", "touch wanted"], REFUSED)
        text = one.settings.read_text()
        one.settings.write_text(text.replace(" gemini-cli ", " claude-code "))
        assert one.settings.read_text() != text

        one.turn()

        assert one.made() == {"wanted"}
        assert [row["verdict"] for row in one.rows("tool_before")] == ["deny", "abstain"]

    def test_entries_that_its_user_disabled_are_reported(self, start: Start) -> None:
        one = start(["touch forbidden"], REFUSED)
        settings = json.loads(one.settings.read_text())
        one.settings.write_text(json.dumps(settings | {"hooksConfig": {"disabled": ["hooktray"]}}))

        one.turn()

        assert (one.made(), one.rows()) == ({"forbidden"}, [])
        assert one.trust().startswith("off: 7 of Hooktray's entries are disabled")

    @pytest.mark.parametrize("level", ["DO_NOT_TRUST", "TRUST_FOLDER"])
    def test_it_runs_hooks_only_in_a_folder_that_its_user_trusts(self, start: Start, level: str) -> None:
        one = start(["touch forbidden"], REFUSED)
        settings: dict[str, Any] = json.loads(one.settings.read_text())
        settings["security"] = {"auth": AUTH}
        one.settings.write_text(json.dumps(settings))
        assert one.turn().returncode == UNTRUSTED  # nobody was asked
        assert one.trust().startswith(f"asks: start `gemini` in {one.project} and say that you trust it")
        rules = one.home / ".gemini" / "trustedFolders.json"
        rules.write_text(json.dumps({str(one.project): level}))
        before = rules.read_bytes()

        done = one.turn()

        is_trusted = level == "TRUST_FOLDER"
        assert one.trust().startswith("trusted here" if is_trusted else "off: Gemini CLI runs no hook in")
        assert (done.returncode == UNTRUSTED, one.made()) == (not is_trusted, set())
        assert [row["verdict"] for row in one.rows("tool_before")] == (["deny"] if is_trusted else [])
        assert rules.read_bytes() == before

    def test_a_session_in_a_terminal(self, start: Start) -> None:
        """Its own question is notified and answered there. A hook's question is a refusal."""
        one = start([f"touch {name}" for name in ("forbidden", "asked", "wanted")], REFUSED,
                    ASKED | {"name": "ask", "matcher": "asked"})  # fmt: skip
        argv = [*self.client.program(), "--approval-mode", "default"]
        terminal = Terminal(argv, one.project, dict(one.environment))
        try:
            wait(lambda: "Type your message" in terminal.text, LONG, "the prompt")
            self.enter(terminal, "hello")
            wait(lambda: self.is_notified(one, terminal), LONG, "its question is notified")
            wait(lambda: "Allow execution of [Shell]?" in terminal.text, LONG, "its question")
            wait(lambda: self.is_over(one, terminal), LONG, "the end of the turn")
            self.enter(terminal, "/quit")
            wait(lambda: self.has_left(terminal), LONG, "the end of the program")
            one.wait_rows("session_end")
        finally:
            terminal.close()

        assert one.made() == {"wanted"}
        assert "hooktray" in terminal.text  # while a hook runs
        assert [row["verdict"] for row in one.rows("tool_before")] == ["deny", "deny", "abstain"]
        assert "asked-by-a-rule" in one.model.results()[1]
        assert [row["alerted"] for row in one.rows("notification")] == ["failed"]  # here is nothing that shows it
        # It reports the end several times, which is notified once.
        assert [row["alerted"] for row in one.rows("session_end")].count("failed") == 1

    @staticmethod
    def is_notified(one: Session, terminal: Terminal) -> bool:
        """Whether its question is notified. A key right behind the text counts as part of it: press again."""
        try:
            return bool(wait(lambda: one.rows("notification"), 3))
        except Overdue:
            terminal.type("\r")
            return False

    @staticmethod
    def is_over(one: Session, terminal: Terminal) -> bool:
        """Whether the turn has ended. What is asked is confirmed, again if the key came too early."""
        terminal.type("\r")
        try:
            return bool(wait(lambda: one.rows("turn_end"), 3))
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
