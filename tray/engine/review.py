"""What a person reads before approving: the definition, each covered file in full, and what changed."""

from __future__ import annotations

import difflib
import json
from collections.abc import Iterator
from pathlib import Path

from tray.engine.roster import REMOVED, Standing
from tray.store.copies import Copies, DamagedError
from tray.text import printable


def review(standing: Standing, copies: Copies) -> str:
    """The full text of one proposal, out of the copy that an approval of it would put in force."""
    return printable("\n".join(_lines(standing, copies))) + "\n"


def _lines(standing: Standing, copies: Copies) -> Iterator[str]:
    hook = standing.hook
    yield f"{hook.name}, declared in {hook.source}"
    yield f"Digest of what would be approved: {standing.digest}"
    if standing.digest == REMOVED:
        yield "This hook is no longer declared. Approving that revokes it; until then its approved copy runs."
        return
    yield ""
    yield "Definition:"
    yield json.dumps(json.loads(hook.definition), indent=2, ensure_ascii=False)
    yield ""
    yield from _files(standing, copies)


def _files(standing: Standing, copies: Copies) -> Iterator[str]:
    if not standing.covered:
        yield "No file is covered: only the definition above is approved."
    for path in standing.covered:
        now = _text(copies.path(standing.digest, path))
        yield f"--- {path}"
        yield from now
        yield from _changes(path, now, standing, copies)
    yield ""
    yield "Not covered: programs of the system, and files that these scripts load without being listed in `files:`."


def _changes(path: str, now: list[str], standing: Standing, copies: Copies) -> Iterator[str]:
    if not standing.approved or standing.approved == standing.digest:
        return
    try:
        copies.files(standing.approved)
    except DamagedError as damage:
        yield damage.message
        return
    before = _text(copies.path(standing.approved, path))
    yield ""
    yield f"What changed in {path} since it was approved:"
    yield from difflib.unified_diff(before, now, "approved", "now", lineterm="")


def _text(path: Path) -> list[str]:
    try:
        return path.read_bytes().decode("utf-8", "replace").splitlines()
    except OSError:
        return []
