"""A tray that watches no file: `python -m torture.unwatched_tray HOME`."""

from __future__ import annotations

import sys

from tray.app import start
from tray.installation.file_watch import FileWatch, FolderWatch
from tray.paths import locate


def watch_nothing(*_: object) -> None:
    """Nothing is watched."""


if __name__ == "__main__":
    setattr(FileWatch, "watch", watch_nothing)  # noqa: B010
    setattr(FolderWatch, "rearm", watch_nothing)  # noqa: B010
    sys.exit(start.run(locate(sys.argv[1]), headless=True))
