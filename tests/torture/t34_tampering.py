"""T34: socket, state folder, relay and agents' settings are changed while events run; the tray notices."""

from __future__ import annotations

import contextlib
import itertools
import json
import os
import random
import shutil
import socket
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import AbstractContextManager, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from desk import wait
from headless import ENVIRONMENT
from house import PRE_TOOL_USE, House

from torture.frame import Tally
from torture.t36_failed_guards import verdict
from torture.trays import LONG, Asked, Tray, within
from tray import relay_program
from tray.errors import IpcError
from tray.ipc.client import send_request
from tray.paths import Paths

TITLE = "what guards rely on, taken away or altered"
BETWEEN = 0.2  # seconds between two events
NOTICED = 2.0  # seconds until the tray must have noticed
GUARDED = ("deny", "ask")
Condition = Callable[[], bool]
OURS = "x['hooks']['PreToolUse'][0]"
EDITS = {
    "an event": "del x['hooks']['PreToolUse']",
    "all events": "del x['hooks']",
    "the matcher": f"{OURS}['matcher'] = 'Read'",
    "the switch": "x['disableAllHooks'] = True",
    "the limit": f"{OURS}['hooks'][0]['timeout'] = 1",
    "the type": f"{OURS}['hooks'][0]['type'] = 'prompt'",
}


@dataclass(frozen=True)
class Victim:
    """A tray with one connected agent, whose files anybody may write."""

    paths: Paths
    person: Path  # their home
    before: dict[Path, bytes]  # what is to be there

    @property
    def home(self) -> str:
        return str(self.paths.home)

    @property
    def settings(self) -> Path:
        return self.person / ".claude" / "settings.json"

    def health(self) -> dict[str, Any]:
        try:
            return dict(send_request(self.paths.socket, {"op": "health"}))
        except (IpcError, OSError):
            return {}

    def noticed(self) -> bool:
        return bool(self.health().get("changes"))

    def well(self) -> bool:
        found = self.health()
        return (
            bool(found) and not found["changes"] and all(_bytes(file) == text for file, text in self.before.items())
        )


def torture(tally: Tally) -> None:
    with ThreadPoolExecutor(2) as pool:
        for done in [pool.submit(_watched, tally), pool.submit(_unwatched, tally)]:
            done.result()


def _watched(tally: Tally) -> None:
    dice = random.Random(34)
    with _victim(tally.folder / "watched", Tray) as victim, _events(victim, tally):
        names = [*EDITS, *MENDED]  # the tray has seen what `connect` wrote when its edits were noticed
        for number in range(tally.many(len(names), 400)):
            name = names[number] if number < len(names) else dice.choice(names)
            held = _attack(victim, name, NOTICED * tally.patience, by_connect=tally.full or name == "the matcher")
            tally.attack(f"{number}: {name}", held)


def _unwatched(tally: Tally) -> None:
    with _victim(tally.folder / "unwatched", Unwatched) as victim:
        for name in ("the matcher", "the relay is altered", "the socket is unlinked"):
            tally.control(f"a tray that does not watch: {name}", not _attack(victim, name, NOTICED, by_connect=False))


def _attack(victim: Victim, name: str, seconds: float, *, by_connect: bool = True) -> bool:
    """Whether the tray noticed it in time, and all is as it was then: by `connect`, else by whoever changed it."""
    if name in EDITS:
        _edit(victim.settings, EDITS[name])
        held = within(seconds, victim.noticed)
        if by_connect:
            _connect(victim)
        else:
            victim.settings.write_bytes(victim.before[victim.settings])
        return held and within(LONG, victim.well)
    with MENDED[name](victim) as is_mended:
        return within(seconds, lambda: is_mended() and victim.well())


def _edit(file: Path, change: str) -> None:
    """As a program that reads, changes and replaces the file."""
    settings = json.loads(file.read_text())
    exec(change, {"x": settings})  # one of EDITS
    draft = file.with_suffix(".new")
    draft.write_text(json.dumps(settings, indent=2, ensure_ascii=False) + "\n")
    draft.replace(file)


def _connect(victim: Victim) -> None:
    argv = [sys.executable, "-I", "-m", "tray", "--home", str(victim.paths.home), "connect", "claude-code", "--yes"]
    environment = {**ENVIRONMENT, "HOME": str(victim.person)}
    subprocess.run(argv, env=environment, capture_output=True, check=True, timeout=LONG)


@contextmanager
def _socket_unlinked(victim: Victim) -> Iterator[Condition]:
    victim.paths.socket.unlink()
    yield victim.paths.socket.exists


@contextmanager
def _fake_socket(victim: Victim) -> Iterator[Condition]:
    """Somebody else listens there and answers nothing."""
    draft = victim.paths.socket.with_name("fake")
    opened = os.open(victim.paths.state, os.O_PATH)
    with contextlib.closing(socket.socket(socket.AF_UNIX)) as fake:
        fake.bind(f"/proc/self/fd/{opened}/{draft.name}")  # the path may be too long for an address
        os.close(opened)
        fake.listen()
        theirs = _inode(draft)
        draft.replace(victim.paths.socket)
        yield lambda: _inode(victim.paths.socket) not in (0, theirs)


@contextmanager
def _state_deleted(victim: Victim) -> Iterator[Condition]:
    subprocess.run(["rm", "-rf", victim.paths.state], check=False)
    yield victim.paths.database.exists
    _connect(victim)  # what it recorded is gone: without that, the tray does not know its entries


@contextmanager
def _state_moved(victim: Victim) -> Iterator[Condition]:
    away = victim.paths.state.with_name(f"away-{time.monotonic_ns()}")
    victim.paths.state.rename(away)
    yield victim.paths.database.exists
    shutil.rmtree(away)
    _connect(victim)


@contextmanager
def _database_replaced(victim: Victim) -> Iterator[Condition]:
    draft = victim.paths.database.with_suffix(".new")
    draft.write_bytes(b"no database" * 1000)
    draft.replace(
        victim.paths.database
    )  # in one step: the tray makes a deleted one anew, which is not to be written to
    yield lambda: _bytes(victim.paths.database).startswith(b"SQLite")


@contextmanager
def _database_garbled(victim: Victim) -> Iterator[Condition]:
    """In place, under the tray's own connections."""
    before = _inode(victim.paths.database)
    with victim.paths.database.open("r+b") as file:
        file.write(b"no database" * 10_000)
    yield lambda: _inode(victim.paths.database) not in (0, before)


@contextmanager
def _relay_altered(victim: Victim) -> Iterator[Condition]:
    draft = victim.paths.relay.with_suffix(".new")
    draft.write_text("#!/bin/sh\nexit 0\n")
    draft.chmod(0o755)
    draft.replace(victim.paths.relay)
    yield victim.paths.relay.exists


@contextmanager
def _relay_deleted(victim: Victim) -> Iterator[Condition]:
    shutil.rmtree(victim.paths.relay_folder, ignore_errors=True)  # the tray may already write into it again
    yield victim.paths.relay.exists


@contextmanager
def _table_altered(victim: Victim) -> Iterator[Condition]:
    victim.paths.relay_table.write_text("state=/nowhere\n")
    yield victim.paths.relay_table.exists


# What the tray puts right by itself, each with the condition that it has been.
MENDED: dict[str, Callable[[Victim], AbstractContextManager[Condition]]] = {
    "the socket is unlinked": _socket_unlinked,
    "the socket is another program's": _fake_socket,
    "the state folder is deleted": _state_deleted,
    "the state folder is moved": _state_moved,
    "the database is another file": _database_replaced,
    "the database is damaged": _database_garbled,
    "the relay is altered": _relay_altered,
    "the relay's folder is deleted": _relay_deleted,
    "the relay's table is altered": _table_altered,
}


class Unwatched(Tray):
    """Its process watches nothing."""

    def start(self) -> None:
        quiet = subprocess.DEVNULL
        environment = {**self.environment, "PYTHONPATH": str(Path(__file__).parents[1])}
        argv = [sys.executable, "-m", "torture.unwatched_tray", self.home]
        self.process = subprocess.Popen(argv, env=environment, stdin=quiet, stdout=quiet, stderr=quiet)
        victim = Victim(self.paths, Path(self.home), {})
        wait(victim.health, LONG, "the tray answers: its socket is there before it has looked at its files")


@contextmanager
def _victim(folder: Path, kind: type[Tray]) -> Iterator[Victim]:
    person = folder / "person"
    (person / ".claude").mkdir(parents=True)
    (person / ".claude/settings.json").write_text('{\n  "theme": "dark"\n}\n')
    tray = kind(folder, _guarded, {"HOME": str(person)})
    try:
        victim = Victim(tray.paths, person, {})
        wait(victim.health, LONG, "the tray answers")
        _connect(victim)
        files = (victim.settings, tray.paths.relay, tray.paths.relay_table)
        victim = Victim(tray.paths, person, {file: file.read_bytes() for file in files})
        wait(victim.well, LONG, "all is well at first")
        yield victim
    finally:
        tray.stop()


def _guarded(house: House) -> None:
    house.hook("guard", on="tool_before", script="echo no >&2; exit 2")


@contextmanager
def _events(victim: Victim, tally: Tally) -> Iterator[None]:
    """An agent whose calls a guard refuses, meanwhile. Its relay is a copy: what that relies on is attacked here."""
    ended = threading.Event()
    found: list[str] = []
    relays = itertools.cycle(_copied_relays(victim))

    def run() -> None:
        while not ended.is_set():
            asked = Asked(None, next(relays), "PreToolUse", json.dumps(PRE_TOOL_USE).encode())
            found.append(verdict(*asked.answer()))
            tally.attack(f"a guarded call: {found[-1]}", found[-1] in GUARDED)
            ended.wait(BETWEEN)

    thread = threading.Thread(target=run)
    thread.start()
    try:
        yield
    finally:
        ended.set()
        thread.join()
        guarded = sum(one in GUARDED for one in found)
        tally.measured.append(f"{guarded} of {len(found)} guarded calls were refused or asked about meanwhile")


def _copied_relays(victim: Victim) -> list[list[str]]:
    """The installed relay and the portable one, both with the installed table."""
    place = victim.person / "relays"
    place.mkdir()
    files = (victim.paths.relay, victim.paths.relay_table, relay_program.PORTABLE_RELAY)
    installed, _, portable = (shutil.copy(file, place) for file in files)
    return [[str(installed)], [*relay_program.portable()[:-1], str(portable)]]


def _inode(path: Path) -> int:
    try:
        return path.stat().st_ino
    except OSError:
        return 0


def _bytes(file: Path) -> bytes:
    try:
        return file.read_bytes()
    except OSError:
        return b""
