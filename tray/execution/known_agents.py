"""The agents that have sent events and still run: what they have started is not a person, whatever it clicks."""

from __future__ import annotations

import contextlib
import os
import sys
import threading
from pathlib import Path, PurePath

from tray.agents.registry import editor_names
from tray.execution.ancestry import ancestors
from tray.execution.process_table import command_line, read_entry
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
# Where a whole session, or whatever the bus starts, is in one group: that two are in it proves nothing.
SHARED_GROUPS = lazy_pattern(r"session-[^/]*\.scope|init\.scope|user@[^/]*|dbus(?:-broker)?\.service")


@dataclass(frozen=True, slots=True)
class ProcessIdentity:
    """A pid may come back as another process; a session and a group stay with what was started."""

    pid: int
    started: float  # in the system's own unit
    session: int = 0
    group: str = ""  # its control group; "" when that does not show what started it


@dataclass(frozen=True, slots=True)
class ProcessDescription:
    parent: int
    command: tuple[str, ...]
    program: str


class KnownAgents:
    """Remembers who started relays. `record` is called for each event, the others for each click.

    What is above ourselves is never an agent: a relay that outlives its agent is handed to the session's own
    manager, which is above the whole desktop.
    """

    def __init__(self, own: int) -> None:
        self._ours = {own, *(one.pid for one in ancestors(own))}
        self._own_session, self._own_group = _session(own), _group(own)
        self._lock = threading.Lock()
        self.parents: dict[int, ProcessIdentity | None] = {}  # of relays, with the agent behind each
        self._known: dict[tuple[int, float], ProcessIdentity] = {}
        self._first = float("inf")

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
        if agent is None or agent.pid in self._ours or _is_window(agent.pid):
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
            self._first = min(self._first, agent.started)
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
        known = {(one.pid, one.started) for one in self._snapshot()}
        found = (_process(one) for one in (pid, *(one.pid for one in ancestors(pid))))
        return any(one is not None and (one.pid, one.started) in known for one in found)

    def shares_session(self, pid: int) -> bool:
        """Whether it came after an agent in its session or control group, where the agent still runs."""
        one = _process(pid)
        return one is not None and any(self._shares_with(one, agent) and _lives(agent) for agent in self._snapshot())

    def predates_agents(self, pid: int) -> bool:
        """Whether every agent that we know came after this process, also those that have ended: what they have left
        behind could wait for their end."""
        one = _process(pid)
        return one is not None and one.started < self._first

    def _shares_with(self, one: ProcessIdentity, agent: ProcessIdentity) -> bool:
        if one.started < agent.started:
            return False
        session = one.session == agent.session and one.session not in (0, self._own_session)
        return session or (one.group == agent.group and one.group not in ("", self._own_group))

    def _snapshot(self) -> tuple[ProcessIdentity, ...]:
        with self._lock:
            return tuple(self._known.values())


def _agent_process(pid: int) -> ProcessIdentity | None:
    """The process behind a relay's parent: a shell that runs one line is only on the way."""
    found = _describe(pid)
    if found is None:
        return None
    is_shell = PurePath((*found.command, "")[0]).name in SHELLS and "-c" in found.command[1:2]
    pid = found.parent if is_shell else pid
    return _process(pid) if pid > 1 else None


def _is_window(pid: int) -> bool:
    """Whether it is an editor's window, a terminal or a multiplexer: an agent in there is a process of its own."""
    found = _describe(pid)
    if found is None:
        return False
    name = PurePath(found.program).name
    # An editor's other processes, such as the host of its extensions, run the same program.
    is_part = any("--type=" in word for word in found.command)
    return name in TERMINALS or (name in editor_names() and not is_part)


def _lives(agent: ProcessIdentity) -> bool:
    found = _process(agent.pid)
    return found is not None and found.started == agent.started


def _process(pid: int) -> ProcessIdentity | None:
    started = _started(pid)
    return None if started is None else ProcessIdentity(pid, started, _session(pid), _group(pid))


def _started(pid: int) -> float | None:
    entry = read_entry(pid)
    return entry.start if entry else None


def _describe(pid: int) -> ProcessDescription | None:
    entry = read_entry(pid)
    if entry is None:
        return None
    command = command_line(pid)
    return ProcessDescription(entry.parent, command, _program(pid, (*command, "")[0]))


if sys.platform == "linux":

    def _program(pid: int, word: str) -> str:
        """Its file, also one that was replaced since; where that may not be seen, what its command line names."""
        try:
            return os.readlink(f"/proc/{pid}/exe").removesuffix(" (deleted)")  # noqa: PTH115
        except OSError:
            is_file = os.path.isabs(word) and os.path.isfile(word) and os.access(word, os.X_OK)  # noqa: PTH113, PTH117
            return word if is_file else ""

else:

    def _program(pid: int, word: str) -> str:
        import psutil

        with contextlib.suppress(psutil.Error, ValueError):
            process = psutil.Process(pid)
            return process.exe() or process.name()
        return ""


def _session(pid: int) -> int:
    if sys.platform == "win32":
        return 0
    try:
        return os.getsid(pid)
    except OSError:
        return 0


def _group(pid: int) -> str:
    try:
        lines = Path(f"/proc/{pid}/cgroup").read_text(errors="replace").splitlines()
    except OSError:
        return ""
    path = next((line[3:] for line in lines if line.startswith("0::")), "")
    last = path.rpartition("/")[2]
    return path if last.endswith((".scope", ".service")) and not SHARED_GROUPS.fullmatch(last) else ""
