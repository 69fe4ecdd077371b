"""What the user approved: definition, bytes, when and by which way. Appended to, never changed."""

from __future__ import annotations

import enum
import hashlib
import json
import threading
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field

from tray.model.hook import Hook, Rule, restore
from tray.store.db import Database


class Act(enum.StrEnum):
    APPROVE = "approve"
    REVOKE = "revoke"
    DENY = "deny"


@dataclass(frozen=True, slots=True, kw_only=True)
class Approved:
    """A hook in force: planned from this definition and run from the copy called `digest`."""

    hook: Hook
    digest: str
    position: tuple[int, int]  # of its source and within it, as it stood when it was approved
    at: float
    way: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Book:
    """The ledger as it stands after its row `version`."""

    version: int = 0
    approved: Mapping[str, Approved] = field(default_factory=dict)  # by key
    settings: Mapping[str, str] = field(default_factory=dict)  # confirmed settings: key -> digest
    revoked: Mapping[str, str] = field(default_factory=dict)  # key -> the digest that was in force
    denied: frozenset[tuple[str, str]] = frozenset()  # (key, digest)
    order: tuple[Approved, ...] = ()  # the approved ones, rules first, then by their declared place
    places: Mapping[tuple[str, str], tuple[int, ...]] = field(default_factory=dict)  # there, by (agent, event)
    broken: str = ""  # why the rows from some point on do not count; "" when all do


class Ledger:
    """The book of approvals. Reads come from memory; each act is on disk before it counts."""

    def __init__(self, database: Database, clock: Callable[[], float] = time.time) -> None:
        self._database = database
        self._clock = clock
        self._lock = threading.Lock()
        self.book = self._load()

    def act(self, act: Act, key: str, digest: str, *, definition: str, position: tuple[int, int], way: str) -> Book:
        """Write one row with its link in the chain, then let it count."""
        with self._lock:
            with self._database.write(durable=True) as connection:
                last = connection.execute("SELECT chain FROM ledger ORDER BY seq DESC LIMIT 1").fetchone()
                row = (self._clock(), act.value, key, digest, definition, json.dumps(position), way)
                connection.execute(
                    "INSERT INTO ledger(at, act, key, digest, definition, position, way, chain)"
                    " VALUES (?, ?, ?, ?, ?, ?, ?, ?)",
                    (*row, _link(last[0] if last else "", row)),
                )
            self.book = self._load()
            return self.book

    def arrange(self, positions: Mapping[str, tuple[int, int]]) -> None:
        """Take note of where the hooks are declared now, which decides who speaks last; no approval is touched."""
        known = {key: one.position for key, one in self.book.approved.items()}
        if all(positions.get(key, place) == place for key, place in known.items()):
            return
        with self._lock:
            moved = json.dumps({key: positions.get(key, place) for key, place in known.items()})
            with self._database.write() as connection:
                connection.execute(
                    "INSERT INTO meta VALUES ('order', ?) ON CONFLICT (key) DO UPDATE SET value = excluded.value",
                    (moved,),
                )
            self.book = self._load()

    def in_order(self) -> tuple[Approved, ...]:
        """The hooks in force: rules first, then by the place where they were declared."""
        return self.book.order

    def asked(self, agent: str, *events: str) -> list[Approved]:
        """Those of them that may be asked about an event with these names: of many hooks only a few are looked at."""
        book = self.book
        found = {place for event in events for one in ("", agent) for place in book.places.get((one, event), ())}
        return [book.order[place] for place in sorted(found)]

    def _load(self) -> Book:
        with self._database.connect() as connection:
            rows = connection.execute(
                "SELECT seq, at, act, key, digest, definition, position, way, chain FROM ledger ORDER BY seq"
            ).fetchall()
            order = connection.execute("SELECT value FROM meta WHERE key = 'order'").fetchone()
        sound, broken = _sound([tuple(row) for row in rows])
        return _fold(sound, json.loads(order[0]) if order else {}, broken)


def _link(previous: str, row: tuple[object, ...]) -> str:
    """Each row's chain value covers the one before it, so that a row cannot be taken out or put in between."""
    return hashlib.sha256(json.dumps([previous, *row]).encode()).hexdigest()


Row = tuple[int, float, str, str, str, str, str, str, str]


def _sound(rows: list[Row]) -> tuple[list[Row], str]:
    """The rows up to the first one whose link does not hold, and what is wrong there."""
    chain = ""
    for index, (seq, *row, link) in enumerate(rows):
        chain = _link(chain, tuple(row))
        if link != chain:
            return rows[:index], f"row {seq} of the ledger was altered or removed: it and all after it do not count"
    return rows, ""


def _fold(rows: list[Row], order: Mapping[str, tuple[int, int]], broken: str) -> Book:
    approved: dict[str, Approved] = {}
    settings: dict[str, str] = {}
    revoked: dict[str, str] = {}
    denied: set[tuple[str, str]] = set()
    version = 0
    for seq, at, act, key, digest, definition, position, way, _ in rows:
        version = seq
        if act == Act.DENY:
            denied.add((key, digest))
            continue
        approved.pop(key, None)
        settings.pop(key, None)
        revoked.pop(key, None)
        if act == Act.REVOKE:
            revoked[key] = digest
            continue
        denied = {one for one in denied if one[0] != key}  # an approval begins a new story
        if key.startswith("setting:"):
            settings[key] = digest
            continue
        one = _approved(definition, digest, order.get(key) or json.loads(position), at, way)
        if one is not None:
            approved[key] = one
    ranked = tuple(sorted(approved.values(), key=_place))
    return Book(
        version=version,
        approved=approved,
        settings=settings,
        revoked=revoked,
        denied=frozenset(denied),
        order=ranked,
        places=_places(ranked),
        broken=broken,
    )


def _places(order: Sequence[Approved]) -> dict[tuple[str, str], tuple[int, ...]]:
    places: dict[tuple[str, str], list[int]] = {}
    for number, one in enumerate(order):
        for agent in one.hook.match.agents or ("",):
            places.setdefault((agent, one.hook.match.event), []).append(number)
    return {name: tuple(numbers) for name, numbers in places.items()}


def _place(one: Approved) -> tuple[bool, tuple[int, int], float]:
    return (not isinstance(one.hook.action, Rule), one.position, one.at)


def _approved(definition: str, digest: str, place: Sequence[int], at: float, way: str) -> Approved | None:
    """The hook that a row puts in force; a definition that cannot be read approves nothing."""
    try:
        hook = restore(definition)
    except ValueError:
        return None
    first, second = place
    return Approved(hook=hook, digest=digest, position=(first, second), at=at, way=way)
