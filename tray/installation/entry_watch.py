"""Watches our entries in agents' settings: announces when an agent no longer asks Hooktray, and puts them back.

What counts is what `connect` wrote and recorded (tray/doctor/entries.py). A change is announced once it was seen
twice, `CONFIRM` seconds apart, because some programs write a file in several steps. What a person leaves as it is
stays in the ledger, and is announced again only when it changes again.
"""

from __future__ import annotations

import logging
import time
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Protocol

import msgspec
from msgspec.structs import replace

from tray.agents.connection import Plan, Site
from tray.agents.registry import AGENTS
from tray.connect import LOCK, apply_connect, connectors, lock_connections
from tray.doctor.entries import Recorded, changed_entries, fingerprint, recorded_entries, watched_files
from tray.doctor.finding import Cause, Finding
from tray.edit.backups import CONNECTIONS
from tray.errors import HooktrayError, StoreError
from tray.ipc.health import ChangedEntry
from tray.language import say
from tray.model.event import EventKind
from tray.notify.service import AlertService
from tray.sources.configuration import file_stamp
from tray.store.ledger import Ledger, LedgerAction

CONFIRM = 0.5  # seconds between the two looks
BUSY_DELAY = 0.3  # seconds until the next look while `connect` or `disconnect` is writing
LEFT, RUNS = "setting:entries left {agent}", "setting:entries run {agent}"  # keys in the ledger
YES = "yes"
SCOPES = ("user", "project", "local")
GATES = frozenset({EventKind.TOOL_BEFORE, EventKind.PERMISSION_REQUEST})  # which self-protection judges, too

log = logging.getLogger(__name__)


class EntryChange(msgspec.Struct, frozen=True, kw_only=True):
    """How one agent's entries differ from what `connect` wrote. `digest` is the same for the same state."""

    agent: str
    findings: tuple[Finding, ...]
    digest: str
    is_guard: bool  # events that guards judge are among them

    @property
    def text(self) -> str:
        return " · ".join(dict.fromkeys(one.message for one in self.findings))

    @property
    def is_wanted(self) -> bool:
        """Whether our entries are as `connect` wrote them, and hooks need more of them."""
        return all(one.cause is Cause.ENTRY_WANTED for one in self.findings)

    @property
    def remedies(self) -> str:
        """What a person has to do in the agent itself; "" when putting the entries back is enough."""
        switched = (one.remedy for one in self.findings if one.cause is Cause.ENTRY_SWITCHED_OFF)
        return "; ".join(dict.fromkeys(switched))

    @property
    def row(self) -> ChangedEntry:
        """For our own commands."""
        causes = sorted({one.cause.name.lower() for one in self.findings})
        return {"agent": self.agent, "causes": causes, "text": self.text, "is_guard": self.is_guard}


class EntryWatchOwner(Protocol):
    """The part of ConnectionWatch that is used here, which calls `check`."""

    def reading_site(self) -> Site: ...
    def site(self) -> Site: ...
    def recheck(self, seconds: float) -> None: ...
    def watch(self, files: Iterable[Path]) -> None: ...
    def entries_changed(self) -> None: ...


class EntryWatch:
    """All of it runs on one thread, the work queue's."""

    def __init__(self, owner: EntryWatchOwner, ledger: Ledger, alerts: AlertService) -> None:
        self._owner = owner
        self._ledger = ledger
        self._alerts = alerts
        self._stamps: frozenset[object] | None = None
        self._needed: Mapping[str, frozenset[str]] | None = None  # events, when the files were read
        self._files: tuple[Path, ...] = ()
        self._found: dict[str, EntryChange] = {}
        self._seen: dict[str, tuple[str, float]] = {}  # digests that were seen once, and when
        self._announced: dict[str, tuple[str, str]] = {}  # the digest, and the key of its alert

    def change(self, agent: str) -> EntryChange | None:
        """What was announced of this agent, until it is put back or left."""
        found = self._found.get(agent)
        return found if found and found.digest == self._announced_digest(agent) else None

    @property
    def changes(self) -> tuple[EntryChange, ...]:
        return tuple(filter(None, map(self.change, self._found)))

    def check(self) -> None:
        """Read the files if any of them has changed; announce what is new, and withdraw what is well again."""
        site = self._owner.reading_site()
        stamps = _stamps((*self._files, *_records(site)))
        if (stamps, site.needed) == (self._stamps, self._needed) and not self._seen:
            return
        with lock_connections(site, timeout=0) as is_free:
            if not is_free:
                self._owner.recheck(BUSY_DELAY)
                return
            recorded = {agent: recorded_entries(site, agent) for agent in connectors()}
            self._files = tuple(file for agent, one in recorded.items() for file in watched_files(site, agent, one))
            self._stamps = _stamps((*self._files, *_records(site)))  # before the files are read: they may change now
            self._needed = site.needed
            found = {agent: self._look(site, agent, one) for agent, one in recorded.items()}
        self._owner.watch((*self._files, site.paths.state / LOCK))
        self._found = {agent: one for agent, one in found.items() if one}
        for agent in connectors():
            self._judge(agent, self._found.get(agent))
        self._owner.entries_changed()

    def put_back(self, agent: str) -> str:
        """Write our entries as `connect` does; returns what was done. Raises HooktrayError where nothing could be."""
        site, change = self._owner.site(), self._found.get(agent)
        name = AGENTS[agent].name
        if change is None:
            return say("{agent}: its entries are as Hooktray wrote them", agent=name)
        if change.is_wanted:  # in every file that has Hooktray's entries
            apply_connect(site, agent, connectors()[agent].connect(site))
            log.info("%s: added the entries that hooks need", agent)
            self._stamps = None
            self.check()
            return say("{agent} reports all events that your hooks need", agent=name)
        for file in dict.fromkeys(str(one.values["file"]) for one in change.findings if "file" in one.values):
            plan = plan_for(site, agent, Path(file))
            if plan is None:
                hint = change.remedies or say("look at `hooktray doctor`")
                raise HooktrayError(say("{file}: nothing of ours is to be written there", file=file), hint=hint)
            apply_connect(site, agent, plan)
            log.info("%s: put our entries back into %s", agent, file)
        self._stamps = None
        self.check()
        if left := self._found.get(agent):
            raise HooktrayError(left.text, hint=left.remedies or say("look at `hooktray doctor`"))
        return say("{agent}: its entries are back", agent=name)

    def leave(self, agent: str, digest: str, channel: str) -> str:
        """A person leaves this state of the files as it is. Raises HooktrayError when they have changed again."""
        change = self._found.get(agent)
        if change is None or change.digest != digest:
            raise HooktrayError(say("its entries changed again"), hint=say("open the menu once more"))
        self._record(LEFT, agent, digest, channel)
        self._withdraw(agent)
        self._owner.entries_changed()
        return say("{agent}: left as it is until it changes again", agent=AGENTS[agent].name)

    def _look(self, site: Site, agent: str, recorded: Recorded) -> EntryChange | None:
        if not recorded:
            return None
        findings = changed_entries(site, agent, recorded)
        has_run = self._ledger.state.settings.get(RUNS.format(agent=agent)) == YES
        if any(one.cause is Cause.ENTRY_SWITCHED_OFF for one in findings) and not has_run:
            return None  # it never ran them: its user has not switched them on yet
        if not findings:
            if not has_run:
                self._record(RUNS, agent, YES, "file")
            return None
        change = EntryChange(agent=agent, findings=findings, digest=fingerprint(findings), is_guard=False)
        return change if change.is_wanted else replace(change, is_guard=self._is_guard(agent, findings))

    def _judge(self, agent: str, change: EntryChange | None) -> None:
        if change is None:
            self._seen.pop(agent, None)
            self._withdraw(agent)
            if self._left(agent):
                self._record(LEFT, agent, "", "file")
            return
        if change.digest in (self._left(agent), self._announced_digest(agent)):
            self._seen.pop(agent, None)
            return
        digest, seen_at = self._seen.get(agent, ("", 0.0))
        if digest != change.digest or time.monotonic() - seen_at < CONFIRM:
            if digest != change.digest:
                self._seen[agent] = (change.digest, time.monotonic())
            self._owner.recheck(CONFIRM)
            return
        self._seen.pop(agent, None)
        log.warning("%s: %s", agent, change.text)
        text = " · ".join(filter(None, (change.text, change.remedies)))
        key = self._alerts.entries_changed(
            agent, text, change.digest, critical=change.is_guard, wanted=change.is_wanted
        )
        self._announced[agent] = (change.digest, key)

    def _announced_digest(self, agent: str) -> str:
        return self._announced.get(agent, ("", ""))[0]

    def _withdraw(self, agent: str) -> None:
        if agent in self._announced:
            self._alerts.withdraw(self._announced.pop(agent)[1])

    def _is_guard(self, agent: str, findings: Iterable[Finding]) -> bool:
        by_event = self._ledger.state.by_event
        for one in findings:
            affected = one.values.get("affected")
            if not isinstance(affected, tuple) or "" in affected:
                return True  # all events
            for event in affected:
                spec = AGENTS[agent].events.get(event)
                names = (event, spec.kind.value) if spec else (event,)
                if spec is None or spec.kind in GATES:
                    return True
                if any((who, name) in by_event for who in ("", agent) for name in names):
                    return True
        return False

    # ---- what the ledger remembers

    def _left(self, agent: str) -> str:
        return self._ledger.state.settings.get(LEFT.format(agent=agent), "")

    def _record(self, key: str, agent: str, digest: str, channel: str) -> None:
        try:
            self._ledger.append(
                LedgerAction.APPROVE, key.format(agent=agent), digest, definition="", position=(0, 0), channel=channel
            )
        except StoreError as error:
            log.warning("%s: %s", agent, error.message)


def plan_for(site: Site, agent: str, file: Path) -> Plan | None:
    """What `connect` would write into this file; None when nothing."""
    place = file.parent.parent
    for scope in SCOPES:
        one = replace(site, cwd=place, scope=scope, workspace=str(place))
        plan = connectors()[agent].connect(one)
        if any(change.path == file for change in plan.changes):
            return plan
    return None


def _records(site: Site) -> tuple[Path, ...]:
    """What `connect` recorded."""
    return tuple(sorted((site.paths.state / CONNECTIONS).glob("*.json")))


def _stamps(files: Iterable[Path]) -> frozenset[object]:
    """Changes with the content, the mode or the identity of any of the files; the clock of `ctime` cannot be set."""
    return frozenset((file, file_stamp(file)) for file in files)
