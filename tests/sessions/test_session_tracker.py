"""The sessions as people see them: states, names, places, and what is left after a restart."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path
from typing import Any, cast

import psutil
import pytest
from agents.recordings import built
from clock import Clock
from house import House

from tray.engine.ports import FREQUENT_KINDS
from tray.engine.session_states import state_after
from tray.errors import HooktrayError
from tray.execution.known_agents import KnownAgents
from tray.model.decision import NO_OPINION, Decision, Verdict
from tray.model.event import EventKind
from tray.model.session import Session, SessionState
from tray.sessions.session_tracker import SessionTracker, git_branch

TMUX = {"TMUX": "/tmp/tmux-1/default,1,0", "TMUX_PANE": "%7"}


class Tracked:
    """A tracker on a real database, with a clock that the test sets. Stands in for the known agents and the icon."""

    def __init__(self, house: House) -> None:
        self.house = house
        self.clock = Clock()
        self.agent = os.getpid()
        self.waiting: list[int] = []  # how many waited after each call

        self.tracker = self.fresh()

    def fresh(self) -> SessionTracker:
        stores = self.house.stores
        tracker = SessionTracker(stores.session_rows, cast(KnownAgents, self), stores.journal, clock=self.clock)
        tracker.view = self
        return tracker

    def process_behind(self, parent: int) -> int:
        return self.agent

    def show(self) -> None:
        self.waiting.append(len(self.waiting_sessions()))

    def waiting_sessions(self) -> list[Session]:
        return [one for one in self.tracker.sessions if one.state is SessionState.WAITING]

    def event(self, kind: EventKind, decision: Decision = NO_OPINION, **more: Any) -> None:
        fields: dict[str, Any] = {"agent": "claude-code", "name": "X", "session": "s-1", "cwd": "/home/dev/shop"}
        self.tracker.decided(built(id=os.urandom(4).hex(), kind=kind, **{**fields, "parent": 1, **more}), decision)


@pytest.fixture
def tracked(house: House) -> Tracked:
    return Tracked(house)


def test_a_session_is_called_by_its_prompt_without_secrets_until_the_agent_has_a_title(tracked: Tracked) -> None:
    tracked.event(EventKind.PROMPT, prompt="Fix ghp_" + "a1B2" * 9 + "\nand more")
    first = tracked.tracker.sessions[0]
    tracked.event(EventKind.PROMPT, prompt="Now the tests")
    second = tracked.tracker.sessions[0]
    tracked.event(EventKind.NOTIFICATION, title="Permission needed", topic="permission_prompt")
    tracked.event(EventKind.TOOL_BEFORE, title="Login repair")

    assert (first.name.startswith("Fix "), "a1B2" in first.name, "more" in first.name) == (True, False, False)
    assert (first.project, first.state, second.name) == ("shop", SessionState.WORKING, first.name)
    assert tracked.tracker.sessions[0].name == "Login repair"


def test_a_usage_limit_is_known_until_the_session_goes_on(tracked: Tracked) -> None:
    tracked.event(EventKind.PROMPT, prompt="go")
    tracked.event(EventKind.TURN_FAILED, topic="rate_limit", subagent="Explore")
    below = tracked.tracker.sessions[0].usage_limit
    tracked.event(EventKind.TURN_FAILED, topic="rate_limit")
    unworded = tracked.tracker.sessions[0].usage_limit
    tracked.event(EventKind.TURN_FAILED, topic="rate_limit", message="You've hit your limit · resets 3pm\nBye")
    tracked.event(EventKind.SESSION_END)
    tracked.tracker = tracked.fresh()
    tracked.tracker.load()
    after_restart = tracked.tracker.sessions[0]
    tracked.event(EventKind.PROMPT, prompt="again")
    going_on = tracked.tracker.sessions[0]
    tracked.event(EventKind.TURN_FAILED, message="Usage limit reached|1749924000")
    tracked.event(EventKind.TURN_FAILED, message="the network is down")

    assert (below, unworded) == ("", "Usage limit reached")
    assert (after_restart.state, after_restart.ended) == (SessionState.FAILED, True)
    assert after_restart.usage_limit == "You've hit your limit · resets 3pm"
    assert (going_on.state, going_on.usage_limit) == (SessionState.WORKING, "")
    assert tracked.tracker.sessions[0].usage_limit == ""


def test_since_is_when_the_state_began(tracked: Tracked) -> None:
    tracked.event(EventKind.PROMPT, prompt="go")
    tracked.clock.now = 1010.0
    tracked.event(EventKind.TOOL_BEFORE)
    working = tracked.tracker.sessions[0].since
    tracked.clock.now = 1020.0
    tracked.event(EventKind.TOOL_BEFORE, Decision(verdict=Verdict.ASK))

    assert working == 1000.0
    assert (tracked.tracker.sessions[0].state, tracked.tracker.sessions[0].since) == (SessionState.WAITING, 1020.0)


def test_it_reports_at_once_that_another_number_of_sessions_waits(tracked: Tracked) -> None:
    tracked.event(EventKind.PROMPT, prompt="go")
    tracked.event(EventKind.TOOL_BEFORE, Decision(verdict=Verdict.ASK))
    tracked.event(EventKind.PROMPT, prompt="also", session="s-2")
    tracked.event(EventKind.TOOL_BEFORE, Decision(verdict=Verdict.ASK), session="s-2")
    tracked.event(EventKind.SESSION_END, session="s-2")

    assert tracked.waiting == [1, 2, 1]


def test_tests_nested_events_and_events_without_a_session_are_no_sessions(tracked: Tracked) -> None:
    tracked.event(EventKind.PROMPT, test=True)
    tracked.event(EventKind.PROMPT, depth=1)
    tracked.event(EventKind.PROMPT, session="")

    assert tracked.tracker.sessions == ()


def test_the_place_is_read_from_the_first_event_and_anew_when_another_process_sends(tracked: Tracked) -> None:
    tracked.event(EventKind.PROMPT, environment=TMUX)
    first = tracked.tracker.sessions[0].place
    tracked.event(EventKind.TOOL_BEFORE, environment={**TMUX, "TMUX_PANE": "%8"})
    same = tracked.tracker.sessions[0].place
    child = subprocess.Popen([sys.executable, "-c", "input()"], stdin=subprocess.PIPE)
    try:
        tracked.agent = child.pid
        tracked.event(EventKind.TOOL_BEFORE, environment={**TMUX, "TMUX_PANE": "%8"}, parent=2)
    finally:
        child.communicate(b"\n")

    assert first.processes[0].pid == os.getpid()
    assert [one.pid for one in first.processes[1:]] == [one.pid for one in psutil.Process().parents() if one.pid > 1]
    assert (first.tmux_pane, same.tmux_pane) == ("%7", "%7")
    assert tracked.tracker.sessions[0].place.tmux_pane == "%8"


def test_a_place_that_does_not_parse_is_dropped_and_journalled(tracked: Tracked) -> None:
    tracked.event(EventKind.PROMPT, environment={"TMUX": "nonsense", "WINDOWID": "12"})
    tracked.house.stores.journal.close()  # whatever waits is written down

    assert tracked.tracker.sessions[0].place.window == "12"
    (saved,) = tracked.house.stores.journal.recent()
    assert saved.adjustments == ("TMUX: not of the form that names a place, so it is not used",)
    assert saved.id != "e"


def test_after_a_restart_the_sessions_are_there_and_those_of_dead_agents_are_done(tracked: Tracked) -> None:
    child = subprocess.Popen([sys.executable, "-c", "input()"], stdin=subprocess.PIPE)
    tracked.event(EventKind.PROMPT, prompt="go")
    tracked.agent = child.pid
    tracked.event(EventKind.PROMPT, session="s-2", prompt="run")
    child.communicate(b"\n")
    later = tracked.fresh()

    later.load()

    states = {one.session: (one.state, one.name, one.ended) for one in later.sessions}
    assert states == {"s-1": (SessionState.WORKING, "go", False), "s-2": (SessionState.DONE, "run", True)}
    saved = {one.session: one.state for one in tracked.house.stores.session_rows.all()}
    assert saved == {"s-1": SessionState.WORKING, "s-2": SessionState.DONE}


def test_an_ended_session_is_forgotten_after_an_hour(tracked: Tracked) -> None:
    tracked.event(EventKind.PROMPT)
    tracked.event(EventKind.SESSION_END)
    shown = len(tracked.tracker.sessions)
    tracked.clock.now += 3700.0
    tracked.event(EventKind.PROMPT, session="s-2")
    tracked.event(EventKind.SESSION_END, session="s-2")

    assert shown == 1
    assert [one.session for one in tracked.tracker.sessions] == ["s-2"]
    assert [one.session for one in tracked.house.stores.session_rows.all()] == ["s-2"]


def test_a_session_is_found_by_the_beginning_of_its_id_and_without_one_by_its_need(tracked: Tracked) -> None:
    for name in ("aa1", "aa2", "b"):
        tracked.event(EventKind.PROMPT, session=name)
    tracked.event(EventKind.TOOL_BEFORE, Decision(verdict=Verdict.ASK), session="b")

    assert tracked.tracker.find("aa2").session == "aa2"
    assert tracked.tracker.find("").session == "b"
    with pytest.raises(HooktrayError, match="more than one session"):
        tracked.tracker.find("aa")
    with pytest.raises(HooktrayError, match="no session begins with `x`"):
        tracked.tracker.find("x")


def test_a_question_marks_its_session_as_waiting_even_if_it_is_the_sessions_first_event(
    tracked: Tracked,
) -> None:
    fields: dict[str, Any] = {"agent": "claude-code", "name": "X", "environment": TMUX, "parent": 1}
    tracked.event(EventKind.PROMPT)
    for session in ("s-1", "s-2"):
        tracked.tracker.asked(built(id="q", kind=EventKind.PERMISSION_REQUEST, session=session, **fields))

    first, second = sorted(tracked.tracker.sessions, key=lambda one: one.session)
    assert first.state is second.state is SessionState.WAITING
    assert second.place.tmux_pane == "%7"


def test_an_event_that_was_answered_at_once_counts_when_it_came(tracked: Tracked) -> None:
    end = built(id="end", agent="claude-code", name="Stop", kind=EventKind.TURN_END, session="s-1")
    tracked.tracker.arrived(end)
    tracked.event(EventKind.PROMPT)
    tracked.tracker.decided(end, NO_OPINION)  # its hooks ended after the next turn had begun

    assert tracked.tracker.sessions[0].state is SessionState.WORKING


def test_the_branch_of_a_repository_and_of_a_worktree(tmp_path: Path) -> None:
    def git(*words: str) -> None:
        subprocess.run(["git", *words], cwd=tmp_path / "main", check=True, capture_output=True)

    (tmp_path / "main" / "sub").mkdir(parents=True)
    git("init", "-q", "-b", "trunk")
    git("-c", "user.name=a", "-c", "user.email=a@b", "commit", "-q", "--allow-empty", "-m", "x")
    git("worktree", "add", "-q", "-b", "feature/x", str(tmp_path / "tree"))

    assert git_branch(str(tmp_path / "main" / "sub")) == "trunk"
    assert git_branch(str(tmp_path / "tree")) == "feature/x"
    assert git_branch(str(tmp_path)) == ""
    assert git_branch("") == ""


@pytest.mark.parametrize(("headless", "state"), [(True, SessionState.WORKING), (False, SessionState.WAITING)])
def test_a_session_in_print_mode_waits_for_nobody(tracked: Tracked, headless: bool, state: SessionState) -> None:
    environment = {"CLAUDE_CODE_ENTRYPOINT": "sdk-cli" if headless else "cli"}
    tracked.event(EventKind.SESSION_START, environment=environment)

    tracked.event(EventKind.TOOL_BEFORE, Decision(verdict=Verdict.ASK), environment=environment)

    assert tracked.tracker.sessions[0].state is state


@pytest.mark.parametrize("kind", sorted(FREQUENT_KINDS))
def test_a_step_leaves_a_session_at_work_as_it_is(tracked: Tracked, kind: EventKind) -> None:
    tracked.event(EventKind.PROMPT, prompt="Fix the login")
    before = tracked.tracker.sessions
    tracked.clock.now += 5
    tracked.event(kind)

    assert tracked.tracker.sessions == before
    step = built(id="1", agent="claude-code", name="X", kind=kind)
    assert state_after(step, NO_OPINION, SessionState.WORKING) is SessionState.WORKING  # what the tracker relies on
