"""The state of each agent: installed, connected, trusted, firing, last event, and what was found wrong with it.

In that order: each word needs those before it (docs/agent-status.md). Commands, menu and page ask here;
`send_probe` sends a real event through the agent's own configured command.
"""

from __future__ import annotations

import contextlib
import json
import time
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Protocol, TypedDict, cast
from uuid import uuid4

import msgspec
from msgspec.structs import asdict, replace

from tray.agents import relay_table
from tray.agents.connection import RelayEntry, Site
from tray.agents.registry import AGENTS
from tray.connect import connectors
from tray.doctor.entries import OFF, changed_entries, missing_events, reconnect_command
from tray.doctor.finding import ENTRY_CAUSES, Cause, Finding, Health, found
from tray.doctor.relay_problems import obstacle
from tray.errors import MAKE_ROOM, AgentError, HooktrayError
from tray.execution.command import BackgroundProcesses, Job, run
from tray.execution.process import GRACE
from tray.files import is_disk_full, user_file
from tray.model.event import PROBE_HEAD, PROBE_PREFIX, PROBE_TAIL, TEST_VARIABLE, probe_answer
from tray.text import sanitise

COMMAND_TIMEOUT = 15.0  # seconds for the command to end, also on a busy machine
JOURNAL_TIMEOUT = 3.0  # seconds until the journal knows of an event that was answered
POLL_INTERVAL = 0.05
ASKS = "asks: "  # a connector's word for an agent that asks its user first
SILENT = frozenset({Cause.AGENT_NOT_ANSWERING, Cause.AGENT_RELAY_GONE, Cause.AGENT_RELAY_UNUSABLE})
STALE = frozenset({Cause.AGENT_OTHER_HOME, Cause.AGENT_OUTDATED, Cause.AGENT_RELAY_GONE, *ENTRY_CAUSES})
STALE -= {Cause.ENTRY_SWITCHED_OFF}


class Arrivals(Protocol):
    """Which events arrived: the part of the Journal that is used here."""

    def last_events(self, agents: Iterable[str]) -> Mapping[str, float]: ...
    def has_session(self, session: str) -> bool: ...


class AgentRow(TypedDict):
    """An agent as `hooktray agents --json` shows it; its sequences are tuples here and lists once sent as JSON."""

    agent: str
    installed: bool
    events: Sequence[str]
    missing: Sequence[str]
    files: Sequence[str]
    trust: str
    firing: bool | None
    last_event: float | None
    package: str
    stale: bool
    problem: str
    advice: Sequence[str]
    connected: bool
    changed: Sequence[str]


class AgentStatus(msgspec.Struct, frozen=True, kw_only=True):
    """One agent. `firing` is None until it was tried; `trust` is "" when the agent's files do not say."""

    agent: str
    installed: bool
    events: tuple[str, ...] = ()
    missing: tuple[str, ...] = ()
    files: tuple[str, ...] = ()
    trust: str = ""
    firing: bool | None = None
    last_event: float | None = None
    package: str = ""  # that brings the agent; "" for a built-in one
    findings: tuple[Finding, ...] = ()  # the first step first

    @property
    def connected(self) -> bool:
        """True if the agent has our lines, and no check found that they fail to answer."""
        return bool(self.events) and not any(one.cause in SILENT for one in self.findings)

    @property
    def trusted(self) -> bool | None:
        """Whether the agent runs our entries, as far as its own files say; None = they do not, or it will ask."""
        return None if not self.trust or self.trust.startswith(ASKS) else not self.trust.startswith(OFF)

    @property
    def trust_word(self) -> str:
        """For a table."""
        if not self.connected:
            return "-"
        if self.trusted is None:
            return self.trust.partition(":")[0] or "unknown"
        return ("here" if self.trust == "trusted here" else "yes") if self.trusted else "no"

    @property
    def stale(self) -> bool:
        """Whether our entries are not those that connecting would write now."""
        return any(one.cause in STALE for one in self.findings)

    @property
    def changed(self) -> tuple[Finding, ...]:
        """How our entries differ from what `connect` wrote."""
        return tuple(one for one in self.findings if one.cause in ENTRY_CAUSES)

    @property
    def problem(self) -> str:
        """What is broken; "" when nothing is."""
        return next((one.message for one in self.findings if one.health is Health.BROKEN), "")

    @property
    def silence(self) -> str:
        """Why its lines give no answer, and the cure; "" if no check found that."""
        silent = (one for one in self.findings if one.cause in SILENT)
        return next(("\n  ".join(filter(None, (one.message, one.remedy))) for one in silent), "")

    @property
    def advice(self) -> tuple[str, ...]:
        return tuple(dict.fromkeys(one.remedy for one in self.findings if one.remedy))

    @property
    def row(self) -> AgentRow:
        """For `hooktray agents --json`."""
        row = {
            **asdict(self),
            "stale": self.stale,
            "problem": self.problem,
            "advice": self.advice,
            "connected": self.connected,
            "changed": [one.message for one in self.changed],
        }
        del row["findings"]  # they are not JSON
        return cast(AgentRow, row)


def agent_statuses(
    site: Site, journal: Arrivals, *, probe: bool = False, unanswered: Mapping[str, str] | None = None
) -> list[AgentStatus]:
    """Returns all agents. With `probe`, connected ones get a test event. `failing_lines` gives `unanswered`."""
    times = journal.last_events(connectors())  # once for all: the menu asks often
    statuses = [_status(site, agent, times.get(agent), journal if probe else None) for agent in connectors()]
    return [_with_failure(one, site, (unanswered or {}).get(one.agent, "")) for one in statuses]


def probed_status(site: Site, agent: str, journal: Arrivals) -> AgentStatus:
    """Returns the state of one agent, which gets a test event if it is connected."""
    return _status(site, agent, journal.last_events((agent,)).get(agent), journal)


def _with_failure(status: AgentStatus, site: Site, failure: str) -> AgentStatus:
    if not failure or not status.connected:
        return status
    reconnect = reconnect_command(site, status.agent, status.files)
    cause = found(Cause.AGENT_NOT_ANSWERING, status.agent, problem=failure, reconnect=reconnect)
    return replace(status, findings=(cause, *status.findings))


def _status(site: Site, agent: str, last_event: float | None, journal: Arrivals | None) -> AgentStatus:
    """Returns the state of one agent. With the journal, which shows what arrives, it gets a test event."""
    connector = connectors()[agent]
    changed = changed_entries(site, agent)
    known = AgentStatus(agent=agent, installed=True, package=AGENTS.package(agent))
    try:
        entries, trust = connector.relay_entries(site), connector.trust(site)
    except HooktrayError as error:
        unreadable = found(Cause.AGENT_UNREADABLE, agent, problem=error.message, remedy=error.hint)
        rest = tuple(one for one in changed if one.cause is not Cause.ENTRY_UNREADABLE)
        return replace(known, last_event=last_event, findings=(unreadable, *rest))
    events = tuple(dict.fromkeys(entry.event for entry in entries))
    wrong_target = _wrong_target(site, agent, entries)
    failure = ""
    if entries and journal and wrong_target:
        failure = f"{entries[0].path}: nothing can arrive"
    elif entries and journal:
        failure = send_probe(site, agent, entries, journal)
        last_event = journal.last_events((agent,)).get(agent)
    result = replace(
        known,
        installed=bool(entries) or connector.is_installed(site),
        events=events,
        missing=missing_events(site, agent, events) if entries else (),
        files=tuple(dict.fromkeys(entry.path for entry in entries)),
        trust=trust if entries else "",
        firing=None if journal is None or not entries else not failure and not trust.startswith(OFF),
        last_event=last_event,
    )
    is_old = bool(result.missing) or not all(entry.up_to_date for entry in entries)
    return replace(result, findings=tuple(_findings(site, result, changed, wrong_target, is_old, failure)))


def _wrong_target(site: Site, agent: str, entries: tuple[RelayEntry, ...]) -> Finding | None:
    """Why the events of these entries cannot come here; None when they can."""
    needed = dict.fromkeys(path for entry in entries for path in entry.required_files if Path(path).is_absolute())
    reconnect = reconnect_command(site, agent, tuple(dict.fromkeys(entry.path for entry in entries)))
    missing = next((path for path in needed if not Path(path).exists()), "")
    if missing:
        return found(Cause.AGENT_RELAY_GONE, agent, reconnect=reconnect, file=missing)
    programs = dict.fromkeys(Path(entry.required_files[0]) for entry in entries if entry.required_files)
    for problem in filter(None, (obstacle(one) for one in programs if one.is_absolute())):
        return found(Cause.AGENT_RELAY_UNUSABLE, agent, problem=problem.message, remedy=problem.remedy)
    here = {str(site.paths.state), *([] if site.paths.home else [""])}  # an entry may name no folder
    if not {_state_folder(entry) for entry in entries} <= here:
        return found(Cause.AGENT_OTHER_HOME, agent, reconnect=reconnect)
    return None


def _state_folder(entry: RelayEntry) -> str:
    """Where an entry leads: to the folder in its line, else to the one in the table beside its relay."""
    if entry.state_folder or not entry.required_files:
        return entry.state_folder
    with contextlib.suppress(OSError):
        return relay_table.read(user_file(Path(entry.required_files[0]).with_name("relay.table"))).state
    return ""


def _findings(
    site: Site,
    status: AgentStatus,
    changed: tuple[Finding, ...],
    wrong_target: Finding | None,
    is_old: bool,
    failure: str,
) -> Iterator[Finding]:
    """The first step first."""
    agent, reconnect = status.agent, reconnect_command(site, status.agent, status.files)
    told = {Cause.ENTRY_SWITCHED_OFF, *([Cause.ENTRY_RELAY_GONE] if wrong_target else [])}  # by the other findings
    entries_changed = tuple(one for one in changed if one.cause not in told)
    if not status.events:
        yield from entries_changed
        if status.installed and not entries_changed:
            yield found(Cause.AGENT_NOT_CONNECTED, agent, reconnect=reconnect)
        return
    if wrong_target:
        yield wrong_target
    elif is_old and not entries_changed:
        yield found(Cause.AGENT_OUTDATED, agent, reconnect=reconnect)
    if not status.trusted and status.trust:
        cause = Cause.AGENT_OFF if status.trust.startswith(OFF) else Cause.AGENT_ASKS
        yield found(cause, agent, remedy=status.trust.partition(": ")[2])
    if wrong_target and wrong_target.cause is Cause.AGENT_RELAY_UNUSABLE:
        yield from entries_changed
        return
    if failure:
        cause = Cause.AGENT_NOTHING_ARRIVES if wrong_target or is_old else Cause.AGENT_NOT_ARRIVING
        yield found(cause, agent, problem=failure, reconnect=reconnect)
    yield from entries_changed
    if status.last_event is None and not status.trust.startswith((OFF, ASKS)) and not failure:
        more = "" if status.trusted else ", and say yes if it asks whether you trust the folder or the hooks"
        yield found(Cause.AGENT_SILENT, agent, more=more)


def check_line(site: Site, agent: str) -> None:
    """Run the agent's line once, as the agent does. Raises HooktrayError if Hooktray does not answer.

    The payload is a probe: no hook runs, and nothing is recorded, neither by the tray nor by the one-shot engine.
    """
    entries = connectors()[agent].relay_entries(site)
    if not entries:
        return
    wrong = _wrong_target(site, agent, entries)
    if wrong and wrong.cause in SILENT:
        raise HooktrayError(f"{agent}: {wrong.message or wrong.remedy}", hint=wrong.remedy)
    body = PROBE_HEAD + uuid4().hex.encode() + PROBE_TAIL
    why, output = _run(site, entries[0], body)
    if output is not None and output != probe_answer(body):
        why = f"{why or 'it ran'}, and nothing of Hooktray answered"
    if why:
        reconnect = reconnect_command(site, agent, (entries[0].path,))
        hint = found(Cause.AGENT_NOT_ANSWERING, agent, problem=why, reconnect=reconnect).remedy
        raise HooktrayError(f"{agent}: {entries[0].path}: {entries[0].event}: {why}", hint=hint)


def failing_lines(site: Site) -> dict[str, str]:
    """Returns why lines give no answer, by agent. Settings that cannot be read are reported elsewhere."""
    failures: dict[str, str] = {}
    for agent in connectors():
        with contextlib.suppress(HooktrayError):
            connectors()[agent].relay_entries(site)
            try:
                check_line(site, agent)
            except HooktrayError as error:
                failures[agent] = error.message
    return failures


def _run(
    site: Site, entry: RelayEntry, body: bytes, background: BackgroundProcesses | None = None
) -> tuple[str, bytes | None]:
    """Returns why the line failed ("" if it did not), and its output; None if it did not end by itself.

    Whatever it started is ended with it; with `background`, what a line that succeeded left has time to record.
    """
    environment = {**site.environment, TEST_VARIABLE: "1"}
    job = Job(
        argv=entry.argv,
        cwd=str(site.cwd),
        environment=environment,
        stdin=body,
        timeout=COMMAND_TIMEOUT,
        background=JOURNAL_TIMEOUT,
    )
    (done,) = run((job,), time.monotonic() + COMMAND_TIMEOUT + GRACE, None, background=background)
    if done.code is None:
        return sanitise(done.cause, 200), None
    why = sanitise(done.stderr.decode("utf-8", "replace"), 200)
    return f"ended with {done.code}: {why}" if done.code else "", done.stdout


def send_probe(site: Site, agent: str, entries: tuple[RelayEntry, ...], journal: Arrivals) -> str:
    """Send an event of our own the way that the agent would; why it did not arrive, "" when it did.

    Most agents name the event in the payload: ours is one that no hook is for. Where one does not, hooks for its
    `probe_event` run.
    """
    entry = next((entry for entry in entries if entry.event == AGENTS[agent].probe_event), entries[0])
    session = f"{PROBE_PREFIX}{time.time_ns():x}"
    try:
        body = json.dumps(connectors()[agent].probe_payload(session, str(site.cwd))).encode()
    except AgentError as error:
        return error.message
    why, _ = _run(site, entry, body, BackgroundProcesses())  # the one-shot engine answers before it records
    if why:
        return f"{entry.path}: {entry.event}: {why}"
    until = time.monotonic() + JOURNAL_TIMEOUT
    while not journal.has_session(session):
        if time.monotonic() > until:
            if is_disk_full(site.paths.state):
                return f"{site.paths.state}: the disk is full, so that no event can be recorded; {MAKE_ROOM}"
            return f"{entry.path}: {entry.event}: ran, and nothing arrived"
        time.sleep(POLL_INTERVAL)
    return ""
