"""WezTerm by its own command."""

from __future__ import annotations

from tray.desktop.focus.windows_of import is_own_socket, run
from tray.execution.process_place import is_below
from tray.model.place import Place


def select(place: Place) -> Place | None:
    """Show the tab and the pane."""
    if not place.wezterm_pane or not is_own_socket(place.wezterm) or not is_below(place.processes, "wezterm"):
        return None
    run(
        ("wezterm", "cli", "--no-auto-start", "activate-pane", "--pane-id", place.wezterm_pane),
        {"WEZTERM_UNIX_SOCKET": place.wezterm},
    )
    return place
