"""A tray that watches no file: `python -m torture.unwatched_tray HOME`. After each look it makes HOME/looked."""

from __future__ import annotations

import sys
from pathlib import Path

from tray.app import start
from tray.app.source_refresh import SourceRefresh
from tray.installation.file_watch import FileWatch, FolderWatch
from tray.paths import locate

LOOKED = Path(sys.argv[1], "looked")
look = SourceRefresh.now


def watch_nothing(*_: object) -> None:
    """Nothing is watched."""


def look_and_note(refresh: SourceRefresh) -> None:
    look(refresh)
    LOOKED.touch()


if __name__ == "__main__":
    setattr(FileWatch, "watch", watch_nothing)  # noqa: B010
    setattr(FolderWatch, "rearm", watch_nothing)  # noqa: B010
    setattr(SourceRefresh, "now", look_and_note)  # noqa: B010
    sys.exit(start.run(locate(sys.argv[1]), headless=True))
