"""What Windows requires. Run under wine (tests/wine), not on Windows."""

from __future__ import annotations

import contextlib
import ctypes
import os
import sys
from pathlib import Path

if sys.platform == "win32":
    import winreg


def open_file(path: Path) -> None:
    """In the program that Windows has for this kind of file."""
    if sys.platform == "win32":
        os.startfile(path)


RUN = r"Software\Microsoft\Windows\CurrentVersion\Run"


class RunKey:
    """The user's Run key: programs that start at login."""

    def get(self, name: str) -> str | None:
        if sys.platform == "win32":
            with contextlib.suppress(FileNotFoundError), winreg.OpenKey(winreg.HKEY_CURRENT_USER, RUN) as key:
                return str(winreg.QueryValueEx(key, name)[0])
        return None

    def set(self, name: str, value: str) -> None:
        if sys.platform == "win32":
            with winreg.CreateKey(winreg.HKEY_CURRENT_USER, RUN) as key:
                winreg.SetValueEx(key, name, 0, winreg.REG_SZ, value)

    def delete(self, name: str) -> None:
        if sys.platform == "win32":
            with winreg.OpenKey(winreg.HKEY_CURRENT_USER, RUN, 0, winreg.KEY_SET_VALUE) as key:
                winreg.DeleteValue(key, name)


def set_app_id(name: str) -> None:
    """The name by which Windows groups our windows and notifications; the setup gives it to the shortcut too."""
    if sys.platform == "win32":
        ctypes.windll.shell32.SetCurrentProcessExplicitAppUserModelID(name)
