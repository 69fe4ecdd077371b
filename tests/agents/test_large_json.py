"""Large JSON is read in pieces: what comes out, and how much is read without a pause."""

from __future__ import annotations

import codecs
import json
from types import SimpleNamespace
from typing import Any

import pytest
from every import every
from hypothesis import given
from hypothesis import strategies as st

from tray.agents import large_json, wire
from tray.agents.large_json import PIECE, LargeList

SIGNS = st.text(alphabet='ab,:[]{}"\\ 1é😀\x7f', max_size=12)
VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | SIGNS,
    lambda inner: st.lists(inner, max_size=8) | st.dictionaries(SIGNS, inner, max_size=8),
    max_leaves=40,
)
DECODER = json.JSONDecoder(object_pairs_hook=wire._object)
COUNT = 200_000
LARGE: dict[str, Any] = {
    "numbers": list(range(COUNT)),
    "texts": ['a "quoted", text'] * COUNT,
    "lists": [[]] * COUNT,
    "deep lists": [[[[[1], 2], 3], 4]] * (COUNT // 10),
    "objects": [{"a": 1}] * COUNT,
    "members": {f"key {n}": [n] for n in range(COUNT)},
    "one in the other": [[[list(range(COUNT // 2))]] * 2],
}


class Watched:
    """A decoder that notes how much it reads at a time."""

    def __init__(self) -> None:
        self.sizes: list[int] = []

    def scan_once(self, text: str, at: int) -> tuple[Any, int]:
        value, end = DECODER.scan_once(text, at)  # type: ignore[attr-defined]
        self.sizes.append(end - at)
        return value, end

    def decode(self, text: str) -> Any:
        self.sizes.append(len(text))
        return DECODER.decode(text)


def outcome(decoder: Any, text: str) -> str:
    try:
        return repr(decoder(text))
    except (ValueError, RecursionError) as error:
        return f"{type(error).__name__} {error}"


@pytest.fixture
def tiny_pieces(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(large_json, "PIECE", 24)
    monkeypatch.setattr(large_json, "SMALL", 6)


@pytest.mark.usefixtures("tiny_pieces")
@given(
    VALUES,
    st.sampled_from([None, 1]),
    st.booleans(),
    st.integers(0, 200),
    st.sampled_from(["", ",", "]", "[", "}", '"', "\\", "\t", "\\ud800", " 1"]),
)
def test_it_reads_what_the_library_reads_and_finds_the_same_wrong(
    value: Any, indent: int | None, is_ascii: bool, at: int, put_in: str
) -> None:
    whole = json.dumps(value, indent=indent, ensure_ascii=is_ascii)
    for text in (whole, whole[:at] + put_in + whole[at:], whole[:at]):
        ours = outcome(lambda given: large_json.decode(given.encode(), DECODER), text)

        assert ours == outcome(DECODER.decode, text)


@pytest.mark.parametrize(
    "text", ["word " * COUNT, 'a "quoted" \\ text\n' * COUNT, "ein überlanger Text 😀 " * COUNT, "\\" * COUNT]
)
@pytest.mark.parametrize("is_ascii", [True, False])
def test_a_long_text_is_read_as_the_library_reads_it(text: str, is_ascii: bool) -> None:
    payload = {"tool_input": {"command": "make", text[:20]: [text, text[:40]]}, "last": "é"}

    assert wire.loads(json.dumps(payload, ensure_ascii=is_ascii).encode()) == payload


@pytest.fixture
def decoded_sizes(monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """The bytes of each piece that is decoded."""
    sizes: list[int] = []

    def decode(raw: bytes, errors: str, final: bool) -> tuple[str, int]:
        sizes.append(len(raw))
        return codecs.utf_8_decode(raw, errors, final)

    monkeypatch.setattr(large_json, "codecs", SimpleNamespace(utf_8_decode=decode))
    return sizes


def test_texts_with_many_quotes_that_are_read_one_by_one_are_read_once(decoded_sizes: list[int]) -> None:
    texts = ["[" + '"a' * 1100] * 300  # no bracket closes, so no piece of them looks whole
    raw = json.dumps(texts).encode()

    assert large_json.decode(raw, DECODER) == texts
    assert sum(decoded_sizes) <= 2 * len(raw)


def test_an_object_with_a_long_text_is_not_read_before_its_text(decoded_sizes: list[int]) -> None:
    payload = {"tool_input": {"command": "make", "content": "word " * COUNT}}

    assert large_json.decode(json.dumps(payload).encode(), DECODER) == payload
    assert decoded_sizes == []


@pytest.mark.parametrize("wrong", [b"\t", b"\xff", b"\\x", b"\xed\xa0\x80"])
def test_what_is_wrong_in_a_long_text_is_found(wrong: bytes) -> None:
    raw = b'{"a": "' + b"word " * COUNT + wrong + b'"}'

    with pytest.raises(ValueError, match=r"not JSON: Inv|not UTF-8: byte 1000007 cannot be read"):
        wire.loads(raw)


def test_a_number_that_is_too_long_is_found_in_a_large_payload() -> None:
    raw = b'{"a": "' + b"word " * COUNT + b'", "n": ' + b"1" * 400 + b"}"

    with pytest.raises(ValueError, match="a number is too large"):
        wire.loads(raw)


@every("name", LARGE)
def test_no_more_than_a_piece_is_read_at_a_time(name: str) -> None:
    watched: Any = Watched()

    value = large_json.decode(json.dumps(LARGE[name]).encode(), watched)

    assert value == LARGE[name]
    assert max(watched.sizes) <= PIECE + 2


def test_a_long_list_of_a_large_payload_is_let_go_in_pieces() -> None:
    body = json.dumps({"a": [[1]] * COUNT}).encode()

    value = wire.loads(body)

    assert isinstance(value["a"], LargeList)
    assert wire.loads(wire.dumps(value)) == value
    value["a"].__del__()
    assert value == {"a": []}


def test_a_large_list_by_itself_is_an_array_and_no_object() -> None:
    with pytest.raises(ValueError, match="a JSON array, not an object"):
        wire.mapping(json.dumps(list(range(COUNT))).encode())
