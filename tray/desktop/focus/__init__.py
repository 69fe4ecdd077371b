"""Brings a session's window, tab and pane to the front. Only a person's click or command leads here.

First the multiplexer and the terminal select the pane: each of `PANES` that the place names, from the inside out.
Then the first of the window systems that knows the window raises it. A place comes from an agent's environment, so
nothing of it counts that does not lead to the agent's own processes: a variable may be inherited from a terminal
where the agent is not.
"""

from __future__ import annotations

import logging
import os
import sys
from collections.abc import Callable, Mapping

import msgspec
from msgspec.structs import replace

from tray.desktop.focus import apple_terminals, hyprland, kitty, konsole, kwin, niri, sway, tmux, wezterm, zellij
from tray.desktop.focus.windows_of import DESKTOP_ERRORS, FocusError, Raised
from tray.execution.process_place import is_alive
from tray.language import say
from tray.model.place import Place

log = logging.getLogger(__name__)

# Each returns the place of what shows the pane, or None when the session is not there; FocusError: it cannot.
PANES: tuple[Callable[[Place], Place | None], ...] = (
    tmux.select,
    zellij.select,
    kitty.select,
    wezterm.select,
    konsole.select,
)
RaiseWindow = Callable[[Place, str, Mapping[str, str]], Raised | None]


def _x11(place: Place, title: str, environment: Mapping[str, str]) -> Raised | None:
    from tray.desktop.focus import x11  # takes some time to import

    return x11.raise_window(place, title, environment)


def _win32(place: Place, title: str, environment: Mapping[str, str]) -> Raised | None:
    if sys.platform != "win32":
        return None
    from tray.desktop.focus import win32_windows

    return win32_windows.raise_window(place, title, environment)


# The compositor before X11: beside it X11 has only the windows of some programs.
WINDOWS: tuple[RaiseWindow, ...] = (
    sway.raise_window,
    hyprland.raise_window,
    niri.raise_window,
    kwin.raise_window,
    apple_terminals.raise_window,
    _win32,
    _x11,
)


class FocusResult(msgspec.Struct, frozen=True):
    """Whether a window was raised, and one line about what is not as it was asked for; "" when all is."""

    raised: bool
    note: str = ""


def focus(place: Place, title: str = "", environment: Mapping[str, str] = os.environ) -> FocusResult:
    """Select the pane and raise its window. `title` distinguishes windows of one process."""
    if place.processes:
        living = tuple(one for one in place.processes if is_alive(one))
        if not living:
            return FocusResult(False, say("its terminal is closed"))
        place = replace(place, processes=living)
    try:
        for select in PANES:
            place = select(place) or place
    except FocusError as error:
        return FocusResult(False, str(error))
    return _raise(place, title, environment)


def _raise(place: Place, title: str, environment: Mapping[str, str]) -> FocusResult:
    problem = ""
    for raise_window in WINDOWS:
        try:
            raised = raise_window(place, title, environment)
        except FocusError as error:
            problem = problem or str(error)
        except DESKTOP_ERRORS:  # the next one may know the window
            log.exception("%s failed", raise_window)
            problem = problem or say("the desktop could not raise the window")
        else:
            if raised is not None:
                note = (
                    "" if raised.is_certain else say("which of its {n} windows has it is not known", n=raised.among)
                )
                return FocusResult(True, note)
    return FocusResult(False, problem or say("this desktop has no way to raise its window"))
