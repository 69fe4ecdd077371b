"""Watches what connects agents with the tray: our entries in their settings, the installed relay and its table."""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import Callable
from pathlib import Path

from tray.agents.connection import Site
from tray.app.core import TrayCore
from tray.doctor.agent_sites import hooks_in_question, reading_site, record_again, site
from tray.doctor.agent_status import failing_lines
from tray.event_loop import ThrottledCall
from tray.installation import relay_watch
from tray.installation.entry_watch import EntryWatch
from tray.installation.file_watch import FileWatch
from tray.installation.relay_watch import RelayWatch
from tray.language import say
from tray.notify.service import AlertService

AGENTS_SECONDS = 1.0  # seconds, at least, between two readings of all agents' files for menu and page


class ConnectionWatch:
    """All of it runs on one thread, the work queue's.

    `check_state` looks whether state was lost. `show` draws icon and menu again.
    `refresh_menu` has the menu read the agents' files again.
    """

    def __init__(
        self,
        core: TrayCore,
        loop: asyncio.AbstractEventLoop,
        alerts: AlertService,
        *,
        check_state: Callable[[], object],
        show: Callable[[], None],
        refresh_menu: Callable[[], None],
    ) -> None:
        self._relay_files, self._shutdown_state = core.relay_files, core.shutdown_state
        self._check_state, self._show, self._refresh_menu = check_state, show, refresh_menu
        self._throttled_agents = ThrottledCall(loop, lambda: core.work.post(self._read_agents), AGENTS_SECONDS)
        self._watch = FileWatch(loop, lambda: core.work.post(self.check))
        self._alerts = alerts
        self.unanswered: dict[str, str] = {}  # why an agent's line gave no answer when it was tried, by agent
        paths, catalog = core.paths, core.catalog
        self._paths = paths
        self._site: Callable[[], Site] = lambda: site(paths, Path.home(), hooks=hooks_in_question(catalog))
        self.entries = EntryWatch(
            lambda: reading_site(paths, hooks_in_question(catalog)),
            self._site,
            core.stores.ledger,
            alerts,
            recheck=self._watch.schedule,
            watch=lambda files: self._watch.watch((*files, *relay_watch.files(paths))),
            changed=self._entries_changed,
        )
        self.relay = RelayWatch(
            paths,
            core.stores.database,
            alerts,
            recheck=self._watch.schedule,
            changed=show,
            at_start=core.altered_relay,
        )
        self._relay_files.is_altered = lambda: self.relay.is_pending

    def check(self) -> None:
        if not self._shutdown_state.begun:
            self._check_state()
            self.relay.check()
            record_again(self._paths)
            self.entries.check()
            if self.unanswered:
                self.check_lines()

    @property
    def problem(self) -> str:
        """Why agents get no answer; "" if they do."""
        return self.relay.problem or " · ".join(self.unanswered.values())

    def check_lines(self) -> None:
        """Run each connected agent's line once, as the agent does, and announce those that give no answer."""
        before, self.unanswered = self.unanswered, failing_lines(self._site())
        if self.unanswered != before:
            if self.unanswered and not self.relay.problem:  # that is announced already
                self._alerts.alarm(say("An agent gets no answer from Hooktray"), self.problem)
            self._entries_changed()

    def write_relay_files(self) -> None:
        with contextlib.suppress(OSError):  # the folder is gone: the state recovery reports it
            self._relay_files.write()

    def close(self) -> None:
        self._watch.close()

    def _entries_changed(self) -> None:
        """Our entries in the agents' settings may be others."""
        self._throttled_agents.request()
        self._show()

    def _read_agents(self) -> None:
        """Read again what menu and page show of agents, and whose guards the relay's table has."""
        self._refresh_menu()
        self.write_relay_files()
