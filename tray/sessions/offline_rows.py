"""Shows the user what happened without the tray: before its start, and while it ran but was too busy.

A relay waits 300 ms. Then the one-shot engine answers, or the relay itself; each leaves a file in the state folder.
"""

from __future__ import annotations

import contextlib
import logging
import time
from pathlib import Path

from tray.agents.relay_table import UNJUDGED
from tray.errors import StoreError
from tray.notify.service import AlertService
from tray.paths import Paths
from tray.sessions import unjudged_calls
from tray.sessions.unjudged_calls import RowView
from tray.store.journal import OFFLINE_MARK, Journal

WATCHED_FILES = (OFFLINE_MARK, UNJUDGED)  # files in the state folder

log = logging.getLogger(__name__)


class OfflineRows:
    """All methods run on one thread, the work queue's."""

    def __init__(self, paths: Paths, journal: Journal, alerts: AlertService, view: RowView) -> None:
        self._paths, self._journal, self._alerts, self._view = paths, journal, alerts, view
        self._started = time.time()
        self._has_failed = False  # the rows could not be read

    def announce_rows(self) -> None:
        """Show and announce the one-shot engine's rows that no tray has announced yet."""
        with contextlib.suppress(OSError):  # before the rows are read: one that comes meanwhile leaves a new file
            self._mark.unlink()
        self._has_failed = True
        rows = self._journal.offline_rows()
        self._has_failed = False
        fresh = self._view.publish_offline(rows)
        self._alerts.summarize_offline([row for row in rows if row.at < self._started])
        self._alerts.summarize_missed([row for row in fresh if row.at >= self._started])

    def announce_unjudged(self) -> None:
        """Calls that went on although nothing could judge them."""
        self._view.publish_offline(unjudged_calls.announce(self._paths, self._journal, self._alerts))

    def check(self) -> None:
        """Announce what the two files report; without them nothing is read."""
        try:
            if self._has_failed or self._mark.exists():
                self.announce_rows()
        except StoreError as error:  # the next look tries again
            log.warning("what was answered without the tray cannot be read: %s", error)
        if (self._paths.state / UNJUDGED).exists():
            self.announce_unjudged()

    @property
    def _mark(self) -> Path:
        return self._paths.state / OFFLINE_MARK
