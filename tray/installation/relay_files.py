"""Keeps the files that relays read up to date: relay.conf, and the installed relay's table with what guards match.

If the relay or its table is removed or altered, it is restored and the user is notified.
"""

from __future__ import annotations

import contextlib
import logging
import time
from typing import Protocol

from tray.agents.registry import AGENTS
from tray.approvals.catalog import HookCatalog
from tray.doctor import relay_problems
from tray.doctor.agent_sites import connected_agents
from tray.doctor.finding import Cause, Finding
from tray.engine.guards_in_force import GuardSources, connected_guards, guards, kept_guards, strict, table_guards
from tray.engine.own_answers import LostApprovals
from tray.engine.stores import Stores
from tray.errors import HooktrayError
from tray.installation import installed_relay
from tray.language import say
from tray.notify.service import AlertService
from tray.paths import Paths
from tray.store.db import Database
from tray.store.lost_guards import LostGuards

ATTEMPTS = 3  # to put it back
CONFIRM = 0.4  # seconds between two looks: `connect` writes files and record one after the other
USUAL_AT_START = frozenset({Cause.RELAY_ELSEWHERE, Cause.RELAY_OTHER})  # another version, another Hooktray

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
            if not is_altered:
                self._write_table(sources)
        except HooktrayError as error:  # the doctor shows it, too
            log.warning("the relay's table cannot be written: %s", error.message)

    def write_last(self) -> None:
        """No process writes the guards anew when a pause ends while no tray runs."""
        with contextlib.suppress(HooktrayError, OSError):
            sources = self._sources(after_quit=True)
            self.lost.guards = kept_guards(sources)
            self._write_table(sources)

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
        if not relay_problems.is_installed(self._paths, self._stores.database):
            return
        installed_relay.write_table(
            self._paths,
            connected_guards(sources, self.lost.guards),
            self._stores.database,
            without_tray=self._catalog.without_tray(),
            only_installed=True,
        )


def altered_before_start(paths: Paths, database: Database) -> tuple[Finding, ...]:
    """What was altered while no tray ran, other than by an upgrade; called before the tray installs its relay."""
    with contextlib.suppress(HooktrayError):
        found = relay_problems.problems(paths, database)
        return tuple(one for one in found if one.cause not in USUAL_AT_START)
    return ()


class RelayWatchOwner(Protocol):
    """The part of ConnectionWatch that is used here, which calls `check`."""

    def recheck(self, seconds: float) -> None: ...
    def relay_changed(self) -> None: ...


class RelayWatch:
    """All of it runs on one thread, the work queue's.

    `at_start` is what was altered before the tray started; the start has installed it again.
    """

    def __init__(
        self,
        owner: RelayWatchOwner,
        paths: Paths,
        database: Database,
        alerts: AlertService,
        at_start: tuple[Finding, ...] = (),
    ) -> None:
        self._owner = owner
        self._paths = paths
        self._database = database
        self._alerts = alerts
        self._seen: tuple[tuple[Finding, ...], float] = ((), 0.0)
        self._at_start = at_start
        self._announced: tuple[Finding, ...] = ()
        self.problem = ""  # what could not be mended

    @property
    def is_pending(self) -> bool:
        """Whether a problem was seen only once: it is announced before anything is written."""
        return bool(self._seen[0])

    def announce_start(self) -> None:
        """After the relay was installed."""
        if self._at_start:
            with contextlib.suppress(HooktrayError):
                self._report(self._at_start, relay_problems.problems(self._paths, self._database))
            self._at_start = ()

    def check(self) -> None:
        """Mend what is ours. A relay that leads to another Hooktray, which is still there, is only announced."""
        try:
            found = relay_problems.problems(self._paths, self._database)
        except HooktrayError as error:  # the database cannot be read, which has an alert of its own
            log.warning("the relay cannot be checked: %s", error.message)
            return
        if found and found != self._announced:
            known, at = self._seen
            if known != found or time.monotonic() - at < CONFIRM:
                self._seen = (found, at if known == found else time.monotonic())
                self._owner.recheck(CONFIRM)
                return
        left = self._mend(found) if found else ()
        if found != self._announced or left != found:
            self._report(found, left)
        elif not found:
            self._seen = ((), 0.0)

    def _mend(self, found: tuple[Finding, ...]) -> tuple[Finding, ...]:
        """What is left. It may be removed again while it is put back, which does not end the attempts."""
        try:
            left = found
            for _ in range(ATTEMPTS):
                left = left and installed_relay.mend(self._paths, self._database)
            return left
        except HooktrayError as error:
            log.warning("the relay cannot be put back: %s", error.message)
            return found

    def _report(self, found: tuple[Finding, ...], left: tuple[Finding, ...]) -> None:
        self._seen = ((), 0.0)
        self._announced = left
        before, self.problem = self.problem, " · ".join(one.message for one in left)
        if found:
            text = " · ".join(one.message for one in found)
            outcome = say("Nothing could be put back") if left else say("It was put back")
            log.warning("%s: %s", text, "not put back" if left else "put back")
            self._alerts.alarm(say("The relay that agents run was changed"), f"{text} · {outcome}")
        if self.problem != before:
            self._owner.relay_changed()
