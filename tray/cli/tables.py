"""Tables for people: cut to a terminal's width and coloured there; tabs between the cells in a file or a pipe."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from itertools import repeat

from rich.cells import cell_len, set_cell_size
from rich.console import Console
from rich.text import Text

from tray.text import sanitise

CELL_LIMIT = 300  # characters
GAP = 2  # columns between two cells
MIN_WIDTH = 6  # columns that a cell keeps on a narrow terminal


def table(heads: Sequence[str], rows: Sequence[Sequence[str]], styles: Sequence[str] = ()) -> None:
    """One line for each row; `styles` colour whole rows."""
    cells = [[sanitise(str(cell), CELL_LIMIT) for cell in row] for row in rows]
    if not sys.stdout.isatty():
        for row in (heads, *cells):
            print("\t".join(row))
        return
    console = Console(highlight=False)
    widths = _widths([heads, *cells], console.width)
    for row, style in zip((heads, *cells), ("bold", *(styles or repeat("", len(cells)))), strict=True):
        line = (" " * GAP).join(_cut(cell, width) for cell, width in zip(row, widths, strict=True))
        console.print(Text(line.rstrip(), style=style), soft_wrap=True)


def print_line(cells: Sequence[str], style: str) -> None:
    """A row without its table: the terminal wraps it."""
    if sys.stdout.isatty():
        Console(highlight=False).print(Text((" " * GAP).join(cells), style=style), soft_wrap=True)
    else:
        print("\t".join(cells), flush=True)


def _widths(rows: Sequence[Sequence[str]], available: int) -> list[int]:
    """The widest column gives way first, until all fit or none has more than `MIN_WIDTH`."""
    widths = [max(map(cell_len, column)) for column in zip(*rows, strict=True)]
    over = sum(widths) + GAP * (len(widths) - 1) - available
    while over > 0 and max(widths) > MIN_WIDTH:
        widest = max(range(len(widths)), key=widths.__getitem__)
        widths[widest] -= 1
        over -= 1
    return widths


def _cut(cell: str, width: int) -> str:
    """The cell in exactly so many columns."""
    return set_cell_size(cell, width) if cell_len(cell) <= width else f"{set_cell_size(cell, width - 1)}…"
