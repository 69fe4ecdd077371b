"""Tables of words, written as one text."""

from __future__ import annotations


def word_set(text: str) -> frozenset[str]:
    """The words of `text`, which blanks separate."""
    return frozenset(text.split())
