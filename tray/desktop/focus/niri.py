"""niri over its own socket: one line of JSON asks, one line answers. https://yalter.github.io/niri/IPC.html"""

from __future__ import annotations

import json
from collections.abc import Mapping

from tray.desktop.focus.windows_of import FocusError, Raised, Window, ask, choose
from tray.model.place import Place


def raise_window(place: Place, title: str, environment: Mapping[str, str]) -> Raised | None:
    path = environment.get("NIRI_SOCKET", "")
    if not path:
        return None
    windows = [
        Window(str(one["id"]), pid, str(one.get("title") or ""))
        for one in _windows(path)
        if isinstance(pid := one.get("pid"), int) and isinstance(one.get("id"), int)
    ]
    found = choose(windows, place, title)
    if found is None:
        return None
    _ask(path, {"Action": {"FocusWindow": {"id": int(found[0].id)}}})
    return found[1]


def focused_pid(environment: Mapping[str, str]) -> int | None:
    """The process of the window with the keyboard; 0 when no window has it, None when niri is not there."""
    path = environment.get("NIRI_SOCKET", "")
    if not path:
        return None
    pid = next((one.get("pid") for one in _windows(path) if one.get("is_focused") is True), 0)
    return pid if isinstance(pid, int) else 0


def _windows(path: str) -> list[dict[str, object]]:
    found = _ask(path, "Windows")
    rows = found.get("Windows") if isinstance(found, dict) else None
    return [one for one in rows or () if isinstance(one, dict)]


def _ask(path: str, request: object) -> object:
    try:
        answer = json.loads(ask(path, json.dumps(request).encode() + b"\n", b"\n"))
    except ValueError as error:
        raise FocusError("niri: its answer cannot be read") from error
    if not isinstance(answer, dict) or "Ok" not in answer:
        raise FocusError(f"niri: {str(answer)[:100]}")
    return answer["Ok"]
