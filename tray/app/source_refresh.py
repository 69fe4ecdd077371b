"""Reads the sources of hooks and the settings again, and announces what newly waits for the user."""

from __future__ import annotations

import asyncio
import contextlib
import logging
import time

from tray.app.core import TrayCore
from tray.approvals import guarded_settings, silenced
from tray.approvals.controls import Controls
from tray.desktop.alert_controller import AlertController
from tray.desktop.presenter import Presenter
from tray.doctor.live import LiveDoctor
from tray.errors import StoreError
from tray.event_loop import ThrottledCall
from tray.installation.connection_watch import ConnectionWatch
from tray.installation.file_watch import FileWatch
from tray.installation.lost_state import LostState
from tray.installation.native_hooks import native_hooks
from tray.text import sanitise

REFRESH_SECONDS = 1.0  # seconds between two refreshes of the sources while events come in

log = logging.getLogger(__name__)


class SourceRefresh:
    """Reads the sources again and shows what changed.

    It does so on request, when one of their files changes, and while events come in.

    Any thread may request a refresh; everything else runs on the thread of the work queue. The start sets the parts
    that follow changes before the queue runs anything.
    """

    controls: Controls
    alerts: AlertController
    lost_state: LostState
    connections: ConnectionWatch
    doctor: LiveDoctor
    presenter: Presenter

    def __init__(self, core: TrayCore, loop: asyncio.AbstractEventLoop) -> None:
        self._paths, self._stores, self._catalog, self._queue = core.paths, core.stores, core.catalog, core.work
        self.throttled = ThrottledCall(loop, self.request, REFRESH_SECONDS)
        self._watch = FileWatch(loop, self._queue, self._refresh_again)
        self._known_problem = ""  # of the configuration

    def request(self) -> None:
        """Refresh on the thread of the queue, soon."""
        self._queue.post(self._refresh_again)

    def now(self) -> None:
        """Read the sources again, and show what has changed."""
        self.lost_state.check()
        self._read()
        self.connections.check()
        self.connections.write_relay_files()
        self._watch.watch((self._paths.config, *self._catalog.watched))
        self.doctor.refresh()
        self.presenter.show()

    def close(self) -> None:
        self._watch.close()

    def _refresh_again(self) -> None:
        """Refresh, and delay the next refresh by its cost; the first one imports much, so it is not counted."""
        started = time.thread_time()  # the time of other threads does not count
        self.now()
        self.throttled.record_cost(time.thread_time() - started)

    def _read(self) -> None:
        self._catalog.refresh()
        self.alerts.announce_tampering(self._stores)
        if not self._catalog.configuration.problem:
            with contextlib.suppress(StoreError):  # the next refresh tries again
                self._record()
        self._announce_waiting()
        self._announce_problem(self._catalog.configuration.problem)
        self.alerts.push.refresh()
        self.alerts.alerts.source_warnings(self._catalog.configuration.warnings)

    def _record(self) -> None:
        """Record what follows from the sources without a question to the user."""
        settings, ledger = self._catalog.configuration.settings, self._stores.ledger
        guarded_settings.record_withdrawn(settings, ledger)
        if edit := silenced.record(settings, ledger, self._paths.config):
            self.controls.announce(edit.text, guarded_settings.FILE, edit)  # the edit cannot silence this one
        self.controls.follow_agents()
        self.controls.follow_connections(native_hooks(self._paths, self._catalog.states))

    def _announce_problem(self, problem: str) -> None:
        """Announce why the file as it is does not count, once for each problem."""
        if problem not in ("", self._known_problem):
            self.alerts.alerts.config_broken(problem)
            log.warning("the configuration is broken: %s", sanitise(problem, 1000))
        self._known_problem = problem

    def _announce_waiting(self) -> None:
        """Announce each hook and setting that waits; those that wait after a loss share one alert."""
        alerts = self.alerts.alerts
        for state in self._catalog.take_new():
            if not self.lost_state.has_lost_approvals:
                alerts.hook_waiting(state)
        settings = [one for one in self._catalog.settings() if one.waiting]
        for setting in settings:
            alerts.setting_waiting(setting)
        hooks = {one.key for one in self._catalog.states if one.waiting}
        alerts.withdraw_except({*hooks, *(one.id for one in settings)})
