"""A viewer of files without a desktop. Stand-in for the opener."""

from __future__ import annotations

from pathlib import Path

from tray.desktop.opener import Opener


class Viewer(Opener):
    """Records what would be opened."""

    def __init__(self) -> None:
        super().__init__()
        self.opened: list[Path] = []

    def open(self, path: Path) -> None:
        self.opened.append(path)
