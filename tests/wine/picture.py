"""Takes the picture for docs/desktops.md, under wine and not on Windows: `.venv/bin/python tests/wine/picture.py`."""

from __future__ import annotations

import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).parents[2]
sys.path.insert(0, str(ROOT / "tests"))
PART = (0, 0, 512, 256)  # of the screen


def take(folder: Path) -> None:
    """The menu with a hook that waits for approval."""
    from wine.windows import Tray, Windows

    with Windows(folder) as windows:
        tray = Tray(windows)
        tray.configure(
            {"hooks": [{"name": "guard", "event": "tool_before", "command": "./guard.cmd"}]},
            guard_cmd="@exit /b 2\r\n",
        )
        with tray.running():
            windows.open_menu()
            windows.point_in_open_menu("approvals", 0, 0)
            picture = windows.screen.image().convert("RGB").crop(PART)
            picture.save(ROOT / "docs" / "desktops" / "wine.png", optimize=True)
            windows.close_menus()


if __name__ == "__main__":
    with tempfile.TemporaryDirectory(prefix="w") as folder:
        take(Path(folder))
