"""What Windows wants. Not run by our tests."""

from __future__ import annotations

import ctypes
import os
import sys
from pathlib import Path


def open_file(path: Path) -> None:
    """In the program that Windows has for this kind of file."""
    if sys.platform == "win32":
        os.startfile(path)


def identify(name: str) -> None:
    """The name by which Windows groups our windows and notifications; the setup gives it to the shortcut too."""
    if sys.platform == "win32":
        ctypes.windll.shell32.SetCurrentProcessExplicitAppUserModelID(name)
