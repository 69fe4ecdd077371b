"""Hooktray in a process that notes whenever anything but SQLite opens a file of the database.

Run as the program: `python tests/audited.py --home DIR run`. SQLite opens its files in C, which no audit event tells.
"""

from __future__ import annotations

import os
import re
import sys
from pathlib import Path

NOTES = "opened-by-hand"
DATABASE = re.compile(r"hooktray\.db(-wal|-shm|-journal|\.(altered|damaged|replaced|version\d+)-.*(?<!\.head))?$")


def watch(home: Path) -> None:
    """From here on, each such file is a line of the notes below `home`."""
    notes = os.open(home / NOTES, os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o600)

    def hook(event: str, words: tuple[object, ...]) -> None:
        is_held = len(words) > 2 and isinstance(words[2], int) and bool(words[2] & os.O_PATH)  # which opens no file
        if event == "open" and isinstance(words[0], str | bytes | os.PathLike) and not is_held:
            path = os.fsdecode(words[0])
            if DATABASE.search(path):
                frame = sys._getframe(1)
                os.write(notes, f"{path} in {frame.f_code.co_filename}:{frame.f_lineno}\n".encode())

    sys.addaudithook(hook)


def opened(home: Path) -> list[str]:
    return (home / NOTES).read_text().splitlines()


if __name__ == "__main__":
    watch(Path(sys.argv[sys.argv.index("--home") + 1]))
    from tray.__main__ import main

    sys.exit(main())
