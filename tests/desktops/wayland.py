"""The pointer and the menus of a Wayland compositor, which tells other programs nothing about windows."""

from __future__ import annotations

import re
import socket
import struct
import time
from dataclasses import dataclass
from pathlib import Path

from desk.screen import Box

LEFT, RIGHT, MIDDLE = 0x110, 0x111, 0x112  # Linux's codes
BUTTONS = {1: LEFT, 2: MIDDLE, 3: RIGHT}  # X's numbers
DISPLAY = 1  # the object that is there from the start
SYNC, GET_REGISTRY, BIND, CREATE = 0, 1, 0, 0  # requests: of the display, the registry, the manager of pointers
MOTION_ABSOLUTE, BUTTON, FRAME = 1, 2, 4  # requests of the pointer
ERROR, GLOBAL, DONE = 0, 0, 0  # events: of the display, the registry, a callback
AUTHENTICATE, MOTION = 0, 1  # requests of the fake input
TIMEOUT = 20.0  # seconds for an answer
POPUP = re.compile(
    r"-> xdg_surface@(?P<surface>\d+)\.get_popup\(new id xdg_popup@(?P<new>\d+), (?:nil|xdg_surface@(?P<parent>\d+)),"
    r"|-> xdg_popup@(?P<grabs>\d+)\.grab\("
    r"|-> xdg_popup@(?P<gone>\d+)\.destroy\("
    r"|xdg_popup@(?P<placed>\d+)\.configure\((?P<x>-?\d+), (?P<y>-?\d+), (?P<width>\d+), (?P<height>\d+)\)"
)


class WaylandClient:
    """A connection with one object of the compositor's, of this interface."""

    interface: str

    def __init__(self, path: Path) -> None:
        self._socket = socket.socket(socket.AF_UNIX)
        self._socket.settimeout(TIMEOUT)
        self._socket.connect(str(path))
        self._unread = b""
        self._last = DISPLAY  # the highest number of an object
        registry = self._new()
        self._send(DISPLAY, GET_REGISTRY, registry)
        self._object = self._bind(registry)

    def close(self) -> None:
        self._socket.close()

    def _bind(self, registry: int) -> int:
        known = {}
        for target, event, body in self._sync():
            if (target, event) == (registry, GLOBAL):
                number, length = struct.unpack_from("=II", body)
                known[body[8 : 7 + length].decode()] = number
        manager = self._new()
        self._send(registry, BIND, known[self.interface], self.interface, 1, manager)
        return manager

    def _new(self) -> int:
        self._last += 1
        return self._last

    def _send(self, target: int, request: int, *words: int | str) -> None:
        body = b"".join(_word(word) for word in words)
        self._socket.sendall(struct.pack("=II", target, (8 + len(body)) << 16 | request) + body)

    def _sync(self) -> list[tuple[int, int, bytes]]:
        """Waits until the compositor has done all requests; gives the events that came meanwhile."""
        callback = self._new()
        self._send(DISPLAY, SYNC, callback)
        events: list[tuple[int, int, bytes]] = []
        while True:
            events.append(self._event())
            target, event, body = events[-1]
            if (target, event) == (DISPLAY, ERROR):
                raise ConnectionError(f"the compositor refuses: {body!r}")
            if (target, event) == (callback, DONE):
                return events

    def _event(self) -> tuple[int, int, bytes]:
        target, word = struct.unpack("=II", self._read(8))
        return target, word & 0xFFFF, self._read((word >> 16) - 8)

    def _read(self, size: int) -> bytes:
        while len(self._unread) < size:
            more = self._socket.recv(4096)
            if not more:
                raise ConnectionError("the compositor has closed the connection")
            self._unread += more
        data, self._unread = self._unread[:size], self._unread[size:]
        return data


class Pointer(WaylandClient):
    """A pointer of the compositor that programs cannot tell from a mouse; the protocol of wlroots for it."""

    interface = "zwlr_virtual_pointer_manager_v1"

    def __init__(self, path: Path, size: tuple[int, int]) -> None:
        super().__init__(path)
        self._size, self._pointer = size, self._new()
        self._send(self._object, CREATE, 0, self._pointer)  # 0: the seat that the compositor has
        self._sync()

    def point(self, x: int, y: int) -> None:
        """Move there in two steps: toolkits ignore a first motion that is only an entry."""
        for step in (x - 1, x):
            self._act(MOTION_ABSOLUTE, step, y, *self._size)

    def press(self, button: int) -> None:
        for down in (1, 0):
            self._act(BUTTON, BUTTONS[button], down)

    def _act(self, request: int, *words: int) -> None:
        self._send(self._pointer, request, time.monotonic_ns() // 1_000_000 & 0xFFFFFFFF, *words)
        self._send(self._pointer, FRAME)
        self._sync()


class FakeInput(WaylandClient):
    """The same of KWin, as far as moving goes."""

    interface = "org_kde_kwin_fake_input"

    def __init__(self, path: Path) -> None:
        super().__init__(path)
        self._send(self._object, AUTHENTICATE, "tests", "to move the pointer")
        self._sync()

    def move(self, x: int, y: int) -> None:
        """By so many pixels."""
        self._send(self._object, MOTION, 256 * x & 0xFFFFFFFF, 256 * y & 0xFFFFFFFF)
        self._sync()


def popups(log: str) -> list[Box]:
    """The menus that a program has open, lowest first, by its log under WAYLAND_DEBUG=1.

    Its own surface begins in the screen's corner. Tooltips are popups, too, but they grab nothing.
    """
    shown: dict[str, _Popup] = {}
    of_surface: dict[str, _Popup] = {}
    for found in POPUP.finditer(log):
        if found["new"]:
            popup = _Popup(parent=of_surface.get(found["parent"] or ""))
            shown[found["new"]] = of_surface[found["surface"]] = popup
        elif found["grabs"]:
            shown[found["grabs"]].grabs = True
        elif found["placed"]:
            shown[found["placed"]].place(found)
        else:
            del shown[found["gone"]]
    return [popup.box for popup in shown.values() if popup.box and popup.grabs]


@dataclass
class _Popup:
    parent: _Popup | None
    box: Box | None = None
    grabs: bool = False

    def place(self, found: re.Match[str]) -> None:
        x, y, width, height = (int(found[name]) for name in ("x", "y", "width", "height"))
        if self.parent is not None and self.parent.box is not None:
            x, y = x + self.parent.box.x, y + self.parent.box.y
        self.box = Box(id=found.start(), x=x, y=y, width=width, height=height)


def _word(value: int | str) -> bytes:
    if isinstance(value, int):
        return struct.pack("=I", value)
    text = value.encode() + b"\0"
    return struct.pack("=I", len(text)) + text + b"\0" * (-len(text) % 4)
