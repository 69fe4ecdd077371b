"""Self-approval by way of the session bus: the menu, the icon, the names of tray hosts, the buttons of alerts."""

from __future__ import annotations

import asyncio
import contextlib
import json
import subprocess
import sys
from collections.abc import Coroutine, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypeVar

from desk import wait
from desktop.watcher import WATCHER, Watcher
from notify.parts import Recorder, recording_server, session_bus
from plain import Plain

from torture.frame import Tally
from torture.place import GUARD, KEPT, Place
from tray.event_loop import LoopThread

T = TypeVar("T")
HERE = Path(__file__).parent
FOREIGN = [sys.executable, "-I", str(HERE / "foreign.py")]
ASKS = {"name": "asks", "event": "tool_before", "agent": "x-code", "type": "rule", "matcher": "ls", "decision": "ask"}
CONFIGURATION = {"hooks": [GUARD, KEPT, ASKS], "ask_on_desktop": {"agents": ["x-code"], "seconds": 60}}
HOWS = ("event", "group", "press", "host")
DEADLINE = 20.0
TRIES = 3


@dataclass
class Street:
    """A tray with its icon on a bus of its own, a panel that shows it, and a notification server."""

    place: Place
    address: str
    server: Recorder
    loop: LoopThread
    watcher: Watcher

    def do(self, work: Coroutine[Any, Any, T]) -> T:
        return _in(self.loop, work)

    @property
    def item(self) -> str:
        return wait(lambda: self.watcher.registered, DEADLINE, "the icon registers")[0]

    def row(self, *path: str) -> int:
        """The number of a row of the menu, by the beginnings of its labels."""

        def found() -> int:
            rows, number = self.do(self.watcher.rows(self.item)), 0
            for label in path:
                number, rows = next(
                    ((row[0], row[2]) for row in rows if str(row[1].get("label", "")).startswith(label)), (0, [])
                )
            return number

        return wait(found, DEADLINE, f"the row {path}")

    def as_agent(self, hows: Sequence[str], number: int) -> list[str]:
        """What an agent's program on the bus is told of each; "None" when it was let do it."""
        argv = self.place.as_agent([*FOREIGN, self.address, ",".join(hows), str(number), self.item])
        done = self.place.plain.run(argv, timeout=60)
        assert not done.returncode, done.stderr.decode()
        return done.stdout.decode().split()


def _in(loop: LoopThread, work: Coroutine[Any, Any, T]) -> T:
    return asyncio.run_coroutine_threadsafe(work, loop.loop).result(DEADLINE)


def on_the_bus(tally: Tally, folder: Path) -> None:
    folder.mkdir()
    with _street(folder) as street:
        _controls(tally, street)
        for round_ in range(tally.many(1, 25)):
            goal = ("Approvals", "guard", "Approve") if round_ % 2 else ("Hooks enabled",)
            number = street.row(*goal)
            said = street.as_agent(HOWS, number)
            with _alone(street):
                said += street.as_agent(["watcher"], number)
            for how, word in zip((*HOWS, "watcher"), said, strict=True):
                tally.attack(f"{how} at {goal[-1]}: {word}", word.endswith("AccessDenied") and street.place.held())
            tally.attack("buttons that nobody pressed", _spoofed(street))
        _a_person_still_can(tally, street)


@contextmanager
def _street(folder: Path) -> Iterator[Street]:
    plain = Plain(folder)
    with ExitStack() as stack:
        environment = dict(plain.environment)
        address = stack.enter_context(session_bus(folder, environment))
        plain.environment["DBUS_SESSION_BUS_ADDRESS"] = address
        server = stack.enter_context(recording_server(folder, plain.environment, "body", "actions"))
        loop = LoopThread()
        stack.callback(loop.close)
        watcher = _in(loop, Watcher.start(address))
        stack.callback(lambda: _in(loop, watcher.stop()))
        stack.callback(plain.close)
        place = Place.made(plain, folder, CONFIGURATION)
        street = Street(place, address, server, loop, watcher)
        wait(lambda: street.item in watcher.registered, DEADLINE, "the panel has the icon")
        yield street


@contextmanager
def _alone(street: Street) -> Iterator[None]:
    """The panel is gone for a while: its name is free for whoever takes it."""
    street.do(street.watcher.bus.release_name(WATCHER))
    try:
        yield
    finally:
        street.do(street.watcher.bus.request_name(WATCHER))


def _spoofed(street: Street) -> bool:
    """An agent's question waits for the user's button; its own program says that it was pressed, before he does."""
    asking, question = _asked(street)
    street.as_agent(["invoked"], int(question["id"]) + 5)
    name, path = "org.freedesktop.Notifications", "/org/freedesktop/Notifications"
    street.do(street.watcher.call(name, path, name, "Press", "us", question["id"], "deny"))
    assert asking.stdout is not None
    said = asking.stdout.read()
    asking.stdout.close()
    asking.wait(DEADLINE)
    return b"deny" in said and street.place.held()


def _asked(street: Street) -> tuple[subprocess.Popen[bytes], Mapping[str, Any]]:
    """A relay that waits for a button, and its question; one that gave the busy tray up is followed by another."""
    relay = street.place.as_agent(street.place.live.relay_argv("x-code", "PreToolUse"))  # and not we, who click
    payload = {"event": "PreToolUse", "session": {"cwd": "/"}, "tool": {"name": "shell", "args": {"command": "ls"}}}
    for _ in range(TRIES):
        before = len(street.server.calls())
        asking = subprocess.Popen(
            relay, env=street.place.plain.environment, stdin=subprocess.PIPE, stdout=subprocess.PIPE
        )
        assert asking.stdin is not None
        asking.stdin.write(json.dumps(payload).encode())
        asking.stdin.close()
        while asking.poll() is None:
            if question := _question(street.server.calls()[before:]):
                return asking, question
            with contextlib.suppress(subprocess.TimeoutExpired):
                asking.wait(0.02)
        assert asking.stdout is not None
        asking.stdout.close()
    raise AssertionError("no question was put")


def _question(calls: Sequence[Mapping[str, Any]]) -> Mapping[str, Any] | None:
    return next((call for call in calls if "allow" in call["actions"]), None)


def _controls(tally: Tally, street: Street) -> None:
    """The same programs, and trays that look at words alone."""
    folder = street.place.folder / "granted"
    folder.mkdir()
    argv = [sys.executable, "-I", str(HERE / "naive_bus.py"), street.address, str(folder), *NAIVE]
    with subprocess.Popen(argv, stdout=subprocess.PIPE) as naive:
        assert naive.stdout is not None
        assert naive.stdout.readline() == b"ready\n"
        run = street.place.plain.run
        run([*FOREIGN, street.address, "event,group,press,invoked", "1", NAIVE[0]], timeout=60)
        run([*FOREIGN, street.address, "host", "1", NAIVE[1]], timeout=60)
        with _alone(street):
            run([*FOREIGN, street.address, "watcher", "1", NAIVE[2]], timeout=60)
        with contextlib.suppress(AssertionError):
            wait(lambda: len(list(folder.iterdir())) == len(FALLS), DEADLINE, "it falls")
        naive.terminate()
    for name in FALLS:
        tally.control(f"a tray that looks at words alone: {name}", (folder / name).exists())


NAIVE = ("org.example.any", "org.example.host", "org.example.host2")
FALLS = (
    *(f"{NAIVE[0]}-{member}" for member in ("Event", "EventGroup", "SecondaryActivate")),
    "ActionInvoked",
    f"{NAIVE[1]}-Event",
    f"{NAIVE[2]}-Event",
)


def _a_person_still_can(tally: Tally, street: Street) -> None:
    """The panel's own click counts: the menu was no dead one."""
    error = street.do(street.watcher.click(street.item, street.row("Hooks enabled")))
    switch = street.place.stores().switch
    wait(lambda: not switch.load().enabled, DEADLINE, "hooks are off")
    tally.keep(f"a click of the panel: {error}", not error)
