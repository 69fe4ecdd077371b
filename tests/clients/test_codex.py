"""The real Codex: all scenes, its trust in our entries, and what else its answers can hold."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest
from clients.client import LONG, Session, Turn, session
from clients.codex import CODEX, ESCALATED, end_daemons, listed, stop_daemon
from clients.scenes import Scenes, Start
from clients.terminals import enter, in_a_terminal, press
from clients.wires import Call
from desk import wait
from guards import HALT, REFUSED

NOTE = {"name": "note", "event": "turn_end", "command": "./note.sh", "dialect": "claude-code"}


def ours(one: Session) -> list[dict[str, Any]]:
    """Our entries, as Codex lists them."""
    return [hook for hook in listed(one) if hook["command"] != "touch .own-hook-ran"]


class TestCodex(Scenes):
    client = CODEX
    asks_for_trust = True
    contexts = ("session_start", "prompt", "tool_before", "tool_after")
    hooks = (
        HALT | {"name": "halt-before", "event": "tool_before", "matcher": "end-here"},
        HALT | {"name": "halt-after", "event": "tool_after", "matcher": "the-output"},
        NOTE,
    )
    lines = {"halted": "touch end-here", "replaced": "echo the-output"}
    scripts = {"note.sh": f"echo '{json.dumps({'systemMessage': 'a-note'})}'"}

    @classmethod
    def context(cls, kind: str) -> Mapping[str, Any]:
        """Adds a note for the user, which Codex must accept too."""
        return {**super().context(kind), "systemMessage": f"note-{kind}"}

    def settings_hold_what_was_there(self, one: Session) -> None:
        super().settings_hold_what_was_there(one)
        assert (one.project / ".own-hook-ran").exists()

    def test_a_hook_that_stops_the_agent_before_a_tool_refuses_it(self, turn: Turn) -> None:
        assert "end-here" not in turn.made
        assert "halted-by-a-hook" in turn.results["halted"]

    def test_a_hook_that_stops_the_agent_after_a_tool_replaces_the_result(self, turn: Turn) -> None:
        """Codex goes on after a `continue: false` there, so Hooktray says what it does: a refusal with the reason."""
        assert turn.results["replaced"] == '"halt-after (Hooktray): halted-by-a-hook"'
        assert turn.row("tool_after", "the-output")["verdict"] == "deny"

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
            one.connect()
            assert [hook["trustStatus"] for hook in ours(one)] == ["trusted"] * 12  # no byte has changed
            one.turn()
            assert [row["verdict"] for row in one.rows("tool_before")] == ["deny"]

            settings = json.loads(one.settings.read_text())
            settings["hooks"]["Stop"][0]["hooks"][0]["timeout"] = 599
            one.settings.write_text(json.dumps(settings))

            assert [hook["eventName"] for hook in ours(one) if hook["trustStatus"] != "trusted"] == ["stop"]
            assert one.trust().startswith("off: 1 of Hooktray's entries are not trusted yet")
        finally:
            one.close()

    @pytest.mark.first
    def test_a_session_in_a_terminal(self, start: Start) -> None:
        """A hook allows one call; the user answers the other questions after a notification; then a compaction."""
        allow = {"name": "yes", "event": "permission_request", "type": "rule", "decision": "allow"}
        one = start([], allow | {"matcher": "granted"})
        lines = ("touch granted", "touch wanted", "touch other")
        one.model.calls = [Call("exec_command", {"cmd": line, **ESCALATED}) for line in lines]
        try:
            with in_a_terminal(one) as terminal:
                wait(lambda: "Ask Codex to do anything" in terminal.text, LONG, "the prompt")
                enter(terminal, "hello")
                wait(lambda: len(one.rows("permission_request")) == 2, LONG, "the first question")
                wait(lambda: one.rows("permission_request")[-1]["alerted"] == "failed", LONG, "it is notified")
                wait(lambda: "Would you like to run" in terminal.text, LONG, "the question is shown")
                press(terminal, "y", lambda: "You approved" in terminal.text, "its answer", 5)
                wait(lambda: one.made() == {"granted", "wanted"}, LONG, "the permitted call")
                wait(lambda: len(one.rows("permission_request")) == 3, LONG, "the second question")
                wait(lambda: terminal.text.count("Would you like to run") >= 2, LONG, "the second question is shown")
                press(terminal, "\x1b", lambda: "You canceled" in terminal.text, "its answer", 5)
                one.wait_rows("turn_interrupted")
                enter(terminal, "/compact")
                one.wait_rows("compact_after")
                enter(terminal, "/quit")
                terminal.process.wait(LONG)
                stop_daemon(one)  # otherwise it ends the session a minute after the user left
                one.wait_rows("session_end")
        finally:
            end_daemons(one)

        assert one.made() == {"granted", "wanted"}
        assert [row["verdict"] for row in one.rows("permission_request")] == ["allow", "abstain", "abstain"]
        assert len(one.rows("turn_interrupted")) == len(one.rows("compact_before")) == 1
        assert len(one.rows("session_end")) == 1
