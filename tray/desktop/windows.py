"""What Windows requires. Run under wine (tests/wine), not on Windows."""

from __future__ import annotations

import ctypes
import os
import sys
import threading
from collections.abc import Callable
from pathlib import Path
from typing import Protocol


class MenuIcon(Protocol):
    """What is private in pystray's icon for Windows."""

    _update_menu: Callable[[], None]
    _on_notify: Callable[[int, int], object]
    _message_handlers: dict[int, Callable[[int, int], object]]


def open_file(path: Path) -> None:
    """In the program that Windows has for this kind of file."""
    if sys.platform == "win32":
        os.startfile(path)


RUN = r"Software\Microsoft\Windows\CurrentVersion\Run"


class RunKey:
    """The user's Run key: programs that start at login."""

    def get(self, name: str) -> str | None:
        if sys.platform != "win32":
            return None
        import winreg

        try:
            with winreg.OpenKey(winreg.HKEY_CURRENT_USER, RUN) as key:
                return str(winreg.QueryValueEx(key, name)[0])
        except FileNotFoundError:
            return None

    def set(self, name: str, value: str) -> None:
        if sys.platform == "win32":
            import winreg

            with winreg.CreateKey(winreg.HKEY_CURRENT_USER, RUN) as key:
                winreg.SetValueEx(key, name, 0, winreg.REG_SZ, value)

    def delete(self, name: str) -> None:
        if sys.platform == "win32":
            import winreg

            with winreg.OpenKey(winreg.HKEY_CURRENT_USER, RUN, 0, winreg.KEY_SET_VALUE) as key:
                winreg.DeleteValue(key, name)


def set_app_id(name: str) -> None:
    """The name by which Windows groups our windows and notifications; the setup gives it to the shortcut too."""
    if sys.platform == "win32":
        ctypes.windll.shell32.SetCurrentProcessExplicitAppUserModelID(name)


class OpenMenu:
    """Has pystray replace its menu only while that is closed.

    pystray destroys the old menu at once, in whatever thread: what is still drawn then takes no click.
    """

    def __init__(self, icon: MenuIcon) -> None:
        self._replace, self._on_notify = icon._update_menu, icon._on_notify
        self._lock = threading.Lock()
        self._depth = 0  # an open menu goes on dispatching messages, so that they nest
        self._is_late = False
        icon._update_menu = self._update
        icon._message_handlers.update(
            {code: self._notify for code, handler in icon._message_handlers.items() if handler == self._on_notify}
        )

    def _update(self) -> None:
        with self._lock:
            self._is_late = self._depth > 0
            if not self._is_late:
                self._replace()

    def _notify(self, wparam: int, lparam: int) -> object:
        """A message about the icon; for a press of the right button pystray returns when its menu is closed."""
        with self._lock:
            self._depth += 1
        try:
            return self._on_notify(wparam, lparam)
        finally:
            with self._lock:
                self._depth -= 1
                if self._is_late and not self._depth:
                    self._is_late = False
                    self._replace()
