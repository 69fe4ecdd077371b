"""Reads the sources of hooks and the settings again, and announces what newly waits for the user."""

from __future__ import annotations

import asyncio
import contextlib
import logging
import time
from collections.abc import Iterable
from pathlib import Path

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
from tray.threads import Queue

REFRESH_SECONDS = 1.0  # seconds between two refreshes of the sources while events come in

log = logging.getLogger(__name__)


class RefreshSchedule:
    """Decides when the sources are read again: on request, when one of their files changes, and while events come in.

    Any thread may request a refresh. `sources` is set before the queue runs anything.
    """

    sources: SourceRefresh

    def __init__(self, loop: asyncio.AbstractEventLoop, queue: Queue) -> None:
        self._queue = queue
        self.throttled = ThrottledCall(loop, self.request, REFRESH_SECONDS)
        self._watch = FileWatch(loop, queue, self._refresh_again)

    def request(self) -> None:
        """Refresh on the thread of the queue, soon."""
        self._queue.post(self._refresh_again)

    def now(self) -> None:
        """Refresh at once, on the thread of the queue."""
        self.sources.refresh()

    def watch(self, files: Iterable[str | Path]) -> None:
        """Refresh when one of these files changes."""
        self._watch.watch(files)

    def close(self) -> None:
        self._watch.close()

    def _refresh_again(self) -> None:
        """Refresh, and delay the next refresh by its cost; the first one imports much, so it is not counted."""
        started = time.thread_time()  # the time of other threads does not count
        self.now()
        self.throttled.record_cost(time.thread_time() - started)


class SourceRefresh:
    """Reads the sources again and shows what changed. All methods run on the thread of the work queue."""

    def __init__(
        self,
        core: TrayCore,
        schedule: RefreshSchedule,
        controls: Controls,
        alerts: AlertController,
        lost_state: LostState,
        connections: ConnectionWatch,
        doctor: LiveDoctor,
        presenter: Presenter,
    ) -> None:
        self._paths, self._stores, self._catalog = core.paths, core.stores, core.catalog
        self._schedule, self._controls, self._alert_controller = schedule, controls, alerts
        self._lost_state, self._connections = lost_state, connections
        self._doctor, self._presenter = doctor, presenter
        self._known_problem = ""  # of the configuration

    def refresh(self) -> None:
        """Read the sources again, and show what has changed."""
        self._lost_state.check()
        self._read()
        self._connections.check()
        self._connections.write_relay_files()
        self._schedule.watch((self._paths.config, *self._catalog.watched))
        self._doctor.refresh()
        self._presenter.show()

    def _read(self) -> None:
        self._catalog.refresh()
        self._alert_controller.announce_tampering(self._stores)
        if not self._catalog.configuration.problem:
            with contextlib.suppress(StoreError):  # the next refresh tries again
                self._record()
        self._announce_waiting()
        self._announce_problem(self._catalog.configuration.problem)
        self._alert_controller.push.refresh()
        self._alert_controller.alerts.source_warnings(self._catalog.configuration.warnings)

    def _record(self) -> None:
        """Record what follows from the sources without a question to the user."""
        settings, ledger = self._catalog.configuration.settings, self._stores.ledger
        guarded_settings.record_withdrawn(settings, ledger)
        if edit := silenced.record(settings, ledger, self._paths.config):
            self._controls.announce(edit.text, guarded_settings.FILE, edit)  # the edit cannot silence this one
        self._controls.follow_agents()
        self._controls.follow_connections(native_hooks(self._paths, self._catalog.states))

    def _announce_problem(self, problem: str) -> None:
        """Announce why the file as it is does not count, once for each problem."""
        if problem not in ("", self._known_problem):
            self._alert_controller.alerts.config_broken(problem)
            log.warning("the configuration is broken: %s", sanitise(problem, 1000))
        self._known_problem = problem

    def _announce_waiting(self) -> None:
        """Announce each hook and setting that waits; those that wait after a loss share one alert."""
        alerts = self._alert_controller.alerts
        for state in self._catalog.take_new():
            if not self._lost_state.has_lost_approvals:
                alerts.hook_waiting(state)
        settings = [one for one in self._catalog.settings() if one.waiting]
        for setting in settings:
            alerts.setting_waiting(setting)
        hooks = {one.key for one in self._catalog.states if one.waiting}
        alerts.withdraw_except({*hooks, *(one.id for one in settings)})
