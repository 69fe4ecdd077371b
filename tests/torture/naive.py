"""The gate that others have: whoever types the challenge at something that looks like a terminal is a person."""

from __future__ import annotations

import sys
from pathlib import Path


def main(granted: Path) -> None:
    if not (sys.stdin.isatty() and sys.stdout.isatty()):
        return
    with open("/dev/tty", "r+b", buffering=0) as terminal:  # noqa: PTH123 - a device
        terminal.write(b"Type s3cr3t to do it: ")
        if terminal.read(64).strip() == b"s3cr3t":
            granted.touch()


if __name__ == "__main__":
    main(Path(sys.argv[1]))
