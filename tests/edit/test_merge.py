"""Two edits of one text: both are made, or nothing is when they change the same lines."""

from __future__ import annotations

import pytest

from tray.edit.merge import merge

BASE = b"a\nb\nc\nd\ne\n"


@pytest.mark.parametrize(
    ("one", "other", "merged"),
    [
        (BASE, BASE, BASE),
        (b"A\nb\nc\nd\ne\n", b"a\nb\nc\nd\nE\n", b"A\nb\nc\nd\nE\n"),
        (b"b\nc\nd\ne\n", b"a\nb\nc\nd\ne\nf\n", b"b\nc\nd\ne\nf\n"),
        (b"a\ne\n", b"0\na\nb\nc\nd\ne\n", b"0\na\ne\n"),
        (b"a\ne\n", b"a\nb\nx\nc\nd\ne\n", None),
        (b"a\nX\nc\nd\ne\n", b"a\nY\nc\nd\ne\n", None),
        (b"", BASE, b""),
        (b"", b"a\nb\nc\nx\nd\ne\n", None),
    ],
)
def test_edits_of_other_lines_are_both_made(one: bytes, other: bytes, merged: bytes | None) -> None:
    assert merge(BASE, one, other) == merged
    assert merge(BASE, other, one) == merged
