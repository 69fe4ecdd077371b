"""What every connected agent of which only a stand-in is at hand does: one contract, with a real tray and relay.

The stand-ins follow documentation and others' findings. Nothing here was run against a real binary.
"""

from __future__ import annotations

import os
import shutil
import subprocess
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
from connect.sites import tree
from connect.trays import by_person, started
from desk import wait
from guards import ASKED, NO_PROMPT, ONCE_MORE, REFUSED, REWRITE, REWRITE_SCRIPT
from hosts.process import Hook, Report
from hosts.session import Moments, StandIn
from live import Live
from plain import Plain

from tray.engine.log_rows import log_row
from tray.engine.stores import open_stores
from tray.paths import locate

SCRIPTS = {
    "rewrite.sh": REWRITE_SCRIPT,
    "stop.sh": """test -e "$HOME/once" && exit
touch "$HOME/once"
echo '{"decision": "block", "reason": "once-more"}'
""",
}


@dataclass(frozen=True, kw_only=True)
class StandInAgent:
    """The values that the scenes need of one agent."""

    agent: str
    settings: str  # the file that `connect` edits, below the home
    existing: str  # what its user has in there before; "" = there is no such file
    run: Callable[[str, str, bytes, Hook | None], Report]
    moments: Moments
    commands: Mapping[str, str]
    asks: bool = False  # else an ask is a refusal
    rewrites: bool = True  # the input of a command
    refuses_ends: bool = True
    starts: bool = True  # it has events for the start and the end of a session
    closes: bool = True


@dataclass(frozen=True)
class Place:
    """A running tray with approved hooks, and the stand-in on the same home."""

    agent: StandInAgent
    live: Live
    home: Path
    stand_in: StandIn

    def hooktray(self, *words: str, code: int = 0) -> subprocess.CompletedProcess[bytes]:
        environment = {"PATH": os.environ["PATH"], "HOME": str(self.home), "LC_ALL": "C.UTF-8"}
        done = self.live.place.run(self.live.argv(*words), environment, timeout=60)
        assert done.returncode == code, done.stderr.decode()
        return done

    def rows(self, kind: str = "") -> list[dict[str, Any]]:
        journal = open_stores(locate(str(self.live.home)), create=False).journal
        try:
            rows = [dict(log_row(record)) for record in reversed(journal.recent(1000))]
        finally:
            journal.close()
        return [row for row in rows if row["agent"] == self.agent.agent and kind in ("", row["kind"])]

    def verdicts(self, kind: str, count: int) -> list[str]:
        """Of so many rows, or more: they are written after the answers have left."""
        wait(lambda: len(self.rows(kind)) >= count, what=f"{count} rows of {kind}")
        return [row["verdict"] for row in self.rows(kind)]

    def made(self) -> set[str]:
        return {path.name for path in self.stand_in.project.iterdir()}


Start = Callable[..., Place]


@by_person
class StandInScenes:
    """Subclasses name the agent."""

    agent: StandInAgent

    @pytest.fixture
    def place(self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Start]:
        """Starts a tray with these hooks and, unless told otherwise, connects the agent."""
        opened: list[Live] = []
        monkeypatch.setenv("HOME", str(tmp_path))

        def start(*hooks: Mapping[str, Any], connected: bool = True) -> Place:
            live = started(tmp_path, hooks, SCRIPTS)
            opened.append(live)
            settings, project = tmp_path / self.agent.settings, tmp_path / "project"
            project.mkdir()
            if self.agent.existing:
                settings.parent.mkdir(parents=True, exist_ok=True)
                settings.write_text(self.agent.existing)
            stand_in = StandIn(settings, project, self.agent.run, self.agent.moments, self.agent.commands)
            place = Place(self.agent, live, tmp_path, stand_in)
            if connected:
                live.connect(self.agent.agent)
            return place

        yield start
        for live in opened:
            assert isinstance(live.place, Plain)
            live.place.close()

    def test_a_session_that_nobody_refuses_is_journalled_once_each(self, place: Start) -> None:
        """The hooks that its user had in there still run."""
        one = place(REFUSED)

        one.stand_in.turn("hello", ("Bash", {"command": "touch wanted"}), ("Write", {"file_path": "new.txt"}))

        assert one.made() == {"wanted", "new.txt"}
        assert one.stand_in.warnings == []
        assert one.verdicts("turn_end", 1) == ["abstain"]
        kinds = [row["kind"] for row in one.rows()]
        assert kinds.count("tool_before") == 2
        assert kinds.count("tool_after") == 2
        assert kinds.count("session_start") == int(self.agent.starts)
        assert {row["verdict"] for row in one.rows()} == {"abstain"}
        assert not self.agent.existing or (one.home / "own-hook-ran").exists()
        if self.agent.closes:
            wait(lambda: one.rows("session_end"), what="the end of the session is journalled")

    def test_a_refused_call_does_not_run_and_the_model_reads_why(self, place: Start) -> None:
        one = place(REFUSED)

        one.stand_in.turn("hello", ("Bash", {"command": "touch forbidden"}), ("Write", {"file_path": "forbidden"}))

        assert one.made() == set()
        assert ["refused-by-a-rule" in reason for reason in one.stand_in.refused] == [True, True]
        assert one.verdicts("tool_before", 2) == ["deny", "deny"]
        assert one.stand_in.warnings == []

    def test_an_ask_reaches_its_user_or_is_a_refusal(self, place: Start) -> None:
        one = place(ASKED)

        one.stand_in.turn("hello", ("Bash", {"command": "touch forbidden"}))

        assert one.made() == set()
        told = one.stand_in.asked if self.agent.asks else one.stand_in.refused
        assert len(told) == 1
        assert one.verdicts("tool_before", 1) == ["ask" if self.agent.asks else "deny"]

    def test_a_rewritten_call_runs_as_rewritten_or_not_at_all(self, place: Start) -> None:
        one = place(REWRITE)

        one.stand_in.turn("hello", ("Bash", {"command": "touch original"}))

        assert one.made() == ({"rewritten"} if self.agent.rewrites else set())
        assert one.stand_in.warnings == []
        if not self.agent.rewrites:
            assert "A hook's rewrite cannot be carried" in one.stand_in.refused[0]

    def test_the_end_of_a_turn_can_be_refused_once(self, place: Start) -> None:
        one = place(ONCE_MORE)

        one.stand_in.turn("hello")

        expected = ["deny", "abstain"] if self.agent.refuses_ends else ["abstain"]
        assert one.verdicts("turn_end", len(expected)) == expected
        told = ["once-more" in prompt for prompt in one.stand_in.prompts[1:]]
        assert told == ([True] if self.agent.refuses_ends else [])

    def test_disconnecting_restores_every_byte(self, place: Start) -> None:
        one = place(connected=False)
        folder = one.stand_in.config.parent
        before = tree(folder) if folder.exists() else {}

        one.hooktray("connect", self.agent.agent, "--yes")
        connected = tree(folder)
        one.hooktray("connect", self.agent.agent, "--yes")
        assert tree(folder) == connected != before
        one.hooktray("disconnect", self.agent.agent, "--yes")

        assert (tree(folder) if folder.exists() else {}) == before

    def test_an_uninstalled_hooktray_disturbs_nobody(self, place: Start) -> None:
        one = place(REFUSED)
        assert one.live.quit() == 0  # a living tray would put its relay back
        shutil.rmtree(one.live.home / "bin")

        one.stand_in.turn("hello " + "x" * 100_000, ("Bash", {"command": "touch forbidden"}))

        assert one.made() == {"forbidden"}
        assert one.stand_in.warnings == []
        assert one.rows() == []

    def test_a_tray_that_is_killed_still_guards(self, place: Start) -> None:
        one = place(REFUSED)
        kill = f"kill -9 {one.live.process.pid}; touch killed"

        one.stand_in.turn(
            "hello", *(("Bash", {"command": line}) for line in ("touch wanted", kill, "touch forbidden"))
        )

        assert one.live.process.wait(60) == -9
        assert one.made() == {"wanted", "killed"}
        assert "refused-by-a-rule" in one.stand_in.refused[0]
        assert one.stand_in.warnings == []
        wait(lambda: one.rows("tool_before")[-1]["offline"], what="the row of the one-shot engine")


class PromptScenes(StandInScenes):
    """For agents with an event that can refuse a prompt."""

    def test_a_refused_prompt_never_reaches_the_model(self, place: Start) -> None:
        one = place(NO_PROMPT)

        one.stand_in.turn("a secret prompt", ("Bash", {"command": "touch wanted"}))

        assert (one.stand_in.prompts, one.made()) == ([], set())
        assert one.verdicts("prompt", 1) == ["deny"]
