"""A lazy pattern does what a compiled one does, and is compiled only when it is used."""

from __future__ import annotations

import re

import pytest

from tray.lazy_pattern import LazyPattern, lazy_pattern


def test_it_finds_what_a_pattern_finds() -> None:
    pattern = lazy_pattern(r"(?P<word>[a-z]+)-(\d+)", re.IGNORECASE)

    assert pattern.pattern == r"(?P<word>[a-z]+)-(\d+)"
    found = pattern.search(" AB-12")
    assert found is not None
    assert (found["word"], found[2]) == ("AB", "12")
    assert pattern.fullmatch("ab-1") is not None
    assert pattern.match("-1") is None
    assert pattern.sub("x", "a-1 b-2") == "x x"
    assert [one[0] for one in pattern.finditer("a-1 b-2")] == ["a-1", "b-2"]
    assert (pattern.split("a-1"), pattern.groups) == (["", "a", "1", ""], 2)


def test_it_is_compiled_at_its_first_use_and_not_before() -> None:
    broken = LazyPattern("(")

    assert broken.pattern == "("
    with pytest.raises(re.error):
        broken.search("")
