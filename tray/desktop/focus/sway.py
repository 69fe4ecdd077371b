"""sway over its IPC (i3's, but only sway's tree has the windows' processes; i3 itself is X11).

"i3-ipc", length and type as native 32-bit numbers, then the payload. https://i3wm.org/docs/ipc.html
"""

from __future__ import annotations

import json
import struct
from collections.abc import Iterator, Mapping

from tray.desktop.focus.windows_of import ANSWER_LIMIT, FocusError, Raised, Window, choose, connect
from tray.model.place import Place

MAGIC = b"i3-ipc"
HEAD = struct.Struct("=6sII")
RUN_COMMAND, GET_TREE = 0, 4


def raise_window(place: Place, title: str, environment: Mapping[str, str]) -> Raised | None:
    path = environment.get("SWAYSOCK", "")
    if not path:
        return None
    found = choose([window for window, _ in _windows(_ask(path, GET_TREE))], place, title)
    if found is None:
        return None
    done = _ask(path, RUN_COMMAND, f"[con_id={found[0].id}] focus")
    if not (isinstance(done, list) and done and done[0].get("success")):
        raise FocusError("sway did not focus the window")
    return found[1]


def focused_pid(environment: Mapping[str, str]) -> int | None:
    """The process of the window with the keyboard; 0 when no window has it, None when sway is not there."""
    path = environment.get("SWAYSOCK", "")
    if not path:
        return None
    return next((window.pid for window, focused in _windows(_ask(path, GET_TREE)) if focused), 0)


def _ask(path: str, kind: int, text: str = "") -> object:
    payload = text.encode()
    with connect(path) as connection:
        try:
            connection.sendall(HEAD.pack(MAGIC, len(payload), kind) + payload)
            with connection.makefile("rb") as answer:
                _, size, _ = HEAD.unpack(answer.read(HEAD.size))
                return json.loads(answer.read(min(size, ANSWER_LIMIT)))
        except (OSError, ValueError, struct.error) as error:
            raise FocusError("sway: its answer cannot be read") from error


def _windows(node: object) -> Iterator[tuple[Window, bool]]:
    """Every window below a node, and whether it has the focus."""
    if not isinstance(node, dict):
        return
    pid = node.get("pid")
    if isinstance(pid, int) and not node.get("nodes"):
        yield Window(str(int(node["id"])), pid, str(node.get("name") or "")), node.get("focused") is True
    for name in ("nodes", "floating_nodes"):
        for one in node.get(name) or ():
            yield from _windows(one)
