"""Bounded JSON: no duplicate keys, NaN or Infinity, and no recursion that the text decides on."""

from __future__ import annotations

import json
import re
from json.decoder import scanstring  # type: ignore[attr-defined]

from tray.errors import ConfigError
from tray.strict.document import Document, KeyPath, StrictReader, decode, quote_short

JSON_DEPTH = 64
_MAX_DEPTH = 200  # no caller may ask for more: one level costs two frames of the interpreter's stack
_BLANK = re.compile(r"[ \t\n\r]*+")
_LITERAL = re.compile(r"true|false|null")
_LITERALS = {"true": True, "false": False, "null": None}
_NUMBER = re.compile(r"-?(?:0|[1-9][0-9]*+)(\.[0-9]++)?([eE][-+]?[0-9]++)?")
_NOT_FINITE = re.compile(r"-?(?:NaN|Infinity)")


# A text, or what only people write outside of texts: a comment, or a comma at the end.
_TEXT_OR_COMMENT = re.compile(rb'"(?:[^"\\]|\\.)*+"|//[^\n]*+|/\*.*?\*/', re.DOTALL)
_TEXT_OR_COMMA = re.compile(rb'"(?:[^"\\]|\\.)*+"|,(?=\s*+[}\]])', re.DOTALL)


def relax(text: bytes) -> bytes:
    """The same text with blanks for its comments and its commas at the end, so that every line and column stays."""

    def blank(found: re.Match[bytes]) -> bytes:
        part = found[0]
        return part if part.startswith(b'"') else re.sub(rb"[^\n]", b" ", part)

    return _TEXT_OR_COMMA.sub(blank, _TEXT_OR_COMMENT.sub(blank, text))


class _JsonReader(StrictReader):
    """One pass over the text; strings are left to the json module's own scanner."""

    def document(self) -> Document:
        value, end = self._value(self._blank(0), ())
        end = self._blank(end)
        if end < len(self._text):
            raise self._unexpected(end, "the end of the file", "keep one JSON value in the file")
        return self._document(value)

    def _blank(self, at: int) -> int:
        found = _BLANK.match(self._text, at)
        return found.end() if found else at

    def _value(self, at: int, path: KeyPath) -> tuple[object, int]:
        self._enter(path, at)
        char = self._text[at : at + 1]
        if char == '"':
            return self._string(at)
        if char not in {"{", "["}:
            return self._atom(at)
        self._descend(path, at)
        return self._container(at, path)

    def _atom(self, at: int) -> tuple[float | bool | None, int]:
        if number := _NUMBER.match(self._text, at):
            return self._number(number[0], at, whole=not (number[1] or number[2])), number.end()
        if literal := _LITERAL.match(self._text, at):
            return _LITERALS[literal[0]], literal.end()
        if constant := _NOT_FINITE.match(self._text, at):
            raise self._error(at, f"{constant[0]} is not a JSON number", "write a number, or null")
        raise self._unexpected(at, "a value", "write text in double quotes; JSON has no comments")

    def _string(self, at: int) -> tuple[str, int]:
        try:
            text, end = scanstring(self._text, at + 1, True)
        except json.JSONDecodeError as error:
            what = error.msg.removesuffix(" at")
            raise self._error(error.pos, what, "check the quotes and backslashes") from None
        return text, end

    def _container(self, at: int, path: KeyPath) -> tuple[object, int]:
        is_object = self._text[at] == "{"
        end = "}" if is_object else "]"
        entries: dict[str | int, object] = {}
        at = self._blank(at + 1)
        closed = self._text[at : at + 1] == end
        at += closed
        while not closed:
            key, at = self._name(at, path) if is_object else (len(entries), at)
            entries[key], at = self._value(at, (*path, key))
            at, closed = self._comma(at, end)
        if not is_object:
            return [*entries.values()], at
        self._ends[path] = at
        return entries, at

    def _name(self, at: int, path: KeyPath) -> tuple[str, int]:
        if self._text[at : at + 1] != '"':
            raise self._unexpected(
                at, "a key in double quotes", "remove a comma that nothing follows; quote every key"
            )
        begin = at
        key, at = self._string(at)
        self._key((*path, key), begin)
        at = self._blank(at)
        if self._text[at : at + 1] != ":":
            raise self._unexpected(at, f"`:` after the key {quote_short(key)}", "write `:` between key and value")
        return key, self._blank(at + 1)

    def _comma(self, at: int, end: str) -> tuple[int, bool]:
        at = self._blank(at)
        char = self._text[at : at + 1]
        if char == end:
            return at + 1, True
        if char != ",":
            raise self._unexpected(at, f"`,` or `{end}`", "check the commas and brackets")
        return self._blank(at + 1), False

    def _unexpected(self, at: int, expected: str, hint: str) -> ConfigError:
        found = (
            quote_short(self._text[at : at + 20].split("\n")[0]) if at < len(self._text) else "the end of the file"
        )
        return self._error(at, f"expected {expected}, got {found}", hint)


def load_json(text: str | bytes, path: str, *, limit: int, depth: int = JSON_DEPTH) -> Document:
    """The file's values; at most `limit` bytes and `depth` levels."""
    return _JsonReader(decode(text, path, limit), path, min(depth, _MAX_DEPTH)).document()
