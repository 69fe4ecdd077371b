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
from tray.connect.claude_code import LEFT_OUT, SCOPES, settings
from tray.connect.plan import Site, Wire
from tray.dialects import DIALECTS
from tray.errors import HooktrayError
from tray.model.event import PROBE, TEST
from tray.text import sanitise

PATIENCE = 10.0  # seconds for the line to end
WRITTEN = 3.0  # seconds until the journal knows of an event that was answered
PAUSE = 0.05
OFF, ASKS = "off: ", "asks: "  # how a connector says that the agent does not run our lines, or asks its user first

Fault = tuple[str, str]  # what is not as it should be, and what connecting again does about it
OLD: Fault = ("its lines are not those of this version", "brings them up to date")
Heard = Callable[[str], float | None]  # when an agent was last heard of, our own events aside
Seen = Callable[[str], bool]  # whether the journal knows this session


@dataclass(frozen=True, slots=True, kw_only=True)
class Connection:
    """One agent. `firing` is None until it was tried; `trust` is "" when the agent's files do not say.

    `stale`: our lines are not those that connecting would write now.
    """

    agent: str
    installed: bool
    events: tuple[str, ...] = ()
    missing: tuple[str, ...] = ()
    places: tuple[str, ...] = ()
    trust: str = ""
    stale: bool = False
    firing: bool | None = None
    heard: float | None = None
    problem: str = ""
    advice: tuple[str, ...] = ()

    @property
    def connected(self) -> bool:
        return bool(self.events)

    @property
    def trusted(self) -> bool | None:
        """Whether the agent runs our lines, as far as its own files tell; None = they do not, or it will ask."""
        return None if not self.trust or self.trust.startswith(ASKS) else not self.trust.startswith(OFF)


def connections(site: Site, heard: Heard, seen: Seen | None = None) -> list[Connection]:
    """All agents; with `seen` each connected one is tried out."""
    return [connection(site, agent, heard, seen) for agent in CONNECTORS]


def connection(site: Site, agent: str, heard: Heard, seen: Seen | None = None) -> Connection:
    one = CONNECTORS[agent]
    try:
        wires, trust = one.wires(site), one.trust(site)
    except HooktrayError as error:
        return Connection(
            agent=agent,
            installed=True,
            heard=heard(agent),
            problem=error.message,
            advice=tuple(filter(None, (error.hint,))),
        )
    events = tuple(dict.fromkeys(wire.event for wire in wires))
    astray = _astray(site, wires)
    failure = ""
    if wires and seen:
        failure = f"{wires[0].place}: nothing can arrive" if astray else try_out(site, agent, wires, seen)
    last = heard(agent)
    found = Connection(
        agent=agent,
        installed=bool(wires) or one.is_installed(site),
        events=events,
        missing=tuple(event for event in _expected(agent) if event not in events) if wires else (),
        places=tuple(dict.fromkeys(wire.place for wire in wires)),
        trust=trust if wires else "",
        firing=None if seen is None or not wires else not failure and not trust.startswith(OFF),
        heard=last,
        problem=failure,
    )
    is_old = bool(found.missing) or not all(wire.current for wire in wires)
    stale = astray or (OLD if is_old else None)
    return replace(found, stale=bool(stale), advice=tuple(_advice(site, found, stale)))


def _expected(agent: str) -> list[str]:
    return [event for event in DIALECTS[agent].EVENTS if event not in LEFT_OUT and "<" not in event]


def _astray(site: Site, wires: tuple[Wire, ...]) -> Fault | None:
    """Why events of these lines cannot come here; None when they can."""
    needed = dict.fromkeys(path for wire in wires for path in wire.needs if Path(path).is_absolute())
    gone = next((path for path in needed if not Path(path).exists()), "")
    if gone:
        return f"{gone} is not there any more, so its lines do nothing", "mends them"
    here = {str(site.paths.state), *([] if site.paths.home else [""])}  # older lines do not name the usual folder
    if not {wire.state for wire in wires} <= here:
        return "its lines lead to another Hooktray", "leads them here"
    return None


def _advice(site: Site, one: Connection, stale: Fault | None) -> list[str]:
    """What to do first stands first."""
    if not one.connected:
        return [f"`{_again(site, one)}` connects it"] if one.installed else []
    said = [f"{stale[0]}; {_again(site, one)} {stale[1]}"] if stale else []
    if not one.trusted and one.trust:
        said.append(one.trust.partition(": ")[2])
    if one.problem and not stale:
        said.append(f"start the tray (`hooktray run`) and try again; if that does not help, {_again(site, one)}")
    if one.heard is None and not one.trust.startswith((OFF, ASKS)) and not one.problem:
        more = "" if one.trusted else ", and say yes if it asks whether you trust the folder or the hooks"
        said.append(f"never heard of: begin a session{more}")
    return said


def _again(site: Site, one: Connection) -> str:
    """The command that writes these lines anew, and no others."""
    plain = f"hooktray connect {one.agent}"
    if one.agent != "claude-code" or not one.places or str(settings(replace(site, scope="user"))) in one.places:
        return plain
    path = Path(one.places[0])
    scope = "local" if path.name == SCOPES["local"] else "project"
    return f"{plain} --scope {scope} in {path.parents[1]}"


def try_out(site: Site, agent: str, wires: tuple[Wire, ...], seen: Seen) -> str:
    """Send an event of our own the way that the agent would; why it did not arrive, "" when it did.

    Three agents say in the payload which event it is: ours is one that no hook is for. Shelley does not: hooks for
    its new conversations run.
    """
    wire = next((wire for wire in wires if wire.event == "new-conversation"), wires[0])
    session = f"{PROBE}{time.time_ns():x}"
    try:
        done = subprocess.run(
            wire.argv,
            input=json.dumps(CONNECTORS[agent].probe(session, str(site.cwd))).encode(),
            capture_output=True,
            cwd=site.cwd,
            env={**site.environment, TEST: "1"},
            timeout=PATIENCE,
            check=False,
        )
    except (OSError, subprocess.TimeoutExpired) as error:
        return f"{wire.place}: {wire.event}: {sanitise(str(error), 200)}"
    if done.returncode:
        why = sanitise(done.stderr.decode("utf-8", "replace"), 200)
        return f"{wire.place}: {wire.event}: ended with {done.returncode}: {why}"
    until = time.monotonic() + WRITTEN
    while not seen(session):
        if time.monotonic() > until:
            return f"{wire.place}: {wire.event}: ran, and nothing arrived"
        time.sleep(PAUSE)
    return ""
