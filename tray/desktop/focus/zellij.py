"""zellij (0.44.1 and later): the pane is selected by its number; which terminal shows the session it does not say."""

from __future__ import annotations

from tray.desktop.focus.windows_of import run
from tray.execution.process_place import is_below
from tray.model.place import Place


def select(place: Place) -> Place | None:
    """Show the pane. Its window is that of the terminal in which the session was begun."""
    if not place.zellij or not place.zellij_pane or not is_below(place.processes, "zellij"):
        return None
    run(("zellij", "--session", place.zellij, "action", "focus-pane-id", f"terminal_{place.zellij_pane}"))
    return place
