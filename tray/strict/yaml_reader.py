"""Bounded YAML of plain values: no anchors, tags, merges or duplicate keys; only `true` and `false` are booleans."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping

import yaml

from tray.errors import ConfigError
from tray.strict.document import TOP, Document, KeyPath, Mark, StrictReader, decode, place_error, quote_short

YAML_SIZE = 1024 * 1024  # bytes
YAML_DEPTH = 32
# Both parsers give the same events with the same marks; only libyaml reads a megabyte in a fraction of a second.
LOADER: type[yaml.SafeLoader | yaml.CSafeLoader] = getattr(yaml, "CSafeLoader", yaml.SafeLoader)
# Most files are ASCII, and the second pattern alone takes a twentieth of a start to compile.
_ASCII = re.compile("[\t\n\r\x20-\x7e]*+")
_UNPRINTABLE = re.compile("[^\t\n\r\x20-\x7e\x85\xa0-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")
# libyaml since PyYAML 6.0.4 gives up at 1,000 brackets, before it has given the event of the first one.
_TOO_DEEP = "exceeded maximum nesting depth"
_HINT = "indent with spaces, close every quote and bracket, put text with `: ` or ` #` in quotes"
_CORE = "tag:yaml.org,2002:"
_CONSTANTS: Mapping[str, bool | None] = (
    dict.fromkeys(("true", "True", "TRUE"), True)
    | dict.fromkeys(("false", "False", "FALSE"), False)
    | dict.fromkeys(("null", "Null", "NULL", "~", ""), None)
)
# A leading zero makes text: 0644 is 420 for one YAML and 644 for the other.
_INT = re.compile(r"[-+]?(?:0|[1-9][0-9]*)")
_FLOAT = re.compile(r"[-+]?(?:\.[0-9]+|(?:0|[1-9][0-9]*)(?:\.[0-9]*)?)(?:[eE][-+]?[0-9]+)?")


class _YamlReader(StrictReader):
    """Builds the values straight from the parser's events, so that nothing exists before it is checked."""

    def __init__(self, text: str, path: str, loader: type[yaml.SafeLoader | yaml.CSafeLoader] = LOADER) -> None:
        super().__init__(text, path, YAML_DEPTH)
        if not _ASCII.fullmatch(text) and (bad := _UNPRINTABLE.search(text)):
            what = f"the character {quote_short(bad[0])} is not allowed in YAML"
            hint = "remove it, or write it as an escape in double quotes"
            raise self._error(bad.start(), what, hint)
        self._last = 0  # behind the last scalar or bracket: a block itself ends where the next token begins
        self._events: Iterator[yaml.Event] = yaml.parse(text, Loader=loader)

    def document(self) -> Document:
        self._next()  # the stream's start
        if isinstance(self._next(), yaml.StreamEndEvent):
            return self._document({})
        first = self._next()
        empty = isinstance(first, yaml.ScalarEvent) and first.value == "" and first.implicit[0] and not first.anchor
        value = {} if empty else self._value(first, ())
        self._next()  # the document's end
        after = self._next()
        if not isinstance(after, yaml.StreamEndEvent):
            raise self._error(_place(after), "a second document begins here", "keep one document, without `---`")
        return self._document(value)

    def _next(self) -> yaml.Event:
        try:
            event = next(self._events)
            start, end = event.start_mark, event.end_mark
            if start and end and end.index > start.index:
                self._last = end.index
            return event
        except yaml.MarkedYAMLError as error:
            mark = error.problem_mark or error.context_mark
            if mark and error.problem == _TOO_DEEP:  # the other parser names the place of our own limit
                _YamlReader(self._text[: mark.index], self._path, yaml.SafeLoader).document()
            what = quote_short(error.problem or error.context or "unreadable", 120)[1:-1]
            if mark and self._text[mark.index : mark.index + 1] == "\t":
                what = "a tab cannot indent"
            place = Mark(mark.line + 1, mark.column + 1) if mark else TOP  # one line on at the end of the text
            raise place_error(self._path, place, what, _HINT) from None
        except yaml.YAMLError as error:
            raise self._error(0, quote_short(str(error), 120)[1:-1], "save the file as UTF-8 text") from None

    def _value(self, event: yaml.Event, at: KeyPath) -> object:
        place = _place(event)
        self._refuse_anchor(event, place)
        self._enter(at, place)
        if isinstance(event, yaml.ScalarEvent):
            return self._scalar(event, place)
        sequence = isinstance(event, yaml.SequenceStartEvent)
        tag = getattr(event, "tag", None)
        if tag not in {None, "!", _CORE + ("seq" if sequence else "map")}:
            raise self._unknown_tag(tag, place)
        self._descend(at, place)
        return self._sequence(at) if sequence else self._mapping(at)

    def _sequence(self, at: KeyPath) -> list[object]:
        items: list[object] = []
        while not isinstance(event := self._next(), yaml.SequenceEndEvent):
            items.append(self._value(event, (*at, len(items))))
        return items

    def _mapping(self, at: KeyPath) -> dict[str, object]:
        entries: dict[str, object] = {}
        while not isinstance(event := self._next(), yaml.MappingEndEvent):
            key = self._name(event)
            self._key((*at, key), _place(event))
            entries[key] = self._value(self._next(), (*at, key))
        self._ends[at] = self._last
        return entries

    def _name(self, event: yaml.Event) -> str:
        place = _place(event)
        self._refuse_anchor(event, place)
        if not isinstance(event, yaml.ScalarEvent):
            raise self._error(place, "a key has to be text, not a list or a mapping", "use a plain word as the key")
        key = self._scalar(event, place)
        if not isinstance(key, str):
            raise self._error(place, f"the key {quote_short(event.value)} is not text", "put the key in quotes")
        if key == "<<" and event.implicit[0]:
            raise self._error(place, "merge keys (`<<`) are not taken", "write the entries out")
        return key

    def _scalar(self, event: yaml.ScalarEvent, place: int) -> str | float | bool | None:
        text = event.value
        if event.tag in {None, "!"}:
            return self._plain(text, place) if event.implicit[0] else text
        kind = event.tag.removeprefix(_CORE)
        if event.tag == kind or kind not in _KINDS:
            raise self._unknown_tag(event.tag, place)
        value = text if kind == "str" else self._plain(text, place)
        if not isinstance(value, _KINDS[kind]) or (kind in {"float", "int"} and isinstance(value, bool)):
            raise self._error(place, f"{quote_short(text)} is not of the type `!!{kind}`", "remove the tag")
        return self._number(text, place, whole=False) if kind == "float" else value

    def _plain(self, text: str, place: int) -> str | float | bool | None:
        if text in _CONSTANTS:
            return _CONSTANTS[text]
        if _INT.fullmatch(text):
            return self._number(text, place, whole=True)
        return self._number(text, place, whole=False) if _FLOAT.fullmatch(text) else text

    def _refuse_anchor(self, event: yaml.Event, place: int) -> None:
        name = getattr(event, "anchor", None)
        if name is not None:
            sign = "*" if isinstance(event, yaml.AliasEvent) else "&"
            raise self._error(place, f"anchors and aliases are not taken: {quote_short(sign + name)}", "write it out")

    def _unknown_tag(self, tag: str, place: int) -> ConfigError:
        return self._error(place, f"the tag {quote_short(tag.replace(_CORE, '!!'))} is not taken", "remove the tag")


_KINDS: Mapping[str, type | tuple[type, ...]] = {
    "bool": bool,
    "float": (float, int),
    "int": int,
    "null": type(None),
    "str": str,
}


def _place(event: yaml.Event) -> int:
    return event.start_mark.index if event.start_mark else 0


def load_yaml(text: str | bytes, path: str) -> Document:
    """The file's plain values; an empty file is an empty mapping."""
    return _YamlReader(decode(text, path, YAML_SIZE), path).document()
