"""Makes a terminal, runs a command there and types the challenge: `drive.py [--hide | --borrow] ARGV`."""

from __future__ import annotations

import ctypes
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[1]))

NOT_DUMPABLE = 4  # PR_SET_DUMPABLE


def main(argv: list[str]) -> None:
    from torture.terminals import on_anothers_pty, on_pty

    if argv[0] == "--borrow":
        on_anothers_pty(argv[1:])
        return
    if argv[0] == "--hide":
        argv = argv[1:]
        ctypes.CDLL(None).prctl(NOT_DUMPABLE, 0)
    on_pty(argv)


if __name__ == "__main__":
    main(sys.argv[1:])
