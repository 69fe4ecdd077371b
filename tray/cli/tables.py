"""Tables for people: cut to a terminal's width and coloured there; tabs between the cells in a file or a pipe."""

from __future__ import annotations

import ctypes
import os
import sys
from collections.abc import Sequence
from itertools import repeat
from shutil import get_terminal_size
from unicodedata import category, east_asian_width

from tray.text import sanitise

if sys.platform == "win32":
    import msvcrt

CELL_LIMIT = 300  # characters
GAP = 2  # columns between two cells
MIN_WIDTH = 6  # columns that a cell keeps on a narrow terminal
STYLES = {"bold": 1, "dim": 2, "red": 31, "green": 32, "yellow": 33, "magenta": 35, "cyan": 36}  # SGR, of ECMA-48


def table(heads: Sequence[str], rows: Sequence[Sequence[str]], styles: Sequence[str] = ()) -> None:
    """One line for each row; `styles` colour whole rows."""
    cells = [[sanitise(str(cell), CELL_LIMIT) for cell in row] for row in rows]
    if not sys.stdout.isatty():
        for row in (heads, *cells):
            print("\t".join(row))
        return
    widths = _widths([heads, *cells], get_terminal_size().columns)
    for row, style in zip((heads, *cells), ("bold", *(styles or repeat("", len(cells)))), strict=True):
        line = (" " * GAP).join(_cut(cell, width) for cell, width in zip(row, widths, strict=True))
        print(_styled(line.rstrip(), style))


def print_line(cells: Sequence[str], style: str) -> None:
    """A row without its table: the terminal wraps it."""
    if sys.stdout.isatty():
        print(_styled((" " * GAP).join(cells), style), flush=True)
    else:
        print("\t".join(cells), flush=True)


def text_width(text: str) -> int:
    """How many columns of a terminal the text takes."""
    return len(text) if text.isascii() else sum(map(_character_width, text))


def _character_width(character: str) -> int:
    if category(character) in ("Mn", "Me", "Cf"):  # drawn over the one before, or not at all
        return 0
    return 2 if east_asian_width(character) in "WF" else 1


def _widths(rows: Sequence[Sequence[str]], available: int) -> list[int]:
    """The widest column gives way first, until all fit or none has more than `MIN_WIDTH`."""
    widths = [max(map(text_width, column)) for column in zip(*rows, strict=True)]
    over = sum(widths) + GAP * (len(widths) - 1) - available
    while over > 0 and max(widths) > MIN_WIDTH:
        widest = max(range(len(widths)), key=widths.__getitem__)
        widths[widest] -= 1
        over -= 1
    return widths


def _cut(cell: str, width: int) -> str:
    """The cell in exactly so many columns."""
    if text_width(cell) > width:
        while text_width(cell) >= width:
            cell = cell[:-1]
        cell += "…"
    return cell + " " * (width - text_width(cell))


def _styled(line: str, style: str) -> str:
    """The line in its colour, where the terminal shows colours and the user wants them."""
    if not style or os.environ.get("NO_COLOR") or os.environ.get("TERM") == "dumb" or not _obeys_colours():
        return line
    return f"\x1b[{';'.join(str(STYLES[word]) for word in style.split())}m{line}\x1b[0m"


def _obeys_colours() -> bool:
    """Switch a Windows console to colour codes; False if it cannot print them."""
    if sys.platform == "win32":
        handle, mode = msvcrt.get_osfhandle(sys.stdout.fileno()), ctypes.c_ulong()
        kernel = ctypes.windll.kernel32
        return bool(
            kernel.GetConsoleMode(handle, ctypes.byref(mode))
            and kernel.SetConsoleMode(handle, mode.value | 4)  # ENABLE_VIRTUAL_TERMINAL_PROCESSING
        )
    return True
