"""Watches what connects agents with the tray: our entries in their settings, the installed relay and its table."""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import Iterable
from functools import partial
from pathlib import Path
from typing import Protocol

from tray.agents.connection import Site
from tray.approvals.catalog import HookCatalog
from tray.desktop.presenter import Presenter
from tray.doctor.agent_sites import hooks_in_question, reading_site, record_again, site
from tray.doctor.agent_status import failing_lines
from tray.doctor.finding import Finding
from tray.engine.stores import Stores
from tray.event_loop import ThrottledCall
from tray.installation.entry_watch import EntryWatch
from tray.installation.file_watch import FileWatch
from tray.installation.relay_files import RelayFiles, RelayWatch
from tray.ipc.server import IpcServer
from tray.language import say
from tray.notify.service import AlertService
from tray.paths import Paths
from tray.threads import Queue, ShutdownState

AGENTS_SECONDS = 1.0  # seconds, at least, between two readings of all agents' files for menu and page


class WatchedCore(Protocol):
    """The part of TrayCore that is used here."""

    paths: Paths
    stores: Stores
    catalog: HookCatalog
    relay_files: RelayFiles
    altered_relay: tuple[Finding, ...]
    shutdown_state: ShutdownState

    @property
    def work(self) -> Queue: ...
    @property
    def server(self) -> IpcServer: ...


class Checker(Protocol):
    """Looks for a change that nothing reported, and announces it."""

    def check(self) -> object: ...


class ConnectionWatch:
    """All of it runs on one thread, the work queue's. `view` is set before the queue runs anything."""

    view: Presenter

    def __init__(
        self, core: WatchedCore, loop: asyncio.AbstractEventLoop, alerts: AlertService, lost_state: Checker
    ) -> None:
        self._paths, self._catalog, self._queue = core.paths, core.catalog, core.work
        self._relay_files, self._shutdown_state = core.relay_files, core.shutdown_state
        self._alerts, self._lost_state = alerts, lost_state
        self._throttled_agents = ThrottledCall(loop, partial(self._queue.post, self._read_agents), AGENTS_SECONDS)
        self._watch = FileWatch(loop, self._queue, self.check)
        self.unanswered: dict[str, str] = {}  # why an agent's line gave no answer when it was tried, by agent
        self.entries = EntryWatch(self, core.stores.ledger, alerts)
        self.relay = RelayWatch(self, core.paths, core.stores.database, alerts, core.altered_relay)
        self._relay_files.watch = self.relay

    def check(self) -> None:
        if not self._shutdown_state.begun:
            self._lost_state.check()
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
        before, self.unanswered = self.unanswered, failing_lines(self.site())
        if self.unanswered != before:
            if self.unanswered and not self.relay.problem:  # that is announced already
                self._alerts.alarm(say("An agent gets no answer from Hooktray"), self.problem)
            self.entries_changed()

    def write_relay_files(self) -> None:
        with contextlib.suppress(OSError):  # the folder is gone: the state recovery reports it
            self._relay_files.write()

    def close(self) -> None:
        self._watch.close()

    # ---- for the watches of entries and relay

    def reading_site(self) -> Site:
        """Returns where the files are."""
        return reading_site(self._paths, hooks_in_question(self._catalog))

    def site(self) -> Site:
        """Returns where the files and the relay are, which costs a process."""
        return site(self._paths, Path.home(), hooks=hooks_in_question(self._catalog))

    def recheck(self, seconds: float) -> None:
        """Call `check` again in so many seconds."""
        self._watch.schedule(seconds)

    def watch(self, files: Iterable[Path]) -> None:
        """Call `check` when one of these files changes."""
        self._watch.watch((*files, self._paths.relay, self._paths.relay_table))

    def entries_changed(self) -> None:
        """The files were read, because one of them has changed."""
        self._throttled_agents.request()
        self.view.show()

    def relay_changed(self) -> None:
        """Called when the relay's `problem` has changed."""
        self.view.show()

    def _read_agents(self) -> None:
        """Read again what menu and page show of agents, and whose guards the relay's table has."""
        self.view.opened()
        self.write_relay_files()
