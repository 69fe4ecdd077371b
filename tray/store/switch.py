"""The master switch: on or off, pauses, muted sounds. Read from memory, on disk before a change counts."""

from __future__ import annotations

import contextlib
import hashlib
import json
import sqlite3
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace

from tray.errors import StoreError
from tray.model.decision import Gate
from tray.store.db import Database
from tray.store.noted import SWITCH, note, noted

SET = "INSERT INTO switch VALUES (?, ?) ON CONFLICT (key) DO UPDATE SET value = excluded.value"
PAUSE = "INSERT INTO pause VALUES (?, ?, ?) ON CONFLICT (agent, session) DO UPDATE SET until = excluded.until"
OFF = "hook off "  # what the switch of a single hook is called, before its key
UNTOLD = "untold "  # and that of a class of alerts
SHUT = ("DELETE FROM switch WHERE key GLOB ?", (f"{OFF}*",))
NOTE = SWITCH
ALTERED = "the switch or a pause is not as Hooktray last wrote it: that does not count, hooks are on"
LOG = "INSERT INTO switch_log (at, what, way) VALUES (?, ?, ?)"


@dataclass(frozen=True, slots=True, kw_only=True)
class Pause:
    """Until when no hook runs: for one agent, for one session, or for everybody."""

    until: float
    agent: str = ""  # "" = every agent
    session: str = ""  # "" = every session

    def covers(self, session: str, agent: str) -> bool:
        return self.agent in ("", agent) and self.session in ("", session)


@dataclass(frozen=True, slots=True, kw_only=True)
class State:
    """How things stand. `paused_until` is of the pause that is for everybody; `pauses` are all that still last."""

    enabled: bool = True
    paused_until: float | None = None
    muted: bool = False
    pauses: tuple[Pause, ...] = ()
    off: frozenset[str] = frozenset()  # keys of hooks that the menu switched off
    untold: frozenset[str] = frozenset()  # classes of alerts that the menu switched off


class Switch:
    """One process changes it, the tray; everyone else loads it."""

    def __init__(self, database: Database, clock: Callable[[], float] = time.time) -> None:
        self._database = database
        self._clock = clock
        self._lock = threading.Lock()
        self._passing = threading.Lock()  # held while a hook starts, and while a change begins to count
        self._state = State()
        self._note = database.path.with_name(NOTE)
        self.altered = ""  # what somebody else did to it; "" when nobody has
        self.load()

    def load(self) -> State:
        """Read it again from the disk."""
        with self._lock, self._database.connect() as connection:
            found = _read(connection)
            self._state = found if self._is_ours(found) else _on(found)
            self.altered = "" if self._state == found else ALTERED
        return self.state()

    def state(self) -> State:
        now, state = self._clock(), self._state
        pauses = tuple(pause for pause in state.pauses if pause.until > now)
        everybody = next((pause.until for pause in pauses if pause.covers("", "")), None)
        return replace(state, paused_until=everybody, pauses=pauses)

    def gate(self, now: float, session: str = "", agent: str = "") -> Gate | None:
        """Why no hook may run at `now`, or None."""
        state = self._state
        if not state.enabled:
            return Gate.SWITCH_OFF
        if state.pauses and any(pause.until > now and pause.covers(session, agent) for pause in state.pauses):
            return Gate.PAUSED
        return None

    @contextlib.contextmanager
    def passing(self, session: str = "", agent: str = "") -> Iterator[bool]:
        """Whether a hook may start now; whoever turns the switch meanwhile waits until it has."""
        with self._passing:
            yield self.gate(self._clock(), session, agent) is None

    def turn(self, on: bool, way: str) -> None:
        """On means on: it also ends every pause."""
        statements = [(SET, ("enabled", int(on))), *([("DELETE FROM pause", ())] if on else [])]
        self._change(statements, "on" if on else "off", way)

    def pause(self, until: float, *, agent: str = "", session: str = "", way: str) -> None:
        whom = "".join(f" {word}" for word in (agent, session) if word)
        self._change([(PAUSE, (agent, session, until))], f"pause{whom}", way)

    def resume(self, way: str) -> None:
        """End every pause."""
        self._change([("DELETE FROM pause", ())], "resume", way)

    def is_off(self, key: str) -> bool:
        """Whether the menu switched this hook off."""
        return key in self._state.off

    def untold(self) -> frozenset[str]:
        return self._state.untold

    def hook(self, key: str, on: bool, way: str) -> None:
        """A single hook's switch, which outlives what is changed in files."""
        self._change([_flag(OFF + key, not on)], f"hook {'on' if on else 'off'} {key}", way)

    def tell(self, cls: str, on: bool, way: str = "") -> None:
        """Whether a class of alerts is told."""
        self._change([_flag(UNTOLD + cls, not on)], f"{'tell' if on else 'do not tell'} {cls}", way)

    def restore(self, state: State, way: str) -> None:
        """Back to how it stood, its pauses included; the sounds stay as they are."""
        pauses = [(PAUSE, (one.agent, one.session, one.until)) for one in state.pauses]
        self._change([(SET, ("enabled", int(state.enabled))), ("DELETE FROM pause", ()), *pauses], "undo", way)

    def mute(self, on: bool, way: str = "") -> None:
        self._change([(SET, ("muted", int(on)))], "mute" if on else "unmute", way)

    @contextlib.contextmanager
    def quiet(self) -> Iterator[None]:
        """No change is written meanwhile."""
        with self._lock:
            yield

    def sign(self) -> None:
        """Note beside the database what we last wrote, where that note was lost. Raises StoreError."""
        with self._lock:
            note(self._note, (_digest(self._state),))

    def rewrite(self) -> None:
        """Write the switch and the pauses into a database that does not have them. Raises StoreError."""
        with self._lock:
            flags = [("muted", int(self._state.muted)), *((UNTOLD + cls, 1) for cls in self._state.untold)]
            with self._database.write(durable=True) as connection:
                _write(connection, self._state)
                connection.executemany(SET, flags)
                note(self._note, (_digest(self._state),))

    def _change(self, statements: Sequence[tuple[str, tuple[object, ...]]], what: str, way: str) -> None:
        now = self._clock()
        with self._lock:
            with self._database.write(durable=True) as connection:
                if not self._is_ours(_read(connection)):
                    self.altered = ALTERED
                    _write(connection, self._state)
                before = _digest(_read(connection))
                connection.execute("DELETE FROM pause WHERE until <= ?", (now,))
                for sql, values in statements:
                    connection.execute(sql, values)
                connection.execute(LOG, (now, what, way))
                state = _read(connection)
                note(self._note, (before, _digest(state)))
            with self._passing:
                self._state = state
            with contextlib.suppress(StoreError):  # both stand there then
                note(self._note, (_digest(state),))

    def _is_ours(self, state: State) -> bool:
        """Who loosens a gate must have noted it; that all of them are shut needs no proof."""
        return state == _on(state) or _digest(state) in noted(self._note)


def _on(state: State) -> State:
    return replace(state, enabled=True, pauses=(), off=frozenset())


def _digest(state: State) -> str:
    pauses = sorted((one.until, one.agent, one.session) for one in state.pauses)
    return hashlib.sha256(json.dumps([state.enabled, pauses, sorted(state.off)]).encode()).hexdigest()


def _write(connection: sqlite3.Connection, state: State) -> None:
    """What loosens gates, as we know it, in the place of what stands there."""
    connection.execute(*SHUT)
    connection.execute("DELETE FROM pause")
    connection.execute(SET, ("enabled", int(state.enabled)))
    connection.executemany(SET, [(OFF + key, 1) for key in state.off])
    connection.executemany(PAUSE, [(one.agent, one.session, one.until) for one in state.pauses])


def _flag(name: str, on: bool) -> tuple[str, tuple[object, ...]]:
    return (SET, (name, 1)) if on else ("DELETE FROM switch WHERE key = ?", (name,))


def _named(words: dict[str, int], prefix: str) -> frozenset[str]:
    return frozenset(word.removeprefix(prefix) for word in words if word.startswith(prefix))


def _read(connection: sqlite3.Connection) -> State:
    words = dict(connection.execute("SELECT key, value FROM switch").fetchall())
    pauses = connection.execute("SELECT until, agent, session FROM pause").fetchall()
    return State(
        enabled=bool(words.get("enabled", True)),
        muted=bool(words.get("muted", False)),
        pauses=tuple(Pause(until=row["until"], agent=row["agent"], session=row["session"]) for row in pauses),
        off=_named(words, OFF),
        untold=_named(words, UNTOLD),
    )
