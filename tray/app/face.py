"""Puts the tray's face together: what the menu shows, and what its rows do."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

from tray.app import Stores
from tray.desktop.autostart import autostart
from tray.desktop.extras import Extras
from tray.desktop.face import Face
from tray.desktop.hand import Hand
from tray.desktop.opener import open_file
from tray.engine.controls import Controls
from tray.engine.roster import Roster
from tray.paths import Paths


def face(
    paths: Paths,
    kept: Stores,
    roster: Roster,
    controls: Controls,
    *,
    tell: Callable[[str, str], None],
    soon: Callable[[Callable[[], None]], None],
    open_page: Callable[[], None],
) -> tuple[Face, Hand]:
    """What the user sees, and what a click does. Whoever supplies more for the menu adds it to `extras`."""
    extras = Extras(login=autostart(paths), open_configuration=partial(open_file, paths.config), open_page=open_page)
    shown = Face(controls=controls, roster=roster, recent=kept.journal.recent(10), soon=soon, extras=extras)
    hand = Hand(
        face=shown,
        controls=controls,
        roster=roster,
        copies=kept.copies,
        reviews=paths.state / "reviews",
        tell=tell,
        open_file=open_file,
        extras=extras,
    )
    return shown, hand
