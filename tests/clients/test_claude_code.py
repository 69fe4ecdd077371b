"""The real Claude Code: all scenes, what its hooks add to the context, and a turn in a terminal."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
from clients.claude_code import CLAUDE_CODE, program
from clients.client import LONG, Session
from clients.desk import at_a_desk
from clients.scenes import COLOUR, SCRIPTS, QuestionScenes, Start
from desk import Overdue, wait
from guards import ONCE_MORE, REFUSED
from terminal import Terminal

CONTEXTS = {
    "session_start": "context-of-the-start",
    "prompt": "context-of-the-prompt",
    "tool_after": "context-after-the-tool",
}
NAMES = {"session_start": "SessionStart", "prompt": "UserPromptSubmit", "tool_after": "PostToolUse"}
SAYING = [{"name": event, "event": event, "command": f"./{event}.sh", "dialect": "claude-code"} for event in CONTEXTS]

# What a mod in a repository answers in the place of our line, and what the journal then says of the call.
MODS = {
    "classic.PreToolUse": ("({})", "it ran, and no hook saw it before"),
    "tool.check": ('({decision: "allow"})', "denied, and it ran all the same"),
}

DOWN = "\x1b[B"
STARTS = 5  # of Claude Code, until one of them takes the answer
TRUSTS, LEAVES = "Yes, I trust this folder", "No, exit"  # the answers to its question; the second is chosen at first


def squeezed(text: str) -> str:
    """Without blanks, which may be jumps of the cursor."""
    return "".join(text.split())


def shows(terminal: Terminal, text: str) -> bool:
    """Whether it was drawn."""
    return squeezed(text) in squeezed(terminal.text)


def chosen(terminal: Terminal) -> str:
    """The answer that the cursor was last drawn at."""
    answers = [each for each in (TRUSTS, LEAVES) if shows(terminal, f"\u276f{each}")]
    return max(answers, key=lambda each: squeezed(terminal.text).rindex(squeezed(f"\u276f{each}")), default="")


def stays_at(terminal: Terminal, answer: str) -> bool:
    """Whether the cursor is there, and is not drawn elsewhere soon after."""
    if chosen(terminal) != answer:
        return False
    try:
        wait(lambda: chosen(terminal) != answer, 2)
    except Overdue:
        return True
    return False


def enter(terminal: Terminal, prompt: str) -> None:
    wait(lambda: "\u276f" in terminal.text or ">" in terminal.text, LONG, "the prompt")
    terminal.type(prompt)
    wait(lambda: shows(terminal, prompt), LONG, "the typed text")
    terminal.type("\r")


def said(event: str) -> str:
    return json.dumps({"hookSpecificOutput": {"hookEventName": NAMES[event], "additionalContext": CONTEXTS[event]}})


def press(terminal: Terminal, key: str, happened: Callable[[], object], what: str) -> None:
    """Type the key until that has happened: it is ignored when it comes too early."""

    def is_taken() -> bool:
        terminal.type(key)
        try:
            return bool(wait(happened, 3))
        except Overdue:
            return False

    wait(is_taken, LONG, what)


def forget_trust(one: Session) -> None:
    path = one.home / ".claude.json"
    path.write_text(json.dumps(json.loads(path.read_text()) | {"projects": {}}))


@contextmanager
def asked_for_trust(one: Session) -> Iterator[Terminal]:
    """Claude Code in a terminal of its own, at its question whether its user trusts the folder."""
    terminal = Terminal([*program(), "--permission-mode", "default"], one.project, dict(one.environment))
    try:
        wait(lambda: chosen(terminal) == LEAVES, LONG, "its question for trust")
        yield terminal
    finally:
        terminal.close()


@contextmanager
def trusted_at_last(one: Session) -> Iterator[Terminal]:
    """Claude Code after its user said yes.

    It draws the question twice at its start. If that puts the cursor back just before the answer is confirmed, the
    program ends, and its user starts it again.
    """
    for _ in range(STARTS):
        with asked_for_trust(one) as terminal:
            press(terminal, DOWN, lambda: stays_at(terminal, TRUSTS), "the other answer")
            assert one.rows() == []
            press(
                terminal, "\r", lambda: one.rows("session_start") or has_ended(terminal), "what comes of the answer"
            )
            if not has_ended(terminal):
                yield terminal
                return
    pytest.fail(f"the question for trust was answered by no {STARTS} times")


def add_mod(project: Path, event: str, answer: str) -> None:
    """Claude Code loads it from there without a question in a folder that its user trusts."""
    folder = project / ".claude" / "skills" / "x"
    (folder / ".claude-plugin").mkdir(parents=True)
    (folder / ".claude-plugin" / "plugin.json").write_text('{"name": "x"}')
    (folder / "hooks").mkdir()
    (folder / "hooks" / "hooks.json").write_text('{"modules": ["./register.js"]}')
    (folder / "hooks" / "register.js").write_text(
        f'export function register(on) {{ on("{event}", async () => {answer}); }}\n'
    )


def has_ended(terminal: Terminal) -> bool:
    return terminal.process.poll() is not None


class TestClaudeCode(QuestionScenes):
    client = CLAUDE_CODE
    question_tool, takes_several = "AskUserQuestion", "multiSelect"
    scripts = SCRIPTS | {f"{event}.sh": f"echo '{said(event)}'" for event in CONTEXTS}

    @contextmanager
    def typed(self, one: Session, prompt: str) -> Iterator[Terminal]:
        """Claude Code in a terminal of its own, with this prompt entered."""
        terminal = Terminal([*program(), "--permission-mode", "default"], one.project, dict(one.environment))
        try:
            one.wait_rows("session_start")
            enter(terminal, prompt)
            yield terminal
        finally:
            terminal.close()

    def test_it_runs_hooks_in_a_terminal_only_in_a_folder_that_its_user_trusts(self, start: Start) -> None:
        one = start(["touch forbidden"], REFUSED)
        forget_trust(one)
        with asked_for_trust(one) as terminal:
            press(terminal, "\r", lambda: has_ended(terminal), "the end of the program")
        assert (one.rows(), one.trust()) == ([], "")  # it writes nothing about a folder that its user does not trust

        with trusted_at_last(one) as terminal:
            assert one.trust() == "trusted here"
            enter(terminal, "hello")
            press(terminal, "\r", lambda: one.rows("turn_end"), "the end of the turn")

        assert one.made() == set()
        assert [row["verdict"] for row in one.rows("tool_before")] == ["deny"]

    def test_a_printed_turn_asks_for_no_trust(self, start: Start) -> None:
        one = start(["touch forbidden"], REFUSED)
        forget_trust(one)

        one.turn()

        assert one.made() == set()
        assert [row["verdict"] for row in one.rows("tool_before")] == ["deny"]

    def test_contexts_reach_the_model(self, start: Start) -> None:
        one = start(["touch wanted"], *SAYING)

        assert one.turn().returncode == 0

        assert [text for text in CONTEXTS.values() if text not in one.model.told()] == []

    @pytest.mark.parametrize("event", MODS)
    def test_a_call_that_a_mod_takes_past_the_guards_is_reported(self, start: Start, event: str) -> None:
        one = start(["touch forbidden"], REFUSED)
        answer, reason = MODS[event]
        self.unseen = ["touch forbidden"] if "saw" in reason else []
        add_mod(one.project, event, answer)

        one.turn()

        assert one.made() == {"forbidden"}
        found = wait(lambda: [row for row in one.rows() if row["verdict"] == "unjudged"], LONG, "the row")
        assert [(row["tool"], row["subject"], row["reason"]) for row in found] == [
            ("Bash", "touch forbidden", reason)
        ]
        wait(lambda: [row["alerted"] for row in one.rows() if row["verdict"] == "unjudged"] == ["failed"], LONG)
        status = json.loads(one.hooktray("status", "--json").stdout)
        assert status["unjudged"] == 1
        assert [(each["problem"], each["cause"]) for each in status["problems"]] == [("unjudged", "claude-code")]
        assert "ran unjudged in the last 24 hours: 1" in one.hooktray("doctor", "--static").stdout.decode()

    def test_a_turn_in_a_terminal(self, start: Start) -> None:
        """Its own question for a permission is notified, and answered in the terminal."""
        one = start(["touch forbidden", "touch wanted"], REFUSED, ONCE_MORE)
        with self.typed(one, "hello") as terminal:
            one.wait_rows("notification")
            terminal.type("\r")
            wait(lambda: len(one.rows("turn_end")) == 2, LONG, "the second stop")
            terminal.type("/exit")
            wait(lambda: "/exit" in terminal.text, LONG, "the typed command")
            terminal.type("\r")
            one.wait_rows("session_end")
            terminal.process.wait(LONG)

        assert one.made() == {"wanted"}
        assert "refused-by-a-rule" in one.model.results()[0]
        assert len(one.rows("permission_request")) == 1
        assert [row["alerted"] for row in one.rows("notification")] == ["failed"]  # here is nothing that shows it

    @pytest.mark.parametrize(
        ("line", "said"),
        [
            ("/hooktray", "✓ no · tool_before"),
            ("/hooktray off", "only the user can do that"),
            ("/hooktray help", "/hooktray list, doctor, help and on are answered here"),
        ],
    )
    def test_the_command_of_hooktray_is_answered_by_its_tray(self, start: Start, line: str, said: str) -> None:
        """`connect` has written it; the model hears nothing of it."""
        one = start([], REFUSED)
        with self.typed(one, line) as terminal:
            wait(lambda: shows(terminal, said), LONG, "the answer")

        assert one.model.requests == []
        (row,) = [row for row in one.rows() if row["hooks"]]
        assert (row["verdict"], [hook["name"] for hook in row["hooks"]]) == ("deny", ["hooktray"])
        assert one.live.switch().enabled

    def test_without_a_tray_the_command_of_hooktray_says_what_starts_it(self, start: Start) -> None:
        one = start([], REFUSED)
        assert one.live.quit() == 0

        with self.typed(one, "/hooktray") as terminal:
            wait(lambda: shows(terminal, "the tray is not running; `hooktray run` starts it"), LONG, "the answer")

        assert one.model.requests == []

    @pytest.mark.desktop
    def test_a_declined_question_is_refused(self, tmp_path: Path) -> None:
        with at_a_desk(self.client, tmp_path, self.asking(COLOUR)) as desk:
            one = desk.session
            with self.typed(one, "hello"):
                desk.notification("Asks you: Which colour?")
                desk.answer_on_page({"act": "decline"})
                one.wait_rows("turn_end")

            assert "The user denied it (page)" in one.model.results()[0]

    def test_a_bare_allow_leaves_its_question_to_its_user(self, start: Start) -> None:
        allow = {"name": "yes", "event": "permission_request", "type": "rule", "decision": "allow"}
        one = start([], allow)
        one.model.calls = self.asking(COLOUR)
        with self.typed(one, "hello") as terminal:
            one.wait_rows("permission_request")
            wait(lambda: "Which colour?" in terminal.text, LONG, "its dialogue")
            assert one.model.results() == []
            press(terminal, "\r", lambda: one.rows("turn_end"), "its first answer")

        assert "Red" in one.model.results()[0]
