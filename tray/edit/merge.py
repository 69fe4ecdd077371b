"""Two edits of one text, both made."""

from __future__ import annotations

import re
from difflib import SequenceMatcher
from operator import itemgetter

Edit = tuple[int, int, list[bytes]]  # the lines from, up to, and what is there instead
PIECE = re.compile(rb"[^][{},]*+[][{},]?+\s*+")  # of JSON in one line
ONE_LINE_LIMIT = 64 * 1024  # bytes of a line that is compared by its pieces


def merge(base: bytes, one: bytes, other: bytes) -> bytes | None:
    """`base` with the edits that lead to both texts; None where two of them change the same lines.

    A text of one line is compared by its pieces.
    """
    lines = _split(base, base)
    edits = sorted((*_edits(lines, _split(base, one)), *_edits(lines, _split(base, other))), key=itemgetter(0, 1))
    merged: list[bytes] = []
    at = 0
    for begin, end, new in edits:
        if begin < at:
            return None
        merged += [*lines[at:begin], *new]
        at = end
    return b"".join([*merged, *lines[at:]])


def _split(base: bytes, text: bytes) -> list[bytes]:
    is_one_line = b"\n" not in base.strip() and len(base) <= ONE_LINE_LIMIT
    return PIECE.findall(text) if is_one_line else text.splitlines(keepends=True)


def _edits(lines: list[bytes], new: list[bytes]) -> list[Edit]:
    found = SequenceMatcher(None, lines, new, autojunk=False).get_opcodes()
    return [(first, last, new[start:stop]) for kind, first, last, start, stop in found if kind != "equal"]
