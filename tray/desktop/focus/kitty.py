"""kitty by its remote control, where the user turned that on (`allow_remote_control`, `listen_on`).

Request and answer: ESC P @kitty-cmd {JSON} ESC backslash. https://sw.kovidgoyal.net/kitty/rc_protocol/
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping

import msgspec
from msgspec.structs import replace

from tray.desktop.focus.windows_of import FocusError, ask
from tray.model.place import Place

BEGIN, END = b"\x1bP@kitty-cmd", b"\x1b\\"
VERSION = [0, 14, 2]  # the oldest that knows both commands


class KittyWindow(msgspec.Struct, frozen=True):
    """One pane, as kitty has it now."""

    id: int
    os_window: int  # of X11; 0 on Wayland
    pids: frozenset[int]
    is_visible: bool  # it is the active one of the active tab
    is_focused: bool  # and its window has the keyboard


def select(place: Place) -> Place | None:
    """Show the tab and the pane. Without remote control only the window can be raised."""
    found = find(place)
    if found is None:
        return None
    _command(place, "focus-window", {"match": f"id:{found.id}"})
    return replace(place, window=str(found.os_window) if found.os_window else place.window)


def find(place: Place) -> KittyWindow | None:
    """The pane with the place's number, if the agent runs in it."""
    if not place.kitty or not place.kitty_window:
        return None
    try:
        panes = list(_windows(_command(place, "ls", {})))
    except FocusError:
        return None
    ours = {one.pid for one in place.processes}
    return next((one for one in panes if str(one.id) == place.kitty_window and (not ours or one.pids & ours)), None)


def _command(place: Place, name: str, payload: Mapping[str, object]) -> object:
    request = {"cmd": name, "version": VERSION, "no_response": False, "payload": payload}
    raw = ask(place.kitty.removeprefix("unix:"), BEGIN + json.dumps(request).encode() + END, END)
    try:
        answer = json.loads(raw.removeprefix(BEGIN).removesuffix(END))
        if answer["ok"]:
            return answer.get("data")
        why = str(answer.get("error", ""))
    except (ValueError, KeyError, TypeError, AttributeError) as error:
        raise FocusError("kitty: its answer cannot be read") from error
    raise FocusError(f"kitty: {why.splitlines()[0] if why else name}")


def _windows(listed: object) -> Iterator[KittyWindow]:
    if not isinstance(listed, str):
        raise FocusError("kitty: its answer cannot be read")
    try:
        for os_window in json.loads(listed):
            for tab in os_window["tabs"]:
                shown = tab["is_focused"] and os_window["is_focused"]
                for one in tab["windows"]:
                    pids = {one["pid"], *(process["pid"] for process in one["foreground_processes"])}
                    active = one.get("is_active", one["is_focused"])
                    yield KittyWindow(
                        one["id"],
                        os_window.get("platform_window_id") or 0,
                        frozenset(pids),
                        bool(tab.get("is_active", tab["is_focused"]) and active),
                        bool(shown and one["is_focused"]),
                    )
    except (ValueError, KeyError, TypeError, AttributeError) as error:
        raise FocusError("kitty: its answer cannot be read") from error
