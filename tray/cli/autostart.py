"""`hooktray autostart`: whether the tray starts when you log in."""

from __future__ import annotations

import json
from typing import Annotated

import typer

from tray.cli import Json, app
from tray.errors import HooktrayError
from tray.language import phrase, say

STATE_TEXTS = {
    "on": phrase("Hooktray starts when you log in"),
    "off": phrase("Hooktray does not start when you log in"),
    "other": phrase("There is an entry for another Hooktray; `hooktray autostart on` replaces it"),
}


@app.command()
def autostart(
    context: typer.Context,
    wanted: Annotated[str, typer.Argument(metavar="on|off|status", help="What to do.")] = "status",
    as_json: Json = False,
) -> None:
    """Start the tray when you log in, or not; without a word, say whether it does."""
    from tray.desktop.autostart import autostart as login

    if wanted not in ("on", "off", "status"):
        raise HooktrayError(
            say("`{word}` is neither on, off nor status", word=wanted), hint="write on, off or status"
        )
    entry = login(context.obj)
    if wanted != "status":
        entry.turn(wanted == "on")
    state = entry.state().value
    if as_json:
        print(json.dumps({"autostart": state, "place": entry.entry.where}))
    else:
        print(f"{say(STATE_TEXTS[state])}\n  {entry.entry.where}")
