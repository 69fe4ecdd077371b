"""What every connected agent of which only a stand-in is at hand does: one contract, with a real tray and relay.

The stand-ins follow documentation and others' findings. Nothing here was run against a real binary.
"""

from __future__ import annotations

import itertools
import os
import shutil
import subprocess
import time
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, replace
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

QUESTIONED = ASKED | {"name": "ask", "matcher": "questioned"}
SHARED = (REFUSED, QUESTIONED, REWRITE, NO_PROMPT)  # each judges what has its own word in it
NUMBERS = itertools.count()
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
    since: float = 0.0  # rows of earlier calls are not of this place

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
        own = [row for row in rows if row["agent"] == self.agent.agent and row["at"] >= self.since]
        return [row for row in own if kind in ("", row["kind"])]

    def verdicts(self, kind: str, count: int) -> list[str]:
        """Of so many rows, or more: they are written after the answers have left."""
        wait(lambda: len(self.rows(kind)) >= count, what=f"{count} rows of {kind}")
        return [row["verdict"] for row in self.rows(kind)]

    def made(self) -> set[str]:
        return {path.name for path in self.stand_in.project.iterdir()}


Start = Callable[..., Place]


def place_in(folder: Path, agent: StandInAgent, *hooks: Mapping[str, Any]) -> Place:
    """A tray with these hooks that nothing is connected to."""
    live = started(folder, hooks, SCRIPTS)
    settings = folder / agent.settings
    if agent.existing:
        settings.parent.mkdir(parents=True, exist_ok=True)
        settings.write_text(agent.existing)
    return Place(agent, live, folder, stand_in(folder, agent))


def stand_in(folder: Path, agent: StandInAgent) -> StandIn:
    """The agent in a project of its own."""
    project = folder / f"project-{next(NUMBERS)}"
    project.mkdir()
    return StandIn(folder / agent.settings, project, agent.run, agent.moments, agent.commands)


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
            place = place_in(tmp_path, self.agent, *hooks)
            opened.append(place.live)
            if connected:
                place.live.connect(self.agent.agent)
            return place

        yield start
        for live in opened:
            assert isinstance(live.place, Plain)
            live.place.close()

    @pytest.fixture(scope="class")
    @classmethod
    def shared_tray(cls, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Place]:
        place = place_in(tmp_path_factory.mktemp("s"), cls.agent, *SHARED)
        place.live.connect(cls.agent.agent)
        yield place
        assert isinstance(place.live.place, Plain)
        place.live.place.close()

    @pytest.fixture
    def shared(self, shared_tray: Place, monkeypatch: pytest.MonkeyPatch) -> Place:
        """A session of its own on the tray of the class, which has the hooks in SHARED."""
        monkeypatch.setenv("HOME", str(shared_tray.home))
        return replace(shared_tray, stand_in=stand_in(shared_tray.home, self.agent), since=time.time())

    def test_a_session_that_nobody_refuses_is_journalled_once_each(self, shared: Place) -> None:
        """The hooks that its user had in there still run."""
        shared.stand_in.turn("hello", ("Bash", {"command": "touch wanted"}), ("Write", {"file_path": "new.txt"}))

        assert shared.made() == {"wanted", "new.txt"}
        assert shared.stand_in.warnings == []
        assert shared.verdicts("turn_end", 1) == ["abstain"]
        kinds = [row["kind"] for row in shared.rows()]
        assert kinds.count("tool_before") == 2
        assert kinds.count("tool_after") == 2
        assert kinds.count("session_start") == int(self.agent.starts)
        assert {row["verdict"] for row in shared.rows()} == {"abstain"}
        assert not self.agent.existing or (shared.home / "own-hook-ran").exists()
        if self.agent.closes:
            wait(lambda: shared.rows("session_end"), what="the end of the session is journalled")

    def test_a_refused_call_does_not_run_and_the_model_reads_why(self, shared: Place) -> None:
        shared.stand_in.turn("hello", ("Bash", {"command": "touch forbidden"}), ("Write", {"file_path": "forbidden"}))

        assert shared.made() == set()
        assert ["refused-by-a-rule" in reason for reason in shared.stand_in.refused] == [True, True]
        assert shared.verdicts("tool_before", 2) == ["deny", "deny"]
        assert shared.stand_in.warnings == []

    def test_an_ask_reaches_its_user_or_is_a_refusal(self, shared: Place) -> None:
        shared.stand_in.turn("hello", ("Bash", {"command": "touch questioned"}))

        assert shared.made() == set()
        told = shared.stand_in.asked if self.agent.asks else shared.stand_in.refused
        assert len(told) == 1
        assert shared.verdicts("tool_before", 1) == ["ask" if self.agent.asks else "deny"]

    def test_a_rewritten_call_runs_as_rewritten_or_not_at_all(self, shared: Place) -> None:
        shared.stand_in.turn("hello", ("Bash", {"command": "touch original"}))

        assert shared.made() == ({"rewritten"} if self.agent.rewrites else set())
        assert shared.stand_in.warnings == []
        if not self.agent.rewrites:
            assert "A hook's rewrite cannot be carried" in shared.stand_in.refused[0]

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

        one.live.connect(self.agent.agent)
        connected = tree(folder)
        one.live.connect(self.agent.agent)
        assert tree(folder) == connected != before
        one.live.command("disconnect", self.agent.agent, "--yes")

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

    def test_a_refused_prompt_never_reaches_the_model(self, shared: Place) -> None:
        shared.stand_in.turn("a secret prompt", ("Bash", {"command": "touch wanted"}))

        assert (shared.stand_in.prompts, shared.made()) == ([], set())
        assert shared.verdicts("prompt", 1) == ["deny"]
