"""The real Qwen Code, in both versions: all scenes, what reaches its model, and a session in a terminal."""

from __future__ import annotations

import json

from clients.client import LONG, Session
from clients.qwen_code import QWEN_CODE, QWEN_CODE_0_15
from clients.scenes import Scenes, Start
from desk import Overdue, wait
from guards import ASKED, REFUSED
from terminal import Terminal

CONTEXTS = {"prompt": "UserPromptSubmit", "tool_after": "PostToolUse"}
SAYING = [{"name": kind, "event": kind, "command": f"./{kind}.sh", "dialect": "claude-code"} for kind in CONTEXTS]
SECRET = {
    "name": "no-secret",
    "event": "tool_after",
    "type": "rule",
    "matcher": "the-output",
    "decision": "deny",
    "reason": "withheld",
}
COUNTING = {
    "name": "count",
    "event": "tool_before",
    "command": "./count.sh",
    "dialect": "claude-code",
}
YES = {"name": "yes", "event": "permission_request", "type": "rule", "matcher": "allowed", "decision": "allow"}
JUDGING = (REFUSED, ASKED | {"name": "ask", "matcher": "asked"}, YES)
COUNT = """echo turn >>"$HOME/turns"; if grep -q forbidden; then echo counted-and-refused >&2; exit 2; fi"""
TERMINAL = ("--approval-mode", "default")


def said(kind: str) -> str:
    return json.dumps({"hookSpecificOutput": {"hookEventName": CONTEXTS[kind], "additionalContext": f"ctx-{kind}"}})


class QwenScenes(Scenes):
    scripts = {
        **Scenes.scripts,
        **{f"{kind}.sh": f"echo '{said(kind)}'" for kind in CONTEXTS},
        "count.sh": COUNT,
    }

    def test_contexts_reach_the_model_and_a_refused_output_does_not(self, start: Start) -> None:
        one = start(["echo the-output", "touch wanted"], *SAYING, SECRET)

        assert one.turn().returncode == 0

        assert [kind for kind in CONTEXTS if f"ctx-{kind}" not in one.model.told()] == []
        assert "the-output" not in one.model.results()[0]
        assert "withheld" in one.model.results()[0]
        assert one.made() == {"wanted"}

    def test_a_line_of_claude_code_is_answered_as_qwen_code(self, start: Start) -> None:
        """Its user took our line out of Claude Code's settings."""
        one = start(["touch forbidden", "touch wanted"], REFUSED)
        text = one.settings.read_text()
        one.settings.write_text(text.replace(" qwen-code ", " claude-code "))
        assert one.settings.read_text() != text

        one.turn()

        assert one.made() == {"wanted"}
        assert "refused-by-a-rule" in one.model.results()[0]
        assert [row["verdict"] for row in one.rows("tool_before")] == ["deny", "abstain"]

    def in_a_terminal(self, one: Session) -> str:
        """What its user does there: confirms what is asked, and leaves. Returns what was shown."""
        terminal = Terminal([*self.client.program(), *TERMINAL], one.project, dict(one.environment))
        try:
            wait(lambda: "Type your message" in terminal.text, LONG, "the prompt")
            self.enter(terminal, "hello")
            one.wait_rows("notification")
            wait(lambda: self.is_over(one, terminal), LONG, "the end of the turn")
            self.enter(terminal, "/quit")
            one.wait_rows("session_end")
            terminal.process.wait(LONG)
        finally:
            terminal.close()
        return terminal.text

    @staticmethod
    def is_over(one: Session, terminal: Terminal) -> bool:
        """Whether the turn has ended. What is asked is confirmed, again if the key came too early."""
        terminal.type("\r")
        try:
            return bool(wait(lambda: one.rows("turn_end"), 3))
        except Overdue:
            return False

    @staticmethod
    def enter(terminal: Terminal, text: str) -> None:
        terminal.type(text)
        wait(lambda: text in terminal.text, LONG, "the typed text")
        terminal.type("\r")


class TestQwenCode(QwenScenes):
    client = QWEN_CODE

    def test_one_call_that_two_lines_of_ours_report_is_judged_once(self, start: Start) -> None:
        one = start(["touch forbidden", "touch wanted"], COUNTING)
        settings = json.loads(one.settings.read_text())
        for groups in settings["hooks"].values():
            groups += json.loads(json.dumps(groups).replace(" qwen-code ", " claude-code "))
        one.settings.write_text(json.dumps(settings))

        one.turn()

        assert one.made() == {"wanted"}
        assert "counted-and-refused" in one.model.results()[0]
        assert (one.home / "turns").read_text() == "turn\n" * 2
        assert [row["verdict"] for row in one.rows("tool_before")] == ["deny", "abstain"]

    def test_a_session_in_a_terminal(self, start: Start) -> None:
        """Its own question and ours are notified and answered there; a hook's allow answers its own."""
        one = start([f"touch {name}" for name in ("forbidden", "asked", "allowed")], *JUDGING)

        shown = self.in_a_terminal(one)

        assert one.made() == {"asked", "allowed"}
        assert "refused-by-a-rule" in shown
        assert [row["verdict"] for row in one.rows("tool_before")] == ["deny", "ask", "abstain"]
        assert [row["verdict"] for row in one.rows("permission_request")] == ["abstain", "abstain", "allow"]


class TestQwenCode015(QwenScenes):
    client = QWEN_CODE_0_15

    def test_a_session_in_a_terminal(self, start: Start) -> None:
        """It refuses what it should ask about."""
        one = start([f"touch {name}" for name in ("forbidden", "asked", "allowed")], *JUDGING)

        shown = self.in_a_terminal(one)

        assert one.made() == {"allowed"}
        assert "refused-by-a-rule" in shown
        assert "asked-by-a-rule" in one.model.results()[1]
        assert [row["verdict"] for row in one.rows("permission_request")] == ["abstain", "abstain", "allow"]
