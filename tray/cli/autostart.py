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
    """Start the tray when you log in and, with systemd, at the first event of an agent; or not."""
    from tray.cli.status import tray_health
    from tray.desktop.autostart import autostart as login

    if wanted not in ("on", "off", "status"):
        raise HooktrayError(
            say("`{word}` is neither on, off nor status", word=wanted), hint="write on, off or status"
        )
    entries = login(context.obj, is_running=lambda: tray_health(context.obj) is not None)
    if wanted != "status":
        entries.turn(wanted == "on")
    state = entries.state().value
    socket = state == "on" and entries.manager is not None
    if as_json:
        print(json.dumps({"autostart": state, "place": entries.where, "at_first_event": socket}))
        return
    print(f"{say(STATE_TEXTS[state])}\n  {entries.where}")
    if socket:
        print(say("The first event of an agent starts it, too"))
