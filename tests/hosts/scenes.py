"""What every connected agent of which only a stand-in is at hand does: one contract, with a real tray and relay.

The stand-ins follow documentation and others' findings. Nothing here was run against a real binary.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import pytest
from connect.sites import tree
from connect.trays import by_person, installed, started
from desk import wait
from guards import ASKED, NO_PROMPT, ONCE_MORE, REFUSED, REWRITE, REWRITE_SCRIPT
from hosts.process import Report
from hosts.session import Moments, StandIn
from live import Live
from plain import Plain

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
    run: Callable[[str, str, bytes], Report]
    moments: Moments
    commands: Mapping[str, str]
    asks: bool = False  # else an ask is a refusal
    rewrites: bool = True  # the input of a command
    refuses_ends: bool = True
    starts: bool = True  # it has events for the start and the end of a session
    closes: bool = True


@dataclass(frozen=True)
class Place:
    """An installation with approved hooks, and the stand-in on the same home."""

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
        rows = sorted(self.live.log(), key=lambda row: float(row["at"]))
        return [row for row in rows if row["agent"] == self.agent.agent and kind in ("", row["kind"])]

    def verdicts(self, kind: str, count: int) -> list[str]:
        """Of so many rows, or more: they are written after the answers have left."""
        wait(lambda: len(self.rows(kind)) >= count, what=f"{count} rows of {kind}")
        return [row["verdict"] for row in self.rows(kind)]

    def made(self) -> set[str]:
        return {path.name for path in self.stand_in.project.iterdir()}

    def close(self) -> None:
        assert isinstance(self.live.place, Plain)
        self.live.place.close()


Start = Callable[..., Place]
HOOKS = (REFUSED, ASKED | {"name": "ask", "matcher": "asked"}, REWRITE, ONCE_MORE, NO_PROMPT)
# In the order of the calls.
CALLS = (
    ("Bash", {"command": "touch wanted"}),
    ("Write", {"file_path": "new.txt"}),
    ("Bash", {"command": "touch forbidden"}),
    ("Write", {"file_path": "forbidden"}),
    ("Bash", {"command": "touch asked"}),
    ("Bash", {"command": "touch original"}),
)


@by_person
class StandInScenes:
    """Subclasses name the agent."""

    agent: StandInAgent

    @classmethod
    def placed(cls, folder: Path, hooks: Sequence[Mapping[str, Any]], *, runs: bool = True) -> Place:
        """Returns a place whose agent is not connected yet."""
        live = started(folder, hooks, SCRIPTS) if runs else installed(folder)
        settings, project = folder / cls.agent.settings, folder / "project"
        project.mkdir()
        if cls.agent.existing:
            settings.parent.mkdir(parents=True, exist_ok=True)
            settings.write_text(cls.agent.existing)
        stand_in = StandIn(settings, project, cls.agent.run, cls.agent.moments, cls.agent.commands)
        return Place(cls.agent, live, folder, stand_in)

    @pytest.fixture
    def place(self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Start]:
        """Starts a tray with these hooks and, unless told otherwise, connects the agent."""
        opened: list[Place] = []
        monkeypatch.setenv("HOME", str(tmp_path))

        def start(*hooks: Mapping[str, Any], connected: bool = True, runs: bool = True) -> Place:
            opened.append(self.placed(tmp_path, hooks, runs=runs))
            if connected:
                opened[-1].live.connect(self.agent.agent)
            return opened[-1]

        yield start
        for one in opened:
            one.close()

    @pytest.fixture(scope="class")
    @classmethod
    def turn(cls, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Place]:
        """A connected agent after one session of one turn, in which its model made every call."""
        with pytest.MonkeyPatch.context() as patch:
            folder = tmp_path_factory.mktemp("agent")
            patch.setenv("HOME", str(folder))
            place = cls.placed(folder, HOOKS)
            place.live.connect(cls.agent.agent)
            place.stand_in.turn("hello", *CALLS)
            yield place
            place.close()

    def test_the_events_of_a_session_are_journalled_once_each(self, turn: Place) -> None:
        """The user's earlier hooks still run."""
        assert turn.made() >= {"wanted", "new.txt"}
        assert turn.stand_in.warnings == []
        assert turn.verdicts("tool_before", len(CALLS))[:2] == ["abstain", "abstain"]
        kinds = [row["kind"] for row in turn.rows()]
        assert kinds.count("tool_before") == len(CALLS)
        assert kinds.count("tool_after") == len(turn.stand_in.ran)
        assert kinds.count("session_start") == int(self.agent.starts)
        assert not self.agent.existing or (turn.home / "own-hook-ran").exists()
        if self.agent.closes:
            wait(lambda: turn.rows("session_end"), what="the end of the session is journalled")

    def test_a_refused_call_does_not_run_and_the_model_reads_why(self, turn: Place) -> None:
        assert "forbidden" not in turn.made()
        assert ["refused-by-a-rule" in reason for reason in turn.stand_in.refused[:2]] == [True, True]
        assert turn.verdicts("tool_before", len(CALLS))[2:4] == ["deny", "deny"]

    def test_an_ask_reaches_its_user_or_is_a_refusal(self, turn: Place) -> None:
        assert "asked" not in turn.made()
        refused = [reason for reason in turn.stand_in.refused if "asked-by-a-rule" in reason]
        assert len(turn.stand_in.asked if self.agent.asks else refused) == 1
        assert turn.verdicts("tool_before", len(CALLS))[4] == ("ask" if self.agent.asks else "deny")

    def test_a_rewritten_call_runs_as_rewritten_or_not_at_all(self, turn: Place) -> None:
        assert ("rewritten" in turn.made(), "original" in turn.made()) == (self.agent.rewrites, False)
        if not self.agent.rewrites:
            assert "A hook's rewrite cannot be carried" in turn.stand_in.refused[-1]

    def test_the_end_of_a_turn_can_be_refused_once(self, turn: Place) -> None:
        expected = ["deny", "abstain"] if self.agent.refuses_ends else ["abstain"]
        assert turn.verdicts("turn_end", len(expected)) == expected
        told = ["once-more" in prompt for prompt in turn.stand_in.prompts[1:]]
        assert told == ([True] if self.agent.refuses_ends else [])

    def test_disconnecting_restores_every_byte(self, place: Start) -> None:
        one = place(connected=False, runs=False)
        folder = one.stand_in.config.parent
        before = tree(folder) if folder.exists() else {}

        one.hooktray("connect", self.agent.agent, "--yes")
        connected = tree(folder)
        one.hooktray("connect", self.agent.agent, "--yes")
        assert tree(folder) == connected != before
        one.hooktray("disconnect", self.agent.agent, "--yes")

        assert (tree(folder) if folder.exists() else {}) == before

    def test_a_killed_tray_still_guards_and_an_uninstalled_one_does_not_interfere(self, place: Start) -> None:
        one = place(REFUSED)
        kill = f"kill -9 {one.live.process.pid}; touch killed"
        one.stand_in.turn(
            "hello", *(("Bash", {"command": line}) for line in ("touch wanted", kill, "touch forbidden"))
        )

        assert one.live.process.wait(60) == -9
        assert one.made() == {"wanted", "killed"}
        assert "refused-by-a-rule" in one.stand_in.refused[0]
        wait(lambda: one.rows("tool_before")[-1]["offline"], what="the row of the one-shot engine")
        begun = time.time()

        shutil.rmtree(one.live.home / "bin")
        one.stand_in.turn("hello " + "x" * 100_000, ("Bash", {"command": "touch forbidden"}))

        assert one.made() == {"wanted", "killed", "forbidden"}
        assert one.stand_in.warnings == []
        assert [row for row in one.rows() if row["at"] >= begun] == []


class PromptScenes(StandInScenes):
    """For agents with an event that can refuse a prompt."""

    def test_a_refused_prompt_never_reaches_the_model(self, turn: Place) -> None:
        other = replace(turn.stand_in, ran=[], prompts=[])

        other.turn("a secret prompt", ("Bash", {"command": "touch another"}))

        assert (other.prompts, other.ran) == ([], [])
        assert turn.verdicts("prompt", 2)[-1] == "deny"
