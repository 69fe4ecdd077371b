"""Every hook and where it stands: what the sources propose, against what the ledger approved."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from tray.engine.approval import confirming
from tray.engine.approval.checks import describe
from tray.engine.approval.confirming import Setting
from tray.engine.approval.covering import Sign, Survey, examine, signature
from tray.engine.approval.identity import settled
from tray.engine.approval.supplied import MissingError
from tray.errors import HooktrayError
from tray.model.hook import Hook, State
from tray.sources.configuration import Configuration, sign
from tray.store.copies import Copies, DamagedError, Unit
from tray.store.ledger import Approved, Book, Ledger
from tray.store.salvage import Earlier
from tray.store.tried import Tried

REMOVED = "removed"  # stands for a digest where an approved hook is no longer declared


@dataclass(frozen=True, slots=True, kw_only=True)
class Standing:
    """One hook, as proposed, and what the ledger says of it."""

    key: str
    hook: Hook
    state: State
    digest: str  # of what is proposed now; REMOVED when nothing is
    position: tuple[int, int]
    approved: str = ""  # digest in force; "" when none
    covered: tuple[str, ...] = ()
    survey: Survey | None = None  # what was found by looking at what is proposed; None where that cannot be read
    health: str = ""  # what a person should know; "" when all is well
    cure: str = ""  # what to do about that, where it keeps the hook from being approved
    missing: bool = False  # its program or script is not there

    @property
    def waiting(self) -> bool:
        return self.state in (State.PENDING, State.CHANGED)

    @property
    def trouble(self) -> str:
        """What a person should know, and what to do about it."""
        return "; ".join(filter(None, (self.health, self.cure)))


NOTHING = Earlier()


class Roster:
    """Sources propose, the ledger decides. `refresh` looks again, cheaply when nothing was touched.

    `earlier` are approvals from outside the ledger, which approve nothing: batch.py offers them again.
    """

    def __init__(
        self,
        load: Callable[[], Configuration],
        touched: Callable[[], object],
        ledger: Ledger,
        copies: Copies,
        tried: Tried,
        earlier: Earlier = NOTHING,
    ) -> None:
        self.earlier = earlier
        self._load = load
        self._touched = touched
        self._ledger = ledger
        self._copies = copies
        self._lock = threading.Lock()
        self._units: dict[str, tuple[str, tuple[Sign, ...], Survey | HooktrayError]] = {}
        self._tried = tried
        self._sign: object = None
        self._hooks: tuple[Hook, ...] = ()
        self._fresh: dict[str, str] = {}  # hooks that newly wait, with what is proposed
        self.configuration = Configuration()
        self.standings: tuple[Standing, ...] = ()

    def refresh(self) -> None:
        """Read the sources again."""
        with self._lock:
            look = self._look()
            if look == self._sign:
                return
            tried = self._tried.sign
            before = {(one.key, one.digest) for one in self.standings if one.waiting}
            declared = self._read()
            self._hooks = settled(self.configuration.hooks, self._ledger.book, self.earlier.approved)
            self.standings = self._survey(self._ledger.book)
            files = self._read_files()
            self._ledger.arrange({one.key: one.position for one in self.standings})
            self._sign = (*declared, files, self._ledger.book.version, tried)
            self._fresh |= {
                one.key: one.digest for one in self.standings if one.waiting and (one.key, one.digest) not in before
            }

    def forget(self) -> None:
        """The folder of copies is a new one: the next refresh reads everything, and keeps it, again."""
        with self._lock:
            self._units.clear()
            self._sign = None

    def news(self) -> tuple[Standing, ...]:
        """The hooks that newly wait for the user, whoever's refresh found them; each is told once."""
        with self._lock:
            fresh, self._fresh = self._fresh, {}
            return tuple(one for one in self.standings if one.waiting and fresh.get(one.key) == one.digest)

    def _look(self) -> object:
        """What a refresh depends on: the declaring file, the hooks' files, and the ledger."""
        return (*self._declared(), self._files(), self._ledger.book.version, self._tried.sign)

    def _read(self) -> tuple[object, ...]:
        """Load what is declared; returns its sign from before, so that an edit meanwhile is seen the next time."""
        before = self._declared()
        self.configuration = self._load()
        if len(self._declared()[1]) == len(before[1]):
            return before
        before = self._declared()  # it names other sources than the last time, whose signs were not known
        self.configuration = self._load()
        return before

    def _declared(self) -> tuple[object, tuple[object, ...]]:
        return self._touched(), tuple(sign(Path(path)) for path in self.configuration.watched)

    def _files(self) -> tuple[object, ...]:
        return tuple(signature(hook, self._places(hook)) for hook in self._hooks if not hook.inert)

    def _read_files(self) -> tuple[object, ...]:
        """The same as they were when they were read, so that an edit since then is seen the next time."""
        return tuple(self._units[hook.key][1] for hook in self._hooks if not hook.inert and hook.key in self._units)

    def _places(self, hook: Hook) -> tuple[str, ...]:
        """What its last survey depended on, besides the files of its line."""
        known = self._units.get(hook.key)
        return known[2].places if known and isinstance(known[2], Survey) else ()

    @property
    def watched(self) -> tuple[str, ...]:
        """The files that what is proposed depends on, besides hooktray.yaml."""
        covered = (path for one in self.standings for path in one.covered)
        return (*self.configuration.watched, *covered)

    def find(self, word: str) -> list[Standing]:
        """The hooks that a person may mean by a name, key, command or prefix of a digest."""
        exact = [one for one in self.standings if word in (one.hook.name, one.key, line(one.hook))]
        return exact or [one for one in self.standings if len(word) >= 6 and one.digest.startswith(word)]

    def settings(self) -> tuple[Setting, ...]:
        """The settings in the file that need a confirmation."""
        return confirming.gated(self.configuration.settings, self._ledger.book)

    def when_down(self) -> str:
        """What relays shall do without us; `allow` only when a person confirmed it."""
        return confirming.when_down(self.configuration.settings, self._ledger.book)

    @property
    def exceptions(self) -> tuple[str, ...]:
        """What the self-protection lets pass; nothing that no person confirmed."""
        return confirming.exceptions(self.configuration.settings, self._ledger.book)

    def _survey(self, book: Book) -> tuple[Standing, ...]:
        standings = [self._standing(hook, place, book) for hook, place in _placed(self._hooks)]
        declared = {one.key for one in standings}
        gone = [
            _removed(key, one, book, f"no longer in {one.hook.source.path}")
            for key, one in book.approved.items()
            if key not in declared
        ]
        return (*standings, *gone)

    def _standing(self, hook: Hook, position: tuple[int, int], book: Book) -> Standing:
        approved = book.approved.get(hook.key)
        in_force = approved.digest if approved else ""
        if hook.inert:
            return _inert(hook, position, approved, book)
        found = self._surveyed(hook)
        if isinstance(found, HooktrayError):
            state = State.CHANGED if approved else State.PENDING
            return Standing(
                key=hook.key, hook=hook, state=state, digest="", position=position, approved=in_force,
                health=found.message, cure=found.hint, missing=isinstance(found, MissingError),
            )  # fmt: skip
        unit = found.unit
        return Standing(
            key=hook.key,
            hook=hook,
            state=_state(hook.key, unit.digest, in_force, book),
            digest=unit.digest,
            position=position,
            approved=in_force,
            covered=unit.covered,
            survey=found,
            health=self._damage(in_force)
            or _health(hook, unit, in_force, book)
            or self._failed(hook, in_force)
            or _lacking(found),
        )

    def tidy(self) -> None:
        """Remove the copies of what is neither approved nor proposed."""
        wanted = {one.digest for one in self.standings} | {one.approved for one in self.standings}
        self._copies.tidy(wanted | {one.digest for one in self._ledger.in_order()})

    def _damage(self, in_force: str) -> str:
        try:
            if in_force:
                self._copies.check(in_force)
        except DamagedError as damage:
            return damage.message
        return ""

    def _failed(self, hook: Hook, in_force: str) -> str:
        cause = self._tried.failures().get((hook.key, in_force), "") if in_force else ""
        return f"its test run failed: {cause}" if cause else ""

    def _surveyed(self, hook: Hook) -> Survey | HooktrayError:
        """The hook's bytes as they are now, kept as a copy, so that what is reviewed is what gets approved."""
        known = self._units.get(hook.key)
        before = signature(hook, self._places(hook))
        if known and known[:2] == (hook.definition, before):
            return known[2]
        try:
            found: Survey | HooktrayError = examine(hook)
            if isinstance(found, Survey):
                self._copies.keep(found.unit)
        except HooktrayError as error:
            found = error
        except (OSError, ValueError) as error:
            found = HooktrayError(f"{hook.name}: {error}")
        self._units[hook.key] = (hook.definition, _signs(hook, found, before), found)
        return found


def _signs(hook: Hook, found: Survey | HooktrayError, before: tuple[Sign, ...]) -> tuple[Sign, ...]:
    """The signs of all that a survey depends on, those of the files from before they were read."""
    if isinstance(found, HooktrayError):
        return before
    earlier = {sign[0]: sign for sign in (*before, *found.signs)}
    return tuple(earlier.get(sign[0], sign) for sign in signature(hook, found.places))


def _placed(hooks: Sequence[Hook]) -> Iterator[tuple[Hook, tuple[int, int]]]:
    """With the place of each hook's source, and its own within that: who is taken out moves nobody in other files."""
    counts: dict[str, int] = {}
    for hook in hooks:
        counts[hook.source.path] = counts.get(hook.source.path, -1) + 1
        yield hook, (list(counts).index(hook.source.path), counts[hook.source.path])


def _lacking(found: Survey) -> str:
    """The first thing that its scripts need and that is missing; "" for none."""
    return next((describe(lack) for lack in found.look.lacks if lack.sure), "")


def _state(key: str, digest: str, in_force: str, book: Book) -> State:
    denied = (key, digest) in book.denied
    if in_force:
        return State.APPROVED if in_force == digest or denied else State.CHANGED
    if denied:
        return State.DENIED
    return State.REVOKED if book.revoked.get(key) == digest else State.PENDING


def _inert(hook: Hook, position: tuple[int, int], approved: Approved | None, book: Book) -> Standing:
    """Listed and never proposed. An approved one is not switched off by touching a file: that waits for a person."""
    if approved is not None:
        return _removed(hook.key, approved, book, f"inert now: {hook.inert}")
    return Standing(key=hook.key, hook=hook, state=State.INERT, digest="", position=position, health=hook.inert)


def _removed(key: str, one: Approved, book: Book, why: str) -> Standing:
    kept = (key, REMOVED) in book.denied
    return Standing(
        key=key,
        hook=one.hook,
        state=State.APPROVED if kept else State.CHANGED,
        digest=REMOVED,
        position=one.position,
        approved=one.digest,
        health=f"{why}; the approved copy goes on running",
    )


def _health(hook: Hook, unit: Unit, in_force: str, book: Book) -> str:
    if in_force and in_force != unit.digest:
        denied = (hook.key, unit.digest) in book.denied
        return (
            "your change was denied; the approved copy runs"
            if denied
            else "changed since approval; the approved copy runs"
        )
    return ""


def line(hook: Hook) -> str:
    """A command's line, or an address; "" where there is neither."""
    return getattr(hook.action, "line", "") or getattr(hook.action, "url", "")
