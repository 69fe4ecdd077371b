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


@pytest.mark.parametrize(
    ("base", "one", "other", "merged"),
    [
        (b'{"hooks": {"Stop": [1]}, "a": 1}', b'{"hooks": {}, "a": 1}', b'{"hooks": {"Stop": [1]}, "a": 2}', True),
        (b'{"a": 1}\n', b'{"a": 1, "b": {}}\n', b'{"a": 2}\n', False),
        (b'{"a": "{,}"}', b'{"a": "{,}"}', b'{"a": "{;}"}', True),
    ],
)  # fmt: skip
def test_a_text_of_one_line_is_compared_by_its_pieces(base: bytes, one: bytes, other: bytes, merged: bool) -> None:
    text = merge(base, one, other)

    assert (text is not None) == merged
    assert text in (None, b'{"hooks": {}, "a": 2}', b'{"a": "{;}"}')
