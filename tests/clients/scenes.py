"""What every connected client does, the real program: one contract, and each client's values say what differs."""

from __future__ import annotations

import json
import os
import re
import threading
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager
from pathlib import Path
from typing import Any, ClassVar

import pytest
from clients.client import LONG, Can, Client, Session, Turn, session
from clients.desk import at_a_desk
from clients.model import DONE
from clients.wires import Call
from connect.trays import installed
from desk import wait
from guards import (
    ASKED,
    HALT,
    HALT_SCRIPT,
    MASK,
    MASK_SCRIPT,
    NO_PROMPT,
    ONCE_MORE,
    REFUSED,
    REWRITE,
    REWRITE_SCRIPT,
    SLOW,
    SLOW_SCRIPT,
)
from terminal import Terminal

from tray.agents.connection import Site
from tray.agents.registry import AGENTS
from tray.model.event import Capability, EventKind
from tray.paths import locate

SCRIPTS = {
    "halt.sh": HALT_SCRIPT,
    "mask.sh": MASK_SCRIPT,
    "rewrite.sh": REWRITE_SCRIPT,
    "slow.sh": SLOW_SCRIPT,
    "stop.sh": 'grep -q \'"stop_hook_active":true\' || echo \'{"decision": "block", "reason": "once-more-please"}\'',
}
# One tray has all of these hooks; each is for its own call or prompt.
HOOKS: Sequence[Mapping[str, Any]] = (
    REFUSED,
    REFUSED | {"name": "yes", "matcher": "allowed", "decision": "allow"},
    ASKED | {"name": "ask", "matcher": "asked"},
    REWRITE,
    MASK,
    HALT | {"matcher": "stop here"},
    NO_PROMPT,
    ONCE_MORE,
)
LINES = {
    "wanted": "touch wanted",
    "allowed": "touch allowed",
    "original": "touch original",
    "masked": "echo first-secret",
    "forbidden": "touch forbidden",
    "asked": "touch asked",
}
NAMES = {
    "session_start": "SessionStart",
    "prompt": "UserPromptSubmit",
    "tool_before": "PreToolUse",
    "tool_after": "PostToolUse",
}
# Questions of a client's own to its user.
COLOUR = {
    "question": "Which colour?",
    "header": "Colour",
    "options": [{"label": "Red", "description": "warm"}, {"label": "Blue", "description": "cold"}],
}
SHADE = COLOUR | {"question": "Which shade?"}
SIZES = COLOUR | {"question": "Which sizes?", "header": "Sizes"}

Start = Callable[..., Session]


@pytest.mark.client
class Scenes:
    """Subclasses name the client."""

    client: Client
    # Additional hooks and calls of this client in the shared turn.
    hooks: ClassVar[Sequence[Mapping[str, Any]]] = ()
    lines: ClassVar[Mapping[str, str | Call]] = {}
    scripts: ClassVar[Mapping[str, str]] = {}
    contexts: ClassVar[Sequence[str]] = ("session_start", "prompt", "tool_after")  # events whose hooks can add one
    context_dialect: ClassVar[str] = "claude-code"
    # The calls that have no event before them; None where a killed tray may have lost its last rows.
    unseen: Sequence[str] | None = ()
    asks_for_trust: ClassVar[bool] = False  # by itself, in its own program, of our entries in its user's settings
    said_of_trust: ClassVar[str] = ""  # by `hooktray agents`, right after `connect`

    @pytest.fixture(scope="class", autouse=True)
    @classmethod
    def fetched(cls) -> None:
        try:
            cls.client.program()
        except RuntimeError as error:
            pytest.fail(str(error), pytrace=False)

    @pytest.fixture(scope="class")
    @classmethod
    def connected(cls, fetched: None, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Session]:
        """A client connected by `hooktray connect`, shared by all tests that do not change it."""
        with pytest.MonkeyPatch.context() as patch:
            folder = tmp_path_factory.mktemp("client")
            patch.setenv("HOME", str(folder))
            saying = [
                {"name": kind, "event": kind, "command": f"./{kind}.sh", "dialect": cls.context_dialect}
                | ({"matcher": "hello"} if kind == "prompt" else {})
                for kind in cls.contexts
            ]
            scripts = {f"{kind}.sh": f"echo '{json.dumps(cls.context(kind))}'" for kind in cls.contexts}
            one = session(
                cls.client, folder, (), [*HOOKS, *cls.hooks, *saying], {**SCRIPTS, **cls.scripts, **scripts}
            )
        try:
            cls.said_of_trust = cls.connect(one)
            yield one
        finally:
            one.close()

    @classmethod
    def context(cls, kind: str) -> Mapping[str, Any]:
        """Returns the output of a hook that adds this context."""
        return {"hookSpecificOutput": {"hookEventName": NAMES[kind], "additionalContext": f"context-{kind}"}}

    @classmethod
    def connect(cls, one: Session) -> str:
        terminal = Terminal(one.live.argv("connect"), one.project, {**one.environment, **one.live.place.environment})
        try:
            wait(lambda: f"Connect {cls.client.agent}?" in terminal.text, LONG, "the question")
            terminal.type("y\r")
            assert terminal.process.wait(LONG) == 0
        finally:
            terminal.close()
        said = one.trust()
        cls.client.trust(one)
        return said

    @pytest.fixture(scope="class")
    @classmethod
    def turn(cls, connected: Session) -> Turn:
        """One turn in print mode, in which the model makes every call."""
        return cls.asked(connected, cls.calls())

    @classmethod
    def calls(cls) -> dict[str, Call]:
        lines = {**LINES, **cls.lines}
        return {name: line if isinstance(line, Call) else cls.client.shell_call(line) for name, line in lines.items()}

    @classmethod
    def asked(cls, one: Session, calls: Mapping[str, Call]) -> Turn:
        return one.ask(calls)

    @pytest.fixture
    def start(self, tmp_path: Path) -> Iterator[Start]:
        """Starts a tray with these hooks and connects the client."""
        opened: list[Session] = []

        def start(lines: Sequence[str] = (), *hooks: Mapping[str, Any]) -> Session:
            calls: list[Call] = [self.client.shell_call(line) for line in lines]
            opened.append(session(self.client, tmp_path, calls, hooks, {**SCRIPTS, **self.scripts}))
            opened[-1].connect()
            return opened[-1]

        yield start
        for one in opened:
            one.close()
            if self.unseen is not None:
                self.check_unseen(one, self.unseen)

    def check_unseen(self, one: Session, expected: Sequence[str]) -> None:
        if AGENTS[self.client.agent].keeps_call_ids:
            assert one.unseen() == list(expected)

    def test_a_call_that_nobody_refuses_runs(self, connected: Session, turn: Turn) -> None:
        """Connected on settings that its user had; the hooks in there still run."""
        assert (turn.code, DONE in turn.stdout) == (0, True), turn.stderr
        assert "wanted" in turn.made
        assert turn.row("tool_before", "wanted")["verdict"] == "abstain"
        assert turn.row("tool_after", "wanted")
        assert bool(turn.verdicts("prompt")) is (Can.BLOCK_PROMPT in self.client.can)
        assert len(turn.verdicts("session_start")) == (1 if Can.SESSION_START in self.client.can else 0)
        self.settings_hold_what_was_there(connected)
        self.check_unseen(connected, ())

    def settings_hold_what_was_there(self, one: Session) -> None:
        text = one.settings.read_text()
        assert all(word in text for word in self.client.existing)

    def test_connect_and_one_yes_is_all_that_hooktray_needs(self, turn: Turn) -> None:
        """Where the client has its own question for trust, its user answers that, too: `hooktray agents` says so."""
        assert self.said_of_trust.startswith("off: ") is self.asks_for_trust
        assert turn.row("tool_before", "forbidden")["verdict"] == "deny"

    def test_an_allowed_call_runs(self, turn: Turn) -> None:
        assert "allowed" in turn.made
        said = "allow" if Can.ALLOW in self.client.can else "abstain"
        row = turn.row("tool_before", "allowed")
        assert (row["verdict"], row["offline"]) == (said, False)

    def test_a_refused_call_does_not_run_and_the_model_reads_why(self, turn: Turn) -> None:
        assert "forbidden" not in turn.made
        assert turn.row("tool_before", "forbidden")["verdict"] == "deny"
        if Can.REFUSAL_ENDS_TURN not in self.client.can:
            assert "no (Hooktray): refused-by-a-rule" in turn.results["forbidden"]
            assert "refused-by-a-rule" not in turn.results["asked"]

    def test_a_rewritten_call_runs_as_rewritten_or_not_at_all(self, turn: Turn) -> None:
        row = turn.row("tool_before", "original")
        assert ("rewritten" in turn.made, "original" in turn.made) == (Can.REWRITE in self.client.can, False)
        if Can.REWRITE in self.client.can:
            assert (row["verdict"], bool(row["rewrites"])) == ("abstain", True)
        else:
            assert row["verdict"] == "deny"
            assert "A hook's rewrite cannot be carried" in turn.results["original"]

    def test_an_ask_without_a_user_is_a_refusal(self, turn: Turn) -> None:
        assert "asked" not in turn.made
        assert turn.row("tool_before", "asked")["verdict"] == ("ask" if Can.ASK in self.client.can else "deny")
        if Can.REFUSAL_ENDS_TURN not in self.client.can:
            assert "asked-by-a-rule" in turn.results["asked"] or Can.ASK in self.client.can

    def test_an_output_is_replaced_or_withheld_where_the_client_can(self, turn: Turn) -> None:
        can = self.can(EventKind.TOOL_AFTER)
        result = turn.results.get("masked", "")  # there is none if a refusal ends the turn
        assert ("masked-output" in result) is (Capability.REWRITE_OUTPUT in can)
        is_gone = bool((Capability.REWRITE_OUTPUT | Capability.DENY) & can)
        assert ("first-secret" in result) is not is_gone

    def test_contexts_reach_the_model(self, turn: Turn) -> None:
        assert [kind for kind in self.contexts if f"context-{kind}" not in turn.told] == []

    def test_the_end_of_a_turn_can_be_refused_once(self, turn: Turn) -> None:
        verdicts = turn.verdicts("turn_end")
        assert verdicts
        if Can.CONTINUE in self.client.can:
            assert verdicts == ["deny", "abstain"]
            assert "once-more-please" in turn.told

    def test_the_end_of_a_session_arrives(self, turn: Turn) -> None:
        assert len(turn.verdicts("session_end")) == (1 if Can.SESSION_END in self.client.can else 0)

    def test_a_hook_that_stops_the_agent_at_the_prompt(self, connected: Session) -> None:
        turn = connected.ask({"wanted": self.client.shell_call("touch wanted")}, "stop here")

        assert (turn.requests == 0) is (Can.BLOCK_PROMPT in self.client.can)

    def test_a_refused_prompt_never_reaches_the_model(self, connected: Session) -> None:
        turn = connected.ask({}, "a secret prompt")

        if Can.BLOCK_PROMPT not in self.client.can:
            assert (turn.verdicts("prompt"), "a secret prompt" in turn.told) == ([], True)
            return
        assert turn.verdicts("prompt") == ["deny"]
        assert "a secret prompt" not in turn.told
        shown = self.client.refused_prompt
        if shown is not None:
            assert (shown or "refused-prompt") in turn.stdout + turn.stderr
        self.check_refused_prompt(turn)

    def check_refused_prompt(self, turn: Turn) -> None:
        """Checks what else happens with this client."""

    def test_it_waits_no_longer_than_its_settings_say(self, start: Start) -> None:
        """Its user has shortened the limit. The call goes on, and the journal has no verdict that never arrived."""
        one = start(["touch wanted"], SLOW)
        self.shorten(one)

        done = one.turn(may_complain=True)

        assert (done.returncode, one.made()) == (0, {"wanted"}), done.stderr.decode()
        assert (one.home / "began").exists()
        (row,) = one.wait_rows("tool_before")
        (hook,) = row["hooks"]
        assert (row["verdict"], hook["status"], hook["reason"]) == ("abstain", "skipped", "cancelled")

    limit: ClassVar[str] = r'"{event}": \[.*?"timeout": (\d+)'  # where our entry before a tool has it

    def shorten(self, one: Session) -> None:
        """The limit of our entry before a tool becomes two seconds, in whichever unit it is."""
        events = AGENTS[self.client.agent].events
        name, spec = next(pair for pair in events.items() if pair[1].kind is EventKind.TOOL_BEFORE)
        text = one.settings.read_text()
        found = re.search(self.limit.replace("{event}", name), text, re.DOTALL)
        assert found, text
        short = round(int(found[1]) * 2 / spec.timeout)
        one.settings.write_text(f"{text[: found.start(1)]}{short}{text[found.end(1) :]}")
        one.client.trust(one)

    def can(self, kind: EventKind) -> Capability:
        """What Hooktray's tables say that a hook can answer."""
        return next(spec.can for spec in AGENTS[self.client.agent].events.values() if spec.kind is kind)

    def test_disconnecting_restores_every_byte(self, tmp_path: Path) -> None:
        one = session(self.client, tmp_path, live=installed(tmp_path))
        try:
            before = self.users_files(one)
            one.connect()
            assert self.users_files(one) != before
            connected = one.settings.read_bytes()
            again = one.hooktray("connect", self.client.agent, "--yes")
            assert (again.returncode, one.settings.read_bytes()) == (0, connected)

            done = one.hooktray("disconnect", self.client.agent, "--yes")

            assert done.returncode == 0, done.stderr.decode()
            assert self.users_files(one) == before
        finally:
            one.close()

    def users_files(self, one: Session) -> object:
        """What `disconnect` has to restore."""
        return one.settings.read_bytes()

    def test_a_killed_tray_still_guards_and_an_uninstalled_one_does_not_interfere(self, start: Start) -> None:
        kill = "xargs kill -9 <../tray.pid; touch killed"  # reads the pipe until the first row is on the disk
        one = start(["touch wanted", kill, "touch forbidden"], REFUSED)
        self.unseen = None
        pipe = one.home / "tray.pid"
        os.mkfifo(pipe)

        def name_the_tray() -> None:
            one.wait_rows("tool_before")
            pipe.write_text(str(one.live.process.pid))

        threading.Thread(target=name_the_tray, daemon=True).start()

        one.turn()

        assert one.live.process.wait(20) == -9
        assert one.made() == {"wanted", "killed"}
        assert Can.REFUSAL_ENDS_TURN in self.client.can or "refused-by-a-rule" in one.model.results()[2]
        first, *_, last = [(row["verdict"], row["offline"]) for row in one.rows("tool_before")]
        assert (first, last) == (("abstain", False), ("deny", True))  # a row between may have died with the tray

        begun = time.time()
        uninstall(one)
        one.model.calls = [self.client.shell_call("touch forbidden")]
        done = one.turn("hello " + "x" * 100_000)

        assert (done.returncode, DONE in done.stdout.decode()) == (0, True), done.stderr.decode()
        assert one.made() == {"wanted", "killed", "forbidden"}
        assert [row for row in one.rows() if row["at"] >= begun] == []


class QuestionScenes(Scenes):
    """Of a client whose own questions are answered from Hooktray, too. Subclasses say how it asks them."""

    question_tool: ClassVar[str]
    takes_several: ClassVar[str]  # the key of a question that takes several answers
    declines: ClassVar[bool] = False  # its user can refuse to answer

    def typed(self, one: Session, prompt: str) -> AbstractContextManager[Terminal]:
        """The client in a terminal of its own, with this prompt entered."""
        raise NotImplementedError

    def asking(self, *questions: Mapping[str, Any]) -> Call:
        return Call(self.question_tool, {"questions": questions})

    @pytest.mark.desktop
    def test_the_user_answers_its_questions_on_the_desktop_and_on_the_page(self, tmp_path: Path) -> None:
        """One by a button, one on the page with free text and several answers; one is declined."""
        two = self.asking(SHADE | {self.takes_several: False}, SIZES | {self.takes_several: True})
        last = [self.asking(COLOUR | {"question": "Which end?"})] if self.declines else []
        with at_a_desk(self.client, tmp_path, [self.asking(COLOUR), two, *last]) as desk:
            one = desk.session
            with self.typed(one, "hello"):
                desk.press(desk.notification("Asks you: Which colour?"), "Blue")
                desk.notification("Asks you: Which shade? · Which sizes?")
                desk.answer_on_page({"q0": "own", "own0": "a violet one", "q1.0": "0", "q1.1": "1"})
                if last:
                    desk.notification("Asks you: Which end?")
                    desk.answer_on_page({"act": "decline"})
                one.wait_rows("turn_end")

            pressed, written, *declined = one.model.results()
            assert re.search(r"Which colour\?\W+Blue\b", pressed)
            assert re.search(r"Which shade\?\W+a violet one\b", written)
            assert re.search(r"Which sizes\?\W+Red, Blue\b", written)
            assert ["The user denied it (page)" in text for text in declined] == [True] * len(last)


def uninstall(one: Session) -> None:
    """Takes away what the entries start. What is in the checkout stays; the entries then name another folder."""
    one.live.quit()  # a running tray would put its relay back
    text = one.settings.read_text()
    for path in files_of_entries(one):
        if path.is_relative_to(one.home):
            path.unlink()
        else:
            text = text.replace(str(path), f"{one.home}/gone{path}")
    if text != one.settings.read_text():
        one.settings.write_text(text)
        one.client.trust(one)


def files_of_entries(one: Session) -> set[Path]:
    connector = AGENTS[one.client.agent].connector
    assert connector is not None
    site = Site(
        paths=locate(str(one.live.home)), relay=(), home=one.home, cwd=one.project, environment=one.environment
    )
    found = {Path(each) for entry in connector().relay_entries(site) for each in entry.required_files}
    assert found
    return found
