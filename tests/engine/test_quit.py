"""What the engine answers while the tray quits: a hook's own verdict, or nothing."""

from __future__ import annotations

import socket
import sys
import threading
from pathlib import Path

import pytest

if sys.platform == "win32":
    pytest.skip("scripts of a POSIX shell", allow_module_level=True)

import fcntl

from desk import wait
from house import PRE_TOOL_USE, House

from tray.engine import execute
from tray.engine.ports import Execution
from tray.engine.respond import GIVEN_UP
from tray.engine.user_questions import EngineResponse
from tray.model.decision import Answer
from tray.threads import ShutdownState

LONG = 60.0


def answered(house: House, hangup: socket.socket | None = None) -> EngineResponse:
    begun = house.engine.begin(house.relay_request("claude-code", PRE_TOOL_USE, id="a" * 32))
    assert isinstance(begun, Execution)
    return begun.run(hangup)


@pytest.mark.parametrize("failure", ["allow", "block"])
@pytest.mark.parametrize("script", ["kill -TERM $$", "exit 143"])
def test_a_hook_that_fails_while_the_tray_quits_decides_nothing(house: House, script: str, failure: str) -> None:
    house.hook("guard", on="tool_before", script=script, failure=failure)
    house.quit.begin()

    assert answered(house) is None

    wait(lambda: house.stores.journal.count() == 1, LONG, "the row")
    (row,) = house.stores.journal.recent(2)
    assert row.id != "a" * 32, "the one-shot engine's row has the event's own id"
    assert (row.verdict.word, row.answer) == ("abstain", {})
    assert "the tray quit" in row.reason
    assert house.stores.journal.answer_of(row.id) is None


def test_a_hook_that_ends_well_while_the_tray_quits_decides(house: House) -> None:
    house.hook("guard", on="tool_before", script="echo no >&2; exit 2")
    house.quit.begin()

    answer = answered(house)

    assert isinstance(answer, Answer)
    assert b'"deny"' in answer.stdout


def test_a_hook_that_gets_a_signal_before_the_tray_does_has_not_failed(
    house: House, monkeypatch: pytest.MonkeyPatch
) -> None:
    waits, wait_for_quit = threading.Event(), ShutdownState.wait

    def wait_noted(state: ShutdownState, seconds: float) -> bool:
        waits.set()
        return wait_for_quit(state, seconds)

    monkeypatch.setattr(ShutdownState, "wait", wait_noted)
    monkeypatch.setattr(execute, "SIGNAL_GRACE", LONG)
    house.hook("guard", on="tool_before", script="kill -TERM $$")
    said: list[EngineResponse] = []
    thread = threading.Thread(target=lambda: said.append(answered(house)))
    thread.start()
    assert waits.wait(LONG), "the hook has ended, and the tray may be about to quit"

    house.quit.begin()
    thread.join(LONG)

    assert said == [None]


def test_an_agent_that_gives_up_while_the_tray_quits_gets_no_answer_and_the_row_says_so(house: House) -> None:
    house.hook("guard", on="tool_before", script="sleep 60")
    house.quit.begin()
    ours, theirs = socket.socketpair()
    theirs.close()
    with ours:
        assert answered(house, ours) is None

    wait(lambda: house.stores.journal.count() == 1, LONG, "the row")
    (row,) = house.stores.journal.recent(2)
    assert row.reason == GIVEN_UP
    assert row.hooks[0]["cause"] == "cancelled"


def test_nothing_of_a_hook_lives_when_its_event_goes_back_to_the_relay(house: House, tmp_path: Path) -> None:
    child = f"exec 9>{tmp_path}/lock; flock 9; touch {tmp_path}/held; sleep 600"
    house.hook("guard", on="tool_before", script=f"setsid sh -c '{child}' >/dev/null 2>&1 & sleep 600")
    ours, theirs = socket.socketpair()

    def end() -> None:
        wait((tmp_path / "held").exists, LONG, "the descendant holds the lock")
        house.quit.begin()
        house.quit.end_hooks()
        theirs.close()

    thread = threading.Thread(target=end)
    thread.start()
    with ours:
        assert answered(house, ours) is None
        free = is_free(tmp_path / "lock")
    thread.join(LONG)

    assert free


def is_free(path: Path) -> bool:
    with path.open("a") as file:
        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            return False
    return True
