"""One test that judges many cases fails by the names of all that are wrong."""

from __future__ import annotations

import inspect
from pathlib import Path

import pytest
from every import every


def test_every_case_is_judged_and_those_that_are_wrong_are_named() -> None:
    judged: list[str] = []

    @every(("key", "table"), [("a", {"a": 1}), ("b", {}), ("c", {"c": 1})], ids=["<a>", "<b>", "<c>"])
    def check(key: str, table: dict[str, int]) -> None:
        judged.append(key)
        if key == "c":
            with pytest.raises(KeyError):
                table[key]
        assert table[key]

    with pytest.raises(pytest.fail.Exception) as caught:
        check()

    text = str(caught.value)
    assert judged == ["a", "b", "c"]
    assert text.startswith("2 of 3 cases are wrong\n")
    assert "\n<b>  (test_every.py:" in text
    assert [part in text for part in ("KeyError('b')", "<c>", "DID NOT RAISE", "<a>")] == [True, True, True, False]


def test_two_in_a_row_judge_all_combinations_with_the_fixtures_that_are_left(tmp_path: Path) -> None:
    judged: list[tuple[int, str, Path]] = []

    @every("number", [1, 2])
    @every("word", ["a", "b"])
    def check(number: int, word: str, tmp_path: Path) -> None:
        judged.append((number, word, tmp_path))

    check(tmp_path=tmp_path)

    assert judged == [(number, word, tmp_path) for number in (1, 2) for word in "ab"]
    assert list(inspect.signature(check).parameters) == ["tmp_path"]


def test_no_case_at_all_is_an_error() -> None:
    with pytest.raises(AssertionError, match="no case"):
        every("number", [])
