"""How each agent stands: installed, connected, trusted, firing, last heard of, and what to do about it; pure data.

In that order: each word says something of its own, and `firing` takes all before it (docs/connect.md). `doctor` and
the menu ask here; `try_out` sends a real event through the agent's own configured line.
"""

from __future__ import annotations

import json
import subprocess
import time
from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import Path

from tray.connect import CONNECTORS
from tray.connect.claude_code import EXCLUDED_EVENTS, SCOPES, settings_path
from tray.connect.plan import RelayEntry, Site
from tray.dialects import DIALECTS
from tray.errors import HooktrayError
from tray.model.event import PROBE_PREFIX, TEST_VARIABLE
from tray.text import sanitise

COMMAND_TIMEOUT = 10.0  # seconds for the line to end
JOURNAL_TIMEOUT = 3.0  # seconds until the journal knows of an event that was answered
POLL_INTERVAL = 0.05
OFF, ASKS = "off: ", "asks: "  # how a connector says that the agent does not run our lines, or asks its user first

StaleReason = tuple[str, str]  # what is not as it should be, and what connecting again does about it
OUTDATED: StaleReason = ("its lines are not those of this version", "brings them up to date")
LastEvent = Callable[[str], float | None]  # when an agent was last heard of, our own events aside
IsRecorded = Callable[[str], bool]  # whether the journal knows this session


@dataclass(frozen=True, slots=True, kw_only=True)
class Connection:
    """One agent. `firing` is None until it was tried; `trust` is "" when the agent's files do not say.

    `stale`: our lines are not those that connecting would write now.
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

    @property
    def connected(self) -> bool:
        return bool(self.events)

    @property
    def trusted(self) -> bool | None:
        """Whether the agent runs our lines, as far as its own files tell; None = they do not, or it will ask."""
        return None if not self.trust or self.trust.startswith(ASKS) else not self.trust.startswith(OFF)


def connections(site: Site, last_event: LastEvent, is_recorded: IsRecorded | None = None) -> list[Connection]:
    """All agents; with `seen` each connected one is tried out."""
    return [connection(site, agent, last_event, is_recorded) for agent in CONNECTORS]


def connection(site: Site, agent: str, last_event: LastEvent, is_recorded: IsRecorded | None = None) -> Connection:
    one = CONNECTORS[agent]
    try:
        wires, trust = one.relay_entries(site), one.trust(site)
    except HooktrayError as error:
        return Connection(
            agent=agent,
            installed=True,
            last_event=last_event(agent),
            problem=error.message,
            advice=tuple(filter(None, (error.hint,))),
        )
    events = tuple(dict.fromkeys(wire.event for wire in wires))
    astray = _wrong_target(site, wires)
    failure = ""
    if wires and is_recorded:
        failure = (
            f"{wires[0].path}: nothing can arrive" if astray else send_test_event(site, agent, wires, is_recorded)
        )
    last = last_event(agent)
    found = Connection(
        agent=agent,
        installed=bool(wires) or one.is_installed(site),
        events=events,
        missing=tuple(event for event in _expected(agent) if event not in events) if wires else (),
        files=tuple(dict.fromkeys(wire.path for wire in wires)),
        trust=trust if wires else "",
        firing=None if is_recorded is None or not wires else not failure and not trust.startswith(OFF),
        last_event=last,
        problem=failure,
    )
    is_old = bool(found.missing) or not all(wire.up_to_date for wire in wires)
    stale = astray or (OUTDATED if is_old else None)
    return replace(found, stale=bool(stale), advice=tuple(_advice(site, found, stale)))


def _expected(agent: str) -> list[str]:
    return [event for event in DIALECTS[agent].EVENTS if event not in EXCLUDED_EVENTS and "<" not in event]


def _wrong_target(site: Site, wires: tuple[RelayEntry, ...]) -> StaleReason | None:
    """Why events of these lines cannot come here; None when they can."""
    needed = dict.fromkeys(path for wire in wires for path in wire.required_files if Path(path).is_absolute())
    gone = next((path for path in needed if not Path(path).exists()), "")
    if gone:
        return f"{gone} is not there any more, so its lines do nothing", "mends them"
    here = {str(site.paths.state), *([] if site.paths.home else [""])}  # older lines do not name the usual folder
    if not {wire.state_folder for wire in wires} <= here:
        return "its lines lead to another Hooktray", "leads them here"
    return None


def _advice(site: Site, one: Connection, stale: StaleReason | None) -> list[str]:
    """What to do first stands first."""
    if not one.connected:
        return [f"`{_reconnect_command(site, one)}` connects it"] if one.installed else []
    said = [f"{stale[0]}; {_reconnect_command(site, one)} {stale[1]}"] if stale else []
    if not one.trusted and one.trust:
        said.append(one.trust.partition(": ")[2])
    if one.problem and not stale:
        said.append(
            f"start the tray (`hooktray run`) and try again; if that does not help, {_reconnect_command(site, one)}"
        )
    if one.last_event is None and not one.trust.startswith((OFF, ASKS)) and not one.problem:
        more = "" if one.trusted else ", and say yes if it asks whether you trust the folder or the hooks"
        said.append(f"never heard of: begin a session{more}")
    return said


def _reconnect_command(site: Site, one: Connection) -> str:
    """The command that writes these lines anew, and no others."""
    plain = f"hooktray connect {one.agent}"
    if one.agent != "claude-code" or not one.files or str(settings_path(replace(site, scope="user"))) in one.files:
        return plain
    path = Path(one.files[0])
    scope = "local" if path.name == SCOPES["local"] else "project"
    return f"{plain} --scope {scope} in {path.parents[1]}"


def send_test_event(site: Site, agent: str, entries: tuple[RelayEntry, ...], is_recorded: IsRecorded) -> str:
    """Send an event of our own the way that the agent would; why it did not arrive, "" when it did.

    Three agents say in the payload which event it is: ours is one that no hook is for. Shelley does not: hooks for
    its new conversations run.
    """
    wire = next((wire for wire in entries if wire.event == "new-conversation"), entries[0])
    session = f"{PROBE_PREFIX}{time.time_ns():x}"
    try:
        done = subprocess.run(
            wire.argv,
            input=json.dumps(CONNECTORS[agent].probe_payload(session, str(site.cwd))).encode(),
            capture_output=True,
            cwd=site.cwd,
            env={**site.environment, TEST_VARIABLE: "1"},
            timeout=COMMAND_TIMEOUT,
            check=False,
        )
    except (OSError, subprocess.TimeoutExpired) as error:
        return f"{wire.path}: {wire.event}: {sanitise(str(error), 200)}"
    if done.returncode:
        why = sanitise(done.stderr.decode("utf-8", "replace"), 200)
        return f"{wire.path}: {wire.event}: ended with {done.returncode}: {why}"
    until = time.monotonic() + JOURNAL_TIMEOUT
    while not is_recorded(session):
        if time.monotonic() > until:
            return f"{wire.path}: {wire.event}: ran, and nothing arrived"
        time.sleep(POLL_INTERVAL)
    return ""
