"""The core judges events before the user interface is built; what needs the user interface waits for it."""

from __future__ import annotations

import json
import signal
import socket
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import headless
import pytest
from desk.wait import wait
from headless import ENVIRONMENT
from house import PRE_TOOL_USE, House

from tray import relay_program
from tray.ipc.server import ACCEPTORS

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="the hook is a script of sh, the signal of POSIX")

HELD = str(Path(__file__).with_name("held_tray.py"))


class HeldTray:
    """Over a home with an approved guard, which denies."""

    def __init__(self, house: House) -> None:
        self.house = house
        house.hook("guard", on="tool_before", script="echo 'not here' >&2; exit 2")
        self.home = str(house.paths.home)
        argv = [sys.executable, HELD, "--home", self.home]
        self.process = subprocess.Popen(argv, env=ENVIRONMENT, stdin=subprocess.PIPE, stderr=subprocess.DEVNULL)
        wait(lambda: headless.is_open(house.paths.socket), what="the tray listens")

    def call(self) -> str:
        """The decision about a call of a tool."""
        return str(json.loads(self.send("PreToolUse", {}))["hookSpecificOutput"]["permissionDecision"])

    def send(self, event: str, more: dict[str, str]) -> bytes:
        """The answer to an event."""
        argv = [*relay_program.argv(), "--home", self.home, "claude-code", event]
        payload = json.dumps(PRE_TOOL_USE | {"hook_event_name": event} | more).encode()
        done = subprocess.run(argv, input=payload, env=ENVIRONMENT, capture_output=True, timeout=60, check=True)
        return done.stdout

    def end(self) -> None:
        """Build the user interface, and end in order."""
        self.build()
        self.process.terminate()
        assert self.process.wait(60) == 0

    def command(self, *words: str) -> subprocess.Popen[bytes]:
        argv = [sys.executable, "-I", "-m", "tray", "--home", self.home, *words]
        return subprocess.Popen(argv, env=ENVIRONMENT, stdout=subprocess.PIPE)

    def build(self, word: bytes = b"+") -> None:
        assert self.process.stdin is not None
        self.process.stdin.write(word)
        self.process.stdin.close()

    def rows(self) -> list[tuple[str, bool]]:
        """The verdicts in the journal, each with whether the one-shot engine gave it."""
        return [(row.verdict.word, row.offline) for row in self.house.stores.journal.recent(10)]


@pytest.fixture
def held(house: House) -> Iterator[HeldTray]:
    tray = HeldTray(house)
    try:
        yield tray
    finally:
        tray.process.kill()
        tray.process.wait(60)


def test_a_guard_judges_before_the_user_interface_is_built(held: HeldTray) -> None:
    assert held.call() == "deny"

    held.end()
    assert held.rows() == [("deny", False)]


def test_a_command_waits_for_the_user_interface(held: HeldTray) -> None:
    command = held.command("status", "--json")
    held.call()  # meanwhile events are judged
    assert command.poll() is None

    held.build()

    shown = json.loads(command.communicate(timeout=60)[0])
    assert shown["running"] is True


def test_a_signal_before_the_user_interface_is_built_ends_the_tray_in_order(held: HeldTray) -> None:
    held.call()
    held.process.send_signal(signal.SIGTERM)
    wait(lambda: not held.house.paths.socket.exists(), what="the tray takes no more events")

    held.build()

    assert held.process.wait(60) == 0
    assert held.rows() == [("deny", False)]


def test_a_tray_whose_user_interface_cannot_be_built_ends_and_journals_what_it_judged(held: HeldTray) -> None:
    command = held.command("status", "--json")
    held.call()

    held.build(b"-")

    assert held.process.wait(60) == 1
    assert held.rows() == [("deny", False)]
    assert json.loads(command.communicate(timeout=60)[0])["running"] is False


def test_no_guard_waits_for_the_user_interface_after_requests_for_permission(held: HeldTray) -> None:
    """More of them than threads that accept: the agent asks its user by itself, and no relay waits for that."""
    for _ in range(ACCEPTORS):
        held.send("PermissionRequest", {})

    assert held.call() == "deny"

    held.end()
    assert held.rows() == [("deny", False), *[("abstain", False)] * ACCEPTORS]


def test_a_command_typed_into_an_agent_is_answered_while_the_user_interface_is_built(held: HeldTray) -> None:
    assert b"Hooktray is still starting" in held.send("UserPromptSubmit", {"prompt": "/hooks list"})
    held.end()


def test_a_socket_that_is_replaced_while_the_rest_is_built_is_made_anew(held: HeldTray) -> None:
    path = held.house.paths.socket
    path.unlink()
    with socket.socket(socket.AF_UNIX) as other:
        other.bind(str(path))
        theirs = path.stat().st_ino

        held.build()

        wait(lambda: path.exists() and path.stat().st_ino != theirs, what="the tray has its socket back")
    assert held.call() == "deny"
    assert held.rows() == [("deny", False)]
    held.process.terminate()
    assert held.process.wait(60) == 0
