"""Two edits of one text, both made."""

from __future__ import annotations

Edit = tuple[int, int, list[bytes]]  # the lines from, up to, and what is there instead


def merge(base: bytes, one: bytes, other: bytes) -> bytes | None:
    """`base` with the edits that lead to both texts; None where two of them change the same lines."""
    lines = base.splitlines(keepends=True)
    edits = sorted((*_edits(lines, one), *_edits(lines, other)), key=lambda edit: edit[:2])
    merged: list[bytes] = []
    at = 0
    for begin, end, new in edits:
        if begin < at:
            return None
        merged += [*lines[at:begin], *new]
        at = end
    return b"".join([*merged, *lines[at:]])


def _edits(lines: list[bytes], text: bytes) -> list[Edit]:
    from difflib import SequenceMatcher  # a tray starts without it

    new = text.splitlines(keepends=True)
    found = SequenceMatcher(None, lines, new, autojunk=False).get_opcodes()
    return [(first, last, new[start:stop]) for kind, first, last, start, stop in found if kind != "equal"]
