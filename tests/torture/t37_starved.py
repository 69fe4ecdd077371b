"""T37: a database that is locked, truncated or gone, and a tray without descriptors, memory or processes."""

from __future__ import annotations

import contextlib
import itertools
import json
import os
import resource
import shutil
import sqlite3
import subprocess
import sys
from collections import Counter
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from pathlib import Path

from desk import wait
from house import PRE_TOOL_USE, House

from torture.frame import Tally
from torture.t36_failed_guards import LENIENT, WANTED, verdict
from torture.trays import LONG, RELAYS, Asked, Tray
from tray.engine.guards_in_force import guards
from tray.installation import installed_relay

TITLE = "databases that cannot be read, and a tray without resources"
DENY = 'cat >/dev/null; echo \'{"decision": "block", "reason": "no"}\''
ALONE = {"Bash": "ask", "Write": "deny", "Read": "silence", LENIENT: "silence"}  # what a relay says by its table
FREE_DESCRIPTORS = range(2, 40, 2)  # up to what a tray needs to judge a call and start its hook
MEGABYTE = 1024 * 1024
LIMITS = {
    "descriptors": (resource.RLIMIT_NOFILE, (0, 2, 4, 6, 8, 10, 12, 16)),
    "memory": (resource.RLIMIT_AS, (0, MEGABYTE, 4 * MEGABYTE, 16 * MEGABYTE)),
    "processes": (resource.RLIMIT_NPROC, (0, 1)),
}


def torture(tally: Tally) -> None:
    said: Counter[str] = Counter()
    with ThreadPoolExecutor(2) as pool:
        runs = [
            pool.submit(_damaged, tally, tally.folder / f"{number}-{name}", name, damage)
            for number in range(tally.many(1, 25))
            for name, damage in DAMAGE.items()
        ]
        runs += [
            pool.submit(_limited, tally, tally.folder / f"limits-{number}", name, said)
            for number in range(tally.many(1, 12))
            for name in LIMITS
        ]
        for done in runs:
            done.result()
    tally.control("a guard whose failure means allow", said["silence"] > 0)


def _fill(house: House) -> None:
    house.hook("default", on="tool_before", tool="Bash", script=DENY)
    house.hook("strict", on="tool_before", tool="Write", script=DENY, failure="block")
    house.hook("lenient", on="tool_before", tool=LENIENT, script=DENY, failure="allow")


def _install(relay: Path, house: House) -> None:
    """The same, and in `relay` both relays with the table of a connected agent's guards."""
    _fill(house)
    database = house.stores.database
    installed_relay.install(house.paths, database)
    approved = guards(house.stores.ledger.state, house.stores.switch, ["claude-code"])
    installed_relay.write_table(house.paths, approved, database)
    shutil.copytree(house.paths.relay_folder, relay)
    for argv in RELAYS.values():
        shutil.copy2(argv[-1], relay)


# ---- the database


@contextlib.contextmanager
def _locked(database: Path) -> Iterator[None]:
    with contextlib.closing(sqlite3.connect(database, isolation_level=None, timeout=LONG)) as connection:
        connection.execute("BEGIN EXCLUSIVE")
        yield


@contextlib.contextmanager
def _truncated(database: Path) -> Iterator[None]:
    for path in (database, database.with_name(f"{database.name}-wal")):
        os.truncate(path, min(1000, path.stat().st_size))
    yield


@contextlib.contextmanager
def _missing(database: Path) -> Iterator[None]:
    for path in database.parent.glob(f"{database.name}*"):
        path.unlink()
    yield


DAMAGE: dict[str, Callable[[Path], contextlib.AbstractContextManager[None]]] = {
    "locked": _locked,
    "truncated": _truncated,
    "missing": _missing,
}


def _damaged(
    tally: Tally, folder: Path, name: str, damage: Callable[[Path], contextlib.AbstractContextManager[None]]
) -> None:
    """Under a running tray, which knows its guards; then without one, where the engine must not say a word."""
    relays = folder.with_name(f"{folder.name}-relays")
    tray = Tray(folder, partial(_install, relays))
    try:
        with damage(tray.paths.database):
            for tool in WANTED:
                for relay in RELAYS.values():
                    _judge(tally, f"{name} database", tool, _ask(tray, relay, tool))
            tray.kill()
            with contextlib.suppress(FileNotFoundError):
                os.truncate(tray.paths.database, 1000)  # what the tray has made anew meanwhile
            framed, plain = (_one_shot(tray, *options) for options in (("--framed",), ()))
            tally.attack(f"{name}, no tray: {framed[:80]!r}", framed == b"")
            tally.control("an engine that is neutral when it cannot read its database", plain == b"")
            _ask_alone(tally, name, relays)
    finally:
        tray.stop()


def _ask_alone(tally: Tally, name: str, relays: Path) -> None:
    """What the relays say by their table when nothing of ours can judge; all at once, since each waits for it."""
    calls = [
        (tool, Asked(None, [*argv[:-1], str(relays / Path(argv[-1]).name)], "PreToolUse", _payload(tool)))
        for tool in ALONE
        for argv in list(RELAYS.values())[-len(RELAYS) if tally.full else -1 :]
    ]
    for tool, call in calls:
        found = verdict(*call.answer())
        note = tally.keep if tool == "Read" else tally.attack
        note(f"{name}, relay alone, {tool}: {found}", found == ALONE[tool])


def _one_shot(tray: Tray, *options: str) -> bytes:
    argv = [sys.executable, "-I", "-m", "tray", "once", "--home", tray.home, *options, "claude-code", "PreToolUse"]
    body = json.dumps(PRE_TOOL_USE).encode()
    return subprocess.run(
        argv, input=body, capture_output=True, timeout=LONG, check=False, env=tray.environment
    ).stdout


# ---- the limits


def _limited(tally: Tally, folder: Path, name: str, said: Counter[str]) -> None:
    limit, steps = LIMITS[name]
    if limit == resource.RLIMIT_NPROC and os.geteuid() == 0:
        tally.not_run = sorted({*tally.not_run, "a limit of processes: the kernel does not hold root to it"})
        return
    tray = Tray(folder / name, _fill)
    try:
        for number, step in enumerate(steps if tally.full else steps[::2]):
            with _starved(tray, limit, step):
                for tool in [*WANTED, LENIENT]:
                    found = _ask(tray, list(RELAYS.values())[number % len(RELAYS)], tool)
                    if tool == LENIENT:
                        said[found] += 1
                    else:
                        _judge(tally, f"{name} + {step}", tool, found)
    finally:
        tray.stop()
    if limit == resource.RLIMIT_NOFILE:
        _until_a_failure_allows(folder, said)


def _until_a_failure_allows(folder: Path, said: Counter[str]) -> None:
    """Starves new trays less and less, until one takes the call and cannot start the hook.

    How many descriptors that takes depends on what the tray has opened by then, so no single number is reliable.
    """
    for free in FREE_DESCRIPTORS:
        if said["silence"]:
            break
        tray = Tray(folder / f"failing-{free}", _fill)
        try:
            wait(partial(_watches_files, tray.process.pid), LONG, "the tray has begun its parts")  # else it ends
            with _starved(tray, resource.RLIMIT_NOFILE, free):
                said[_ask(tray, next(iter(RELAYS.values())), LENIENT)] += 1
        finally:
            tray.stop()


def _watches_files(pid: int) -> bool:
    for link in Path(f"/proc/{pid}/fd").iterdir():
        with contextlib.suppress(FileNotFoundError):  # closed meanwhile
            if os.readlink(link) == "anon_inode:inotify":  # noqa: PTH115
                return True
    return False


@contextlib.contextmanager
def _starved(tray: Tray, limit: int, step: int) -> Iterator[None]:
    """Limits the tray to `step` more of this than it uses, then puts its soft limit back, which it may not raise.

    A tray that has ended is started again first: it ends when it cannot even start its parts, which relays know.
    """
    if tray.process.poll() is not None:
        tray.start()
    pid = tray.process.pid
    before = resource.prlimit(pid, limit)
    resource.prlimit(pid, limit, (_most(pid, limit, step), before[1]))
    try:
        yield
    finally:
        with contextlib.suppress(ProcessLookupError):
            resource.prlimit(pid, limit, before)


def _most(pid: int, limit: int, step: int) -> int:
    """The limit that leaves this process `step` more than it uses now; of descriptors, so many free numbers."""
    if limit == resource.RLIMIT_NOFILE:
        used: set[int] = set()
        with contextlib.suppress(OSError):  # it has just ended
            used.update(map(int, os.listdir(f"/proc/{pid}/fd")))  # noqa: PTH208
        return next(itertools.islice((number for number in itertools.count() if number not in used), step, None))
    return _used(pid, limit) + step


def _used(pid: int, limit: int) -> int:
    if limit == resource.RLIMIT_AS:
        return int(Path(f"/proc/{pid}/statm").read_text().split()[0]) * resource.getpagesize()
    uid = os.geteuid()
    return sum(path.stat().st_uid == uid for path in Path("/proc").glob("[0-9]*/task/*"))


def _ask(tray: Tray, relay: list[str], tool: str) -> str:
    return verdict(*Asked(tray, relay, "PreToolUse", _payload(tool)).answer())


def _payload(tool: str) -> bytes:
    return json.dumps(PRE_TOOL_USE | {"tool_name": tool}).encode()


def _judge(tally: Tally, what: str, tool: str, found: str) -> None:
    if tool == "Read":
        tally.keep(f"{what}, {tool}: {found}", found in WANTED[tool])
    else:
        tally.attack(f"{what}, {tool}: {found}", found in WANTED[tool])
