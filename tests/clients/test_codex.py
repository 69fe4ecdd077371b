"""The real Codex: all scenes, its trust in our entries, and what else its answers can hold."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from clients.client import LONG, Session, session
from clients.codex import CODEX, ESCALATED, end_daemons, listed, program, stop_daemon
from clients.scenes import SCRIPTS, Scenes, Start
from clients.wires import Call
from desk import Overdue, wait
from guards import HALT, REFUSED
from terminal import Terminal

KINDS = ("session_start", "prompt", "tool_before", "tool_after", "turn_end")
SAYING = [{"name": kind, "event": kind, "command": f"./{kind}.sh", "dialect": "claude-code"} for kind in KINDS]
NAMES = dict(zip(KINDS, ("SessionStart", "UserPromptSubmit", "PreToolUse", "PostToolUse", "Stop"), strict=True))


def said(kind: str) -> str:
    """A context and a note. At the end of a turn a context means to go on."""
    context = {"hookSpecificOutput": {"hookEventName": NAMES[kind], "additionalContext": f"context-{kind}"}}
    return json.dumps({"systemMessage": f"note-{kind}"} | (context if kind != "turn_end" else {}))


def ours(one: Session) -> list[dict[str, Any]]:
    """Our entries, as Codex lists them."""
    return [hook for hook in listed(one) if hook["command"] != "touch .own-hook-ran"]


class TestCodex(Scenes):
    client = CODEX
    asks_for_trust = True
    scripts = SCRIPTS | {f"{kind}.sh": f"echo '{said(kind)}'" for kind in KINDS}

    def test_contexts_reach_the_model_and_notes_are_taken(self, start: Start) -> None:
        one = start(["touch wanted"], *SAYING)

        done = one.turn()

        assert (done.returncode, one.made()) == (0, {"wanted"})
        told = one.model.told()
        assert [kind for kind in KINDS[:-1] if f"context-{kind}" not in told] == []

    def test_a_hook_that_stops_the_agent_before_a_tool_refuses_it(self, start: Start) -> None:
        one = start(["touch wanted"], HALT | {"event": "tool_before"})

        one.turn()

        assert one.made() == set()
        assert "halted-by-a-hook" in one.model.results()[0]

    def test_a_hook_that_stops_the_agent_after_a_tool_replaces_the_result(self, start: Start) -> None:
        """Codex goes on after a `continue: false` there, so Hooktray says what it does: a refusal with the reason."""
        one = start(["echo the-output"], HALT | {"event": "tool_after"})

        one.turn()

        assert one.model.results() == ['"halt (Hooktray): halted-by-a-hook"']
        assert [row["verdict"] for row in one.rows("tool_after")] == ["deny"]

    def test_its_users_own_hook_still_runs(self, start: Start) -> None:
        one = start(["touch wanted"])

        one.turn()

        assert (one.project / ".own-hook-ran").exists()

    def test_it_runs_only_what_its_user_trusts_and_hooktray_says_so(self, tmp_path: Path) -> None:
        one = session(CODEX, tmp_path, [CODEX.shell_call("touch forbidden")], [REFUSED])
        try:
            config = one.home / ".codex" / "config.toml"
            before = config.read_bytes()
            assert one.hooktray("connect", "codex", "--yes").returncode == 0
            assert one.turn().returncode == 0
            assert (one.rows(), one.made()) == ([], {"forbidden"})
            assert one.trust().startswith("off: Hooktray's entries are not trusted yet: start Codex, type `/hooks`")
            assert config.read_bytes() == before

            CODEX.trust(one)

            assert one.trust() == "trusted"
            assert {hook["trustStatus"] for hook in ours(one)} == {"trusted"}
            assert len(ours(one)) == 12
            one.connect()
            assert {hook["trustStatus"] for hook in ours(one)} == {"trusted"}  # not a byte is another
            one.turn()
            assert [row["verdict"] for row in one.rows("tool_before")] == ["deny"]
        finally:
            one.close()

    def test_trust_ends_with_any_change_as_hooktray_knows(self, start: Start) -> None:
        one = start()
        settings = json.loads(one.settings.read_text())
        settings["hooks"]["Stop"][0]["hooks"][0]["timeout"] = 599
        one.settings.write_text(json.dumps(settings))

        untrusted = [hook["eventName"] for hook in ours(one) if hook["trustStatus"] != "trusted"]

        assert untrusted == ["stop"]
        assert one.trust().startswith("off: 1 of Hooktray's entries are not trusted yet")

    @pytest.mark.first
    def test_a_session_in_a_terminal(self, start: Start) -> None:
        """Its question for a permission is notified and answered there; then an interrupt, a compaction, the end."""
        one = start()
        one.model.calls = [Call("exec_command", {"cmd": cmd, **ESCALATED}) for cmd in ("touch wanted", "touch other")]
        terminal = Terminal(list(program()), one.project, dict(one.environment))
        try:
            wait(lambda: "Ask Codex to do anything" in terminal.text, LONG, "the prompt")
            self.enter(terminal, "hello")
            one.wait_rows("permission_request")
            wait(lambda: "Would you like to run" in terminal.text, LONG, "the question")
            one.wait_announced("permission_request")
            self.answer(terminal, "y", "You approved")
            wait(lambda: one.made() == {"wanted"}, LONG, "the permitted call")
            wait(lambda: len(one.rows("permission_request")) == 2, LONG, "the second question")
            wait(lambda: terminal.text.count("Would you like to run") >= 2, LONG, "the second question is shown")
            one.wait_announced("permission_request", 2)
            self.answer(terminal, "\x1b", "You canceled")
            one.wait_rows("turn_interrupted")
            self.enter(terminal, "/compact")
            one.wait_rows("compact_after")
            self.enter(terminal, "/quit")
            terminal.process.wait(LONG)
            one.wait_rows("session_end", 2 * LONG)  # its daemon sends it, a minute after its user has left
        finally:
            terminal.close()
            end_daemons(one)

        assert one.made() == {"wanted"}
        assert len(one.rows("turn_interrupted")) == len(one.rows("compact_before")) == 1
        assert len(one.rows("session_end")) == 1

    def test_a_hook_allows_what_codex_would_ask_about(self, start: Start) -> None:
        allow = {
            "name": "yes",
            "event": "permission_request",
            "type": "rule",
            "matcher": "wanted",
            "decision": "allow",
        }
        one = start([], allow)
        one.model.calls = [Call("exec_command", {"cmd": "touch wanted", **ESCALATED})]
        terminal = Terminal(list(program()), one.project, dict(one.environment))
        try:
            wait(lambda: "Ask Codex to do anything" in terminal.text, LONG, "the prompt")
            self.enter(terminal, "hello")
            wait(lambda: one.made() == {"wanted"}, LONG, "the allowed call")
            one.wait_rows("turn_end")
            self.enter(terminal, "/quit")
            terminal.process.wait(LONG)
            stop_daemon(one)
            one.wait_rows("session_end")
        finally:
            terminal.close()
            end_daemons(one)

        assert "Would you like to run" not in terminal.text
        assert [row["verdict"] for row in one.rows("permission_request")] == ["allow"]

    @staticmethod
    def answer(terminal: Terminal, key: str, said: str) -> None:
        """Codex drops a key that comes right after its question: the key is pressed until Codex says what it took."""

        def taken() -> bool:
            terminal.type(key)
            try:
                return wait(lambda: said in terminal.text, 5)
            except Overdue:
                return False

        wait(taken, LONG, f"`{said}`")

    @staticmethod
    def enter(terminal: Terminal, text: str) -> None:
        terminal.type(text)
        wait(lambda: text in terminal.text, LONG, "the typed text")
        terminal.type("\r")
