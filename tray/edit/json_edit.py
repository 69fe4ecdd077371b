"""Surgery on a JSON text: what is not ours stays as it was, byte for byte; comments are skipped.

Libraries that keep a JSON text were measured: json-five keeps every byte but reads 100 KB a second.
"""

from __future__ import annotations

import json
import re
from collections.abc import Collection, Sequence
from contextlib import suppress
from functools import cached_property
from json.decoder import scanstring  # type: ignore[attr-defined]

import msgspec

from tray.edit.file_changes import SIZE_LIMIT
from tray.errors import ConfigError
from tray.strict.document import LineIndex, decode

# One match takes all that lies between two comments, or up to the next bracket: a file may have 5 MB.
COMMENT = re.compile(r'(?:[^"/]|"(?:[^"\\\n]|\\.)*+"|/(?![/*]))++|(//[^\n\r]*|/\*.*?\*/)', re.DOTALL)
BRACKET = re.compile(r'(?:[^"\[\]{}]|"(?:[^"\\]|\\.)*+")*+([\[\]{}])')
SCALAR = re.compile(r'"(?:[^"\\]|\\.)*+"|[^\s,\[\]{}]++')
VERBATIM = re.compile(r'"\\u0000(\d+)\\u0000"')
BLANK = re.compile(r"[ \t\r\n]*+")
SCAN = json.JSONDecoder().raw_decode  # a value, and where it ends
BOM = b"\xef\xbb\xbf"
HINT = "nothing was written; mend it (every comma needs something after it, every text its quotes) and try again"
OBJECT_HINT = "mend it (an empty one is `{}`); nothing was written"


class RawJson(msgspec.Struct, frozen=True):
    """JSON as it was written elsewhere, put in verbatim."""

    text: str


class JsonSpan(msgspec.Struct, frozen=True):
    """One member of an object or item of a list: from its key (if any) to its value's end."""

    begin: int
    value: int  # where the value begins
    end: int
    key: str = ""


JsonEntry = tuple[str | None, object]  # key (None in a list) and value, which may be RawJson
TextEdit = tuple[int, int, str]


class JsonText:
    """A JSON text with the positions of its values. Raises ConfigError with file, line and column."""

    def __init__(self, text: bytes, path: str) -> None:
        self.path = path
        self._bom = BOM if text.startswith(BOM) else b""
        decode(text, path, SIZE_LIMIT)  # its error names the place where the text is not UTF-8
        self.text = text[len(self._bom) :].decode()
        may_have_comments = "//" in self.text or "/*" in self.text
        self._plain = COMMENT.sub(_blank_comment, self.text) if may_have_comments else self.text
        self._found: dict[int, list[JsonSpan]] = {}
        self.value = self._load()
        self.root = self._skip(0)
        self._newline = next((end for end in ("\r\n", "\n", "\r") if end in self.text), "\n")

    @cached_property
    def _lines(self) -> list[str]:
        return [line for line in self.text.splitlines() if line.strip()]

    @cached_property
    def _is_lined(self) -> bool:
        return len(self._lines) > 1 or self.value in ({}, [])

    @cached_property
    def _unit(self) -> str:
        """The indentation of the first line that has one."""
        indents = (line[: len(line) - len(line.lstrip())] for line in self._lines[1:])
        return next((indent for indent in indents if indent), "  ")

    def _load(self) -> object:
        try:
            return json.loads(self._plain, parse_constant=_reject_constant)
        except json.JSONDecodeError as error:
            before = self._plain[: error.pos].rstrip()
            if before.endswith(",") and self._plain[error.pos :].lstrip()[:1] in ("}", "]"):
                raise self.error(len(before) - 1, "a comma that nothing follows") from None
            raise self.error(error.pos, f"is not valid JSON here: {error.msg.removesuffix(' at')}") from None
        except (ValueError, RecursionError) as error:
            raise ConfigError(f"{self.path}:1:1: cannot be read as JSON: {error}", hint=HINT) from None

    def error(self, at: int, what: str, hint: str = HINT) -> ConfigError:
        mark = LineIndex(self.text).mark(at)
        return ConfigError(f"{self.path}:{mark.line}:{mark.column}: {what}", hint=hint)

    @cached_property
    def _comments(self) -> tuple[int, ...]:
        """Where comments begin."""
        if self._plain == self.text:
            return ()
        return tuple(token.start() for token in COMMENT.finditer(self.text) if token[1])

    @property
    def first_comment_line(self) -> int:
        """The line of the first comment; 0 when there is none."""
        return LineIndex(self.text).mark(self._comments[0]).line if self._comments else 0

    def is_commented(self, span: JsonSpan, excluded: Collection[JsonSpan]) -> bool:
        """Whether a comment is in this span, outside of the excluded ones in it."""
        inside = [at for at in self._comments if span.begin <= at < span.end]
        return any(not any(one.begin <= at < one.end for one in excluded) for at in inside)

    def children(self, at: int) -> list[JsonSpan]:
        """The members of the object, or the items of the list, that opens at `at`."""
        if at not in self._found:
            self._found[at] = self._children(at)
        return self._found[at]

    def _children(self, at: int) -> list[JsonSpan]:
        spans = []
        at = self._skip(at + 1)
        while self._plain[at] not in "}]":
            begin, key = at, ""
            if self._is_keyed(begin):
                key, at = scanstring(self._plain, at + 1, True)
                at = self._skip(self._skip(at) + 1)
            end = self._end(at)
            spans.append(JsonSpan(begin, at, end, key))
            at = self._skip(end)
            if self._plain[at] == ",":
                at = self._skip(at + 1)
        return spans

    def member(self, at: int, key: str) -> JsonSpan | None:
        """The member of an object; raises ConfigError when two have this name."""
        found = [span for span in self.children(at) if span.key == key]
        if len(found) > 1:
            raise self.error(found[1].begin, f'the key "{key}" is given twice', "keep one of the two")
        return found[0] if found else None

    def is_at(self, at: int, opening: str) -> bool:
        return self._plain[at] == opening

    def parsed(self, span: JsonSpan) -> object:
        """The value itself."""
        with suppress(RecursionError):  # as in `_end`
            return SCAN(self._plain, span.value)[0]
        return JsonText(self.source(span).encode(), self.path).value

    def source(self, span: JsonSpan) -> str:
        """The text of a value as it was written."""
        return self.text[span.value : span.end]

    def add(self, at: int, entries: Sequence[JsonEntry]) -> list[TextEdit]:
        """Edits that append entries to the object or list that opens at `at`."""
        if not entries:
            return []
        spans, close = self.children(at), self._end(at) - 1
        inside = self.text[at + 1 : close]
        if not (self._is_lined or self._newline in inside):
            gap = ", " if '": ' in self.text or not spans else ","
            text = gap.join(self._encode(entry, None) for entry in entries)
            position = spans[-1].end if spans else close
            return [(position, position, f"{gap}{text}" if spans else text)]
        indent = self._indent(spans[-1].begin) if spans and self._is_first(spans[-1].begin) else None
        outer = self._indent(at)
        indent = outer + self._unit if indent is None else indent
        lead = self._newline + indent
        text = f",{lead}".join(self._encode(entry, indent) for entry in entries)
        tail = at + 1 + len(inside.rstrip())
        if not spans:
            return [(tail, tail, lead + text + ("" if self._newline in inside else self._newline + outer))]
        if tail == spans[-1].end:
            return [(tail, tail, f",{lead}{text}")]
        return [(spans[-1].end, spans[-1].end, ","), (tail, tail, lead + text)]

    def remove(self, at: int, removed: Collection[JsonSpan]) -> list[TextEdit]:
        """Edits that take these children out of the object or list that opens at `at`, with one comma each."""
        if not removed:
            return []
        spans, close = self.children(at), self._end(at) - 1
        kept = [span for span in spans if span not in removed]
        if not kept and not self.text[at + 1 : spans[0].begin].strip() + self.text[spans[-1].end : close].strip():
            return [(at + 1, close, "")]
        edits: list[TextEdit] = []
        for index, span in enumerate(spans):
            if span not in removed:
                continue
            if kept and kept[0].begin < span.begin:
                comma = self._plain.rindex(",", spans[index - 1].end, span.begin)
                blank = len(self.text[comma + 1 : span.begin].rstrip()) + comma + 1
                edits += [(comma, comma + 1, ""), (blank, span.end, "")]
            else:
                after = self._skip(span.end)
                comma = after if self._plain[after] == "," else -1
                edits.append((span.begin, self._rest(span.end) if comma == span.end else span.end, ""))
                if comma > span.end:
                    edits.append((comma, comma + 1, ""))
        return edits

    def replace(self, span: JsonSpan, value: object) -> TextEdit:
        """The edit that puts another value in this place."""
        own = self.source(span)
        indent = self._indent(span.value) if self._newline in own else None
        return (span.value, span.end, self._encode((None, value), indent))

    def apply(self, edits: Sequence[TextEdit]) -> bytes:
        """The text with these edits, which do not overlap."""
        text = self.text
        for begin, end, new in sorted(edits, reverse=True):
            text = text[:begin] + new + text[end:]
        return self._bom + text.encode()

    def _rest(self, comma: int) -> int:
        """Behind a comma and the blanks that follow it."""
        found = BLANK.match(self.text, comma + 1)
        return found.end() if found else comma + 1

    def _encode(self, entry: JsonEntry, indent: str | None) -> str:
        key, value = entry
        verbatim: list[str] = []

        def raw(found: RawJson) -> str:
            verbatim.append(found.text)
            return f"\0{len(verbatim) - 1}\0"

        is_spaced = indent is not None or '": ' in self.text or len(self.text) < 3
        if indent is None:
            separators = (", ", ": ") if is_spaced else (",", ":")
            text = json.dumps(value, ensure_ascii=False, separators=separators, default=raw)
        else:
            lines = json.dumps(value, ensure_ascii=False, indent=self._unit, default=raw).split("\n")
            text = (self._newline + indent).join(lines)
        text = VERBATIM.sub(lambda found: verbatim[int(found[1])], text) if verbatim else text
        return text if key is None else json.dumps(key, ensure_ascii=False) + (": " if is_spaced else ":") + text

    def _is_keyed(self, at: int) -> bool:
        """Whether a key is here: a text with a colon behind it."""
        found = SCALAR.match(self._plain, at)
        return bool(found) and self._plain[at] == '"' and self._plain[self._skip(found.end() if found else at)] == ":"

    def _skip(self, at: int) -> int:
        found = BLANK.match(self._plain, at)
        return found.end() if found else at

    def _end(self, at: int) -> int:
        """Behind the value that begins here."""
        if self._plain[at] not in "[{":
            found = SCALAR.match(self._plain, at)
            return found.end() if found else at
        with suppress(RecursionError):  # it is parsed deeper in the stack than the whole text was
            return SCAN(self._plain, at)[1]
        depth = 0
        for found in BRACKET.finditer(self._plain, at):
            depth += 1 if found[1] in "[{" else -1
            if depth == 0:
                return found.end()
        return len(self._plain)

    def _is_first(self, at: int) -> bool:
        """Whether nothing but blanks is before it in its line."""
        return not self.text[self._begin(at) : at].strip()

    def _indent(self, at: int) -> str:
        found = BLANK.match(self.text, begin := self._begin(at))
        return self.text[begin : found.end()].split("\r")[0].split("\n")[0] if found else ""

    def _begin(self, at: int) -> int:
        """The beginning of the line that this is in."""
        return max(self.text.rfind("\n", 0, at), self.text.rfind("\r", 0, at)) + 1


def is_blank(text: bytes) -> bool:
    """Whether nothing is in a file but a byte order mark and blanks."""
    return not text.removeprefix(BOM).strip()


def new_document(value: object) -> bytes:
    """A new file, laid out as people do."""
    return (json.dumps(value, ensure_ascii=False, indent=2) + "\n").encode()


def _blank_comment(token: re.Match[str]) -> str:
    return re.sub(r"[^\r\n]", " ", token[1]) if token[1] else token[0]


def _reject_constant(word: str) -> None:
    raise ValueError(f"{word} is not a JSON number")
