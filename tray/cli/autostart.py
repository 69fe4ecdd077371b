"""`hooktray autostart`: whether the tray starts when you log in."""

from __future__ import annotations

import json
from typing import Annotated

from tray.cli.command_line import Argument, Json
from tray.cli.tray_reports import tray_health
from tray.desktop.autostart import autostart as login
from tray.errors import HooktrayError
from tray.language import phrase, say
from tray.paths import Paths

STATE_TEXTS = {
    "on": phrase("Hooktray starts when you log in"),
    "off": phrase("Hooktray does not start when you log in"),
    "other": phrase("There is an entry for another Hooktray; `hooktray autostart on` replaces it"),
}


def autostart(
    paths: Paths,
    wanted: Annotated[str, Argument(metavar="on|off|status", help="What to do.")] = "status",
    as_json: Json = False,
) -> None:
    if wanted not in ("on", "off", "status"):
        raise HooktrayError(
            say("`{word}` is neither on, off nor status", word=wanted), hint="write on, off or status"
        )
    entries = login(paths)
    if wanted == "on":
        entries.turn(True, is_running=entries.manager is not None and tray_health(paths) is not None)
    elif wanted == "off":
        entries.turn(False)
    state = entries.state().value
    socket = state == "on" and entries.manager is not None
    if as_json:
        print(json.dumps({"autostart": state, "place": entries.where, "at_first_event": socket}))
        return
    print(f"{say(STATE_TEXTS[state])}\n  {entries.where}")
    if socket:
        print(say("The first event of an agent starts it, too"))
