"""What a hook leaves running: let live for its time, listed, and ended with us."""

from __future__ import annotations

import subprocess
import sys
import threading
import time
from collections.abc import Iterator

import pytest
from desk import wait
from threadless import no_thread_left

if sys.platform == "win32":
    pytest.skip("groups of processes", allow_module_level=True)

from tray.execution.background import BackgroundProcesses
from tray.execution.process import RUN_VARIABLE
from tray.execution.process_posix import PosixTree

PATIENCE = 60.0
FAR = 1000.0


def names() -> list[str]:
    return [thread.name for thread in threading.enumerate()]


@pytest.fixture
def background() -> Iterator[BackgroundProcesses]:
    background = BackgroundProcesses()
    yield background
    background.close()
    assert "hook-background" not in names()


def group(mark: str = "mark") -> tuple[PosixTree, subprocess.Popen[bytes]]:
    """A group whose leader has gone, and a pipe that ends when the last of the others has."""
    line = "sleep 60 & sleep 60 & echo on"
    shell = subprocess.Popen(
        ["/bin/sh", "-c", line], env={RUN_VARIABLE: mark}, stdout=subprocess.PIPE, start_new_session=True
    )
    shell.wait()
    return PosixTree(shell.pid, mark), shell


def over(shell: subprocess.Popen[bytes]) -> bool:
    """Whether nobody holds the pipe any more."""
    assert shell.stdout is not None
    with shell.stdout as pipe:
        return pipe.read() == b"on\n"


def test_a_tree_is_ended_at_its_deadline_and_the_timer_goes_home(background: BackgroundProcesses) -> None:
    tree, shell = group()

    background.add(tree, time.monotonic() + 0.1)

    assert over(shell)
    thread = next((thread for thread in threading.enumerate() if thread.name == "hook-background"), None)
    if thread is not None:
        thread.join(PATIENCE)
    assert "hook-background" not in names()


def test_an_earlier_deadline_added_later_is_met_first(background: BackgroundProcesses) -> None:
    late, late_shell = group("late")
    early, early_shell = group("early")

    background.add(late, time.monotonic() + FAR)
    background.add(early, time.monotonic() + 0.1)

    assert over(early_shell)
    wait(lambda: list(background.alive()) == [late.pid], what="only the late one is left")
    background.close()
    assert over(late_shell)


def test_closing_ends_all_of_them(background: BackgroundProcesses) -> None:
    groups = [group(f"mark-{number}") for number in range(3)]
    for tree, _ in groups:
        background.add(tree, time.monotonic() + FAR)
    listed = background.alive()

    background.close()

    assert set(listed) == {tree.pid for tree, _ in groups}
    assert all(over(shell) for _, shell in groups)


def test_after_closing_nothing_is_let_live(background: BackgroundProcesses) -> None:
    background.close()
    tree, shell = group()

    background.add(tree, time.monotonic() + FAR)

    assert over(shell)


def test_nothing_to_watch_needs_no_thread(background: BackgroundProcesses) -> None:
    assert background.alive() == {}
    assert "hook-background" not in names()


def test_a_stranger_who_got_the_number_of_a_dead_group_is_left_alone(background: BackgroundProcesses) -> None:
    stranger = subprocess.Popen(["/bin/cat"], stdin=subprocess.PIPE, stdout=subprocess.PIPE, start_new_session=True)
    tree = PosixTree(stranger.pid, "mark")  # as if this number had been our hook's before

    background.add(tree, time.monotonic())
    background.close()

    assert stranger.communicate(b"still here")[0] == b"still here"  # who was killed does not answer any more


def test_a_tree_that_no_thread_can_watch_is_ended_at_once(background: BackgroundProcesses) -> None:
    tree, shell = group()

    with no_thread_left():
        background.add(tree, time.monotonic() + FAR)

    assert over(shell)
    assert background.alive() == {}
