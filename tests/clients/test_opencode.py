"""The real OpenCode: all scenes, what its answers can hold, its own questions, a session in a terminal."""

from __future__ import annotations

import json
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
from clients.client import LONG, Session, session
from clients.desk import at_a_desk
from clients.opencode import FOLDER, OPENCODE, OWN_PLUGIN, ask_for, program
from clients.scenes import SCRIPTS, Scenes, Start
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
QUESTION = {
    "question": "Which colour?",
    "header": "Colour",
    "options": [{"label": "Red", "description": "warm"}, {"label": "Blue", "description": "cold"}],
}
SIZES = QUESTION | {"question": "Which sizes?", "header": "Sizes", "multiple": True}
BLUE = {"name": "blue", "event": "elicitation", "command": "./blue.sh", "dialect": "claude-code"}
MASK = {"name": "mask", "event": "tool_after", "command": "./mask.sh", "dialect": "claude-code"}


def said(event: str, **fields: object) -> str:
    return json.dumps({"hookSpecificOutput": {"hookEventName": event, **fields}})


@contextmanager
def typed(one: Session, prompt: str) -> Iterator[Terminal]:
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


class TestOpenCode(Scenes):
    client = OPENCODE
    scripts = {
        **SCRIPTS,
        **{f"{event}.sh": f"echo '{said(NAMES[event], additionalContext=text)}'" for event, text in CONTEXTS.items()},
        "blue.sh": f"echo '{said('Elicitation', action='accept', content={'Which colour?': 'Blue'})}'",
        "mask.sh": f"echo '{said('PostToolUse', updatedToolOutput='masked-output')}'",
    }

    def settings_hold_what_was_there(self, one: Session) -> None:
        """The user's own plugin is as it was, and it ran."""
        assert (one.home / FOLDER / "plugins" / "own.js").read_text() == OWN_PLUGIN
        assert (one.home / "own-plugin-ran").exists()

    def test_disconnecting_restores_every_byte(self, tmp_path: Path) -> None:
        one = session(self.client, tmp_path)
        try:
            before = tree(one.home / FOLDER)
            one.connect()
            connected = one.settings.read_bytes()
            again = one.hooktray("connect", self.client.agent, "--yes")
            assert (again.returncode, one.settings.read_bytes()) == (0, connected)

            done = one.hooktray("disconnect", self.client.agent, "--yes")

            assert done.returncode == 0, done.stderr.decode()
            assert tree(one.home / FOLDER) == before
        finally:
            one.close()

    def test_contexts_reach_the_model(self, start: Start) -> None:
        one = start(["touch wanted"], *SAYING)

        assert one.turn().returncode == 0

        assert [text for text in CONTEXTS.values() if text not in one.model.told()] == []

    def test_an_output_can_be_replaced_and_withheld(self, start: Start) -> None:
        withheld = REFUSED | {"name": "withheld", "event": "tool_after", "matcher": "second-secret"}
        one = start(["echo first-secret", "echo second-secret"], MASK | {"matcher": "first-secret"}, withheld)

        one.turn()

        assert one.model.results() == ['"masked-output"', '"withheld (Hooktray): refused-by-a-rule"']

    def test_a_failed_call_is_told_and_a_refused_one_only_as_refused(self, start: Start) -> None:
        one = start(["touch forbidden"], REFUSED)
        one.model.calls = [*one.model.calls, Call("read", {"filePath": str(one.project / "missing.txt")})]

        one.turn()

        assert len(one.rows("tool_failed")) == 1
        assert [row["verdict"] for row in one.rows("tool_before")] == ["deny", "abstain"]

    def test_a_relay_that_never_answers_holds_nothing_up(self, start: Start) -> None:
        """The plugin's own time limits, which are made shorter here, and its farewell."""
        one = start(["touch wanted"])
        lines = one.settings.read_text().splitlines(keepends=True)
        for index, line in enumerate(lines):
            if line.startswith("const RELAY"):
                lines[index] = 'const RELAY = ["/bin/sh", "-c", "exec sleep 1000"]\n'
            if line.startswith("const LIMITS"):
                lines[index] = "const LIMITS = new Proxy({}, { get: () => 0.5 })\n"
        one.settings.write_text("".join(lines))

        assert one.turn().returncode == 0

        assert one.made() == {"wanted"}

    def test_its_questions_for_permission_are_answered_from_here(self, start: Start) -> None:
        allow = PERMISSION | {"name": "yes", "matcher": "wanted", "decision": "allow"}
        deny = PERMISSION | {"name": "never", "matcher": "other", "decision": "deny", "reason": "denied-by-a-rule"}
        one = start(["touch wanted", "touch other"], allow, deny, BLUE)
        one.model.calls = [*one.model.calls, Call("question", {"questions": [QUESTION]})]
        ask_for(one, "bash")
        with typed(one, "hello"):
            one.wait_rows("turn_end")

        assert one.made() == {"wanted"}
        _, denied, answered = one.model.results()
        assert "denied-by-a-rule" in denied
        assert '\\"Which colour?\\"=\\"Blue\\"' in answered
        assert [row["verdict"] for row in one.rows("permission_request")] == ["allow", "deny"]

    @pytest.mark.desktop
    def test_a_button_answers_its_question(self, tmp_path: Path) -> None:
        with at_a_desk(self.client, tmp_path, [Call("question", {"questions": [QUESTION]})]) as desk:
            one = desk.session
            with typed(one, "hello"):
                desk.press(desk.notification("Asks you: Which colour?"), "Blue")
                one.wait_rows("turn_end")

            assert '\\"Which colour?\\"=\\"Blue\\"' in one.model.results()[0]

    @pytest.mark.desktop
    def test_the_page_answers_several_questions(self, tmp_path: Path) -> None:
        """Several answers to one question, and own words to another."""
        with at_a_desk(self.client, tmp_path, [Call("question", {"questions": [QUESTION, SIZES]})]) as desk:
            one = desk.session
            with typed(one, "hello"):
                desk.notification("Asks you: Which colour? · Which sizes?")
                desk.answer_on_page({"q0": "own", "own0": "a violet one", "q1.0": "0", "q1.1": "1"})
                one.wait_rows("turn_end")

            (result,) = one.model.results()
            assert '\\"Which colour?\\"=\\"a violet one\\"' in result
            assert '\\"Which sizes?\\"=\\"Red, Blue\\"' in result

    def test_a_session_in_a_terminal(self, start: Start) -> None:
        """Its user answers its question, which is notified; a refused end goes on; then a refusal and the end."""
        one = start(["touch wanted", "touch forbidden"], REFUSED, ONCE_MORE)
        ask_for(one, "bash")
        with typed(one, "hello") as terminal:
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
