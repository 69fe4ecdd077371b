"""What both formats share: the document with its marks, the bounds, numbers, and errors that name a place."""

from __future__ import annotations

import difflib
import math
import textwrap
from collections.abc import Iterable, Iterator, Mapping
from typing import NamedTuple

import msgspec

from tray.errors import ConfigError

NODES = 100_000  # values of a document, keys included
DIGITS = 100  # characters of a number
MAX_LISTED = 20  # words that are all named beside the likely one: it may be none that was meant

_QUOTE = "put it in quotes if it is text"

KeyPath = tuple[str | int, ...]


class Mark(NamedTuple):
    """A place in a text, counted from 1 as editors do."""

    line: int
    column: int


TOP = Mark(1, 1)


class Document(msgspec.Struct, frozen=True, kw_only=True):
    """A file's values, with their places.

    `marks` holds the place of each entry (its key, or the item of a list), `value_marks` the place of its value,
    `ends` the place behind each mapping.
    """

    value: object
    path: str
    marks: Mapping[KeyPath, Mark] = {}
    value_marks: Mapping[KeyPath, Mark] = {}
    ends: Mapping[KeyPath, Mark] = {}
    text: str = ""

    def location(self, at: KeyPath, *, value: bool = False) -> str:
        """`file:line:column` of the entry, or of its value; of the nearest entry around it when it is not there."""
        marks = self.value_marks if value else self.marks
        known = next((marks[at[:size]] for size in range(len(at), -1, -1) if at[:size] in marks), TOP)
        return _location(self.path, known)

    def excerpt(self, at: KeyPath) -> str:
        """The mapping at this place as it is written, without the indentation; "" where its place is not known."""
        begin, end = self.value_marks.get(at), self.ends.get(at)
        if begin is None or end is None:
            return ""
        lines = self.text.split("\n")[begin.line - 1 : end.line]
        rest = lines[-1][end.column - 1 :]
        if rest.strip()[:1] not in ("#", ":"):  # a comment of this line, or a key without a value
            lines[-1] = lines[-1][: end.column - 1]
        before = lines[0][: begin.column - 1]
        if before.strip(" -"):  # something else is before it in its line
            lines[0] = lines[0][begin.column - 1 :]
        return textwrap.dedent("\n".join(line.rstrip() for line in lines)).strip("\n")


def nearest(word: str, known: Iterable[str]) -> str:
    """The known word that is most like this one, "" when none is near; capitals count only between equal words."""
    word = word[:DIGITS]
    spelled: dict[str, list[str]] = {}
    for each in known:
        spelled.setdefault(each.lower(), []).append(each)
    close = difflib.get_close_matches(word.lower(), spelled, n=1, cutoff=0.6)
    return difflib.get_close_matches(word, sorted(spelled[close[0]]), n=1, cutoff=0)[0] if close else ""


def suggest(word: str, known: Iterable[str]) -> str:
    """The remedy for an unknown word: the nearest one that is known; all of them when none is, or they are few."""
    words = list(known)
    likely = nearest(word, words)
    every = ", ".join(words)
    if likely and len(words) <= MAX_LISTED:
        return f"did you mean `{likely}`? Known here: {every}"
    return f"did you mean `{likely}`?" if likely else f"known here: {every}"


def _location(path: str, mark: Mark) -> str:
    return f"{path if path.isprintable() else repr(path)[1:-1]}:{mark.line}:{mark.column}"


def place_error(path: str, mark: Mark, what: str, hint: str) -> ConfigError:
    return ConfigError(f"{_location(path, mark)}: {what}", hint=hint)


def quote_short(value: str, size: int = 40) -> str:
    """The value in quotes, short; repr leaves no control, format or bidi character in it."""
    return repr(value if len(value) <= size else value[: size - 1] + "…")


def decode(text: str | bytes, path: str, limit: int) -> str:
    """The text without its byte order mark, once it is known to be short enough and UTF-8."""
    size = len(text) if isinstance(text, bytes) else len(text.encode("utf-8", "surrogatepass"))
    if size > limit:
        raise place_error(
            path, TOP, f"the file has {size} bytes, {limit} are allowed", "make it smaller, or split it"
        )
    if isinstance(text, str):
        return text.removeprefix("\ufeff")
    try:
        return text.decode("utf-8").removeprefix("\ufeff")
    except UnicodeDecodeError as error:
        before = text[: error.start].decode("utf-8").removeprefix("\ufeff")
        what = f"the byte 0x{text[error.start]:02x} is not UTF-8"
        raise place_error(path, LineIndex(before).mark(len(before)), what, "save the file as UTF-8") from None


class LineIndex:
    """Turns offsets into marks; quick when asked in rising order."""

    def __init__(self, text: str) -> None:
        self._text = text
        self._at = self._begin = 0
        self._line = 1

    def mark(self, at: int) -> Mark:
        if at < self._at:
            return LineIndex(self._text).mark(at)
        breaks = self._text.count("\n", self._at, at)
        if breaks:
            self._line += breaks
            self._begin = self._text.rindex("\n", self._at, at) + 1
        self._at = at
        return Mark(self._line, at - self._begin + 1)


class OffsetMarks(Mapping[KeyPath, Mark]):
    """Marks that are worked out when they are asked for: few of a file's values are ever named."""

    def __init__(self, offsets: Mapping[KeyPath, int], text: str) -> None:
        self._offsets = offsets
        self._text = text

    def __getitem__(self, at: KeyPath) -> Mark:
        return LineIndex(self._text).mark(self._offsets[at])

    def __iter__(self) -> Iterator[KeyPath]:
        return iter(self._offsets)

    def __len__(self) -> int:
        return len(self._offsets)


class StrictReader:
    """The part that the JSON and the YAML reader share: places of values, the limit of nodes, numbers and errors."""

    def __init__(self, text: str, path: str, depth: int) -> None:
        self._text = text
        self._path = path
        self._depth = depth
        self._nodes = 0
        self._places: dict[KeyPath, int] = {(): 0}  # offsets into the text
        self._value_places: dict[KeyPath, int] = {}
        self._ends: dict[KeyPath, int] = {}

    def _document(self, value: object) -> Document:
        places = (self._places, self._value_places, self._ends)
        marks, value_marks, ends = (OffsetMarks(one, self._text) for one in places)
        return Document(
            value=value, path=self._path, marks=marks, value_marks=value_marks, ends=ends, text=self._text
        )

    def _error(self, place: int, what: str, hint: str) -> ConfigError:
        return place_error(self._path, LineIndex(self._text).mark(place), what, hint)

    def _enter(self, at: KeyPath, place: int) -> None:
        self._value_places[at] = place
        self._places.setdefault(at, place)
        self._count(place)

    def _descend(self, at: KeyPath, place: int) -> None:
        if len(at) >= self._depth:
            raise self._error(place, f"nested deeper than {self._depth} levels", "make it flatter")

    def _count(self, place: int) -> None:
        self._nodes += 1
        if self._nodes > NODES:
            raise self._error(place, f"more than {NODES} keys and values", "split the file")

    def _key(self, at: KeyPath, place: int) -> None:
        self._count(place)
        if at in self._places:
            line = LineIndex(self._text).mark(self._places[at]).line
            what = f"the key {quote_short(str(at[-1]))} is given twice, first in line {line}"
            raise self._error(place, what, "keep one of the two")
        self._places[at] = place

    def _number(self, text: str, place: int, *, whole: bool) -> int | float:
        if len(text) > DIGITS:
            what = f"the number {quote_short(text)} has {len(text)} characters, {DIGITS} are allowed"
            raise self._error(place, what, _QUOTE)
        if whole:
            return int(text)
        value = float(text)
        if math.isinf(value):
            raise self._error(place, f"the number {quote_short(text)} is too large", _QUOTE)
        return value
