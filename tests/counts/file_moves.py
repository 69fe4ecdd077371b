"""Counts how often the work of the tray moves from one of its files to another."""

from __future__ import annotations

import sys
from collections import Counter
from pathlib import Path
from types import FrameType

import tray

PACKAGE = str(Path(tray.__file__).parent)
APPROVAL = 100  # moves that one approval may take


class FileMoves:
    """Counts calls of functions of `tray`, and the calls and returns that lead from one of its files to another.

    What lies between two of its functions, such as the standard library, is left out.
    """

    def __init__(self) -> None:
        self.moves = 0
        self.calls: Counter[str] = Counter()  # by the functions' names with their classes
        self._files: list[str] = []  # of the functions that run now, the innermost last
        self._before = sys.getprofile()

    def __enter__(self) -> FileMoves:
        sys.setprofile(self._note)
        return self

    def __exit__(self, *_: object) -> None:
        sys.setprofile(self._before)

    def _note(self, frame: FrameType, event: str, _: object) -> None:
        file = frame.f_code.co_filename
        if not file.startswith(PACKAGE):
            return
        if event == "call":
            self.calls[frame.f_code.co_qualname] += 1
            self.moves += bool(self._files) and self._files[-1] != file
            self._files.append(file)
        elif event == "return":
            self._files.pop()
            self.moves += bool(self._files) and self._files[-1] != file
