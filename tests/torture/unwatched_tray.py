"""A tray that watches nothing: the control of T34. `python -m torture.unwatched_tray --home DIR`."""

from __future__ import annotations

import sys
from collections.abc import Iterable
from pathlib import Path

from tray.app import runtime, start
from tray.app.file_watch import FileWatch, FolderWatch
from tray.paths import locate


class BlindFileWatch(FileWatch):
    def watch(self, files: Iterable[str | Path]) -> None:
        """Nothing is watched."""


class BlindFolderWatch(FolderWatch):
    def rearm(self) -> None:
        """Nothing is watched."""


if __name__ == "__main__":
    setattr(runtime, "FileWatch", BlindFileWatch)  # noqa: B010
    setattr(runtime, "FolderWatch", BlindFolderWatch)  # noqa: B010
    sys.exit(start.run(locate(sys.argv[1]), headless=True))
