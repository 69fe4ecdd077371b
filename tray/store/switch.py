"""The master switch: on or off, pauses, muted sounds. Read from memory, on disk before a change counts."""

from __future__ import annotations

import contextlib
import hashlib
import json
import math
import sqlite3
import threading
import time
from collections.abc import Collection, Iterator, Sequence

import msgspec
from msgspec.structs import replace

from tray.clock import Clock
from tray.errors import StoreError
from tray.model.decision import Gate
from tray.model.hook import Hook
from tray.store.checkpoint import SWITCH, read_checkpoint, write_checkpoint
from tray.store.db import Database

SET = "INSERT INTO switch VALUES (?, ?) ON CONFLICT (key) DO UPDATE SET value = excluded.value"
PAUSE = "INSERT INTO pause VALUES (?, ?, ?) ON CONFLICT (agent, session) DO UPDATE SET until = excluded.until"
# The fields of SwitchState that loosen a gate for single hooks, each with the word before a hook's key in its rows.
HOOK_SETS = {"hooks_off": "hook off ", "agents_off": "agent off ", "agent_runs": "agent runs "}
SNOOZED = "snoozed_until"
ALERT_OFF = "untold "  # before a class of alerts that is switched off
CLEAR = "DELETE FROM switch WHERE key GLOB ?"
TAMPERED_TEXT = "the switch or a pause is not as Hooktray last wrote it: that does not count, hooks are on"
LOG = "INSERT INTO switch_log (at, what, way) VALUES (?, ?, ?)"


class TimedPause(msgspec.Struct, frozen=True, kw_only=True):
    """Until when no hook runs: for one agent, for one session, or for everybody."""

    until: float
    agent: str = ""  # "" = every agent
    session: str = ""  # "" = every session

    def covers(self, session: str, agent: str) -> bool:
        return self.agent in ("", agent) and self.session in ("", session)


class SwitchState(msgspec.Struct, frozen=True, kw_only=True):
    """The switch's state. `paused_until` is of the pause for everybody; `pauses` are all that still last."""

    enabled: bool = True
    paused_until: float | None = None
    muted: bool = False
    pauses: tuple[TimedPause, ...] = ()
    hooks_off: frozenset[str] = frozenset()  # keys of hooks that the menu switched off
    agents_off: frozenset[str] = frozenset()  # keys of hooks that their agents' own switches turned off
    agent_runs: frozenset[str] = frozenset()  # keys of hooks that the agents whose files declare them run themselves
    muted_classes: frozenset[str] = frozenset()  # classes of alerts that the menu switched off
    snoozed_until: int = 0  # seconds since the epoch; 0 = alerts are not snoozed


class Switch:
    """One process changes it, the tray; everyone else loads it."""

    def __init__(self, database: Database, clock: Clock = time) -> None:
        self._database = database
        self._clock = clock
        self._lock = threading.Lock()
        self._start_lock = threading.Lock()  # held while a hook starts, and while a change begins to count
        self.current = SwitchState()  # its pauses may have ended meanwhile
        self._checkpoint = database.path.with_name(SWITCH)
        self.tampered = ""  # what another program did to it; "" for nothing
        self.load()

    def load(self) -> SwitchState:
        """Read it again from the disk."""
        with self._lock, self._database.connect() as connection:
            found = _read(connection)
            self.current = found if self._matches_checkpoint(found) else _enabled(found)
            self.tampered = "" if self.current == found else TAMPERED_TEXT
        return self.state()

    def state(self) -> SwitchState:
        now, state = self._clock.time(), self.current
        pauses = tuple(pause for pause in state.pauses if pause.until > now)
        everybody = next((pause.until for pause in pauses if pause.covers("", "")), None)
        return replace(state, paused_until=everybody, pauses=pauses)

    def gate(self, now: float, session: str = "", agent: str = "") -> Gate | None:
        """Why no hook may run at `now`, or None."""
        state = self.current
        if not state.enabled:
            return Gate.SWITCH_OFF
        if state.pauses and any(pause.until > now and pause.covers(session, agent) for pause in state.pauses):
            return Gate.PAUSED
        return None

    @contextlib.contextmanager
    def starting(self, session: str = "", agent: str = "") -> Iterator[bool]:
        """Whether a hook may start now; a change of the switch waits until it has."""
        with self._start_lock:
            is_open = self.current.enabled and not self.current.pauses
            yield is_open or self.gate(self._clock.time(), session, agent) is None

    def set_enabled(self, on: bool, channel: str) -> None:
        """On means on: it also ends every pause."""
        statements = [(SET, ("enabled", int(on))), *([("DELETE FROM pause", ())] if on else [])]
        self._change(statements, "on" if on else "off", channel)

    def pause(self, until: float, *, agent: str = "", session: str = "", channel: str) -> None:
        scope = "".join(f" {word}" for word in (agent, session) if word)
        self._change([(PAUSE, (agent, session, until))], f"pause{scope}", channel)

    def resume(self, channel: str) -> None:
        """End every pause."""
        self._change([("DELETE FROM pause", ())], "resume", channel)

    def is_off(self, key: str) -> bool:
        """Whether the menu or its agent's own switch turned this hook off."""
        return key in self.current.hooks_off or key in self.current.agents_off

    def is_run_by(self, agent: str, hook: Hook) -> bool:
        """Whether this agent, whose own connected file declares the hook, runs it by itself."""
        state = self.current
        return bool(state.agent_runs) and agent == hook.source.kind and hook.key in state.agent_runs

    def set_hook(self, key: str, on: bool, channel: str) -> None:
        """A single hook's switch, which outlives what is changed in files."""
        self._change([_flag(HOOK_SETS["hooks_off"] + key, not on)], f"hook {'on' if on else 'off'} {key}", channel)

    def set_agents_off(self, keys: Collection[str], channel: str) -> None:
        """The hooks that their agents' own switches turn off: these and no others."""
        self._set_keys("agents_off", keys, f"agents' own switches: {len(keys)} hooks off", channel)

    def set_agent_runs(self, keys: Collection[str], channel: str) -> None:
        """The hooks that the agents whose files declare them run themselves: these and no others."""
        self._set_keys("agent_runs", keys, f"agents run {len(keys)} hooks of their files themselves", channel)

    def _set_keys(self, field: str, keys: Collection[str], what: str, channel: str) -> None:
        prefix = HOOK_SETS[field]
        statements = [(CLEAR, (f"{prefix}*",)), *(_flag(prefix + key, True) for key in keys)]
        self._change(statements, what, channel)

    def set_alert_class(self, alert_class: str, on: bool) -> None:
        """Whether a class of alerts is shown."""
        self._change([_flag(ALERT_OFF + alert_class, not on)], f"{'tell' if on else 'do not tell'} {alert_class}", "")

    def restore(self, state: SwitchState, channel: str) -> None:
        """Back to this state, its pauses included; the sounds stay as they are."""
        pauses = [(PAUSE, (one.agent, one.session, one.until)) for one in state.pauses]
        self._change([(SET, ("enabled", int(state.enabled))), ("DELETE FROM pause", ()), *pauses], "undo", channel)

    def mute(self, on: bool) -> None:
        self._change([(SET, ("muted", int(on)))], "mute" if on else "unmute", "")

    def snooze(self, until: float | None) -> None:
        """Until when alerts are deferred, also after a restart; None = they are not."""
        self._change([(SET, (SNOOZED, math.ceil(until or 0)))], "snooze" if until else "end snooze", "")

    def _change(self, statements: Sequence[tuple[str, tuple[object, ...]]], what: str, channel: str) -> None:
        now = self._clock.time()
        with self._lock:
            with self._database.write(durable=True) as connection:
                if not self._matches_checkpoint(_read(connection)):
                    self.tampered = TAMPERED_TEXT
                    _write(connection, self.current)
                before = _digest(_read(connection))
                connection.execute("DELETE FROM pause WHERE until <= ?", (now,))
                for sql, values in statements:
                    connection.execute(sql, values)
                connection.execute(LOG, (now, what, channel))
                state = _read(connection)
                write_checkpoint(self._checkpoint, (before, _digest(state)))
            with self._start_lock:
                self.current = state
            with contextlib.suppress(StoreError):  # then both are kept
                write_checkpoint(self._checkpoint, (_digest(state),))

    def _matches_checkpoint(self, state: SwitchState) -> bool:
        """Whether a checkpoint covers what loosens a gate; a state in which every gate is closed needs none."""
        return state == _enabled(state) or _digest(state) in read_checkpoint(self._checkpoint)


def _enabled(state: SwitchState) -> SwitchState:
    return replace(state, enabled=True, pauses=(), **dict.fromkeys(HOOK_SETS, frozenset()))


def _digest(state: SwitchState) -> str:
    pauses = sorted((one.until, one.agent, one.session) for one in state.pauses)
    loosened = [sorted(getattr(state, field)) for field in HOOK_SETS]
    return hashlib.sha256(json.dumps([state.enabled, pauses, *loosened]).encode()).hexdigest()


def _write(connection: sqlite3.Connection, state: SwitchState) -> None:
    """Replace what loosens gates with what we know of it."""
    for field, prefix in HOOK_SETS.items():
        connection.execute(CLEAR, (f"{prefix}*",))
        connection.executemany(SET, [(prefix + key, 1) for key in getattr(state, field)])
    connection.execute("DELETE FROM pause")
    connection.execute(SET, ("enabled", int(state.enabled)))
    connection.executemany(PAUSE, [(one.agent, one.session, one.until) for one in state.pauses])


def _flag(name: str, on: bool) -> tuple[str, tuple[object, ...]]:
    return (SET, (name, 1)) if on else ("DELETE FROM switch WHERE key = ?", (name,))


def _keys_with_prefix(words: dict[str, int], prefix: str) -> frozenset[str]:
    return frozenset(word.removeprefix(prefix) for word in words if word.startswith(prefix))


def _read(connection: sqlite3.Connection) -> SwitchState:
    words = dict(connection.execute("SELECT key, value FROM switch").fetchall())
    pauses = connection.execute("SELECT until, agent, session FROM pause").fetchall()
    state = SwitchState(
        enabled=bool(words.get("enabled", True)),
        muted=bool(words.get("muted", False)),
        pauses=tuple(TimedPause(until=row["until"], agent=row["agent"], session=row["session"]) for row in pauses),
        muted_classes=_keys_with_prefix(words, ALERT_OFF),
        snoozed_until=words.get(SNOOZED, 0),
    )
    return replace(state, **{field: _keys_with_prefix(words, prefix) for field, prefix in HOOK_SETS.items()})
