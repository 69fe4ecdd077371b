"""Watches the state folder of the running tray, and shows the user what happened to it."""

from __future__ import annotations

import asyncio
import logging
import sys
from collections.abc import Callable

from tray.app.alert_controller import AlertController
from tray.app.core import TrayCore
from tray.app.file_watch import FolderWatch
from tray.app.offline_rows import WATCHED_FILES
from tray.app.state_folder import LOCK, StateFolder
from tray.app.state_incident import Incident
from tray.app.state_recovery import StateRecovery
from tray.files import Identity
from tray.language import say
from tray.notify.policy import state_folder_lost

KEEP_TIMEOUT = 10.0  # seconds that a command waits until what it recorded is held

log = logging.getLogger(__name__)


class StateWatch:
    """All methods but `start` and `keep_records` run on one thread, the work queue's.

    After a recovery `refresh` reads the sources again. `check_connections` looks at the agents' settings if nothing
    else reports their changes. `check_offline_rows` announces what was answered, or went on unjudged, without the
    tray. `show` draws icon and menu again, and `end` gets the reason and ends the tray.
    """

    def __init__(
        self,
        core: TrayCore,
        folder: StateFolder,
        loop: asyncio.AbstractEventLoop,
        alerts: AlertController,
        *,
        refresh: Callable[[], None],
        check_connections: Callable[[], None],
        check_offline_rows: Callable[[], None],
        show: Callable[[], None],
        end: Callable[[str], None],
    ) -> None:
        self._paths, self._work, self._alert_controller = core.paths, core.work, alerts
        self._refresh, self._check_connections, self._show, self._end = refresh, check_connections, show, end
        self._check_offline_rows = check_offline_rows
        paths = core.paths
        files = (paths.socket, paths.database, paths.copies, paths.relay_conf)
        names = (LOCK, *(file.name for file in files), *WATCHED_FILES)
        self._folder_watch = FolderWatch(loop, paths.state, names, lambda: self._work.post(self._recover))
        self._recovery = StateRecovery(
            paths,
            core.stores,
            core.catalog,
            folder,
            core.rescue,
            listen=core.server.rebind,
            write_relay_conf=core.relay_files.write,
            announce=self._announce,
            on_conflict=self._yield_to_other,
            retry=self._folder_watch.schedule,
            watch=self._folder_watch.rearm,
            shutdown_state=core.shutdown_state,
        )

    @property
    def incident(self) -> Incident | None:
        """The last one, until a person has seen it."""
        return self._recovery.incident

    def start(self, socket: Identity | None) -> None:
        """Begin to watch. The socket is open, and is this file."""
        self._recovery.start(socket)

    def check(self) -> bool:
        """Make anew what was taken away, or keep what is there now. Returns whether anything was to be made anew."""
        return self._recovery.check()

    def keep_records(self) -> None:
        """Keep what `connect` has just recorded, before the command, the menu or the page reports its end."""
        self._work.run(self._recovery.keep_records, KEEP_TIMEOUT)

    def show_incident(self) -> None:
        """Show it to the user. Then the icon is as usual again, unless the folder still cannot be made anew."""
        if incident := self.incident:
            if incident.failure:
                self._alert_controller.announce(state_folder_lost(incident.text))
            else:
                self._alert_controller.actions.show_text("state-folder", incident.text + "\n")
            self._recovery.acknowledge()
            self._show()

    def stop(self) -> None:
        """Watch nothing any more."""
        self._folder_watch.close()

    def close(self) -> None:
        """Let the database go, after the journal has written its last row."""
        self._recovery.close()

    def _recover(self) -> None:
        """Called when something happened to the state folder."""
        if self.check() or not self._paths.relay_conf.exists():
            self._refresh()
        elif sys.platform != "linux":  # nothing else reports a change there
            self._check_connections()
        self._check_offline_rows()

    def _announce(self, incident: Incident) -> None:
        self._alert_controller.announce(state_folder_lost(incident.brief))
        self._show()

    def _yield_to_other(self) -> None:
        text = say("Another tray runs for {folder} now, so this one ends", folder=self._paths.state)
        log.warning("%s", text)
        self._alert_controller.announce(state_folder_lost(text))
        self._end(text)
