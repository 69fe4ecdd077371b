"""A gate without the defence: it takes anyone who types at what looks like a terminal for the user."""

from __future__ import annotations

import getpass
import sys
from pathlib import Path


def main(granted: Path) -> None:
    if sys.stdin.isatty() and sys.stdout.isatty() and getpass.getpass("Your password (it is not shown): "):
        granted.touch()


if __name__ == "__main__":
    main(Path(sys.argv[1]))
