"""Makes the state folder anew from what the tray holds, when it was deleted, moved or replaced under the tray.

What the tray holds: the database through a connection that stays open (else approvals and switch from memory), the
approved copies in memory (else in the folder that was moved, else in the hooks' own files while these are what was
approved), and what `connect` recorded. If the approved bytes of a hook are lost, a person must approve it again.

The socket comes first, since events are judged from memory, then the copies and the database. What is found at the
path is not used: only the approvals that this tray has count. If there is anything in it, it is set aside.
"""

from __future__ import annotations

import contextlib
import logging
import os
import sqlite3
import time
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path

from tray.app import Stores
from tray.app.state_folder import AnotherTrayError, StateFolder, StatePart
from tray.app.state_incident import Incident, IncidentCause
from tray.approvals.catalog import HookCatalog
from tray.approvals.inspection import read_bundle
from tray.errors import HooktrayError, StoreError
from tray.files import Identity, identity
from tray.language import say
from tray.lazy_dataclass import replace
from tray.paths import Paths
from tray.store import dropped_rows
from tray.store.copies import Bundle, Copies
from tray.store.db import open_db
from tray.store.ledger import ApprovedHook, LedgerAction
from tray.store.lost_guards import LostGuards
from tray.store.recovery_snapshot import RecoverySnapshot, records
from tray.store.rescue_connection import RescueConnection, create, has_content
from tray.threads import ShutdownState

CHANNEL = "state folder lost"  # how the ledger names it when a hook loses its approval here
RETRY_DELAYS = (1.0, 2.0, 4.0, 8.0, 16.0, 30.0)  # seconds between two attempts that fail
LOOK_AGAIN = 1.0  # seconds after records were put back: more may be deleted
SET_ASIDE = ("", "-wal", "-shm")

log = logging.getLogger(__name__)

PARTS = (
    (StatePart.DATABASE, IncidentCause.DATABASE),
    (StatePart.COPIES, IncidentCause.COPIES),
    (StatePart.SOCKET, IncidentCause.SOCKET),
)


class StateRecovery:
    """All methods but `start` run on one thread, the work queue's.

    `rescue` holds the database that counts. `listen` opens the socket again, `write_relay_conf` writes the file that
    relays read. `announce` raises the alert, `on_conflict` ends the tray, `retry` and `watch` are those of the
    folder's watch.
    """

    def __init__(
        self,
        paths: Paths,
        stores: Stores,
        catalog: HookCatalog,
        folder: StateFolder,
        rescue: RescueConnection,
        *,
        listen: Callable[[], Identity | None],
        write_relay_conf: Callable[[], None],
        announce: Callable[[Incident], None],
        on_conflict: Callable[[], None],
        retry: Callable[[float], None],
        watch: Callable[[], None],
        shutdown_state: ShutdownState | None = None,
    ) -> None:
        self._shutdown_state = shutdown_state or ShutdownState()
        self._paths = paths
        self._stores = stores
        self._catalog = catalog
        self._folder = folder
        self._listen = listen
        self._write_relay_conf = write_relay_conf
        self._announce = announce
        self._on_conflict = on_conflict
        self._retry = retry
        self._watch = watch
        self._rescue = rescue
        self._snapshot = RecoverySnapshot(paths.state, stores.copies)
        self._attempts = 0
        self._not_before = 0.0
        self._is_over = False  # another tray has the folder
        self._decisions: int | None = None  # saved in an earlier attempt of this incident
        self._set_aside_in = ""
        self._lost: list[str] = []
        self._lost_approvals: list[ApprovedHook] = []  # whose approved bytes are lost
        self.incident: Incident | None = None  # the last one, until a person has seen it

    def start(self, socket: Identity | None = None) -> None:
        """The socket is open, and is this file: from here on everything is watched."""
        self._folder.remember_socket(socket)
        self._watch()

    def close(self) -> None:
        self._rescue.close()

    def acknowledge(self) -> None:
        """A person has read it; what is still wrong stays."""
        if self.incident and not self.incident.failure:
            self.incident = None

    def keep_records(self) -> None:
        """Keep what `connect` has just recorded, also while the folder cannot be made anew yet."""
        self.check()
        self._snapshot.add_records()

    def check(self) -> bool:
        """Make anew what was taken away; if nothing was, keep a snapshot of what is approved now.

        Returns whether anything was to be made anew.
        """
        parts = self._folder.changed()
        if self._shutdown_state.begun:
            parts -= {StatePart.SOCKET}  # the tray itself takes it away then, in this order
        if self._is_over:
            return False
        if not parts and not self._attempts:
            self._restore_ledger()
            state = self._stores.ledger.state
            lost = self._snapshot.update({one.digest for one in state.ordered})
            switch = self._stores.switch.state()
            self._snapshot.save_approvals(state, switch.hooks_off | switch.agents_off)
            try:
                return self._put_back({name: self._snapshot.records[name] for name in lost})
            except OSError as error:  # the next look tries again
                log.warning("%s: what `connect` recorded cannot be put back: %s", self._paths.state, error)
                return False
        left = self._not_before - time.monotonic()
        if left > 0:
            self._retry(left)
            return False
        self._recover(parts)
        return not self._is_over

    def _restore_ledger(self) -> None:
        if self._rescue.has_changed():
            try:
                self._stores.ledger.restore_altered()
            except StoreError as error:  # the next change of the database tries again
                log.warning("%s", error)

    def _recover(self, parts: frozenset[StatePart]) -> None:
        failing = self.incident if self._attempts else None
        found = failing or self._incident(parts)
        try:
            self._rebuild(parts)
        except AnotherTrayError:
            self._is_over = True
            self._on_conflict()
            return
        except (HooktrayError, OSError, sqlite3.Error) as error:
            self._failed(replace(found, failure=_why(error)), announce=failing is None)
            return
        self._attempts, self._not_before = 0, 0.0
        unseen = self.incident.lost if self.incident else ()
        self.incident = replace(
            found, failure="", approvals=len(self._stores.ledger.state.approved), decisions=self._decisions,
            lost=tuple(dict.fromkeys((*unseen, *self._lost))), set_aside=self._set_aside_in,
        )  # fmt: skip
        self._decisions, self._lost, self._set_aside_in = None, [], ""
        self._watch()
        log.warning("%s", self.incident.text)
        self._announce(self.incident)

    def _failed(self, incident: Incident, *, announce: bool) -> None:
        gap = RETRY_DELAYS[min(self._attempts, len(RETRY_DELAYS) - 1)]
        self._attempts += 1
        self._not_before = time.monotonic() + gap
        self.incident = incident
        self._watch()
        self._retry(gap)
        if announce:
            log.warning("%s", incident.text)
            self._announce(incident)

    def _incident(self, parts: frozenset[StatePart]) -> Incident:
        cause, moved = IncidentCause.LOCK, ""
        if StatePart.FOLDER in parts:
            moved = self._folder.current_path()
            replaced = IncidentCause.REPLACED if self._paths.state.exists() else IncidentCause.MOVED
            cause = replaced if moved else IncidentCause.DELETED
        else:
            cause = next((cause for part, cause in PARTS if part in parts), cause)
        return Incident(at=time.time(), cause=cause, folder=str(self._paths.state), moved_to=moved)

    # ---- making it anew

    def _rebuild(self, parts: frozenset[StatePart]) -> None:
        """Each step on its own: one that fails does not keep the others from being done."""
        self._folder.claim()
        _reopen_logs()
        failures: list[HooktrayError | OSError | sqlite3.Error] = []
        changed = parts | self._folder.changed()
        steps = ((StatePart.SOCKET, self._bind), (StatePart.COPIES, self._copy), (StatePart.DATABASE, self._save))
        for part, work in steps:
            if part in changed:
                try:
                    work()
                except (HooktrayError, OSError, sqlite3.Error) as error:
                    failures.append(error)
                else:
                    if part is not StatePart.SOCKET:
                        self._folder.remember(part)
        if failures:
            raise failures[0]
        if parts & {StatePart.FOLDER, StatePart.DATABASE, StatePart.COPIES}:
            self._put_records_back()
        self._write_relay_conf()
        self._stores.ledger.save_checkpoint()
        self._stores.switch.save_checkpoint()
        self._stores.sessions.reopen()
        self._folder.remember(StatePart.FOLDER)
        self._revoke()
        self._catalog.reset()

    def _bind(self) -> None:
        self._folder.remember_socket(self._listen())

    def _copy(self) -> None:
        """Put the approved bytes back, and find the hooks whose approved bytes are lost."""
        lost = []
        for one in self._stores.ledger.in_order():
            bundle = next((bundle for bundle in self._bundles(one) if bundle.digest == one.digest), None)
            if bundle is None:
                lost.append(one)
            else:
                self._stores.copies.save(bundle)
        self._lost_approvals = lost

    def _bundles(self, one: ApprovedHook) -> Iterator[Bundle]:
        if bundle := self._snapshot.bundles.get(one.digest):
            yield bundle
        old = self._folder.opened_path
        folders = [self._stores.copies, *([Copies(old / self._paths.copies.name)] if old else [])]
        for copies in folders:
            with contextlib.suppress(HooktrayError):
                yield copies.bundle(one.digest)
        with contextlib.suppress(HooktrayError, OSError, ValueError):
            yield read_bundle(one.hook, one.search_path)

    def _save(self) -> None:
        """The whole database as it was; where that cannot be read any more, what is in memory."""
        self._stores.journal.swap(self._write)

    def _write(self) -> None:
        path, pin = self._paths.database, self._stores.database.pin
        if path.exists() and has_content(path):
            self._set_aside_in = str(self._set_aside(path))
        try:
            with self._stores.ledger.pause_writes(), self._stores.switch.pause_writes():
                if not self._holds_the_ledger():
                    raise sqlite3.DatabaseError("the old database has not all rows of the ledger")
                self._decisions = self._rescue.save()
                pin.file = identity(path)
        except sqlite3.Error:
            if self._holds_the_ledger():
                raise
            create(path)
            open_db(path, create=True)
            pin.file = identity(path)
            self._stores.ledger.rebuild(CHANNEL)
            self._stores.switch.rebuild()
            self._stores.database.acknowledge_damage()  # this incident names what is gone
            LostGuards(self._stores.database).forget()
            self._decisions = 0
            self._lost += [say("the journal"), say("what was remembered of sessions")]
        self._stores.database.forget_damage()
        self._rescue.open()
        dropped_rows.prepare(self._stores.database)

    def _holds_the_ledger(self) -> bool:
        """Whether every row of the ledger can still be read; another program that opens a file in the database's
        place resets the log beside it, and with the log the last rows are gone."""
        version = self._rescue.ledger_version()
        return version is not None and version >= self._stores.ledger.state.version

    def _set_aside(self, path: Path) -> Path:
        """The log first: without it the database is an older one, but with another one's log it is damaged."""
        folder = path.with_name(f"replaced-{time.strftime('%Y%m%d-%H%M%S')}")
        folder.mkdir(mode=0o700, exist_ok=True)
        for suffix in reversed(SET_ASIDE):
            with contextlib.suppress(FileNotFoundError):
                path.with_name(path.name + suffix).replace(folder / (path.name + suffix))
        return folder

    def _put_records_back(self) -> None:
        """What `connect` and `import-hooks` recorded, from the folder that was moved, else as we saw it last."""
        old = self._folder.opened_path
        files = {**self._snapshot.records, **(records(old, {}, {}) if old else {})}
        self._put_back({name: text for name, text in files.items() if not (self._paths.state / name).exists()})

    def _put_back(self, missing: Mapping[str, bytes]) -> bool:
        """Write these records; returns whether there was any."""
        for name, text in missing.items():
            place = self._paths.state / name
            place.parent.mkdir(mode=0o700, exist_ok=True)
            with open(os.open(place, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "wb") as file:  # noqa: PTH123
                file.write(text)
        if missing:
            log.warning("%s: %d records were gone, and are there again", self._paths.state, len(missing))
            self._retry(LOOK_AGAIN)
        return bool(missing)

    def _revoke(self) -> None:
        """Their approval was for bytes that are lost: what their files contain now waits for a person."""
        while self._lost_approvals:
            one = self._lost_approvals[0]
            self._stores.ledger.append(
                LedgerAction.REVOKE, one.hook.key, one.digest, definition="", position=one.position, channel=CHANNEL
            )  # fmt: skip
            self._lost.append(say("the approved bytes of {hook}, which must be approved again", hook=one.hook.name))
            self._lost_approvals = self._lost_approvals[1:]


def _why(error: Exception) -> str:
    if isinstance(error, HooktrayError):
        return error.message
    return getattr(error, "strerror", None) or str(error)


def _reopen_logs() -> None:
    """The log's folder may be below the state folder: go on in a file that can be found."""
    for handler in logging.getLogger().handlers:
        if isinstance(handler, logging.FileHandler):
            with contextlib.suppress(OSError, ValueError):  # what it still held cannot be written
                handler.close()
