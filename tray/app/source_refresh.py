"""Reads the sources of hooks and the settings again, and announces what newly waits for the user."""

from __future__ import annotations

import contextlib
import logging

from tray.app.alert_controller import AlertController
from tray.app.core import TrayCore
from tray.app.lost_state import LostState
from tray.approvals import guarded_settings, silenced
from tray.approvals.agent_switches import follow_agents, follow_connections
from tray.approvals.controls import Controls
from tray.errors import StoreError
from tray.installation.native_hooks import native_hooks
from tray.text import sanitise

log = logging.getLogger(__name__)


class SourceRefresh:
    """All of it runs on one thread, the work queue's."""

    def __init__(
        self,
        core: TrayCore,
        controls: Controls,
        alerts: AlertController,
        lost_state: LostState,
    ) -> None:
        self._paths, self._stores, self._catalog = core.paths, core.stores, core.catalog
        self._controls = controls
        self._alert_controller = alerts
        self._lost_state = lost_state
        self._known_problem = ""  # of the configuration

    def refresh(self) -> None:
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
        switch = self._stores.switch
        follow_agents(self._catalog, switch, self._controls)
        follow_connections(native_hooks(self._paths, self._catalog.states), switch, self._controls)

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
