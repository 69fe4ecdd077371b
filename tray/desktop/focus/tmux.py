"""tmux: the terminal that shows the pane's session is looked up at the click, since people detach and attach."""

from __future__ import annotations

import re
import time
from operator import attrgetter

import msgspec

from tray.desktop.focus.windows_of import FocusError, is_own_socket, run
from tray.execution.process_place import environment_of, processes_from
from tray.language import say
from tray.model.place import Place, read_place

PANE = "#{pane_pid} #{session_id} #{session_name}"
CLIENT = "#{client_pid} #{session_id} #{client_activity} #{client_control_mode} #{client_tty}"
SHOWN = "#{window_active}#{pane_active} #{?focus-events,on,off}"
WATCHING = "#{client_pid} #{session_id} #{client_activity} #{client_flags} #{client_tty}"
WATCHING_LINE = re.compile(r"(\d{1,9}) (\$\d{1,9}) (\d{1,15}) ([\w,-]{1,200}) (/[!-~]{1,100})", re.ASCII)
CLIENT_LINE = re.compile(r"(\d{1,9}) (\$\d{1,9}) (\d{1,15}) 0 (/[!-~]{1,100})", re.ASCII)


class TmuxClient(msgspec.Struct, frozen=True):
    """A terminal that is attached to a session."""

    pid: int
    session: str
    activity: int
    tty: str  # its name for tmux


def select(place: Place) -> Place | None:
    """Show the pane in its terminal, and return that terminal's own place."""
    if not place.tmux or not place.tmux_pane:
        return None
    if not is_own_socket(place.tmux):
        raise FocusError(say("its tmux server is gone"))
    session, name = pane_session(place)
    if not session:
        return None
    clients = list_clients(place)
    if not clients:
        raise FocusError(say("no terminal shows it: run `tmux attach -t {name}`", name=name))
    client = max([one for one in clients if one.session == session] or clients, key=attrgetter("activity"))
    _tmux(place, "switch-client", "-c", client.tty, "-t", place.tmux_pane)
    _tmux(place, "select-window", "-t", place.tmux_pane, ";", "select-pane", "-t", place.tmux_pane)
    return outer_place(client)


def pane_session(place: Place) -> tuple[str, str]:
    """The session of the pane, and its name; "" when the agent does not run in this pane."""
    pid, session, name = (*_tmux(place, "display-message", "-p", "-t", place.tmux_pane, PANE).split(" ", 2), "", "")[
        :3
    ]
    is_its_pane = any(str(one.pid) == pid for one in place.processes) or not place.processes
    return (session, name.strip()) if is_its_pane else ("", "")


def list_clients(place: Place) -> list[TmuxClient]:
    found = map(CLIENT_LINE.fullmatch, _tmux(place, "list-clients", "-F", CLIENT).splitlines())
    return [TmuxClient(int(one[1]), one[2], int(one[3]), one[4]) for one in found if one]


def outer_place(client: TmuxClient) -> Place:
    """Where the terminal of this client is: from what it was started with; the pane's own variables are older."""
    variables = environment_of(client.pid)
    inner = {name: text for name, text in variables.items() if name not in ("TMUX", "TMUX_PANE")}
    return read_place(inner, processes_from(client.pid))[0]


def _tmux(place: Place, *words: str) -> str:
    return run(("tmux", "-S", place.tmux, *words))


class Watcher(msgspec.Struct, frozen=True):
    """A terminal that shows the pane with the cursor in it, and what it reported to tmux about itself."""

    place: Place
    is_focused: bool  # it reported that it has the keyboard
    idle: float  # seconds since a key was pressed in it


def watchers(place: Place) -> list[Watcher]:
    """Every terminal that shows the pane now."""
    if not is_own_socket(place.tmux):
        return []
    shown = _tmux(place, "display-message", "-p", "-t", place.tmux_pane, SHOWN)
    session, _ = pane_session(place)
    if not session or not shown.startswith("11 "):
        return []
    reports = shown.strip() == "11 on"
    found = []
    for line in _tmux(place, "list-clients", "-F", WATCHING).splitlines():
        match = WATCHING_LINE.fullmatch(line)
        if match and match[2] == session:
            client = TmuxClient(int(match[1]), match[2], int(match[3]), match[5])
            focused = reports and "focused" in match[4].split(",")
            found.append(Watcher(outer_place(client), focused, max(time.time() - client.activity, 0.0)))
    return found
