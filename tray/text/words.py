"""Tables of words, written as one text, and patterns that are compiled when they are first used."""

from __future__ import annotations

import re
from functools import cache


def word_set(text: str) -> frozenset[str]:
    """The words of `text`, which blanks separate."""
    return frozenset(text.split())


@cache
def compiled(text: str) -> re.Pattern[str]:
    """Returns the pattern of one of the product's own texts, compiled once: an event uses few of the large ones.

    The cache of `re` holds 512 patterns, and those that are made from names in files would push them out.
    """
    return re.compile(text)
