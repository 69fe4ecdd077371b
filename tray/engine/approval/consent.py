"""The user's word: approve, revoke, deny, and the requests of those who may only ask."""

from __future__ import annotations

import itertools
import threading
from collections.abc import Callable
from dataclasses import dataclass

from tray.engine.approval.batch import Batch, batch
from tray.engine.approval.roster import REMOVED, Roster, Standing
from tray.errors import HooktrayError
from tray.language import phrase, say
from tray.store.ledger import Act, Ledger

WHERE = phrase("`hooktray list` shows where each hook stands")
ASKED, UNDOS = 20, 4  # anybody can ask; nobody shall push what can be undone out of sight by asking


@dataclass(frozen=True, slots=True, kw_only=True)
class Request:
    """What somebody asked for who may not decide it; a person grants or dismisses it in the tray."""

    id: str
    what: str
    who: str
    grant: Callable[[], None]
    done: bool = False  # it was done, and to grant it is to undo it


def decidable(one: Standing) -> Standing:
    """The same; raises HooktrayError where its bytes could not be read, so that there is nothing to decide about."""
    if not one.digest:
        why = say("`{name}` cannot be decided as it stands: {why}", name=one.hook.name, why=one.health)
        raise HooktrayError(why, hint=one.cure)
    return one


class Consent:
    """Writes the user's decisions into the ledger. Whoever calls this has already been found to be a person."""

    def __init__(self, ledger: Ledger, roster: Roster) -> None:
        self._ledger = ledger
        self._roster = roster
        self._lock = threading.Lock()
        self._numbers = itertools.count(1)
        self.requests: tuple[Request, ...] = ()

    def approve(self, key: str, digest: str, way: str) -> Standing:
        """Approve exactly what was shown under this digest; refused when it is no longer what is proposed."""
        standing = self._current(key, digest)
        act = Act.REVOKE if digest == REMOVED else Act.APPROVE
        self._write(act, standing, way)
        return standing

    @property
    def batch(self) -> Batch:
        """The hooks that wait although the same content was approved before."""
        return batch(self._roster, self._ledger.book)

    def approve_batch(self, digest: str, way: str) -> tuple[tuple[Standing, int], ...]:
        """Approve all hooks of exactly the batch that was shown; returns each with the number of its ledger row."""
        self._roster.refresh()
        found = self.batch
        if not found or found.digest != digest:
            raise HooktrayError(
                say("these hooks are not the ones that were shown: one of them changed or was decided since"),
                hint=say("open the menu and review them again"),
            )
        approved = tuple((one, self._act(Act.APPROVE, one, way)) for one in found.hooks)
        self._roster.refresh()
        return approved

    def deny(self, key: str, digest: str, way: str) -> Standing:
        """Turn a proposal down. What was approved before stays in force."""
        standing = self._current(key, digest)
        self._write(Act.DENY, standing, way)
        return standing

    def revoke(self, key: str, way: str) -> Standing:
        """Take the approval back: nothing of this hook runs from here on."""
        standing = next((one for one in self._roster.standings if one.key == key and one.approved), None)
        if standing is None:
            raise HooktrayError(say("this hook is not approved"), hint=say(WHERE))
        self._ledger.act(
            Act.REVOKE, key, standing.approved, definition="", position=standing.position, way=way
        )  # fmt: skip
        self._roster.refresh()
        return standing

    def confirm(self, key: str, digest: str, way: str, *, yes: bool) -> None:
        """Confirm or turn down a setting that loosens a gate."""
        known = (one.definition for one in self._roster.settings() if (one.key, one.digest) == (key, digest))
        self._ledger.act(
            Act.APPROVE if yes else Act.DENY, key, digest, definition=next(known, ""), position=(0, 0), way=way
        )  # fmt: skip

    def ask(self, what: str, who: str, grant: Callable[[], None]) -> Request:
        """Put a request before the user; the same words asked twice are one request."""
        with self._lock:
            known = next((one for one in self.requests if one.what == what and not one.done), None)
            if known:
                return known
            request = Request(id=str(next(self._numbers)), what=what, who=who, grant=grant)
            asked = [one for one in self.requests if not one.done]
            self.requests = (*asked[1 - ASKED :], request, *(one for one in self.requests if one.done))
            return request

    def done(self, what: str, who: str, undo: Callable[[], None]) -> str:
        """Put before the user what was done elsewhere, so that it can be taken back; returns the request's id."""
        with self._lock:
            request = Request(id=str(next(self._numbers)), what=what, who=who, grant=undo, done=True)
            others = tuple(one for one in self.requests if not one.done)
            earlier = [one for one in self.requests if one.done and one.what != what]
            self.requests = (*others, *earlier[1 - UNDOS :], request)
        return request.id

    @property
    def version(self) -> int:
        """The number of the ledger's last row."""
        return self._ledger.book.version

    def undo(self, version: int, way: str) -> None:
        """Take one row of the ledger back."""
        if not self._ledger.undo(version, way):
            raise HooktrayError(say("it has been decided anew since"), hint=say(WHERE))
        self._roster.refresh()

    def answer(self, id: str, *, yes: bool) -> Request | None:
        """Grant or dismiss a request; None when it is no longer there."""
        with self._lock:
            found = next((one for one in self.requests if one.id == id), None)
            self.requests = tuple(one for one in self.requests if one is not found)
        if found and yes:
            found.grant()
        return found

    def _current(self, key: str, digest: str) -> Standing:
        self._roster.refresh()
        standing = next((one for one in self._roster.standings if one.key == key), None)
        if standing is None or decidable(standing).digest != digest:
            raise HooktrayError(
                say("this hook changed again since you looked at it"), hint=say("open the menu and review it again")
            )
        return standing

    def _write(self, act: Act, standing: Standing, way: str) -> None:
        self._act(act, standing, way)
        self._roster.refresh()

    def _act(self, act: Act, standing: Standing, way: str) -> int:
        book = self._ledger.act(
            act, standing.key, standing.digest,
            definition=standing.hook.definition, position=standing.position, way=way,
        )  # fmt: skip
        return book.version
