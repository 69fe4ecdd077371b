"""Appends tables to an array of tables in a TOML text and removes tables of it; every other byte stays.

[[hooks]]
event = "Stop"
"""

from __future__ import annotations

import json
import re
import tomllib
from collections.abc import Iterator, Mapping, Sequence

from tray.errors import ConfigError

Table = Mapping[str, str | int]
HEADER = re.compile(r"[ \t]*\[")
BESIDE = re.compile(r"[ \t]*(?:#.*)?")  # a line that belongs to no table
PLACE = re.compile(r"\(at (?:line (\d+), column (\d+)|end of document)\)")
UNWRITABLE = re.compile(r"[\x00-\x08\x0a-\x1f\x7f']")  # not in a literal text


def parse(text: bytes, path: str, hint: str = "mend it; nothing was written") -> dict[str, object]:
    """The settings of a text. Raises ConfigError when it is no TOML."""
    try:
        return tomllib.loads(text.decode())
    except (tomllib.TOMLDecodeError, UnicodeDecodeError, RecursionError) as error:
        found = PLACE.search(str(error))
        place = f"{path}:{found[1]}:{found[2]}" if found and found[1] else path
        what = PLACE.sub("", str(error)).strip()
        raise ConfigError(f"{place}: not TOML: {what}", hint=hint) from None


def items(text: bytes, path: str, key: str) -> list[dict[str, object]]:
    """The tables of the array; raises ConfigError when there is something else."""
    found = parse(text, path).get(key, [])
    if not isinstance(found, list) or not all(isinstance(each, dict) for each in found):
        raise ConfigError(f"{path}: `{key}` is not an array of tables", hint=f"write each as [[{key}]]")
    return found


def append(text: bytes, path: str, key: str, new: Sequence[Table]) -> bytes:
    """The text with these tables at its end."""
    source = text.decode()
    newline = "\r\n" if "\r\n" in source else "\n"
    expected = [*items(text, path, key), *map(dict, new)]
    if source and not source.endswith("\n"):
        source += newline
    for table in new:
        lines = [f"[[{key}]]", *(f"{name} = {_value(value)}" for name, value in table.items())]
        source += (newline if source else "") + newline.join(lines) + newline
    return _checked(text, source, path, key, expected)


def remove(
    text: bytes,
    path: str,
    key: str,
    unwanted: Sequence[Mapping[str, object]],
    *,
    keeps_comments: bool = False,
) -> bytes:
    """Returns the text without these tables, and without the blank line before each.

    With `keeps_comments`, lines that the user wrote into one of our tables stay.
    """
    found = items(text, path, key)
    removed = {index for index, table in enumerate(found) if table in unwanted}
    if not removed:
        return text
    lines = text.decode().splitlines(keepends=True)
    spans = list(_spans(lines, key))
    if len(spans) != len(found):
        raise _unreachable(path, key)
    for index in sorted(removed, reverse=True):
        begin, end = spans[index]
        if begin and not lines[begin - 1].strip():
            begin -= 1
        kept = [line for line in lines[begin:end] if keeps_comments and line.lstrip().startswith("#")]
        lines[begin:end] = kept
    rest = [table for index, table in enumerate(found) if index not in removed]
    return _checked(text, "".join(lines), path, key, rest)


def block(text: bytes, path: str, key: str, index: int) -> str:
    """The lines of one table, as they are written."""
    lines = text.decode().splitlines(keepends=True)
    spans = list(_spans(lines, key))
    if index >= len(spans):
        raise _unreachable(path, key)
    begin, end = spans[index]
    return "".join(lines[begin:end])


def _spans(lines: Sequence[str], key: str) -> Iterator[tuple[int, int]]:
    """The lines of each table. What looks like a table within a text of several lines is found out afterwards."""
    header = re.compile(rf"[ \t]*\[\[[ \t]*{re.escape(key)}[ \t]*\]\]")
    for begin, line in enumerate(lines):
        if not header.match(line):
            continue
        after = (number for number in range(begin + 1, len(lines)) if HEADER.match(lines[number]))
        end = next(after, len(lines))
        while BESIDE.fullmatch(lines[end - 1].rstrip("\r\n")):
            end -= 1
        yield begin, end


def _checked(old: bytes, source: str, path: str, key: str, expected: Sequence[object]) -> bytes:
    """The new text, after checking that it has the expected tables and that nothing else changed."""
    new = source.encode()
    try:
        before, after = parse(old, path), parse(new, path)
    except ConfigError:
        raise _unreachable(path, key) from None
    before.pop(key, None)
    if after.pop(key, []) != list(expected) or before != after:
        raise _unreachable(path, key)
    return new


def _unreachable(path: str, key: str) -> ConfigError:
    hint = f"write each table as [[{key}]] with a line for each of its keys"
    return ConfigError(f"{path}: cannot be edited without touching the rest; nothing was written", hint=hint)


def _value(value: str | int) -> str:
    if isinstance(value, int):
        return str(value)
    return json.dumps(value) if UNWRITABLE.search(value) else f"'{value}'"
