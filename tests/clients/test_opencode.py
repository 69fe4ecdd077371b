"""The real OpenCode: all scenes, what its answers can hold, its own questions, a session in a terminal."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from contextlib import contextmanager

from clients.client import LONG, Session
from clients.opencode import FOLDER, OPENCODE, OWN_PLUGIN, ask_for, program
from clients.scenes import COLOUR, SCRIPTS, QuestionScenes, Start
from clients.wires import Call
from connect.sites import tree
from desk import wait
from guards import ONCE_MORE, REFUSED
from terminal import Terminal

START = 300.0  # seconds; it draws its prompt after 5 s where nothing else runs
CONTEXTS = {
    "session_start": "context-of-the-start",
    "prompt": "context-of-the-prompt",
    "tool_after": "context-after-the-tool",
}
NAMES = {"session_start": "SessionStart", "prompt": "UserPromptSubmit", "tool_after": "PostToolUse"}
SAYING = [{"name": event, "event": event, "command": f"./{event}.sh", "dialect": "claude-code"} for event in CONTEXTS]
PERMISSION = {"event": "permission_request", "type": "rule"}
SLEEP = ["/bin/sh", "-c", "exec sleep 1000"]
BLUE = {"name": "blue", "event": "elicitation", "command": "./blue.sh", "dialect": "claude-code"}


def said(event: str, **fields: object) -> str:
    return json.dumps({"hookSpecificOutput": {"hookEventName": event, **fields}})


class TestOpenCode(QuestionScenes):
    client = OPENCODE
    question_tool, takes_several = "question", "multiple"
    scripts = {
        **SCRIPTS,
        **{f"{event}.sh": f"echo '{said(NAMES[event], additionalContext=text)}'" for event, text in CONTEXTS.items()},
        "blue.sh": f"echo '{said('Elicitation', action='accept', content={'Which colour?': 'Blue'})}'",
    }

    @contextmanager
    def typed(self, one: Session, prompt: str) -> Iterator[Terminal]:
        """OpenCode in a terminal of its own, with this prompt entered."""
        terminal = Terminal(list(program()), one.project, dict(one.environment))
        try:
            wait(lambda: "Ask anything" in terminal.text, START, "the prompt")
            terminal.type(prompt)
            wait(lambda: prompt in terminal.text, LONG, "the typed text")
            terminal.type("\r")
            yield terminal
        finally:
            terminal.close()

    def settings_hold_what_was_there(self, one: Session) -> None:
        """The user's own plugin is as it was, and it ran."""
        assert (one.home / FOLDER / "plugins" / "own.js").read_text() == OWN_PLUGIN
        assert (one.home / "own-plugin-ran").exists()

    def users_files(self, one: Session) -> object:
        return tree(one.home / FOLDER)

    def test_contexts_reach_the_model(self, start: Start) -> None:
        one = start(["touch wanted"], *SAYING)

        assert one.turn().returncode == 0

        assert [text for text in CONTEXTS.values() if text not in one.model.told()] == []

    def test_an_output_can_be_withheld(self, start: Start) -> None:
        one = start(["echo the-secret"], REFUSED | {"event": "tool_after", "matcher": "the-secret"})

        one.turn()

        assert one.model.results() == ['"no (Hooktray): refused-by-a-rule"']

    def test_a_failed_call_is_told_and_a_refused_one_only_as_refused(self, start: Start) -> None:
        one = start(["touch forbidden"], REFUSED)
        one.model.calls = [*one.model.calls, Call("read", {"filePath": str(one.project / "missing.txt")})]

        one.turn()

        assert len(one.rows("tool_failed")) == 1
        assert [row["verdict"] for row in one.rows("tool_before")] == ["deny", "abstain"]

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

    def test_its_questions_for_permission_are_answered_from_here(self, start: Start) -> None:
        allow = PERMISSION | {"name": "yes", "matcher": "wanted", "decision": "allow"}
        deny = PERMISSION | {"name": "never", "matcher": "other", "decision": "deny", "reason": "denied-by-a-rule"}
        one = start(["touch wanted", "touch other"], allow, deny, BLUE)
        one.model.calls = [*one.model.calls, Call("question", {"questions": [COLOUR]})]
        ask_for(one, "bash")
        with self.typed(one, "hello"):
            one.wait_rows("turn_end")

        assert one.made() == {"wanted"}
        _, denied, answered = one.model.results()
        assert "denied-by-a-rule" in denied
        assert '\\"Which colour?\\"=\\"Blue\\"' in answered
        assert [row["verdict"] for row in one.rows("permission_request")] == ["allow", "deny"]

    def test_a_session_in_a_terminal(self, start: Start) -> None:
        """Its user answers its question, which is notified; a refused end goes on; then a refusal and the end."""
        one = start(["touch wanted", "touch forbidden"], REFUSED, ONCE_MORE)
        ask_for(one, "bash")
        with self.typed(one, "hello") as terminal:
            one.wait_announced("permission_request")
            wait(lambda: "Permission required" in terminal.text, LONG, "the question")
            terminal.type("\r")
            wait(lambda: one.made() == {"wanted"}, LONG, "the permitted call")
            wait(lambda: len(one.rows("turn_end")) == 2, LONG, "the second stop")
            terminal.type("/exit")
            wait(lambda: "/exit" in terminal.text, LONG, "the typed command")
            terminal.type("\r")
            one.wait_rows("session_end")
            terminal.process.wait(LONG)

        assert [row["verdict"] for row in one.rows("turn_end")] == ["deny", "abstain"]
        assert "once-more-please" in one.model.told()
        assert len(one.rows("prompt")) == 1
