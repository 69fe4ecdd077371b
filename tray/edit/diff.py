"""A change as people read it: a unified difference, in which of a very long line only what changes is shown."""

from __future__ import annotations

import difflib
import re
from collections.abc import Iterator, Sequence

from tray.edit.file_changes import FileChange, FileState, Link

HUNK = re.compile(r"^@@ -(\d+)(,\d+)? \+(\d+)")
LINE = re.compile(r"[^\r\n]*(?:\r\n|\n|\r)|[^\r\n]+")
TOKEN = re.compile(r'"(?:[^"\\]|\\.)*+"|.', re.DOTALL)  # texts stay whole: one that differs differs as a whole
CONTEXT_LINES = 3  # lines shown around a difference
LONG_LINE = 400  # characters of a line that is shown whole; our own lines have 300
WIDTH = 200  # characters that are shown of a longer one
LEAD_SIZE = 30  # characters shown before a part that changes
TOKEN_LIMIT = 6_000  # that are compared one by one

DiffPart = tuple[int, str, str]  # where it begins, what is removed and what is added


def diff(change: FileChange) -> str:
    """Exact to the byte where the text is UTF-8: what is added or removed is shown whole, whatever is around it."""
    name = str(change.display_path or change.path)
    old, new = _lines(change.before), _lines(change.after)
    same = _common(old, new)
    begin = max(same - CONTEXT_LINES, 0)
    end = max(_common(old[same:][::-1], new[same:][::-1]) - CONTEXT_LINES, 0)
    hunks = difflib.unified_diff(
        old[begin : len(old) - end],
        new[begin : len(new) - end],
        name if change.before else "/dev/null",
        name if change.after else "/dev/null",
        n=CONTEXT_LINES,
    )
    moved = (HUNK.sub(lambda header: _shifted(header, begin), line) for line in hunks)
    return "".join(_visible(_ended(line)) for line in _short(moved))


def _short(lines: Iterator[str]) -> Iterator[str]:
    """The same lines; of those that are too long to be read only a part."""
    removed: list[str] = []
    added: list[str] = []
    for line in lines:
        if line[0] in "-+" and not line.startswith(("--- ", "+++ ")):
            (removed if line[0] == "-" else added).append(line[1:])
            continue
        yield from _paired(removed, added)
        removed, added = [], []
        yield _cut(line) if line[0] == " " else line
    yield from _paired(removed, added)


def _paired(removed: Sequence[str], added: Sequence[str]) -> Iterator[str]:
    is_pair = len(removed) == len(added) and max(map(len, (*removed, *added)), default=0) > LONG_LINE
    if is_pair:
        for old, new in zip(removed, added, strict=True):
            yield from _inside(old, new)
        return
    yield from (f"-{line}" for line in removed)
    yield from (f"+{line}" for line in added)


def _inside(old: str, new: str) -> Iterator[str]:
    """What changes inside one long line, with the columns where it begins."""
    yield f" (a line of {len(old):,} characters; shown is what changes in it)\n"
    for at, removed, added in _parts(old, new):
        yield f" (column {at + 1}) {'…' if at > LEAD_SIZE else ''}{old[max(at - LEAD_SIZE, 0) : at]}\n"
        yield from (f"-{row}\n" for row in _rows(removed))
        yield from (f"+{row}\n" for row in _rows(added))
    yield f" (the rest of this line stays: {len(old) - at - len(removed):,})\n"


def _parts(old: str, new: str) -> list[DiffPart]:
    one, other = TOKEN.findall(old), TOKEN.findall(new)
    same = _common(one, other)
    end = _common(one[same:][::-1], other[same:][::-1])
    one, other = one[same : len(one) - end], other[same : len(other) - end]
    at = sum(map(len, TOKEN.findall(old)[:same]))
    if max(len(one), len(other)) > TOKEN_LIMIT:
        return [(at, "".join(one), "".join(other))]
    parts = []
    for kind, begin, stop, first, last in difflib.SequenceMatcher(None, one, other).get_opcodes():
        if kind != "equal":
            where = at + sum(map(len, one[:begin]))
            parts.append((where, "".join(one[begin:stop]), "".join(other[first:last])))
    return parts


def _rows(text: str) -> list[str]:
    """Rows that can be read, broken behind a list, else behind a comma, where there is one."""
    rows = []
    while len(text) > LONG_LINE:
        ends = (text.rfind(end, 0, LONG_LINE) + len(end) for end in ("}],", ",") if end in text[:LONG_LINE])
        rows.append(text[: (at := next(ends, LONG_LINE))])
        text = text[at:]
    return [*rows, text] if text else rows


def _cut(line: str) -> str:
    text = line.rstrip("\r\n")
    if len(text) <= LONG_LINE:
        return line
    return f"{text[:WIDTH]}… ({len(text) - WIDTH:,} characters more, which stay)\n"


def _visible(line: str) -> str:
    """The line with its control and direction characters made visible."""
    text = line.replace("\r\n", "\n")
    text = f"{text[:-1]}\n" if text.endswith("\r") else text
    return "".join(char if char.isprintable() or char in "\n\t" else repr(char)[1:-1] for char in text)


def _shifted(header: re.Match[str], by: int) -> str:
    """Lines are counted from the beginning of the file."""
    return f"@@ -{int(header[1]) + by}{header[2] or ''} +{int(header[3]) + by}"


def _ended(line: str) -> str:
    return line if line.endswith(("\n", "\r")) else f"{line}\n\\ No newline at end of file\n"


def _common(one: Sequence[str], other: Sequence[str]) -> int:
    return next(
        (index for index, (a, b) in enumerate(zip(one, other, strict=False)) if a != b), min(len(one), len(other))
    )


def _lines(state: FileState) -> list[str]:
    if isinstance(state, Link):
        return [f"link to {state.target}\n"]
    return LINE.findall(state.text.decode("utf-8", "backslashreplace")) if state else []
