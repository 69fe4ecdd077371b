"""Hyprland over its own socket. https://wiki.hypr.land/IPC/"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping

from tray.desktop.focus.windows_of import FocusError, Raised, Window, ask, choose
from tray.model.place import Place

ADDRESS = re.compile(r"0x[0-9a-f]{1,16}")
SIGNATURE = re.compile(r"[\w.-]{1,100}", re.ASCII)


def raise_window(place: Place, title: str, environment: Mapping[str, str]) -> Raised | None:
    path = _socket(environment)
    if not path:
        return None
    clients = sorted(_json(path, "clients"), key=_last_focus)
    windows = [
        Window(str(one["address"]), pid, str(one.get("title", "")))
        for one in clients
        if isinstance(pid := one.get("pid"), int) and ADDRESS.fullmatch(str(one.get("address")))
    ]
    found = choose(windows, place, title)
    if found is None:
        return None
    _focus(path, found[0].id)
    return found[1]


def _last_focus(client: Mapping[str, object]) -> int:
    """Its place among the windows, the one with the keyboard first."""
    place = client.get("focusHistoryID")
    return place if isinstance(place, int) else 0


def _focus(path: str, address: str) -> None:
    """Since 0.55 a configuration in Lua wants the second form, and refuses the first without doing anything."""
    forms = (f"focuswindow address:{address}", f'hl.dsp.focus({{ window = "address:{address}" }})')
    answers = []
    for form in forms:
        answers.append(ask(path, f"dispatch {form}".encode()))
        if answers[-1] == b"ok":
            return
    raise FocusError(f"Hyprland: {answers[0][:100].decode('utf-8', 'replace')}")


def focused_pid(environment: Mapping[str, str]) -> int | None:
    """The process of the window with the keyboard; 0 when no window has it, None when Hyprland is not there."""
    path = _socket(environment)
    if not path:
        return None
    found = _json(path, "activewindow")
    pid = found[0].get("pid") if found else 0
    return pid if isinstance(pid, int) else 0


def _socket(environment: Mapping[str, str]) -> str:
    name, folder = environment.get("HYPRLAND_INSTANCE_SIGNATURE", ""), environment.get("XDG_RUNTIME_DIR", "")
    return f"{folder}/hypr/{name}/.socket.sock" if folder and SIGNATURE.fullmatch(name) else ""


def _json(path: str, what: str) -> list[dict[str, object]]:
    try:
        found = json.loads(ask(path, f"j/{what}".encode()))
    except ValueError as error:
        raise FocusError("Hyprland: its answer cannot be read") from error
    rows = found if isinstance(found, list) else [found]
    return [one for one in rows if isinstance(one, dict)]
