"""Windows: the window of the nearest process above the session; Windows Terminal has no way to a tab."""

from __future__ import annotations

import ctypes
import sys
from collections.abc import Mapping

from tray.desktop.focus.windows_of import FocusError, Raised, Window, choose
from tray.model.place import Place

assert sys.platform == "win32"

RESTORE = 9
TITLE_LIMIT = 512


def raise_window(place: Place, title: str, environment: Mapping[str, str]) -> Raised | None:
    found = choose(windows(), place, title)
    if found is None:
        return None
    user32, number = ctypes.windll.user32, int(found[0].id)
    if user32.IsIconic(number):
        user32.ShowWindow(number, RESTORE)
    if not user32.SetForegroundWindow(number):
        raise FocusError("Windows did not give the window the focus")
    return found[1]


def windows() -> list[Window]:
    """The visible windows with a title, the topmost first."""
    user32 = ctypes.windll.user32
    found: list[Window] = []

    def visit(number: int, _: int) -> bool:
        if user32.IsWindowVisible(number) and user32.GetWindowTextLengthW(number):
            pid, text = ctypes.c_ulong(), ctypes.create_unicode_buffer(TITLE_LIMIT)
            user32.GetWindowThreadProcessId(number, ctypes.byref(pid))
            user32.GetWindowTextW(number, text, TITLE_LIMIT)
            found.append(Window(str(number), pid.value, text.value))
        return True

    visitor = ctypes.WINFUNCTYPE(ctypes.c_bool, ctypes.c_void_p, ctypes.c_void_p)(visit)
    user32.EnumWindows(visitor, 0)
    return found
