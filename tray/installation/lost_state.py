"""Watches the state of the running tray, and begins anew when it is lost.

Nothing is rebuilt from memory. A new database is empty, so no hook runs; what was guarded is asked about or denied
until the user has reviewed the loss (engine/guards_in_force.py). A file that no longer counts is kept.
"""

from __future__ import annotations

import asyncio
import contextlib
import logging
import sys
import time
from typing import Protocol

from msgspec.structs import replace

from tray.approvals.batch import source_batches, summary_lines
from tray.desktop.opener import Opener
from tray.doctor.state_incident import KINDS, Incident, IncidentCause, unread_loss
from tray.edit.backups import CONNECTIONS
from tray.errors import HooktrayError, StoreError
from tray.files import Identity
from tray.installation.connection_watch import Checker, WatchedCore
from tray.installation.file_watch import FolderWatch
from tray.installation.state_folder import LOCK, AnotherTrayError, StateFolder, StatePart
from tray.language import say
from tray.notify.alert import INCIDENT
from tray.notify.service import AlertService
from tray.sessions.offline_rows import WATCHED_FILES
from tray.store.db import begin_anew
from tray.store.lost_guards import LostGuards
from tray.store.set_aside import MARKER_SUFFIX

RETRY_DELAYS = (1.0, 2.0, 4.0, 8.0, 16.0, 30.0)  # seconds between two attempts that fail
PARTS = (
    (StatePart.DATABASE, IncidentCause.DATABASE),
    (StatePart.COPIES, IncidentCause.COPIES),
    (StatePart.SOCKET, IncidentCause.SOCKET),
    (StatePart.LOCK, IncidentCause.LOCK),
)

log = logging.getLogger(__name__)


class UrgentRefresh(Protocol):
    """Reads the sources again, and draws icon and menu."""

    def now(self) -> None: ...


class YieldingTray(Protocol):
    """Ends the tray."""

    def yield_to_other(self, reason: str) -> None: ...


class LostState:
    """All methods but `start` run on the thread of the work queue.

    `connections` looks at the agents' settings if nothing else reports their changes; it is set before the queue runs
    anything. `offline_rows` announces what was answered, or went on unjudged, without the tray.
    """

    connections: Checker

    def __init__(
        self,
        core: WatchedCore,
        folder: StateFolder,
        loop: asyncio.AbstractEventLoop,
        alerts: AlertService,
        opener: Opener,
        *,
        refresh: UrgentRefresh,
        offline_rows: Checker,
        tray: YieldingTray,
    ) -> None:
        self._core, self._folder, self._alert_service, self._opener = core, folder, alerts, opener
        self._paths, self._stores, self._queue = core.paths, core.stores, core.work
        self._refresh, self._offline_rows, self._tray = refresh, offline_rows, tray
        paths, marker = core.paths, f"{core.paths.database.name}{MARKER_SUFFIX}"
        files = (paths.socket, paths.database, paths.copies, paths.relay_conf)
        names = (LOCK, CONNECTIONS, marker, *(file.name for file in files), *WATCHED_FILES)
        self._watch = FolderWatch(loop, core.work, self._look, paths.state, names, content=paths.database)
        self._attempts = 0
        self._not_before = 0.0
        self._is_over = False  # another tray has the folder
        self._is_unnoted = False  # the database is new and does not have yet what was guarded
        self._alerts: list[str] = []  # the keys of the alerts that were not read; none = nothing was announced
        self.incident = self._unseen()  # the last one, until the user has seen it

    def start(self, socket: Identity | None = None) -> None:
        """Watch everything from here on. `socket` is the file of the socket, which is open."""
        self._folder.remember_socket(socket)
        self._watch.rearm()

    def stop(self) -> None:
        """Stop watching."""
        self._watch.close()

    @property
    def has_lost_approvals(self) -> bool:
        """True if approvals were lost and the user has not read that yet."""
        return self.incident is not None and self.incident.cause.loses_approvals

    def show(self) -> None:
        """Show what happened and what waits for a review; end the warning unless the last attempt failed."""
        incident = self.incident
        if incident is None or incident.failure:
            self._announce()
            return
        waiting = ("\n".join(summary_lines(one)) for one in source_batches(self._core.catalog.states))
        text = "\n\n".join((incident.text.replace(" · ", "\n"), *waiting))
        self._opener.open_text(self._paths.reviews / "lost-state.txt", text + "\n")
        self._acknowledge()
        self._refresh.now()

    def _acknowledge(self) -> None:
        with contextlib.suppress(StoreError):  # the next start shows it again
            self._stores.database.acknowledge_damage()
        while self._alerts:
            self._alert_service.withdraw(self._alerts.pop())
        self.incident = None

    def check(self) -> bool:
        """Make anew what is lost. Returns True if anything was lost, False also before the next attempt is due."""
        if self._is_over:
            return False
        parts = self._folder.changed()
        if self._core.shutdown_state.begun:
            parts -= {StatePart.SOCKET}  # the tray itself removes it then, in this order
        cause = self._cause(parts)
        if cause is None and not self._attempts:
            if self._is_reviewed():
                self._acknowledge()
            elif not self._alerts:
                self._announce()
            return False
        left = self._not_before - time.monotonic()
        if left > 0:
            self._watch.schedule(left)
            return False
        self._recover(cause, parts)
        if not self._is_over:
            self._queue.post(self._refresh.now)  # icon and menu must show it, whichever part called `check`
        return not self._is_over

    def _is_reviewed(self) -> bool:
        """True if the user has decided about each hook since the loss, for example at a terminal."""
        try:
            return self.has_lost_approvals and not LostGuards(self._stores.database).is_unreviewed
        except StoreError:
            return False

    def _look(self) -> None:
        """Called when something happened to the state folder."""
        if not self.check():
            if not self._paths.relay_conf.exists():
                self._refresh.now()
            elif sys.platform != "linux" or not (self._paths.state / CONNECTIONS).exists():  # nothing else reports it
                self.connections.check()
        self._offline_rows.check()

    def _cause(self, parts: frozenset[StatePart]) -> IncidentCause | None:
        if StatePart.FOLDER in parts:
            if not self._folder.current_path():
                return IncidentCause.DELETED
            return IncidentCause.REPLACED if self._paths.state.exists() else IncidentCause.MOVED
        if StatePart.DATABASE not in parts:
            if self._stores.database.is_damaged:
                return IncidentCause.DAMAGED
            with contextlib.suppress(StoreError):
                if self._stores.ledger.is_altered:
                    return IncidentCause.ALTERED
        return next((cause for part, cause in PARTS if part in parts), None)

    def _recover(self, cause: IncidentCause | None, parts: frozenset[StatePart]) -> None:
        is_worse = cause and cause.loses_approvals and not self.has_lost_approvals
        failing = self.incident if self._attempts and not is_worse else None
        incident = failing or Incident(
            at=time.time(),
            cause=cause or IncidentCause.LOCK,
            folder=str(self._paths.state),
            moved_to=self._folder.current_path() if StatePart.FOLDER in parts else "",
        )
        try:
            self._begin_anew(cause, parts)
        except AnotherTrayError:
            self._is_over = True
            text = say("Another tray runs for {folder} now, so this one ends", folder=self._paths.state)
            log.warning("%s", text)
            self._alert_service.alarm("Hooktray", text)
            self._tray.yield_to_other(text)
            return
        except (HooktrayError, OSError) as error:
            why = error.message if isinstance(error, HooktrayError) else error.strerror or str(error)
            self._retry(replace(incident, failure=why), announce=failing is None)
            return
        self._attempts, self._not_before = 0, 0.0
        kept = self._stores.database.damage() or "" if incident.cause.loses_approvals else ""
        self.incident = replace(incident, failure="", set_aside=kept)
        self._watch.rearm()
        self._announce()
        if not incident.cause.loses_approvals:  # an earlier loss that was not read matters more
            self.incident = self._unseen() or self.incident

    def _retry(self, incident: Incident, *, announce: bool) -> None:
        delay = RETRY_DELAYS[min(self._attempts, len(RETRY_DELAYS) - 1)]
        self._attempts += 1
        self._not_before = time.monotonic() + delay
        self.incident = incident
        self._watch.rearm()
        self._watch.schedule(delay)
        if announce:
            self._announce()

    def _announce(self) -> None:
        if self.incident:
            log.warning("%s", self.incident.text)
            title, text = self.incident.headline, self.incident.outcome
            self._alerts.append(self._alert_service.alarm(title, text, about=INCIDENT))

    def _unseen(self) -> Incident | None:
        with contextlib.suppress(StoreError):
            return unread_loss(self._stores, self._paths.state)
        return None

    def _begin_anew(self, cause: IncidentCause | None, parts: frozenset[StatePart]) -> None:
        """Make the socket before the database, so that guarded calls are asked about meanwhile."""
        if (cause and cause.loses_approvals) or self._is_unnoted:
            self._core.relay_files.keep_guards()
        self._folder.claim()
        _reopen_logs()
        parts |= self._folder.changed()
        if StatePart.SOCKET in parts and not self._core.shutdown_state.begun:
            self._folder.remember_socket(self._core.server.rebind())
        if StatePart.DATABASE in parts or cause in KINDS:
            with self._stores.journal.swap(), self._stores.ledger.swap():
                # Until the new database is in force, threads read and write only the old file.
                begin_anew(self._paths.database, KINDS.get(cause or IncidentCause.DATABASE, "replaced"))
                self._folder.hold(self._stores.database)
                self._is_unnoted = True
            self._stores.switch.load()
        self._core.catalog.reset()
        if self._is_unnoted:
            self._core.relay_files.note_loss()
            self._is_unnoted = False
        elif parts & {StatePart.FOLDER, StatePart.COPIES}:
            self._core.relay_files.write()
        self._stores.sessions.reopen()
        self._folder.remember(StatePart.FOLDER, StatePart.COPIES)


def _reopen_logs() -> None:
    """Reopen the logs, whose folder may be below the state folder and gone."""
    for handler in logging.getLogger().handlers:
        if isinstance(handler, logging.FileHandler):
            with contextlib.suppress(OSError, ValueError):  # what it still held cannot be written
                handler.close()
