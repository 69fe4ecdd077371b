"""Where an agent runs: window, tab and pane, as its environment names them and its processes show. Pure."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import NamedTuple

import msgspec


class ProcessId(NamedTuple):
    """One process: its number may come back as another one's, the time of its start does not."""

    pid: int
    started: float  # seconds since the epoch


class Place(msgspec.Struct, frozen=True, kw_only=True):
    """A field that is empty is not known. Everything but `processes` comes from the agent's environment.

    That names sockets and ids, and an agent can write what it likes there: the code that uses a socket checks that it
    belongs to the user, and whoever uses an id checks that it leads to the agent's own processes.
    """

    tmux: str = ""  # the server's socket
    tmux_pane: str = ""  # %3
    zellij: str = ""  # the session
    zellij_pane: str = ""
    kitty: str = ""  # the address of its remote control
    kitty_window: str = ""
    wezterm: str = ""  # its socket
    wezterm_pane: str = ""
    konsole: str = ""  # its name on the session bus
    konsole_window: str = ""
    konsole_session: str = ""
    iterm: str = ""
    program: str = ""  # as the terminal calls itself
    display: str = ""  # of X11
    window: str = ""  # of X11, in decimal digits
    processes: tuple[ProcessId, ...] = ()  # the agent's, then those above it, nearest first


NO_PLACE = Place()

_PATH = r"(/[^,\x00-\x1f\x7f]{1,106})"
_NUMBER = r"(\d{1,9})"
# Variable -> the field that it fills, and the form that it must have in full.
VARIABLES: Mapping[str, tuple[str, re.Pattern[str]]] = {
    name: (field, re.compile(pattern, re.ASCII))
    for name, field, pattern in (
        ("DISPLAY", "display", r"([\w.-]{0,64}:\d{1,5})(?:\.\d{1,3})?"),
        ("ITERM_SESSION_ID", "iterm", r"(?:w\d{1,4}t\d{1,4}p\d{1,4}:)?([0-9A-Fa-f-]{36})"),
        ("KITTY_LISTEN_ON", "kitty", r"(unix:[/@][^,\x00-\x1f\x7f]{1,106})"),
        ("KITTY_WINDOW_ID", "kitty_window", _NUMBER),
        ("KONSOLE_DBUS_SERVICE", "konsole", r"(:\d{1,9}\.\d{1,9}|org\.kde\.\w{1,40}(?:-\d{1,9})?)"),
        ("KONSOLE_DBUS_SESSION", "konsole_session", r"(/Sessions/\d{1,9})"),
        ("KONSOLE_DBUS_WINDOW", "konsole_window", r"(/Windows/\d{1,9})"),
        ("TERM_PROGRAM", "program", r"([A-Za-z][\w. -]{0,39})"),
        ("TMUX", "tmux", _PATH + r",\d{1,9},\d{1,9}"),
        ("TMUX_PANE", "tmux_pane", r"(%\d{1,9})"),
        ("WEZTERM_PANE", "wezterm_pane", _NUMBER),
        ("WEZTERM_UNIX_SOCKET", "wezterm", _PATH),
        ("WINDOWID", "window", r"(\d{1,10})"),
        ("ZELLIJ_PANE_ID", "zellij_pane", _NUMBER),
        ("ZELLIJ_SESSION_NAME", "zellij", r"(\w[\w .-]{0,63})"),
    )
}


def read_place(
    environment: Mapping[str, str], processes: tuple[ProcessId, ...] = ()
) -> tuple[Place, tuple[str, ...]]:
    """The place, and the names of the variables that were dropped because they do not have their form."""
    found: dict[str, str] = {}
    dropped = []
    for name, (field, pattern) in VARIABLES.items():
        text = environment.get(name, "")
        match = pattern.fullmatch(text)
        if match and text.isprintable():
            found[field] = match[1]
        elif text:
            dropped.append(name)
    return Place(**found, processes=processes), tuple(dropped)


def place_fields(place: Place) -> dict[str, object]:
    """What is known of it, as JSON can hold it."""
    return {name: found for name, found in msgspec.to_builtins(place).items() if found}


def place_from_fields(saved: Mapping[str, object]) -> Place:
    """The place of such fields; those that are not understood are left out."""
    names = {*Place.__struct_fields__} - {"processes"}
    known = {name: text for name, text in saved.items() if name in names and isinstance(text, str)}
    rows = saved.get("processes")
    processes = tuple(
        ProcessId(int(row[0]), float(row[1]))
        for row in (rows if isinstance(rows, list) else ())
        if isinstance(row, list) and len(row) == 2 and all(isinstance(part, (int, float)) for part in row)
    )
    return Place(**known, processes=processes)


def place_label(place: Place) -> str:
    """Where that is, for people: the innermost part that has a number of its own."""
    if place.tmux and place.tmux_pane:
        return f"tmux {place.tmux_pane}"
    if place.zellij:
        return " ".join(filter(None, ("zellij", place.zellij, place.zellij_pane)))
    if place.kitty_window:
        return f"kitty {place.kitty_window}"
    if place.wezterm_pane:
        return f"WezTerm {place.wezterm_pane}"
    if place.konsole_session:
        return f"Konsole {place.konsole_session.rpartition('/')[2]}"
    return place.program or (f"window {place.window}" if place.window else "")
