"""The real Qwen Code, in both versions: the scenes, what reaches its model, and a session in a terminal."""

from __future__ import annotations

import json

from clients.client import LONG, Session, Turn
from clients.qwen_code import QWEN_CODE, QWEN_CODE_0_15
from clients.scenes import Scenes, Start
from clients.terminals import enter, in_a_terminal, leave, press
from desk import wait
from guards import ASKED, REFUSED

COUNTING = {"name": "count", "event": "tool_before", "matcher": "counted", "command": "./count.sh"}
COUNT = 'cat >/dev/null; echo turn >>"$HOME/turns"; echo counted-and-refused >&2; exit 2'
YES = {"name": "yes", "event": "permission_request", "type": "rule", "matcher": "allowed", "decision": "allow"}


class QwenScenes(Scenes):
    contexts = ("prompt", "tool_after")
    hooks = (
        REFUSED | {"name": "no-secret", "event": "tool_after", "matcher": "the-output", "reason": "withheld"},
        COUNTING,
    )
    lines = {"withheld": "echo the-output"}
    scripts = {"count.sh": COUNT}

    def test_a_refused_output_does_not_reach_the_model(self, turn: Turn) -> None:
        assert "the-output" not in turn.results["withheld"]
        assert "withheld" in turn.results["withheld"]

    def in_its_terminal(self, start: Start) -> Session:
        """Runs a session in which the user confirms each question and then leaves."""
        one = start(
            [f"touch {name}" for name in ("forbidden", "asked", "allowed")],
            *(REFUSED, ASKED | {"name": "ask", "matcher": "asked"}, YES),
        )
        with in_a_terminal(one, "--approval-mode", "default") as terminal:
            wait(lambda: "Type your message" in terminal.text, LONG, "the prompt")
            enter(terminal, "hello")
            one.wait_rows("notification")
            press(terminal, "\r", lambda: one.rows("turn_end"), "the end of the turn")
            leave(one, terminal, "/quit")
        assert "refused-by-a-rule" in terminal.text
        assert [row["verdict"] for row in one.rows("permission_request")] == ["abstain", "abstain", "allow"]
        return one


class TestQwenCode(QwenScenes):
    client = QWEN_CODE

    def test_a_line_of_claude_code_is_answered_as_qwen_code(self, connected: Session) -> None:
        """Its user took our line out of Claude Code's settings."""
        with connected.edited(lambda text: text.replace(" qwen-code ", " claude-code ")):
            turn = connected.ask({name: self.calls()[name] for name in ("forbidden", "wanted")})

        assert turn.made == {"wanted"}
        assert "refused-by-a-rule" in turn.results["forbidden"]
        assert turn.verdicts("tool_before") == ["deny", "abstain"]

    def test_one_call_that_two_lines_of_ours_report_is_judged_once(self, connected: Session) -> None:
        def twice(text: str) -> str:
            settings = json.loads(text)
            for groups in settings["hooks"].values():
                groups += json.loads(json.dumps(groups).replace(" qwen-code ", " claude-code "))
            return json.dumps(settings)

        (connected.home / "turns").unlink(missing_ok=True)  # of a test run after the approval
        with connected.edited(twice):
            turn = connected.ask({line: self.client.shell_call(line) for line in ("touch counted", "touch wanted")})

        assert turn.made == {"wanted"}
        assert "counted-and-refused" in turn.results["touch counted"]
        assert (connected.home / "turns").read_text() == "turn\n"
        assert turn.verdicts("tool_before") == ["deny", "abstain"]

    def test_a_session_in_a_terminal(self, start: Start) -> None:
        """Its own question and ours are notified and answered there; a hook's allow answers its own."""
        one = self.in_its_terminal(start)

        assert one.made() == {"asked", "allowed"}
        assert [row["verdict"] for row in one.rows("tool_before")] == ["deny", "ask", "abstain"]


class TestQwenCode015(QwenScenes):
    """The behaviour of an older version where it differs from the newest one."""

    client = QWEN_CODE_0_15
    test_it_waits_no_longer_than_its_settings_say = None  # type: ignore[assignment]
    test_disconnecting_restores_every_byte = None  # type: ignore[assignment]
    test_a_killed_tray_still_guards_and_an_uninstalled_one_does_not_interfere = None  # type: ignore[assignment]

    def test_a_session_in_a_terminal(self, start: Start) -> None:
        """It refuses what it should ask about."""
        one = self.in_its_terminal(start)

        assert one.made() == {"allowed"}
        assert "asked-by-a-rule" in one.model.results()[1]
