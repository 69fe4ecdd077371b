"""What the user approved: definition, bytes, when and through which channel. Appended to, never changed."""

from __future__ import annotations

import contextlib
import enum
import functools
import hashlib
import json
import sqlite3
import threading
import time
from collections.abc import Iterable, Iterator, Mapping, Sequence

import msgspec
from msgspec.structs import replace

from tray.clock import Clock
from tray.errors import StoreError
from tray.model.hook import NOTED, Hook, Match, Rule, restore
from tray.store.checkpoint import LEDGER, read_checkpoint, write_checkpoint
from tray.store.db import DAMAGE_HINT, Database

MAX_CACHED = 256  # of events whose hooks are remembered; names come from outside


class LedgerAction(enum.StrEnum):
    APPROVE = "approve"
    REVOKE = "revoke"
    DENY = "deny"
    UNDO = "undo"  # of the row whose number is in `definition`, as if it had never been written


class ApprovedHook(msgspec.Struct, frozen=True, kw_only=True):
    """A hook in force: planned from this definition and run from the copy called `digest`."""

    hook: Hook
    digest: str
    position: tuple[int, int]  # of its source and within it, as it stood when it was approved
    at: float
    channel: str
    search_path: str = ""  # the PATH of its approval, with which the hook runs
    uncovered: tuple[str, ...] = ()  # files and folders that it runs or names, and that are not copied
    granted: tuple[str, ...] = ()  # withheld variables that the user lets through to it, besides its own `env:`

    @property
    def env(self) -> tuple[str, ...]:
        """The withheld variables that it gets."""
        return tuple(dict.fromkeys((*self.hook.env, *self.granted)))


# What hooks match, each with the indexes in `ordered` of the hooks that match it.
Candidates = tuple[tuple[Match, tuple[int, ...]], ...]


class LedgerState(msgspec.Struct, frozen=True, kw_only=True, dict=True):
    """The ledger after its row `version`."""

    version: int = 0
    approved: Mapping[str, ApprovedHook] = {}  # by key
    settings: Mapping[str, str] = {}  # confirmed settings: key -> digest
    setting_texts: Mapping[str, str] = {}  # of those whose text was kept
    revoked: Mapping[str, str] = {}  # key -> the digest that was in force
    denied: frozenset[tuple[str, str]] = frozenset()  # (key, digest)
    ordered: tuple[ApprovedHook, ...] = ()  # the approved ones, rules first, then by their position
    by_event: Mapping[tuple[str, str], tuple[int, ...]] = {}  # indexes by (agent, event)
    uncovered: tuple[str, ...] = ()  # of all approved hooks
    tampered: str = ""  # why no row counts; "" when all do

    @functools.cached_property
    def known_candidates(self) -> dict[tuple[str, ...], Candidates]:
        """What `candidates` found so far."""
        return {}

    def candidates(self, agent: str, *events: str) -> Candidates:
        """The matches that an event with these names may meet, each with its hooks; many hooks may have the same."""
        name = (agent, *events)
        found = self.known_candidates.get(name)
        if found is None:
            if len(self.known_candidates) >= MAX_CACHED:
                self.known_candidates.clear()
            names = ((one, event) for event in events for one in ("", agent))
            groups: dict[object, tuple[Match, list[int]]] = {}
            for index in sorted({index for name in names for index in self.by_event.get(name, ())}):
                match = self.ordered[index].hook.match
                groups.setdefault(_match_key(match), (match, []))[1].append(index)
            found = tuple((match, tuple(indexes)) for match, indexes in groups.values())
            self.known_candidates[name] = found
        return found


def _match_key(match: Match) -> object:
    """All that decides whether an event is meant; its agent is one of those that are named, if any are."""
    return (
        match.event, bool(match.agents), match.tool, match.pattern, match.format, match.native,
        match.project, match.skill, match.subagent, match.condition,
    )  # fmt: skip


CONTINUE = "INSERT INTO sqlite_sequence VALUES ('ledger', ?)"
LAST = "SELECT seq, chain FROM ledger ORDER BY seq DESC LIMIT 1"
INSERT = "INSERT INTO ledger(at, act, key, digest, definition, position, way, chain) VALUES (?, ?, ?, ?, ?, ?, ?, ?)"
READ_ATTEMPTS = 5
EMPTY_HEAD = "0 -"  # the head of a ledger without a row
READ = "SELECT seq, at, act, key, digest, definition, position, way, chain FROM ledger ORDER BY seq"
Row = tuple[int, float, str, str, str, str, str, str, str]


class Ledger:
    """The ledger of approvals. Reads come from memory; each action is on disk before it counts."""

    def __init__(self, database: Database, clock: Clock = time) -> None:
        self._database = database
        self._clock = clock
        self._lock = threading.Lock()
        self._head = database.path.with_name(LEDGER)
        self._checkpoint: tuple[str, ...] = ()  # the head as it was when we began: then only what we write ourselves
        self.load()

    def load(self) -> LedgerState:
        """As a process that has just begun reads it."""
        for _ in range(READ_ATTEMPTS):
            self._checkpoint = read_checkpoint(self._head)
            self.state = self._load()
            if not self.state.tampered or read_checkpoint(self._head) == self._checkpoint:
                break  # else a row was written between the two reads
        if not self.state.version and not self._checkpoint:
            self._checkpoint = (EMPTY_HEAD,)
            with contextlib.suppress(OSError), self._head.open("x", encoding="ascii") as file:
                self._head.chmod(0o600)
                file.write(f"{EMPTY_HEAD}\n")  # never over the head of a first row that is written just now
        return self.state

    @contextlib.contextmanager
    def swap(self) -> Iterator[None]:
        """While the block runs, no row is written; afterwards the database that is then at the path counts.

        Its later rows get higher numbers, so that no earlier undo takes one of them back.
        """
        with self._lock:
            before = self.state.version
            yield
            self.load()
            with contextlib.suppress(StoreError), self._database.write() as connection:
                connection.execute(CONTINUE, (max(before, self.state.version),))

    @property
    def uncovered(self) -> tuple[str, ...]:
        """Returns the files that approved hooks run or name, and that are not copied."""
        return self.state.uncovered

    @property
    def is_altered(self) -> bool:
        """True if the rows on disk differ from those in memory. Raises StoreError."""
        with self._lock, self._database.connect() as connection:
            return not self._holds(connection)

    def append(
        self,
        action: LedgerAction,
        key: str,
        digest: str,
        *,
        channel: str,
        definition: str = "",
        position: tuple[int, int] = (0, 0),
    ) -> LedgerState:
        """Write one row with its link in the chain, then let it count."""
        with self._lock:
            with self._database.write(durable=True) as connection:
                if not self._holds(connection):  # a row after altered ones would confirm them
                    raise StoreError(f"{self._database.path}: another program altered the ledger", hint=DAMAGE_HINT)
                last = connection.execute(LAST).fetchone()
                row = (self._clock.time(), action.value, key, digest, definition, json.dumps(position), channel)
                connection.execute(INSERT, (*row, chain_value(last["chain"] if last else "", row)))
                head = "{} {}".format(*connection.execute(LAST).fetchone())
                # Until the row is on disk, either may be the last.
                write_checkpoint(self._head, dict.fromkeys((head, *self._checkpoint)))
            self._checkpoint = (head,)
            with contextlib.suppress(StoreError):  # then both are kept
                write_checkpoint(self._head, self._checkpoint)
            self.state = self._load()
            return self.state

    def _holds(self, connection: sqlite3.Connection) -> bool:
        """True if the database has exactly the rows in memory."""
        rows, problem = _counting(_rows(connection), self._checkpoint)
        return not problem and (rows[-1][0] if rows else 0) == self.state.version

    def last_approval(self, key: str) -> int | None:
        """The number of the row that put the hook in force as it is now; None when another decision came last."""
        with self._database.connect() as connection:
            rows = [one for one in _without_undone(_rows(connection)) if one[3] == key]
        return rows[-1][0] if rows and rows[-1][2] == LedgerAction.APPROVE else None

    def undo(self, version: int, channel: str) -> int:
        """Take one row back, if it is still the last one about its hook; the row itself stays to be read.

        What a row took back is written again. Returns the number of the new row, 0 if there is none.
        """
        with self._database.connect() as connection:
            written = _rows(connection)
        row = next((one for one in written if one[0] == version), None)
        if row is None:
            return 0
        is_undo = row[2] == LedgerAction.UNDO
        counting = written if is_undo else _without_undone(written)
        if row not in counting or any(one[0] > version and one[3] == row[3] for one in counting):
            return 0
        action, definition, position = LedgerAction.UNDO, str(version), (0, 0)
        if is_undo:
            undone = next(one for one in written if str(one[0]) == row[5])
            action, definition, position = LedgerAction(undone[2]), undone[5], json.loads(undone[6])
        state = self.append(action, row[3], row[4], definition=definition, position=position, channel=channel)
        return state.version

    def set_positions(self, positions: Mapping[str, tuple[int, int]]) -> None:
        """Take note of where the hooks are declared now, which decides who speaks last; no approval is touched.

        Nothing is written if the rows are not those in memory.
        """
        known = {key: one.position for key, one in self.state.approved.items()}
        if all(positions.get(key, position) == position for key, position in known.items()):
            return
        with self._lock:
            moved = json.dumps({key: positions.get(key, position) for key, position in known.items()})
            with self._database.write() as connection:
                if not self._holds(connection):
                    return
                connection.execute(
                    "INSERT INTO meta VALUES ('order', ?) ON CONFLICT (key) DO UPDATE SET value = excluded.value",
                    (moved,),
                )
            self.state = self._load()

    def in_order(self) -> tuple[ApprovedHook, ...]:
        """The hooks in force: rules first, then by the position of their declaration."""
        return self.state.ordered

    def _load(self) -> LedgerState:
        with self._database.connect() as connection:
            rows = _rows(connection)
            order = connection.execute("SELECT value FROM meta WHERE key = 'order'").fetchone()
        counting, problem = _counting(rows, self._checkpoint)
        return fold(counting, _order(str(order[0])) if order else {}, problem)


def _order(text: str) -> Mapping[str, tuple[int, int]]:
    """Where the hooks were declared last; what cannot be read leaves each where it was approved."""
    try:
        return msgspec.json.decode(text, type=dict[str, tuple[int, int]])
    except (msgspec.DecodeError, RecursionError):
        return {}


def _rows(connection: sqlite3.Connection) -> list[Row]:
    return [tuple(row) for row in connection.execute(READ).fetchall()]


def chain_value(previous: str, row: tuple[object, ...]) -> str:
    """Each row's chain value covers the one before it, so that a row cannot be taken out or put in between."""
    return hashlib.sha256(json.dumps([previous, *row]).encode()).hexdigest()


def _without_undone(rows: Sequence[Row]) -> list[Row]:
    """The rows without those that were taken back, and without the rows that did so."""
    undone = {row[5] for row in rows if row[2] == LedgerAction.UNDO}
    return [row for row in rows if row[2] != LedgerAction.UNDO and str(row[0]) not in undone]


def _counting(rows: list[Row], known: Sequence[str]) -> tuple[list[Row], str]:
    """Returns the rows; or no rows and the reason if they are not exactly those that Hooktray wrote last."""
    chain = ""
    for seq, *row, link in rows:
        chain = chain_value(chain, tuple(row))
        if link != chain:
            return [], f"row {seq} of the ledger is not as it was written"
    heads = [line.split() for line in known]
    last = [str(rows[-1][0]), rows[-1][8]] if rows else []
    if (not rows and (not heads or EMPTY_HEAD.split() in heads)) or last in (one[:2] for one in heads):
        return rows, ""
    return [], "the last row of the ledger is not the one that Hooktray wrote last"


def fold(rows: Sequence[Row], order: Mapping[str, tuple[int, int]], broken: str) -> LedgerState:
    """What these rows come to."""
    approved: dict[str, ApprovedHook] = {}
    settings: dict[str, str] = {}
    texts: dict[str, str] = {}
    revoked: dict[str, str] = {}
    denied: set[tuple[str, str]] = set()
    version = rows[-1][0] if rows else 0
    for _, at, action, key, digest, definition, position, channel, _ in _without_undone(rows):
        if action == LedgerAction.DENY:
            denied.add((key, digest))
            continue
        approved.pop(key, None)
        settings.pop(key, None)
        revoked.pop(key, None)
        if action == LedgerAction.REVOKE:
            revoked[key] = digest
            settings.pop(grants_key(key), None)
            continue
        denied = {one for one in denied if one[0] != key}  # an approval begins a new story
        if key.startswith("setting:"):
            settings[key], texts[key] = digest, definition
            continue
        one = _approved(definition, digest, order.get(key) or json.loads(position), at, channel)
        if one is not None:
            approved[key] = one
    approved = {key: replace(one, granted=grants_of(key, settings, texts)) for key, one in approved.items()}
    ranked = tuple(
        sorted(approved.values(), key=lambda one: (not isinstance(one.hook.action, Rule), one.position, one.at))
    )
    return LedgerState(
        version=version,
        approved=approved,
        settings=settings,
        setting_texts=texts,
        revoked=revoked,
        denied=frozenset(denied),
        ordered=ranked,
        by_event=_index_by_event(ranked),
        uncovered=tuple(dict.fromkeys(path for one in ranked for path in one.uncovered)),
        tampered=broken,
    )


def _index_by_event(order: Sequence[ApprovedHook]) -> dict[tuple[str, str], tuple[int, ...]]:
    indexes: dict[tuple[str, str], list[int]] = {}
    for number, one in enumerate(order):
        for agent in one.hook.match.agents or ("",):
            indexes.setdefault((agent, one.hook.match.event), []).append(number)
    return {name: tuple(numbers) for name, numbers in indexes.items()}


def approval_text(hook: Hook, search_path: str, uncovered: Sequence[str]) -> str:
    """Returns the text of an approval in the ledger: the definition, and the facts noted with it."""
    fields = json.loads(hook.definition) | {NOTED: {"path": search_path, "uncovered": list(uncovered)}}
    text = json.dumps(fields, sort_keys=True, ensure_ascii=False)
    return text.encode("utf-8", "backslashreplace").decode()  # half a character of a path is an escape in JSON


def _approved(definition: str, digest: str, position: Sequence[int], at: float, channel: str) -> ApprovedHook | None:
    """The hook that a row puts in force; a definition that cannot be read approves nothing."""
    try:
        hook, noted = restore(definition), json.loads(definition).get(NOTED, {})
        search_path, uncovered = str(noted.get("path", "")), tuple(map(str, noted.get("uncovered", ())))
    except (AttributeError, TypeError, ValueError, RecursionError):
        return None
    first, second = position
    return ApprovedHook(
        hook=hook, digest=digest, position=(first, second), at=at, channel=channel, search_path=search_path,
        uncovered=uncovered,
    )  # fmt: skip


def grants_key(hook_key: str) -> str:
    """Returns the key of the rows about one hook's variables, which have the form of confirmed settings."""
    return f"setting:variables of {hook_key}"


def grants_definition(names: Iterable[str]) -> tuple[str, str]:
    """The definition of a row that lets these variables through and no others, and its digest."""
    definition = json.dumps(sorted(set(names)))
    return definition, hashlib.sha256(definition.encode()).hexdigest()


def grants_of(hook_key: str, settings: Mapping[str, str], texts: Mapping[str, str]) -> tuple[str, ...]:
    """Returns the withheld variables that the user grants a hook; none if the row cannot be read."""
    key = grants_key(hook_key)
    try:
        names = json.loads(texts[key]) if key in settings else []
        return tuple(str(name) for name in names)
    except (KeyError, ValueError, TypeError):
        return ()
