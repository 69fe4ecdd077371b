"""Reads large JSON in pieces and lets go of it in pieces: while the library reads, no other thread runs.

A piece is cut at a comma that, as far as the brackets before it show, is between two members. The decoder then shows
whether it is: only a piece of whole members is a list or an object. Pieces are cut out of the
bytes, which are never decoded as a whole; a long text in them is read in one pass.
"""

from __future__ import annotations

import codecs
import json
import re
from collections.abc import Iterator
from typing import TYPE_CHECKING

from tray.lazy_pattern import lazy_pattern

if TYPE_CHECKING:
    from typing import Any

PIECE = 64 * 1024  # bytes that are read at a time: some milliseconds
SMALL, MEDIUM = 256, 4096  # bytes; most lists and objects are shorter
LONGEST_SCALAR = 1024  # bytes of a number or a word that are read here
CUTS = 4  # commas of each sort that are tried as the end of a piece
RELEASED = 1000  # members of a list that are let go at a time
CLOSING = {b"[": b"]", b"{": b"}"}
ENDS = (b'",', b",", b"],", b"},")
SIGNS = (b"[", b"]", b"{", b"}", b'"')  # a piece without any of them has nothing but numbers and the like
BLANKS = lazy_pattern(rb"[ \t\n\r]*")
TEXT = lazy_pattern(rb'"[^"\\]*+(?:\\.[^"\\]*+)*+"', re.DOTALL)
BACKSLASH = ord("\\")


class LargeList(list["Any"]):
    """A list that is let go in pieces."""

    def __del__(self) -> None:
        while self:
            del self[-RELEASED:]


def decode(raw: bytes, decoder: json.JSONDecoder) -> Any:
    """As `decoder.decode`, which also finds out what is wrong with a text that cannot be read."""
    try:
        reader = _PieceReader(raw, decoder)
        value, end = reader.value(reader.skip(0))
        if reader.skip(end) == len(raw):
            return value
    except (ValueError, StopIteration, IndexError):
        pass
    return decoder.decode(raw.decode())


class _PieceReader:
    def __init__(self, raw: bytes, decoder: json.JSONDecoder) -> None:
        self._raw = raw
        self._scan = decoder.scan_once  # type: ignore[attr-defined]

    def skip(self, at: int) -> int:
        """Where the blanks end."""
        found = BLANKS.match(self._raw, at)
        return found.end() if found else at

    def value(self, at: int) -> tuple[Any, int]:
        """The value that begins there, and where it ends."""
        opening = self._raw[at : at + 1]
        if opening == b'"':
            return self._string(at)
        if opening not in CLOSING:
            value, end = self._scanned(at, LONGEST_SCALAR)
            if end == at + LONGEST_SCALAR:
                raise ValueError("this may not be all of it")
            return value, end
        for size in (SMALL, MEDIUM, PIECE):
            if self._raw.find(CLOSING[opening], at, at + size) < 0:
                continue  # this is not all of it: looking for the end is faster than reading in vain
            try:
                return self._scanned(at, size)
            except (ValueError, StopIteration):  # this is not all of it
                continue
        return self._container(at)

    def _scanned(self, at: int, size: int) -> tuple[Any, int]:
        """The value that begins there, if it ends within so many bytes, and where."""
        text, _ = codecs.utf_8_decode(self._raw[at : at + size], "strict", False)  # the last character may be cut
        value, end = self._scan(text, 0)
        return value, at + (end if text.isascii() else len(text[:end].encode()))

    def _string(self, at: int) -> tuple[str, int]:
        """The text that begins there. The library would copy it first, and then read each character."""
        import msgspec  # imported only if needed: the one-shot engine starts without it

        end = self._raw.index(b'"', at + 1)
        if self._raw[end - 1] == BACKSLASH:  # it may be a part of the text
            whole = TEXT.match(self._raw, at)
            if whole is None:
                raise ValueError("a text does not end")
            end = whole.end() - 1
        return msgspec.json.decode(memoryview(self._raw)[at : end + 1], type=str), end + 1

    def _container(self, at: int) -> tuple[Any, int]:
        """A long list or object: in pieces, and one by one where no piece is found."""
        opening = self._raw[at : at + 1]
        found: Any = LargeList() if opening == b"[" else {}
        at = again = self.skip(at + 1)
        while True:
            piece = self._piece(at, opening) if at >= again else None
            if piece is None:
                again = max(again, at + PIECE)
                piece = self._item(at) if opening == b"[" else self._pair(at)
            members, end = piece
            size = len(found)
            if opening == b"[":
                found += members
            else:
                found |= members
            if len(found) != size + len(members):
                raise ValueError("a key is there twice")
            if self._raw[end : end + 1] == CLOSING[opening]:
                return found, end + 1
            at = self.skip(self._after(end, b","))

    def _item(self, at: int) -> tuple[Any, int]:
        value, end = self.value(at)
        return [value], self.skip(end)

    def _pair(self, at: int) -> tuple[Any, int]:
        name, end = self.value(at)
        if not isinstance(name, str):
            raise ValueError("a key is not text")
        value, end = self.value(self.skip(self._after(self.skip(end), b":")))
        return {name: value}, self.skip(end)

    def _after(self, at: int, sign: bytes) -> int:
        if self._raw[at : at + 1] != sign:
            raise ValueError(f"expected {sign!r}")
        return at + 1

    def _piece(self, at: int, opening: bytes) -> tuple[Any, int] | None:
        """Many members at a time, and the comma behind them."""
        for comma in self._commas(at):
            try:
                whole = (opening + self._raw[at:comma] + CLOSING[opening]).decode()
                members, end = self._scan(whole, 0)
            except (ValueError, StopIteration):
                continue
            if end == len(whole) and members:
                return members, comma
        return None

    def _commas(self, at: int) -> Iterator[int]:
        """Those that may be behind a member, far from here."""
        piece = self._raw[at : at + PIECE]
        plain = not any(sign in piece for sign in SIGNS)
        last = at + piece.rfind(b",") + 1  # one character is found many times faster than two
        for ending in (b",",) if plain else ENDS:
            cut = last
            for _ in range(CUTS):
                cut = self._raw.rfind(ending, at, cut)
                if cut < 0:
                    break
                comma = cut + len(ending) - 1
                if plain or _seems_whole(self._raw[at:comma]):
                    yield comma


def _seems_whole(piece: bytes) -> bool:
    """By its brackets and quotes, wherever they are: that is counted many times faster than it is read."""
    is_closed = piece.count(b"[") == piece.count(b"]") and piece.count(b"{") == piece.count(b"}")
    return is_closed and (piece.count(b'"') - piece.count(b'\\"')) % 2 == 0
