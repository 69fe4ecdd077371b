"""What every connected client does, the real program: one contract, and each client's values say what differs."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import pytest
from clients.client import Can, Client, Session, session
from clients.model import DONE
from clients.wires import Call
from guards import ASKED, NO_PROMPT, ONCE_MORE, REFUSED, REWRITE, REWRITE_SCRIPT

from tray.agents.connection import Site
from tray.agents.registry import AGENTS
from tray.paths import locate

SCRIPTS = {
    "rewrite.sh": REWRITE_SCRIPT,
    "stop.sh": 'grep -q \'"stop_hook_active":true\' || echo \'{"decision": "block", "reason": "once-more-please"}\'',
}

Start = Callable[..., Session]


@pytest.mark.client
class Scenes:
    """Subclasses name the client."""

    client: Client
    scripts: Mapping[str, str] = SCRIPTS

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

    def test_a_call_that_nobody_refuses_runs(self, start: Start) -> None:
        """Connected on settings that its user had; the hooks in there still run."""
        one = start(["touch wanted"], REFUSED)

        done = one.turn()

        assert (done.returncode, DONE in done.stdout.decode()) == (0, True), done.stderr.decode()
        assert one.made() == {"wanted"}
        assert [(row["verdict"], row["offline"]) for row in one.rows("tool_before")] == [("abstain", False)]
        after = len(one.rows("tool_after"))
        assert after == 1 or (after == 0 and Can.LOSES_AFTER in self.client.can)
        assert len(one.rows("prompt")) == 1
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
        assert len(one.model.results()) == 1
        assert "asked-by-a-rule" in one.model.results()[0] or Can.ASK in self.client.can
        said = "ask" if Can.ASK in self.client.can else "deny"
        assert [row["verdict"] for row in one.rows("tool_before")] == [said]

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

        assert [row["verdict"] for row in one.rows("prompt")] == ["deny"]
        assert "a secret prompt" not in one.model.told()
        shown = self.client.refused_prompt
        if shown is not None:
            assert (shown or "refused-prompt") in (done.stdout + done.stderr).decode()

    def test_disconnecting_restores_every_byte(self, tmp_path: Path) -> None:
        one = session(self.client, tmp_path)
        try:
            before = one.settings.read_bytes()
            one.connect()
            connected = one.settings.read_bytes()
            again = one.hooktray("connect", self.client.agent, "--yes")
            assert (again.returncode, one.settings.read_bytes()) == (0, connected)

            done = one.hooktray("disconnect", self.client.agent, "--yes")

            assert done.returncode == 0, done.stderr.decode()
            assert before != connected
            assert one.settings.read_bytes() == before
        finally:
            one.close()

    def test_an_uninstalled_hooktray_disturbs_nobody(self, start: Start) -> None:
        one = start(["touch forbidden"], REFUSED)
        assert one.live.quit() == 0  # a living tray would put its relay back
        uninstall(one)

        done = one.turn("hello " + "x" * 100_000)

        assert (done.returncode, DONE in done.stdout.decode()) == (0, True), done.stderr.decode()
        assert one.made() == {"forbidden"}
        assert one.rows() == []

    def test_a_tray_that_is_killed_still_guards(self, start: Start) -> None:
        one = start(["touch wanted", "xargs kill -9 <../tray.pid; touch killed", "touch forbidden"], REFUSED)
        (one.home / "tray.pid").write_text(str(one.live.process.pid))

        one.turn()

        assert one.live.process.wait(20) == -9
        assert one.made() == {"wanted", "killed"}
        assert "refused-by-a-rule" in one.model.results()[2]
        first, *_, last = [(row["verdict"], row["offline"]) for row in one.rows("tool_before")]
        assert (first, last) == (("abstain", False), ("deny", True))  # a row between may have died with the tray


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
