"""One test that judges many cases fails by the names of all that are wrong."""

from __future__ import annotations

import inspect
from pathlib import Path

import pytest
from every import every


def failure(test: object) -> str:
    assert callable(test)
    with pytest.raises(pytest.fail.Exception) as caught:
        test()
    return str(caught.value)


def test_every_case_is_judged_after_one_was_wrong_and_all_that_are_wrong_are_named() -> None:
    judged: list[int] = []

    @every("number", [1, 2, 3, 4], ids=["one", "two", "three", "four"])
    def check(number: int) -> None:
        judged.append(number)
        assert number % 2 == 1

    text = failure(check)

    assert judged == [1, 2, 3, 4]
    assert text.startswith("2 of 4 cases are wrong\n")
    assert "\ntwo  (test_every.py:" in text
    assert "\nfour  (test_every.py:" in text
    assert "assert (2 % 2) == 1" in text
    assert "one" not in text


def test_an_exception_and_one_that_did_not_come_are_wrong_too() -> None:
    @every(("key", "table"), [("a", {"a": 1}), ("b", {}), ("c", {"c": 1})], ids=["<a>", "<b>", "<c>"])
    def check(key: str, table: dict[str, int]) -> None:
        if key == "c":
            with pytest.raises(KeyError):
                table[key]
        assert table[key]

    text = failure(check)

    assert "<b>" in text
    assert "KeyError('b')" in text
    assert "<c>" in text
    assert "DID NOT RAISE" in text
    assert "<a>" not in text


def test_of_many_wrong_cases_each_is_named_and_the_first_are_explained() -> None:
    @every("number", range(30))
    def check(number: int) -> None:
        pytest.fail(f"{number}\nmore of {number}")

    text = failure(check)

    assert all(f"\ncase {number}: {number}  (" in text for number in range(30))
    assert "more of 9" in text
    assert "more of 10" not in text


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


@every("number", [1, 2, 3])
def test_pytest_calls_it_with_its_fixtures(number: int, tmp_path: Path) -> None:
    (tmp_path / str(number)).touch()

    assert len(list(tmp_path.iterdir())) == number
