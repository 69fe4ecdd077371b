"""What every connected client does, the real program: one contract, and each client's values say what differs."""

from __future__ import annotations

import os
import re
import threading
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager
from pathlib import Path
from typing import Any, ClassVar

import pytest
from clients.client import LONG, Can, Client, Session, session
from clients.desk import at_a_desk
from clients.model import DONE
from clients.wires import Call
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
# Questions of a client's own to its user.
COLOUR = {
    "question": "Which colour?",
    "header": "Colour",
    "options": [{"label": "Red", "description": "warm"}, {"label": "Blue", "description": "cold"}],
}
SIZES = COLOUR | {"question": "Which sizes?", "header": "Sizes"}

Start = Callable[..., Session]


@pytest.mark.client
class Scenes:
    """Subclasses name the client."""

    client: Client
    scripts: Mapping[str, str] = SCRIPTS
    # The calls that have no event before them; None where a killed tray may have lost its last rows.
    unseen: Sequence[str] | None = ()

    @pytest.fixture(scope="class", autouse=True)
    @classmethod
    def fetched(cls) -> None:
        """Of the class's scope, so that npm has its own configuration and no test's home."""
        try:
            cls.client.program()
        except RuntimeError as error:
            pytest.fail(str(error), pytrace=False)

    @pytest.fixture
    def start(self, tmp_path: Path) -> Iterator[Start]:
        """Starts a tray with these hooks and connects the client."""
        opened: list[Session] = []

        def start(lines: Sequence[str] = (), *hooks: Mapping[str, Any]) -> Session:
            calls: list[Call] = [self.client.shell_call(line) for line in lines]
            opened.append(session(self.client, tmp_path, calls, hooks, self.scripts))
            opened[-1].connect()
            return opened[-1]

        yield start
        for one in opened:
            one.close()
            if AGENTS[self.client.agent].keeps_call_ids and self.unseen is not None:
                assert one.unseen() == list(self.unseen)

    def test_a_call_that_nobody_refuses_runs(self, start: Start) -> None:
        """Connected on settings that its user had; the hooks in there still run."""
        one = start(["touch wanted"], REFUSED)

        done = one.turn()

        assert (done.returncode, DONE in done.stdout.decode()) == (0, True), done.stderr.decode()
        assert one.made() == {"wanted"}
        assert [(row["verdict"], row["offline"]) for row in one.rows("tool_before")] == [("abstain", False)]
        after = len(one.rows("tool_after"))
        assert after == 1 or (after == 0 and Can.LOSES_AFTER in self.client.can)
        assert len(one.rows("prompt")) == (1 if Can.BLOCK_PROMPT in self.client.can else 0)
        assert len(one.rows("session_start")) == (1 if Can.SESSION_START in self.client.can else 0)
        self.settings_hold_what_was_there(one)

    def settings_hold_what_was_there(self, one: Session) -> None:
        text = one.settings.read_text()
        assert all(word in text for word in self.client.existing)

    def test_an_allowed_call_runs(self, start: Start) -> None:
        one = start(["touch wanted"], REFUSED | {"matcher": "wanted", "decision": "allow"})

        assert one.turn().returncode == 0
        assert one.made() == {"wanted"}
        said = "allow" if Can.ALLOW in self.client.can else "abstain"
        assert [row["verdict"] for row in one.rows("tool_before")] == [said]

    def test_a_refused_call_does_not_run_and_the_model_reads_why(self, start: Start) -> None:
        one = start(["touch forbidden", "touch wanted"], REFUSED)

        one.turn()

        if Can.REFUSAL_ENDS_TURN in self.client.can:
            assert (one.made(), one.model.results()) == (set(), [])
            assert [row["verdict"] for row in one.rows("tool_before")] == ["deny"]
            return
        assert one.made() == {"wanted"}
        refused, wanted = one.model.results()
        assert "no (Hooktray): refused-by-a-rule" in refused
        assert "refused-by-a-rule" not in wanted
        assert [row["verdict"] for row in one.rows("tool_before")] == ["deny", "abstain"]

    def test_a_rewritten_call_runs_as_rewritten_or_not_at_all(self, start: Start) -> None:
        one = start(["touch original"], REWRITE)

        one.turn()

        row = one.rows("tool_before")[0]
        if Can.REWRITE in self.client.can:
            assert (one.made(), row["verdict"], bool(row["rewrites"])) == ({"rewritten"}, "abstain", True)
        else:
            assert (one.made(), row["verdict"]) == (set(), "deny")
            assert "A hook's rewrite cannot be carried" in one.model.results()[0]

    def test_an_ask_without_anybody_to_ask_is_a_refusal(self, start: Start) -> None:
        one = start(["touch forbidden"], ASKED)

        one.turn()

        assert one.made() == set()
        if Can.REFUSAL_ENDS_TURN not in self.client.can:
            (result,) = one.model.results()
            assert "asked-by-a-rule" in result or Can.ASK in self.client.can
        said = "ask" if Can.ASK in self.client.can else "deny"
        assert [row["verdict"] for row in one.rows("tool_before")] == [said]

    def test_an_output_is_replaced_or_withheld_where_the_client_can(self, start: Start) -> None:
        one = start(["echo first-secret"], MASK)

        one.turn()

        can = self.can(EventKind.TOOL_AFTER)
        result = "".join(one.model.results())  # none where a refusal ends the turn
        assert ("masked-output" in result) is (Capability.REWRITE_OUTPUT in can)
        is_gone = bool((Capability.REWRITE_OUTPUT | Capability.DENY) & can)
        assert ("first-secret" in result) is not is_gone

    def test_a_hook_that_stops_the_agent_at_the_prompt(self, start: Start) -> None:
        one = start(["touch wanted"], HALT)

        one.turn()

        assert (one.model.requests == []) is (Can.BLOCK_PROMPT in self.client.can)

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

    def test_the_end_of_a_turn_can_be_refused_once(self, start: Start) -> None:
        one = start([], ONCE_MORE)

        assert one.turn().returncode == 0

        verdicts = [row["verdict"] for row in one.rows("turn_end")]
        if Can.CONTINUE in self.client.can:
            assert verdicts == ["deny", "abstain"]
            assert "once-more-please" in one.model.told()

    def test_the_end_of_a_session_arrives(self, start: Start) -> None:
        one = start()

        assert one.turn().returncode == 0

        assert len(one.rows("turn_end")) == 1
        if Can.SESSION_END in self.client.can:
            assert len(one.wait_rows("session_end")) == 1

    def test_a_refused_prompt_never_reaches_the_model(self, start: Start) -> None:
        one = start([], NO_PROMPT)

        done = one.turn("a secret prompt")

        if Can.BLOCK_PROMPT not in self.client.can:
            assert (one.rows("prompt"), "a secret prompt" in one.model.told()) == ([], True)
            return
        assert [row["verdict"] for row in one.rows("prompt")] == ["deny"]
        assert "a secret prompt" not in one.model.told()
        shown = self.client.refused_prompt
        if shown is not None:
            assert (shown or "refused-prompt") in (done.stdout + done.stderr).decode()

    def test_connect_and_one_yes_is_all_that_hooktray_needs(self, tmp_path: Path) -> None:
        """Where the client has its own question for trust, its user answers that, too: `hooktray agents` says so."""
        one = session(self.client, tmp_path, [self.client.shell_call("touch forbidden")], [REFUSED], self.scripts)
        terminal = Terminal(one.live.argv("connect"), one.project, {**one.environment, **one.live.place.environment})
        try:
            wait(lambda: f"Connect {self.client.agent}?" in terminal.text, LONG, "the question")
            terminal.type("y\r")
            assert terminal.process.wait(LONG) == 0
            assert one.trust().startswith("off: ") is self.asks_for_trust
            self.client.trust(one)

            one.turn()

            assert one.made() == set()
            assert [row["verdict"] for row in one.rows("tool_before")] == ["deny"]
        finally:
            terminal.close()
            one.close()

    asks_for_trust: ClassVar[bool] = False  # by itself, in its own program, of our entries in its user's settings

    def test_disconnecting_restores_every_byte(self, tmp_path: Path) -> None:
        one = session(self.client, tmp_path)
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

    def test_an_uninstalled_hooktray_disturbs_nobody(self, start: Start) -> None:
        one = start(["touch forbidden"], REFUSED)
        assert one.live.quit() == 0  # a living tray would put its relay back
        uninstall(one)

        done = one.turn("hello " + "x" * 100_000)

        assert (done.returncode, DONE in done.stdout.decode()) == (0, True), done.stderr.decode()
        assert one.made() == {"forbidden"}
        assert one.rows() == []

    def test_a_tray_that_is_killed_still_guards(self, start: Start) -> None:
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


class QuestionScenes(Scenes):
    """Of a client whose own questions are answered from Hooktray, too. Subclasses say how it asks them."""

    question_tool: ClassVar[str]
    takes_several: ClassVar[str]  # the key of a question that takes several answers

    def typed(self, one: Session, prompt: str) -> AbstractContextManager[Terminal]:
        """The client in a terminal of its own, with this prompt entered."""
        raise NotImplementedError

    def asking(self, *questions: Mapping[str, Any]) -> list[Call]:
        return [Call(self.question_tool, {"questions": questions})]

    @pytest.mark.desktop
    def test_a_button_answers_its_question(self, tmp_path: Path) -> None:
        with at_a_desk(self.client, tmp_path, self.asking(COLOUR)) as desk:
            one = desk.session
            with self.typed(one, "hello"):
                desk.press(desk.notification("Asks you: Which colour?"), "Blue")
                one.wait_rows("turn_end")

            (result,) = one.model.results()
            assert re.search(r"Which colour\?\W+Blue\b", result)

    @pytest.mark.desktop
    def test_the_page_answers_several_questions(self, tmp_path: Path) -> None:
        """Several answers to one question, and own words to another."""
        calls = self.asking(COLOUR | {self.takes_several: False}, SIZES | {self.takes_several: True})
        with at_a_desk(self.client, tmp_path, calls) as desk:
            one = desk.session
            with self.typed(one, "hello"):
                desk.notification("Asks you: Which colour? · Which sizes?")
                desk.answer_on_page({"q0": "own", "own0": "a violet one", "q1.0": "0", "q1.1": "1"})
                one.wait_rows("turn_end")

            (result,) = one.model.results()
            assert re.search(r"Which colour\?\W+a violet one\b", result)
            assert re.search(r"Which sizes\?\W+Red, Blue\b", result)


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
