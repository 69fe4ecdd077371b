"""The agents that have sent events and still run: a click of a process below one of them does not count."""

from __future__ import annotations

import os
import threading
from pathlib import Path, PurePath

from tray.agents.registry import editor_names
from tray.execution.ancestry import ancestors
from tray.execution.process_table import command_line, program_path, read_entry
from tray.lazy_dataclass import dataclass
from tray.lazy_pattern import lazy_pattern
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
SHARED_GROUPS = lazy_pattern(r"session-[^/]*\.scope|init\.scope|user@[^/]*|dbus(?:-broker)?\.service")


@dataclass(frozen=True, slots=True)
class ProcessIdentity:
    """A pid may come back as another process's; a session and a control group stay with what was started in them."""

    pid: int
    started: float  # in the system's own unit
    session: int = 0
    group: str = ""  # its control group; "" when that does not show what started it


class KnownAgents:
    """Remembers who started relays. `record` is called for each event, the others for each click.

    What is above ourselves is never an agent: a relay that outlives its agent is handed to the session's own
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
        """`parent` started a relay: it is an agent, or the shell that an agent had run the relay line.

        The relay only claims it; the kernel has the relay's own process (0 where it does not). A name that is not its
        parent's marks no process: else any program could make an agent of the panel that the user clicks on.
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
        if not self.has_agent_above(agent.pid):
            self._remember(agent)

    def process_behind(self, parent: int) -> int:
        """The process of the agent that had this parent start a relay; 0 when it was not seen."""
        agent = self.parents.get(parent)
        return agent.pid if agent else 0

    def _remember(self, agent: ProcessIdentity) -> None:
        """Agents that live stay: otherwise one could have itself forgotten by starting many others."""
        with self._lock:
            self._first_start = min(self._first_start, agent.started)
            if len(self._known) >= MAX_AGENTS:
                self._known = {key: one for key, one in self._known.items() if _lives(one)}
            if len(self._known) < MAX_AGENTS:
                self._known[agent.pid, agent.started] = agent

    @property
    def count(self) -> int:
        """How many are remembered."""
        return len(self._known)

    def has_agent_above(self, pid: int) -> bool:
        """Whether this process is an agent's, or an agent itself."""
        found = ((one, read_entry(one)) for one in (pid, *(above.pid for above in ancestors(pid))))
        return any(entry is not None and (one, entry.start) in self._known for one, entry in found)

    def shares_session(self, pid: int) -> bool:
        """Whether it started after an agent in its session or control group, where the agent still runs."""
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
        """Whether every agent that has sent an event started after this process.

        Agents that have ended count as well: what they left behind could wait for their end.
        """
        entry = read_entry(pid)
        return entry is not None and entry.start < self._first_start


def _agent_process(parent: int) -> ProcessIdentity | None:
    """The process behind a relay's parent: if that is a shell that runs one line, the process above it."""
    command = command_line(parent)
    if PurePath((*command, "")[0]).name in SHELLS and "-c" in command[1:2]:
        entry = read_entry(parent)
        parent = entry.parent if entry else 0
    return _identity(parent) if parent > 1 else None


def _is_window(pid: int) -> bool:
    """Whether it is an editor's window, a terminal or a multiplexer: an agent in there is a process of its own."""
    command = command_line(pid)
    name = PurePath(program_path(pid) or _named_program(command)).name
    # An editor's other processes, such as the host of its extensions, run the same program.
    is_part = any("--type=" in word for word in command)
    return name in TERMINALS or (name in editor_names() and not is_part)


def _named_program(command: tuple[str, ...]) -> str:
    """The program that its command line names, if there is one. The system hides the file of some, such as screen."""
    word = (*command, "")[0]
    is_program = os.path.isabs(word) and os.path.isfile(word) and os.access(word, os.X_OK)  # noqa: PTH113, PTH117
    return word if is_program else ""


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
