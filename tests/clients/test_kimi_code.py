"""The real Kimi Code: all scenes, what its hooks add to a prompt, one wrong key, a session in a terminal."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from clients.client import LONG, Session, Turn
from clients.kimi_code import EXISTING, KIMI_CODE
from clients.scenes import Scenes, Start
from clients.terminals import enter, in_a_terminal, leave, press
from desk import wait
from guards import ASKED, REFUSED

# Written for it, and run below Hooktray.
OWN = {"name": "own", "event": "tool_before", "matcher": "its-words", "command": "./own.sh", "dialect": "kimi-code"}


class TestKimiCode(Scenes):
    client = KIMI_CODE
    limit = r"event = ['\"]{event}['\"].*?timeout = (\d+)"
    contexts = ("prompt",)
    hooks = (
        REFUSED | {"name": "no-secret", "event": "tool_after", "matcher": "the-output", "reason": "withheld"},
        OWN,
    )
    lines = {"withheld": "echo the-output", "own": "touch its-words"}
    scripts = {"own.sh": """grep -q '"tool_name":"Bash"' && { echo refused-in-its-words >&2; exit 2; }"""}

    @classmethod
    def context(cls, kind: str) -> Mapping[str, Any]:
        return {**super().context(kind), "systemMessage": "note-for-the-user"}

    def settings_hold_what_was_there(self, one: Session) -> None:
        assert one.settings.read_text().startswith(EXISTING.format(one.model.url))
        assert (one.project / ".own-hook-ran").exists()

    def test_nothing_but_a_context_is_added_to_the_prompt(self, turn: Turn) -> None:
        assert "context-prompt" in turn.stdout  # it shows what was added
        assert "note-for-the-user" not in turn.told + turn.stdout

    def test_an_output_cannot_be_withheld(self, turn: Turn) -> None:
        assert "the-output" in turn.results["withheld"]
        assert set(turn.verdicts("tool_after")) == {"abstain"}

    def test_a_refused_end_of_a_turn_is_refused_once_and_the_next_one_is_not_reported(self, turn: Turn) -> None:
        assert turn.verdicts("turn_end") == ["deny"]
        assert "once-more-please" in turn.told

    def test_a_hook_in_its_own_format_refuses(self, turn: Turn) -> None:
        assert "its-words" not in turn.made
        assert "refused-in-its-words" in turn.results["own"]

    def test_one_hook_with_a_key_that_it_does_not_know_switches_all_off(self, connected: Session) -> None:
        assert connected.trust() == "trusted"
        with connected.edited(lambda text: text.replace('event = "Stop"\n', 'event = "Stop"\nname = "mine"\n', 1)):
            turn = connected.ask({"forbidden": self.client.shell_call("touch forbidden")})
            said = connected.trust()

        assert (turn.made, turn.rows) == ({"forbidden"}, [])
        assert "hooks[0]" in said
        assert "has the key `name`: take it out" in said

    def test_a_session_in_a_terminal(self, start: Start) -> None:
        """Its own question is notified and answered there. A hook's question is a refusal."""
        one = start(
            [f"touch {name}" for name in ("forbidden", "asked", "wanted")],
            *(REFUSED, ASKED | {"name": "ask", "matcher": "asked"}),
        )
        with in_a_terminal(one) as terminal:
            wait(lambda: "Trust this folder" in terminal.text, LONG, "its question about MCP servers of the project")
            press(terminal, "\r", lambda: "mock" in terminal.text, "the prompt")
            enter(terminal, "hello")
            one.wait_announced("permission_request")
            press(terminal, "\r", lambda: one.rows("turn_end"), "the end of the turn")
            leave(one, terminal, "/exit")

        assert one.made() == {"wanted"}
        assert "refused-by-a-rule" in terminal.text
        assert [row["verdict"] for row in one.rows("tool_before")] == ["deny", "deny", "abstain"]
        assert len(one.rows("session_end")) == 1
