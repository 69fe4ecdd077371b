"""Merges two edits of one text."""

from __future__ import annotations

from difflib import SequenceMatcher

Edit = tuple[int, int, list[bytes]]  # first line, line after the last, new lines


def merge(base: bytes, one: bytes, other: bytes) -> bytes | None:
    """Returns `base` with the edits of both texts; None if both change the same lines."""
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
    new = text.splitlines(keepends=True)
    found = SequenceMatcher(None, lines, new, autojunk=False).get_opcodes()
    return [(first, last, new[start:stop]) for kind, first, last, start, stop in found if kind != "equal"]
