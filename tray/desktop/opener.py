"""Opens a file in the user's own viewer, as each desktop does it."""

from __future__ import annotations

import sys
from pathlib import Path


def open_file(path: Path) -> None:
    """Return at once; raises HooktrayError where nothing can open a file."""
    if sys.platform == "win32":
        from tray.desktop import windows

        windows.open_file(path)
    elif sys.platform == "darwin":
        from tray.desktop import macos

        macos.open_file(path)
    else:
        from tray.desktop import linux

        linux.open_file(path)
