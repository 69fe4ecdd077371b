"""The real OpenCode: all scenes, what its answers can hold, its own questions, a session in a terminal."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import ClassVar

from clients.client import LONG, Session, Turn
from clients.opencode import FOLDER, OPENCODE, OWN_PLUGIN, ask_for
from clients.scenes import COLOUR, QuestionScenes, Start
from clients.terminals import enter, in_a_terminal, leave
from clients.wires import Call
from connect.sites import tree
from desk import wait
from guards import ONCE_MORE, REFUSED
from terminal import Terminal

START = 300.0  # seconds; it draws its prompt after 5 s where nothing else runs
PERMISSION = {"event": "permission_request", "type": "rule"}
SLEEP = ["/bin/sh", "-c", "exec sleep 1000"]
BLUE = {"name": "blue", "event": "elicitation", "command": "./blue.sh", "dialect": "claude-code"}
ACCEPTED = {"hookEventName": "Elicitation", "action": "accept", "content": {"Which colour?": "Blue"}}


class TestOpenCode(QuestionScenes):
    client = OPENCODE
    question_tool, takes_several = "question", "multiple"
    hooks = (REFUSED | {"name": "no-secret", "event": "tool_after", "matcher": "the-output", "reason": "withheld"},)
    lines: ClassVar[Mapping[str, str | Call]] = {
        "withheld": "echo the-output",
        "missing": Call("read", {"filePath": "/missing.txt"}),
    }
    scripts = {"blue.sh": f"echo '{json.dumps({'hookSpecificOutput': ACCEPTED})}'"}

    @contextmanager
    def typed(self, one: Session, prompt: str) -> Iterator[Terminal]:
        """OpenCode in a terminal of its own, with this prompt entered."""
        with in_a_terminal(one) as terminal:
            wait(lambda: "Ask anything" in terminal.text, START, "the prompt")
            enter(terminal, prompt)
            yield terminal

    def settings_hold_what_was_there(self, one: Session) -> None:
        """The user's own plugin is as it was, and it ran."""
        assert (one.home / FOLDER / "plugins" / "own.js").read_text() == OWN_PLUGIN
        assert (one.home / "own-plugin-ran").exists()

    def users_files(self, one: Session) -> object:
        return tree(one.home / FOLDER)

    def test_an_output_can_be_withheld(self, turn: Turn) -> None:
        assert "no-secret (Hooktray): withheld" in turn.results["withheld"]
        assert "the-output" not in turn.results["withheld"]

    def test_a_failed_call_is_reported_and_a_refused_one_only_as_refused(self, turn: Turn) -> None:
        assert ["missing.txt" in row["subject"] for row in turn.rows if row["kind"] == "tool_failed"] == [True]

    def shorten(self, one: Session) -> None:
        limits = "const LIMITS = new Proxy({}, { get: () => 2 })"
        text = one.settings.read_text()
        one.settings.write_text(re.sub("(?m)^const LIMITS = .*", limits, text))

    def test_a_relay_that_never_answers_holds_nothing_up(self, start: Start) -> None:
        """The plugin's own time limits, which are made shorter here, and its farewell."""
        one = start(["touch wanted"])
        self.shorten(one)
        text = one.settings.read_text()
        one.settings.write_text(re.sub("(?m)^const RELAY = .*", f"const RELAY = {json.dumps(SLEEP)}", text))

        assert one.turn().returncode == 0

        assert one.made() == {"wanted"}

    def test_a_session_in_a_terminal(self, start: Start) -> None:
        """The user answers a question after a notification; hooks answer others; a refused end continues the turn."""
        allow = PERMISSION | {"name": "yes", "matcher": "granted", "decision": "allow"}
        deny = PERMISSION | {"name": "never", "matcher": "other", "decision": "deny", "reason": "denied-by-a-rule"}
        lines = [f"touch {name}" for name in ("wanted", "forbidden", "granted", "other")]
        one = start(lines, REFUSED, ONCE_MORE, allow, deny, BLUE)
        one.model.calls = [*one.model.calls, self.asking(COLOUR)]
        ask_for(one, "bash")
        with self.typed(one, "hello") as terminal:
            one.wait_announced("permission_request")
            wait(lambda: "Permission required" in terminal.text, LONG, "the question")
            terminal.type("\r")
            wait(lambda: len(one.rows("turn_end")) == 2, LONG, "the second stop")
            leave(one, terminal, "/exit")

        assert one.made() == {"wanted", "granted"}
        *_, denied, answered = one.model.results()
        assert "denied-by-a-rule" in denied
        assert '\\"Which colour?\\"=\\"Blue\\"' in answered
        assert [row["verdict"] for row in one.rows("permission_request")] == ["abstain", "allow", "deny"]
        assert [row["verdict"] for row in one.rows("turn_end")] == ["deny", "abstain"]
        assert "once-more-please" in one.model.told()
        assert len(one.rows("prompt")) == 1
