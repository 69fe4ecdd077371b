"""Remembers the agents that have sent events and still run: a click of a process below one does not count."""

from __future__ import annotations

import os
import re
import threading
from pathlib import Path, PurePath

import msgspec

from tray.agents.registry import EDITORS
from tray.execution.ancestry import ancestors
from tray.execution.process_table import command_line, program_path, read_entry
from tray.text.words import word_set

MAX_AGENTS = 1024
SHELLS = word_set("bash dash fish ksh nu sh zsh")
# Terminals and multiplexers: an agent in one of them is a process of its own.
TERMINALS = word_set(
    "abduco alacritty byobu cool-retro-term deepin-terminal dtach dvtm foot footclient gnome-terminal-server kgx "
    "kitty konsole lxterminal mate-terminal mlterm ptyxis-agent qterminal rxvt sakura screen st terminology tmux "
    "urxvt wezterm-gui xfce4-terminal xterm zellij"
)
# Control groups of a whole session, or of all that the bus starts: that two processes share one proves nothing.
SHARED_GROUPS = re.compile(r"session-[^/]*\.scope|init\.scope|user@[^/]*|dbus(?:-broker)?\.service")


class ProcessIdentity(msgspec.Struct, frozen=True):
    """Identifies a process, since pids are given again; children inherit its session and control group."""

    pid: int
    started: float  # in the system's own unit
    session: int = 0
    group: str = ""  # its control group; "" when that does not show what started it


class KnownAgents:
    """Remembers which processes started relays. `record` is called for each event, the others for each click.

    A process above the tray is never an agent: a relay that outlives its agent becomes a child of the session's
    manager, which is above the whole desktop.
    """

    def __init__(self, own: int) -> None:
        self._above_tray = {own, *(one.pid for one in ancestors(own))}
        self._tray = _identity(own) or ProcessIdentity(own, 0.0)
        self._lock = threading.Lock()
        self.parents: dict[int, ProcessIdentity | None] = {}  # of relays, with the agent behind each
        self._known: dict[tuple[int, float], ProcessIdentity] = {}
        self._first_start = float("inf")

    def record(self, parent: int, relay: int = 0) -> None:
        """`parent` started a relay: it is an agent, or the shell in which an agent ran the relay line.

        `relay` is the relay's process, from the kernel; 0 = not known. A `parent` that is not the relay's marks no
        process: else any program could mark the panel that the user clicks in as an agent.
        """
        if parent <= 1 or parent in self.parents:
            return
        if relay and parent != next((one.pid for one in ancestors(relay)), 0):
            return
        agent = _agent_process(parent)
        with self._lock:
            self.parents[parent] = agent
            if len(self.parents) > MAX_AGENTS:
                self.parents.pop(next(iter(self.parents)))
        if agent is None or agent.pid in self._above_tray or _is_window(agent.pid):
            return
        if self.has_agent_above(agent.pid):
            return
        with self._lock:
            self._first_start = min(self._first_start, agent.started)
            if len(self._known) >= MAX_AGENTS:  # keep those that run: none displaces itself by starting others
                self._known = {key: one for key, one in self._known.items() if _lives(one)}
            if len(self._known) < MAX_AGENTS:
                self._known[agent.pid, agent.started] = agent

    def process_behind(self, parent: int) -> int:
        """Returns the agent's process behind this parent of a relay; 0 if it is not known."""
        agent = self.parents.get(parent)
        return agent.pid if agent else 0

    @property
    def count(self) -> int:
        """The number of remembered agents."""
        return len(self._known)

    def has_agent_above(self, pid: int) -> bool:
        """True if this process is an agent or is below one."""
        found = ((one, read_entry(one)) for one in (pid, *(above.pid for above in ancestors(pid))))
        return any(entry is not None and (one, entry.start) in self._known for one, entry in found)

    def shares_session(self, pid: int) -> bool:
        """True if it started after an agent that still runs in the same session or control group."""
        one = _identity(pid)
        with self._lock:
            agents = tuple(self._known.values())
        return one is not None and any(self._shares_with(one, agent) and _lives(agent) for agent in agents)

    def _shares_with(self, one: ProcessIdentity, agent: ProcessIdentity) -> bool:
        """The tray's own session and group do not count: a desktop may start everything in one."""
        if one.started < agent.started:
            return False
        session = one.session == agent.session and one.session not in (0, self._tray.session)
        return session or (one.group == agent.group and one.group not in ("", self._tray.group))

    def predates_agents(self, pid: int) -> bool:
        """True if every agent that has sent an event started after this process.

        Agents that have ended count as well: what they left behind could wait for their end.
        """
        entry = read_entry(pid)
        return entry is not None and entry.start < self._first_start


def _agent_process(parent: int) -> ProcessIdentity | None:
    """Returns the parent of a relay or, if that is a shell that runs one line, the process above it."""
    command = command_line(parent)
    if PurePath((*command, "")[0]).name in SHELLS and "-c" in command[1:2]:
        entry = read_entry(parent)
        parent = entry.parent if entry else 0
    return _identity(parent) if parent > 1 else None


def _is_window(pid: int) -> bool:
    """True for an editor's window, a terminal or a multiplexer: an agent in it is a process of its own."""
    command = command_line(pid)
    program = program_path(pid)
    if not program and os.path.isabs(named := (*command, "")[0]):  # noqa: PTH117 - of some, such as screen, it is hidden
        program = named if os.path.isfile(named) and os.access(named, os.X_OK) else ""  # noqa: PTH113
    name = PurePath(program).name
    # An editor's other processes, such as the host of its extensions, run the same program.
    is_part = any("--type=" in word for word in command)
    return name in TERMINALS or (name in EDITORS and not is_part)


def _lives(agent: ProcessIdentity) -> bool:
    entry = read_entry(agent.pid)
    return entry is not None and entry.start == agent.started


def _identity(pid: int) -> ProcessIdentity | None:
    entry = read_entry(pid)
    return ProcessIdentity(pid, entry.start, entry.session, _control_group(pid)) if entry else None


def _control_group(pid: int) -> str:
    try:
        lines = Path(f"/proc/{pid}/cgroup").read_text(errors="replace").splitlines()
    except OSError:
        return ""
    path = next((line[3:] for line in lines if line.startswith("0::")), "")
    last = path.rpartition("/")[2]
    return path if last.endswith((".scope", ".service")) and not SHARED_GROUPS.fullmatch(last) else ""
