"""What changed between the approved bytes of a hook and those that are proposed, line by line."""

from __future__ import annotations

import difflib
import hashlib
from collections.abc import Iterator
from dataclasses import dataclass

from tray.engine.approval.review import pretty
from tray.engine.approval.roster import REMOVED, Standing
from tray.store.copies import Copies, DamagedError, Manifest

CONTEXT = 3  # lines around a change


@dataclass(frozen=True, slots=True)
class Line:
    sign: str  # "+", "-", "@" or " "
    text: str


@dataclass(frozen=True, slots=True)
class Change:
    """One text before and after; `what` is the definition or a file's path."""

    what: str
    lines: tuple[Line, ...]


def name(key: str) -> str:
    """A hook's name in an address: its key may hold anything, this holds hex digits."""
    return hashlib.sha256(key.encode("utf-8", "surrogatepass")).hexdigest()[:16]


def changes(one: Standing, copies: Copies) -> tuple[Change, ...]:
    """Nothing when there is nothing approved to hold the proposal against."""
    if not one.approved or one.digest in ("", REMOVED, one.approved):
        return ()
    try:
        before, now = copies.check(one.approved), copies.check(one.digest)
    except DamagedError as damage:
        return (Change("the approved copy", (Line("@", damage.message),)),)
    return tuple(change for change in _changes(one, before, now, copies) if change.lines)


def _changes(one: Standing, before: Manifest, now: Manifest, copies: Copies) -> Iterator[Change]:
    yield Change("definition", _lines(pretty(before.definition), pretty(now.definition)))
    for path in sorted({*before.files, *now.files}):
        if before.files.get(path) != now.files.get(path):
            old = _text(copies, one.approved, path) if path in before.files else []
            new = _text(copies, one.digest, path) if path in now.files else []
            yield Change(path, _lines(old, new) or (Line("@", "only bytes that are no text changed"),))
    if before.pinned != now.pinned:
        programs = (sorted(f"{path} {sum}" for path, sum in each.pinned.items()) for each in (before, now))
        yield Change("programs", _lines(*programs))


def _lines(before: list[str], now: list[str]) -> tuple[Line, ...]:
    found = list(difflib.unified_diff(before, now, n=CONTEXT, lineterm=""))[2:]  # without the two names
    return tuple(
        Line("@" if line.startswith("@@") else line[0], line if line[0] == "@" else line[1:]) for line in found
    )


def _text(copies: Copies, digest: str, path: str) -> list[str]:
    return copies.path(digest, path).read_bytes().decode("utf-8", "replace").splitlines()
