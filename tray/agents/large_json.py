"""Reads large JSON in pieces and lets go of it in pieces: while the library reads, no other thread runs.

A piece is cut at a comma that, as far as the brackets before it show, is between two members. The decoder then shows
whether it is: only a piece of whole members is a list or an object.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

from tray.lazy_pattern import lazy_pattern

PIECE = 64 * 1024  # characters that are read at a time: some milliseconds
SMALL = 256  # characters; most lists and objects are shorter
CUTS = 4  # commas of each sort that are tried as the end of a piece
RELEASED = 1000  # members of a list that are let go at a time
CLOSING = {"[": "]", "{": "}"}
ENDS = ('",', ",", "],", "},")
SIGNS = '[]{}"'  # a piece without any of them has nothing but numbers and the like
BLANKS = lazy_pattern(r"[ \t\n\r]*")


class LargeList(list[Any]):
    """A list that is let go in pieces."""

    def __del__(self) -> None:
        while self:
            del self[-RELEASED:]


def decode(text: str, decoder: json.JSONDecoder) -> Any:
    """As `decoder.decode`, which also finds out what is wrong with a text that cannot be read."""
    try:
        reader = _PieceReader(text, decoder)
        value, end = reader.value(reader.skip(0))
        if reader.skip(end) == len(text):
            return value
    except (ValueError, StopIteration, IndexError):
        pass
    return decoder.decode(text)


class _PieceReader:
    def __init__(self, text: str, decoder: json.JSONDecoder) -> None:
        self._text = text
        self._scan = decoder.scan_once  # type: ignore[attr-defined]

    def skip(self, at: int) -> int:
        """Where the blanks end."""
        found = BLANKS.match(self._text, at)
        return found.end() if found else at

    def value(self, at: int) -> tuple[Any, int]:
        """The value that begins there, and where it ends."""
        if self._text[at] not in CLOSING:
            value, end = self._scan(self._text, at)
            return value, end
        for size in (SMALL, PIECE):
            try:
                value, end = self._scan(self._text[at : at + size], 0)
            except (ValueError, StopIteration):  # this is not all of it
                continue
            return value, at + end
        return self._container(at)

    def _container(self, at: int) -> tuple[Any, int]:
        """A long list or object: in pieces, and one by one where no piece is found."""
        opening = self._text[at]
        found: Any = LargeList() if opening == "[" else {}
        at = again = self.skip(at + 1)
        while True:
            piece = self._piece(at, opening) if at >= again else None
            if piece is None:
                again = max(again, at + PIECE)
                piece = self._item(at) if opening == "[" else self._pair(at)
            members, end = piece
            size = len(found)
            if opening == "[":
                found += members
            else:
                found |= members
            if len(found) != size + len(members):
                raise ValueError("a key is there twice")
            if self._text[end] == CLOSING[opening]:
                return found, end + 1
            at = self.skip(self._after(end, ","))

    def _item(self, at: int) -> tuple[Any, int]:
        value, end = self.value(at)
        return [value], self.skip(end)

    def _pair(self, at: int) -> tuple[Any, int]:
        name, end = self._scan(self._text, at)
        if not isinstance(name, str):
            raise ValueError("a key is not text")
        value, end = self.value(self.skip(self._after(self.skip(end), ":")))
        return {name: value}, self.skip(end)

    def _after(self, at: int, sign: str) -> int:
        if self._text[at] != sign:
            raise ValueError(f"expected {sign}")
        return at + 1

    def _piece(self, at: int, opening: str) -> tuple[Any, int] | None:
        """Many members at a time, and the comma behind them."""
        for comma in self._commas(at):
            whole = f"{opening}{self._text[at:comma]}{CLOSING[opening]}"
            try:
                members, end = self._scan(whole, 0)
            except (ValueError, StopIteration):
                continue
            if end == len(whole) and members:
                return members, comma
        return None

    def _commas(self, at: int) -> Iterator[int]:
        """Those that may be behind a member, far from here."""
        plain = not any(sign in self._text[at : at + PIECE] for sign in SIGNS)
        for ending in (",",) if plain else ENDS:
            cut = at + PIECE
            for _ in range(CUTS):
                cut = self._text.rfind(ending, at, cut)
                if cut < 0:
                    break
                comma = cut + len(ending) - 1
                if plain or _seems_whole(self._text[at:comma]):
                    yield comma


def _seems_whole(piece: str) -> bool:
    """By its brackets and quotes, wherever they are: that is counted many times faster than it is read."""
    is_closed = piece.count("[") == piece.count("]") and piece.count("{") == piece.count("}")
    return is_closed and (piece.count('"') - piece.count('\\"')) % 2 == 0
