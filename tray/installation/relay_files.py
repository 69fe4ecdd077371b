"""Keeps what relays read up to date: relay.conf, and the table of the installed relay with what guards match."""

from __future__ import annotations

import contextlib
import logging

from tray.agents.registry import AGENTS
from tray.approvals.catalog import HookCatalog
from tray.doctor import relay_problems
from tray.doctor.agent_sites import connected_agents
from tray.engine.guards_in_force import GuardSources, connected_guards, guards, kept_guards, strict, table_guards
from tray.engine.own_answers import LostApprovals
from tray.engine.stores import Stores
from tray.errors import HooktrayError
from tray.installation import installed_relay
from tray.installation.relay_watch import RelayWatch
from tray.paths import Paths
from tray.store.lost_guards import LostGuards

log = logging.getLogger(__name__)


class RelayFiles:
    """Installs the relay and writes its table. ConnectionWatch sets `watch`.

    The table stays as it is while a problem that `watch` found is not announced yet.
    """

    def __init__(self, paths: Paths, stores: Stores, catalog: HookCatalog) -> None:
        self._paths = paths
        self._stores = stores
        self._catalog = catalog
        self.watch: RelayWatch | None = None
        self.lost = LostApprovals()  # the tray judges by its guards, too

    def install(self) -> None:
        """Before the first event, as the tray may be killed at any moment: install the relay, and what it reads.

        A table that leads here stays as it is until the next `write`: to make one asks every agent for its answers.
        """
        try:
            installed_relay.install(self._paths, self._stores.database)
        except HooktrayError as error:  # the doctor shows it, too
            log.warning("the relay cannot be installed: %s", error.message)
        if not installed_relay.leads_here(self._paths, self._stores.database):
            self.write()
            return
        installed_relay.write_conf(self._paths, self._catalog.without_tray())
        try:
            if LostGuards(self._stores.database).is_unreviewed:
                self.lost.guards = kept_guards(self._sources())
        except HooktrayError as error:
            log.warning("what lost approvals guard cannot be read: %s", error.message)

    def keep_guards(self) -> None:
        """Ask about what the lost approvals guarded at any agent, also while paused, and what the table guards."""
        guarded = guards(self._stores.ledger.state, self._stores.switch, AGENTS, after_quit=True)
        self.lost.guards = strict((*guarded, *table_guards(self._paths), *self.lost.guards))

    def note_loss(self) -> None:
        """Write what was guarded to the new database, for relays and the next tray. Raises HooktrayError, OSError."""
        LostGuards(self._stores.database).begin(self.lost.guards)
        self.install()

    def write(self) -> None:
        """Write what relays do when the tray does not answer. Raises OSError when the state folder is gone."""
        installed_relay.write_conf(self._paths, self._catalog.without_tray())
        try:
            lost = LostGuards(self._stores.database)
            if lost.is_unreviewed and not lost.is_noted:
                return  # the new database does not have yet what was guarded: only memory and the old table do
            sources = self._sources()
            self.lost.guards = kept_guards(sources)
            is_altered = self.watch is not None and self.watch.is_pending
            if not is_altered and self._is_installed():
                self._write_table(sources)
        except HooktrayError as error:  # the doctor shows it, too
            log.warning("the relay's table cannot be written: %s", error.message)

    def write_last(self) -> None:
        """No process writes the guards anew when a pause ends while no tray runs."""
        with contextlib.suppress(HooktrayError, OSError):
            sources = self._sources(after_quit=True)
            self.lost.guards = kept_guards(sources)
            if self._is_installed():
                self._write_table(sources)

    def _is_installed(self) -> bool:
        return relay_problems.is_installed(self._paths, self._stores.database)

    def _sources(self, *, after_quit: bool = False) -> GuardSources:
        """The guards change with approvals, switch and agents."""
        catalog = self._catalog
        is_known = catalog.is_current and not catalog.configuration.problem
        return GuardSources(
            database=self._stores.database,
            ledger=self._stores.ledger.state,
            switch=self._stores.switch,
            agents=connected_agents(self._paths),
            waiting=frozenset(one.hook.name for one in catalog.states if one.waiting) if is_known else None,
            after_quit=after_quit,
        )

    def _write_table(self, sources: GuardSources) -> None:
        installed_relay.write_table(
            self._paths,
            connected_guards(sources, self.lost.guards),
            self._stores.database,
            without_tray=self._catalog.without_tray(),
            only_installed=True,
        )
