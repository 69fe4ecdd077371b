"""The state of each agent: installed, connected, trusted, firing, last event, and what to do about it; pure data.

In that order: each word says something of its own, and `firing` takes all before it (docs/connect.md). `doctor` and
the menu ask here; `send_test_event` sends a real event through the agent's own configured command.
"""

from __future__ import annotations

import contextlib
import json
import subprocess
import time
from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import Path

from tray.agents import relay_table
from tray.agents.connection import RelayEntry, Site
from tray.agents.registry import AGENTS
from tray.connect import connectors
from tray.errors import AgentError, HooktrayError
from tray.model.event import PROBE_PREFIX, TEST_VARIABLE
from tray.text import sanitise

COMMAND_TIMEOUT = 10.0  # seconds for the command to end
JOURNAL_TIMEOUT = 3.0  # seconds until the journal knows of an event that was answered
POLL_INTERVAL = 0.05
OFF, ASKS = "off: ", "asks: "  # how a connector says that the agent does not run our entries, or asks its user first

StaleReason = tuple[str, str]  # what is not as it should be, and what connecting again does about it
OUTDATED: StaleReason = ("its lines are not those of this version", "brings them up to date")
LastEvent = Callable[[str], float | None]  # the time of an agent's last event, our own events left out
IsRecorded = Callable[[str], bool]  # whether the journal knows this session


@dataclass(frozen=True, slots=True, kw_only=True)
class AgentStatus:
    """One agent. `firing` is None until it was tried; `trust` is "" when the agent's files do not say.

    `stale`: our entries are not those that connecting would write now.
    """

    agent: str
    installed: bool
    events: tuple[str, ...] = ()
    missing: tuple[str, ...] = ()
    files: tuple[str, ...] = ()
    trust: str = ""
    stale: bool = False
    firing: bool | None = None
    last_event: float | None = None
    problem: str = ""
    advice: tuple[str, ...] = ()
    package: str = ""  # that brings the agent; "" for a built-in one

    @property
    def connected(self) -> bool:
        return bool(self.events)

    @property
    def trusted(self) -> bool | None:
        """Whether the agent runs our entries, as far as its own files say; None = they do not, or it will ask."""
        return None if not self.trust or self.trust.startswith(ASKS) else not self.trust.startswith(OFF)


def agent_statuses(site: Site, last_event: LastEvent, is_recorded: IsRecorded | None = None) -> list[AgentStatus]:
    """All agents; with `is_recorded`, each connected one gets a test event."""
    return [agent_status(site, agent, last_event, is_recorded) for agent in connectors()]


def agent_status(site: Site, agent: str, last_event: LastEvent, is_recorded: IsRecorded | None = None) -> AgentStatus:
    connector = connectors()[agent]
    try:
        entries, trust = connector.relay_entries(site), connector.trust(site)
    except HooktrayError as error:
        return AgentStatus(
            agent=agent,
            installed=True,
            last_event=last_event(agent),
            problem=error.message,
            advice=tuple(filter(None, (error.hint,))),
            package=AGENTS.package(agent),
        )
    events = tuple(dict.fromkeys(entry.event for entry in entries))
    wrong_target = _wrong_target(site, entries)
    failure = ""
    if entries and is_recorded and wrong_target:
        failure = f"{entries[0].path}: nothing can arrive"
    elif entries and is_recorded:
        failure = send_probe(site, agent, entries, is_recorded)
    last = last_event(agent)
    result = AgentStatus(
        agent=agent,
        installed=bool(entries) or connector.is_installed(site),
        events=events,
        missing=tuple(event for event in _expected(agent) if event not in events) if entries else (),
        files=tuple(dict.fromkeys(entry.path for entry in entries)),
        trust=trust if entries else "",
        firing=None if is_recorded is None or not entries else not failure and not trust.startswith(OFF),
        last_event=last,
        problem=failure,
        package=AGENTS.package(agent),
    )
    is_old = bool(result.missing) or not all(entry.up_to_date for entry in entries)
    stale = wrong_target or (OUTDATED if is_old else None)
    return replace(result, stale=bool(stale), advice=tuple(_advice(site, result, stale)))


def _expected(agent: str) -> list[str]:
    known = AGENTS[agent]
    return [event for event in known.events if event not in known.unconnected_events and "<" not in event]


def _wrong_target(site: Site, entries: tuple[RelayEntry, ...]) -> StaleReason | None:
    """Why the events of these entries cannot come here; None when they can."""
    needed = dict.fromkeys(path for entry in entries for path in entry.required_files if Path(path).is_absolute())
    missing = next((path for path in needed if not Path(path).exists()), "")
    if missing:
        return f"{missing} is not there any more, so its lines do nothing", "mends them"
    here = {str(site.paths.state), *([] if site.paths.home else [""])}  # older entries do not name the usual folder
    if not {_state_folder(entry) for entry in entries} <= here:
        return "its lines lead to another Hooktray", "leads them here"
    return None


def _state_folder(entry: RelayEntry) -> str:
    """Where an entry leads: to the folder in its line, else to the one in the table beside its relay."""
    if entry.state_folder or not entry.required_files:
        return entry.state_folder
    with contextlib.suppress(OSError):
        return relay_table.read(Path(entry.required_files[0]).with_name("relay.table").read_bytes()).state
    return ""


def _advice(site: Site, status: AgentStatus, stale: StaleReason | None) -> list[str]:
    """What to do, the first step first."""
    if not status.connected:
        return [f"`{_reconnect_command(site, status)}` connects it"] if status.installed else []
    advice = [f"{stale[0]}; {_reconnect_command(site, status)} {stale[1]}"] if stale else []
    if not status.trusted and status.trust:
        advice.append(status.trust.partition(": ")[2])
    if status.problem and not stale:
        reconnect = _reconnect_command(site, status)
        advice.append(f"start the tray (`hooktray run`) and try again; if that does not help, {reconnect}")
    if status.last_event is None and not status.trust.startswith((OFF, ASKS)) and not status.problem:
        more = "" if status.trusted else ", and say yes if it asks whether you trust the folder or the hooks"
        advice.append(f"never heard of: begin a session{more}")
    return advice


def _reconnect_command(site: Site, status: AgentStatus) -> str:
    """The command that writes these entries again, and no others."""
    return f"hooktray connect {status.agent}{AGENTS[status.agent].connect_options(site, status.files)}"


def send_probe(site: Site, agent: str, entries: tuple[RelayEntry, ...], is_recorded: IsRecorded) -> str:
    """Send an event of our own the way that the agent would; why it did not arrive, "" when it did.

    Most agents name the event in the payload: ours is one that no hook is for. Where one does not, hooks for its
    `probe_event` run.
    """
    entry = next((entry for entry in entries if entry.event == AGENTS[agent].probe_event), entries[0])
    session = f"{PROBE_PREFIX}{time.time_ns():x}"
    try:
        done = subprocess.run(
            entry.argv,
            input=json.dumps(connectors()[agent].probe_payload(session, str(site.cwd))).encode(),
            capture_output=True,
            cwd=site.cwd,
            env={**site.environment, TEST_VARIABLE: "1"},
            timeout=COMMAND_TIMEOUT,
            check=False,
        )
    except AgentError as error:
        return error.message
    except (OSError, subprocess.TimeoutExpired) as error:
        return f"{entry.path}: {entry.event}: {sanitise(str(error), 200)}"
    if done.returncode:
        why = sanitise(done.stderr.decode("utf-8", "replace"), 200)
        return f"{entry.path}: {entry.event}: ended with {done.returncode}: {why}"
    until = time.monotonic() + JOURNAL_TIMEOUT
    while not is_recorded(session):
        if time.monotonic() > until:
            return f"{entry.path}: {entry.event}: ran, and nothing arrived"
        time.sleep(POLL_INTERVAL)
    return ""
