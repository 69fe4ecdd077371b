"""Makes a terminal, runs a command there and types guesses, or the passphrase: `drive.py [--borrow|--right] ARGV`."""

from __future__ import annotations

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[1]))


def main(argv: list[str]) -> None:
    from torture.terminals import SECRET, on_anothers_pty, on_pty

    if argv[0] == "--borrow":
        on_anothers_pty(argv[1:])
        return
    if argv[0] == "--right":
        on_pty(argv[1:], SECRET)
        return
    on_pty(argv)


if __name__ == "__main__":
    main(sys.argv[1:])
