"""What the user approved: definition, bytes, when and by which way. Appended to, never changed."""

from __future__ import annotations

import enum
import hashlib
import json
import threading
import time
from collections.abc import Callable, Mapping
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

    def in_order(self) -> tuple[Approved, ...]:
        """The hooks in force: rules first, then by the place where they were declared."""
        return self.book.order

    def _load(self) -> Book:
        with self._database.connect() as connection:
            rows = connection.execute(
                "SELECT seq, at, act, key, digest, definition, position, way FROM ledger ORDER BY seq"
            ).fetchall()
        return _fold(rows)


def _link(previous: str, row: tuple[object, ...]) -> str:
    """Each row's chain value covers the one before it, so that a row cannot be taken out or put in between."""
    return hashlib.sha256(json.dumps([previous, *row]).encode()).hexdigest()


def _fold(rows: list[tuple[int, float, str, str, str, str, str, str]]) -> Book:
    approved: dict[str, Approved] = {}
    settings: dict[str, str] = {}
    revoked: dict[str, str] = {}
    denied: set[tuple[str, str]] = set()
    version = 0
    for seq, at, act, key, digest, definition, position, way in rows:
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
        denied.discard((key, digest))
        if key.startswith("setting:"):
            settings[key] = digest
            continue
        hook = _hook(definition)
        if hook is not None:
            first, second = json.loads(position)
            approved[key] = Approved(hook=hook, digest=digest, position=(first, second), at=at, way=way)
    return Book(
        version=version,
        approved=approved,
        settings=settings,
        revoked=revoked,
        denied=frozenset(denied),
        order=tuple(sorted(approved.values(), key=_place)),
    )


def _place(one: Approved) -> tuple[bool, tuple[int, int], float]:
    return (not isinstance(one.hook.action, Rule), one.position, one.at)


def _hook(definition: str) -> Hook | None:
    try:
        return restore(definition)
    except ValueError:
        return None  # a definition that cannot be read approves nothing
