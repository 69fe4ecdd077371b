"""The user's decisions: approve, revoke, deny, and the requests of those who may only ask."""

from __future__ import annotations

import itertools
import threading
from collections.abc import Callable, Collection, Iterable

import msgspec

from tray.approvals.batch import ApprovalBatch, find_batch, source_batches
from tray.approvals.catalog import REMOVED, HookCatalog, HookState
from tray.approvals.variables import require_grantable
from tray.errors import HooktrayError, StoreError
from tray.language import phrase, say
from tray.store.grants import grants_definition, grants_key
from tray.store.ledger import Ledger, LedgerAction, approval_text

LIST_HINT = phrase("`hooktray list` shows where each hook stands")
MAX_REQUESTS, MAX_UNDOS = 20, 4  # any program can ask; asking must not push what can be undone out of sight


class PendingRequest(msgspec.Struct, frozen=True, kw_only=True):
    """A request of a caller that may not decide it; the user grants or dismisses it in the tray."""

    id: str
    summary: str
    requester: str
    grant: Callable[[], object]
    word: str = ""  # by which `hooktray approve` finds it
    is_undo: bool = False  # it was done, and to grant it is to undo it


def require_readable(one: HookState) -> HookState:
    """The same; raises HooktrayError where its bytes could not be read, so that there is nothing to decide about."""
    if not one.digest:
        why = say("`{name}` cannot be decided as it stands: {why}", name=one.hook.name, why=one.health)
        raise HooktrayError(why, hint=one.remedy)
    return one


class Consent:
    """Writes the user's decisions into the ledger. The caller has already been judged to be the user.

    Each decision is returned with the number of its row, by which it can be undone: other threads write rows, too.
    """

    def __init__(self, ledger: Ledger, catalog: HookCatalog) -> None:
        self._ledger = ledger
        self._catalog = catalog
        self._lock = threading.Lock()
        self._numbers = itertools.count(1)
        self.requests: tuple[PendingRequest, ...] = ()

    def approve(self, key: str, digest: str, channel: str, path: str = "") -> tuple[HookState, int]:
        """Approve exactly what was shown under this digest; refused when something else is proposed now.

        `path` is the PATH of the terminal that approves, if one does.
        """
        state = self._current(key, digest, path)
        action = LedgerAction.REVOKE if digest == REMOVED else LedgerAction.APPROVE
        return state, self._write(action, state, channel)

    @property
    def batch(self) -> ApprovalBatch:
        """The imported hooks that wait."""
        return find_batch(self._catalog, self._ledger.state)

    @property
    def batches(self) -> tuple[ApprovalBatch, ...]:
        """All that can be approved together: imported hooks, then each source with other hooks."""
        before = self.batch
        keys = {one.key for one in before.hooks}
        sources = source_batches(self._catalog.states)
        others = (batch for batch in sources if any(one.key not in keys for one in batch.hooks))
        return (*((before,) if before else ()), *others)

    def approve_batch(self, digest: str, channel: str) -> tuple[tuple[HookState, int], ...]:
        """Approve all hooks of exactly the batch that was shown; returns each with the number of its ledger row.

        The rest waits further if the disk becomes full in between. Raises HooktrayError if none could be approved.
        """
        self._catalog.refresh()
        found = next((one for one in self.batches if one.digest == digest), None)
        if found is None:
            raise HooktrayError(
                say("these hooks are not the ones that were shown: one of them changed or was decided since"),
                hint=say("open the menu and review them again"),
            )
        approved: list[tuple[HookState, int]] = []
        for one in found.hooks:
            try:
                approved.append((one, self._append(LedgerAction.APPROVE, one, channel)))
            except StoreError:
                if not approved:
                    raise
                break
        self._catalog.refresh()
        return tuple(approved)

    def deny(self, key: str, digest: str, channel: str) -> tuple[HookState, int]:
        """Turn a proposal down. What was approved before stays in force."""
        state = self._current(key, digest)
        return state, self._write(LedgerAction.DENY, state, channel)

    def revoke(self, key: str, channel: str) -> tuple[HookState, int]:
        """Take the approval back: nothing of this hook runs from here on."""
        state = self._approved(key)
        written = self._ledger.append(
            LedgerAction.REVOKE, key, state.approved, definition="", position=state.position, channel=channel
        )  # fmt: skip
        self._catalog.refresh()
        return state, written.version

    def grant(self, key: str, names: Iterable[str], channel: str) -> tuple[HookState, int]:
        """Let these withheld variables through to an approved hook, besides those that it has."""
        state = self._approved(key)
        wanted = require_grantable(state.hook, names)
        return state, self._write_grants(state, {*state.granted, *wanted}, channel)

    def withhold(self, key: str, names: Iterable[str], channel: str) -> tuple[HookState, int]:
        """Take variables back that were let through."""
        state = self._approved(key)
        return state, self._write_grants(state, {*state.granted} - {*names}, channel)

    def _approved(self, key: str) -> HookState:
        self._catalog.refresh()
        state = next((one for one in self._catalog.states if one.key == key and one.approved), None)
        if state is None:
            raise HooktrayError(say("this hook is not approved"), hint=say(LIST_HINT))
        return state

    def _write_grants(self, state: HookState, names: Collection[str], channel: str) -> int:
        definition, digest = grants_definition(names)
        action = LedgerAction.APPROVE if names else LedgerAction.REVOKE
        key = grants_key(state.key)
        written = self._ledger.append(action, key, digest, definition=definition, position=(0, 0), channel=channel)
        self._catalog.refresh()
        return written.version

    def confirm(self, key: str, digest: str, channel: str, *, accept: bool) -> int:
        """Confirm or turn down a setting that loosens a gate."""
        known = (one.definition for one in self._catalog.settings() if (one.key, one.digest) == (key, digest))
        action = LedgerAction.APPROVE if accept else LedgerAction.DENY
        written = self._ledger.append(
            action, key, digest, definition=next(known, ""), position=(0, 0), channel=channel
        )
        return written.version

    def add_request(
        self, summary: str, requester: str, grant: Callable[[], object], word: str = ""
    ) -> PendingRequest:
        """Put a request before the user; the same words asked twice are one request."""
        with self._lock:
            known = next((one for one in self.requests if one.summary == summary and not one.is_undo), None)
            if known:
                return known
            request = PendingRequest(
                id=str(next(self._numbers)), summary=summary, requester=requester, grant=grant, word=word
            )
            asked = [one for one in self.requests if not one.is_undo]
            self.requests = (*asked[1 - MAX_REQUESTS :], request, *(one for one in self.requests if one.is_undo))
            return request

    def add_undo(self, summary: str, requester: str, undo: Callable[[], None]) -> str:
        """Put before the user what was done elsewhere, so that it can be taken back; returns the request's id."""
        with self._lock:
            request = PendingRequest(
                id=str(next(self._numbers)), summary=summary, requester=requester, grant=undo, is_undo=True
            )
            others = tuple(one for one in self.requests if not one.is_undo)
            earlier = [one for one in self.requests if one.is_undo and one.summary != summary]
            self.requests = (*others, *earlier[1 - MAX_UNDOS :], request)
        return request.id

    def undo(self, version: int, channel: str) -> int:
        """Take one row of the ledger back; returns the number of the row that does so."""
        written = self._ledger.undo(version, channel)
        if not written:
            raise HooktrayError(say("it has been decided anew since"), hint=say(LIST_HINT))
        self._catalog.refresh()
        return written

    def undo_approval(self, key: str, channel: str) -> tuple[HookState, int]:
        """Take the last approval of a hook back, and no other: what was approved before it is in force again."""
        state = next((one for one in self._catalog.states if one.key == key), None)
        version = self._ledger.last_approval(key)
        if state is None or version is None:
            raise HooktrayError(say("no approval of it came last"), hint=say(LIST_HINT))
        return state, self.undo(version, channel)

    def resolve(self, id: str, *, accept: bool) -> PendingRequest | None:
        """Grant or dismiss a request; None when it is gone."""
        with self._lock:
            found = next((one for one in self.requests if one.id == id), None)
            self.requests = tuple(one for one in self.requests if one is not found)
        if found and accept:
            found.grant()
        return found

    def _current(self, key: str, digest: str, path: str = "") -> HookState:
        self._catalog.refresh()
        state = next((one for one in self._catalog.states if one.key == key), None)
        state = self._catalog.at_path(state, path) if state else None
        if state is None or require_readable(state).digest != digest:
            raise HooktrayError(
                say("this hook changed again since you looked at it"), hint=say("open the menu and review it again")
            )
        return state

    def _write(self, action: LedgerAction, state: HookState, channel: str) -> int:
        version = self._append(action, state, channel)
        self._catalog.refresh()
        return version

    def _append(self, action: LedgerAction, state: HookState, channel: str) -> int:
        found = state.inspection
        text = approval_text(state.hook, found.search_path, found.uncovered) if found else state.hook.definition
        ledger_state = self._ledger.append(
            action, state.key, state.digest, definition=text, position=state.position, channel=channel
        )
        return ledger_state.version
