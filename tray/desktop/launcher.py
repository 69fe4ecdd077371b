"""Starts a program for the user and stays above everything that it starts: `launcher.py PROGRAM [WORD...]` (Linux).

The tray adopts orphans and cannot find out which program started them: Chromium overwrites its environment, and a
desktop's opener ends at once. So this process adopts what was opened for the user, and the tray remembers it. It runs
as a script, imports nothing of ours, prints its own number, and ends after the last process below it.
"""

from __future__ import annotations

import os
import sys
from ctypes import CDLL

assert sys.platform != "win32"

SET_SUBREAPER = 36  # PR_SET_CHILD_SUBREAPER


def main(argv: list[str]) -> None:
    if pid := os.fork():
        print(pid)
        return
    os.setsid()
    null = os.open(os.devnull, os.O_RDWR)
    for number in (0, 1, 2):
        os.dup2(null, number)
    CDLL(None).prctl(SET_SUBREAPER, 1, 0, 0, 0)
    os.posix_spawnp(argv[0], argv, os.environ)
    while True:
        try:
            os.wait()
        except ChildProcessError:
            return


if __name__ == "__main__":
    main(sys.argv[1:])
