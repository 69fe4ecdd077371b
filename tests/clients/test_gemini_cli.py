"""The real Gemini CLI: all scenes, what reaches its model, its trusted folders, a session in a terminal."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

from clients.client import LONG, Session, Turn
from clients.gemini_cli import AUTH, GEMINI_CLI
from clients.scenes import Scenes, Start
from clients.terminals import enter, in_a_terminal, leave, press
from desk import Overdue, wait
from guards import ASKED, HALT, REFUSED

# Written for it, and run below Hooktray.
OWN = {"name": "own", "event": "tool_before", "matcher": "its-words", "command": "./own.sh", "dialect": "gemini-cli"}
NEVER = {"name": "never", "event": "turn_end", "type": "rule", "decision": "deny", "reason": "never-end"}
UNTRUSTED = 55  # its exit code


class TestGeminiCli(Scenes):
    client = GEMINI_CLI
    hooks = (
        REFUSED | {"name": "no-secret", "event": "tool_after", "matcher": "the-output", "reason": "withheld"},
        HALT | {"name": "halt-before", "event": "tool_before", "matcher": "end-here"},
        OWN,
    )
    lines = {"withheld": "echo the-output", "own": "touch its-words"}
    scripts = {
        "own.sh": """grep -q '"tool_name":"run_shell_command"' && { echo refused-in-its-words >&2; exit 3; }"""
    }

    @classmethod
    def context(cls, kind: str) -> Mapping[str, Any]:
        return {**super().context(kind), "systemMessage": f"note-{kind}"}

    def test_notes_are_shown_to_its_user(self, turn: Turn) -> None:
        assert [kind for kind in self.contexts if f"note-{kind}" not in turn.stderr] == []

    def test_a_refused_output_never_reaches_the_model(self, turn: Turn) -> None:
        assert "the-output" not in turn.results["withheld"]
        assert "withheld" in turn.results["withheld"]

    def test_a_hook_in_its_own_format_refuses_by_any_code_from_2_on(self, turn: Turn) -> None:
        assert "its-words" not in turn.made
        assert "refused-in-its-words" in turn.results["own"]

    def test_a_hook_that_stops_the_agent_ends_the_turn(self, connected: Session) -> None:
        turn = connected.ask({line: self.client.shell_call(line) for line in ("touch end-here", "touch other")})

        assert (turn.made, turn.requests) == (set(), 1)
        assert "halted-by-a-hook" in turn.stderr

    def test_a_turn_that_hooks_always_refuse_to_end_ends_after_eight_refusals(self, start: Start) -> None:
        """Gemini CLI itself knows no limit."""
        one = start([], NEVER)

        assert one.turn().returncode == 0

        assert [row["verdict"] for row in one.rows("turn_end")] == [*["deny"] * 8, "abstain"]

    def test_a_line_of_claude_code_is_answered_as_gemini_cli(self, connected: Session) -> None:
        """Its user took our line out of Claude Code's settings."""
        with connected.edited(lambda text: text.replace(" gemini-cli ", " claude-code ")):
            turn = connected.ask({name: self.calls()[name] for name in ("forbidden", "wanted")})

        assert turn.made == {"wanted"}
        assert turn.verdicts("tool_before") == ["deny", "abstain"]

    def test_entries_that_its_user_disabled_are_reported(self, connected: Session) -> None:
        disabled = {"hooksConfig": {"disabled": ["hooktray"]}}
        with connected.edited(lambda text: json.dumps(json.loads(text) | disabled)):
            turn = connected.ask({"forbidden": self.calls()["forbidden"]}, reports_its_end=False)
            said = connected.trust()

        assert (turn.made, turn.rows) == ({"forbidden"}, [])
        assert said.startswith("off: 7 of Hooktray's entries are disabled")

    def test_it_runs_hooks_only_in_a_folder_that_its_user_trusts(self, start: Start) -> None:
        one = start(["touch forbidden"], REFUSED)
        settings: dict[str, Any] = json.loads(one.settings.read_text())
        settings["security"] = {"auth": AUTH}
        one.settings.write_text(json.dumps(settings))
        assert one.turn().returncode == UNTRUSTED  # nobody was asked
        assert one.trust().startswith(f"asks: start `gemini` in {one.project} and say that you trust it")
        rules = one.home / ".gemini" / "trustedFolders.json"
        rules.write_text(json.dumps({str(one.project): "DO_NOT_TRUST"}))
        assert one.trust().startswith("off: Gemini CLI runs no hook in")
        assert one.turn().returncode == UNTRUSTED
        assert one.rows() == []

        rules.write_text(json.dumps({str(one.project): "TRUST_FOLDER"}))
        before = rules.read_bytes()

        assert one.turn().returncode != UNTRUSTED
        assert one.trust().startswith("trusted here")
        assert one.made() == set()
        assert [row["verdict"] for row in one.rows("tool_before")] == ["deny"]
        assert rules.read_bytes() == before

    def test_a_session_in_a_terminal(self, start: Start) -> None:
        """Its own question is notified and answered there. A hook's question is a refusal."""
        one = start(
            [f"touch {name}" for name in ("forbidden", "asked", "wanted")],
            *(REFUSED, ASKED | {"name": "ask", "matcher": "asked"}),
        )
        with in_a_terminal(one, "--approval-mode", "default") as terminal:

            def is_notified() -> bool:
                """Whether its question is. A key right behind the text counts as part of it: press again."""
                try:
                    return bool(wait(lambda: one.rows("notification"), 3))
                except Overdue:
                    terminal.type("\r")
                    return False

            wait(lambda: "Type your message" in terminal.text, LONG, "the prompt")
            enter(terminal, "hello")
            wait(is_notified, LONG, "its question is notified")
            wait(lambda: "Allow execution of [Shell]?" in terminal.text, LONG, "its question")
            press(terminal, "\r", lambda: one.rows("turn_end"), "the end of the turn")
            leave(one, terminal, "/quit")

        assert one.made() == {"wanted"}
        assert "hooktray" in terminal.text  # while a hook runs
        assert [row["verdict"] for row in one.rows("tool_before")] == ["deny", "deny", "abstain"]
        assert "asked-by-a-rule" in one.model.results()[1]
        assert [row["alerted"] for row in one.rows("notification")] == ["failed"]  # here is nothing that shows it
        # It reports the end several times, which is notified once.
        assert [row["alerted"] for row in one.rows("session_end")].count("failed") == 1
