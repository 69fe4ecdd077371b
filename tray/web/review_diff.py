"""What changed between the approved bytes of a hook and those that are proposed, line by line."""

from __future__ import annotations

import difflib

import msgspec

from tray.approvals.catalog import REMOVED, HookState
from tray.approvals.review import definition_rows
from tray.store.copies import Copies, DamagedError

CONTEXT = 3  # lines around a change


class DiffLine(msgspec.Struct, frozen=True):
    sign: str  # "+", "-", "@" or " "
    text: str


class FileDiff(msgspec.Struct, frozen=True):
    """One text before and after; `title` is the definition or a file's path."""

    title: str
    lines: tuple[DiffLine, ...]


def review_diff(one: HookState, copies: Copies) -> tuple[FileDiff, ...]:
    """Nothing when there is nothing approved to hold the proposal against."""
    if not one.approved or one.digest in ("", REMOVED, one.approved):
        return ()
    try:
        before, now = copies.check(one.approved), copies.check(one.digest)
    except DamagedError as damage:
        return (FileDiff("the approved copy", (DiffLine("@", damage.message),)),)
    changes = [FileDiff("definition", _lines(definition_rows(before.definition), definition_rows(now.definition)))]
    for path in sorted({*before.files, *now.files}):
        if before.files.get(path) != now.files.get(path):
            old = _text(copies, one.approved, path) if path in before.files else []
            new = _text(copies, one.digest, path) if path in now.files else []
            lines = _lines(old, new) or (DiffLine("@", "only bytes that are no text changed"),)
            changes.append(FileDiff(path, lines))
    if before.pinned != now.pinned:
        programs = (sorted(f"{path} {sum}" for path, sum in each.pinned.items()) for each in (before, now))
        changes.append(FileDiff("programs", _lines(*programs)))
    return tuple(change for change in changes if change.lines)


def _lines(before: list[str], now: list[str]) -> tuple[DiffLine, ...]:
    found = list(difflib.unified_diff(before, now, n=CONTEXT, lineterm=""))[2:]  # without the two names
    return tuple(
        DiffLine("@" if line.startswith("@@") else line[0], line if line[0] == "@" else line[1:]) for line in found
    )


def _text(copies: Copies, digest: str, path: str) -> list[str]:
    return copies.path(digest, path).read_bytes().decode("utf-8", "replace").splitlines()
