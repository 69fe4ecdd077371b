"""The desk's screen: what it shows, which popups are open, where the tray is, and the pointer that people use."""

from __future__ import annotations

import functools
import subprocess
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any, Concatenate, ParamSpec, TypeVar

from PIL import Image, ImageGrab
from Xlib import X  # type: ignore[import-untyped]
from Xlib.display import Display  # type: ignore[import-untyped]
from Xlib.error import BadDrawable, BadWindow  # type: ignore[import-untyped]

TOOLTIP = "_NET_WM_WINDOW_TYPE_TOOLTIP"
MENU_TYPES = ("_NET_WM_WINDOW_TYPE_POPUP_MENU", "_NET_WM_WINDOW_TYPE_DROPDOWN_MENU", "_NET_WM_WINDOW_TYPE_MENU")
TRAY_CLASS = ("wrapper-2.0", "Wrapper-2.0")  # the process in which the panel keeps its tray


@dataclass(frozen=True, slots=True, kw_only=True)
class Box:
    """A window's place on the screen."""

    id: int
    x: int
    y: int
    width: int
    height: int

    @property
    def edges(self) -> tuple[int, int, int, int]:
        return self.x, self.y, self.x + self.width, self.y + self.height


P = ParamSpec("P")
T = TypeVar("T")


def reconnecting(look: Callable[Concatenate[Screen, P], T]) -> Callable[Concatenate[Screen, P], T]:
    """Look once more over a new connection when python-xlib fails: after that, the old one never answers again."""

    @functools.wraps(look)
    def again(screen: Screen, /, *args: P.args, **kwargs: P.kwargs) -> T:
        try:
            return look(screen, *args, **kwargs)
        except Exception as error:  # noqa: BLE001 - whatever it is, the connection waits for a reply for ever
            print(f"the connection to the X server is made anew: {error!r}")
            screen.reconnect()
            return look(screen, *args, **kwargs)

    return again


class Screen:
    """One connection to the X server, and xdotool's real pointer and keyboard."""

    def __init__(self, environment: Mapping[str, str]) -> None:
        self._environment = dict(environment)
        self.name = environment["DISPLAY"]
        self.connect()

    def connect(self) -> None:
        self._display = Display(self.name)
        self._root = self._display.screen().root

    def reconnect(self) -> None:
        """Connect anew. The old connection may wait for a reply for ever, so only its socket is closed."""
        self._display.display.socket.close()
        self.connect()

    def close(self) -> None:
        self._display.close()

    def image(self, box: Box | None = None) -> Image.Image:
        return ImageGrab.grab(xdisplay=self.name, bbox=box.edges if box else None)

    @reconnecting
    def managed(self) -> bool:
        """Whether a window manager is there."""
        atom = self._display.get_atom("_NET_SUPPORTING_WM_CHECK")
        return self._root.get_full_property(atom, X.AnyPropertyType) is not None

    @reconnecting
    def popups(self, *types: str) -> list[Box]:
        """What of these types is open (default: menus), lowest first; a submenu may first appear below its parent."""
        wanted = {self._display.get_atom(name) for name in types or MENU_TYPES}
        return [box for window in self._root.query_tree().children if (box := self._popup(window, wanted))]

    @reconnecting
    def named(self, name: str) -> list[Box]:
        """The windows of this class on the screen, without those that only hold something."""
        return [box for window in self._root.query_tree().children if (box := self._of(window, name))]

    @reconnecting
    def boxes(self) -> list[Box]:
        """Every window on the screen, lowest first."""
        return [box for window in self._root.query_tree().children if (box := self._visible(window))]

    @reconnecting
    def titles(self) -> list[str]:
        """What the managed windows are called, oldest first."""
        listed = self._root.get_full_property(self._display.get_atom("_NET_CLIENT_LIST"), X.AnyPropertyType)
        return [self._title(number) for number in (listed.value if listed else ())]

    def _title(self, number: int) -> str:
        try:
            window = self._display.create_resource_object("window", number)
            found = window.get_full_property(self._display.get_atom("_NET_WM_NAME"), X.AnyPropertyType)
        except (BadDrawable, BadWindow):  # it was closed meanwhile
            return ""
        return bytes(found.value).decode("utf-8", "replace") if found else ""

    @reconnecting
    def tray(self) -> Box | None:
        """The panel's tray; None as long as it has no place."""
        found = [box for window in self._windows(self._root, 5) if (box := self._tray(window))]
        return max(found, key=lambda box: box.width, default=None)

    def paint(self, top: tuple[int, int, int], bottom: tuple[int, int, int]) -> None:
        """A wallpaper that goes softly from one colour to the other: one narrow tile, repeated."""
        height = self._root.get_geometry().height
        tile = Image.new("RGB", (8, height))
        for y in range(height):
            colour = tuple(a + (b - a) * y // height for a, b in zip(top, bottom, strict=True))
            tile.paste(colour, (0, y, 8, y + 1))
        pixmap = self._root.create_pixmap(8, height, self._display.screen().root_depth)
        context = pixmap.create_gc()
        pixmap.put_pil_image(context, 0, 0, tile)
        self._root.change_attributes(background_pixmap=pixmap)
        self._root.clear_area()
        context.free()
        pixmap.free()
        self._display.sync()

    def point(self, x: int, y: int) -> None:
        """Move there in two steps: toolkits ignore a first motion that is only an entry."""
        self.do("mousemove", str(x - 1), str(y), "mousemove", str(x), str(y))

    def press(self, button: int) -> None:
        self.do("click", str(button))

    def key(self, name: str) -> None:
        self.do("key", name)

    def do(self, *words: str) -> None:
        subprocess.run(["xdotool", *words], env=self._environment, check=True, capture_output=True, timeout=60)

    def _popup(self, window: Any, types: set[int]) -> Box | None:
        try:
            attributes = window.get_attributes()
            if attributes.map_state != X.IsViewable or not attributes.override_redirect:
                return None
            kinds = window.get_full_property(self._display.get_atom("_NET_WM_WINDOW_TYPE"), X.AnyPropertyType)
            return self._box(window) if kinds and types.intersection(kinds.value) else None
        except (BadWindow, BadDrawable):  # closed while we looked
            return None

    def _visible(self, window: Any) -> Box | None:
        try:
            return self._box(window) if window.get_attributes().map_state == X.IsViewable else None
        except (BadWindow, BadDrawable):
            return None

    def _of(self, window: Any, name: str) -> Box | None:
        try:
            known = window.get_wm_class()
            if not known or known[1] != name or window.get_attributes().map_state != X.IsViewable:
                return None
            box = self._box(window)
            return box if box.width > 20 and box.height >= 20 else None
        except (BadWindow, BadDrawable):
            return None

    def _tray(self, window: Any) -> Box | None:
        try:
            if window.get_wm_class() != TRAY_CLASS:
                return None
            attributes = window.get_attributes()
            if attributes.map_state != X.IsViewable or attributes.override_redirect:  # an icon's tooltip
                return None
            box = self._box(window)
            return box if box.width > 1 and box.height > 1 else None
        except (BadWindow, BadDrawable):
            return None

    def _windows(self, window: Any, depth: int) -> Iterator[Any]:
        try:
            children = window.query_tree().children if depth else []
        except BadWindow:
            return
        for child in children:
            yield child
            yield from self._windows(child, depth - 1)

    def _box(self, window: Any) -> Box:
        shape = window.get_geometry()
        corner = window.translate_coords(self._root, 0, 0)
        return Box(id=window.id, x=-corner.x, y=-corner.y, width=shape.width, height=shape.height)
