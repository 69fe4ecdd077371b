"""Pending hooks that were approved before with the same content: one review shows them, one click approves them.

The earlier approvals come from outside the ledger in force: a damaged database, or an import. They approve nothing.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from tray.engine.approval.review import review
from tray.engine.approval.roster import Roster, Standing
from tray.language import count, say
from tray.model.hook import State
from tray.store.copies import Copies
from tray.store.ledger import Book
from tray.store.salvage import Earlier

FILE = "approved-before"
LINE = "=" * 80
SHOWN = 8  # digits of the digest that people see


@dataclass(frozen=True, slots=True, kw_only=True)
class Batch:
    """What one click approves; `digest` names exactly these hooks with this content. It can be empty."""

    hooks: tuple[Standing, ...] = ()
    digest: str = ""
    partial: bool = False  # not all of the earlier decisions could be read

    def __bool__(self) -> bool:
        return bool(self.hooks)


def batch(roster: Roster, book: Book) -> Batch:
    """The hooks of the roster that wait although the same content was approved before.

    A hook with any entry in the ledger in force is decided by itself, and so is one that was changed, denied or
    revoked before.
    """
    hooks = tuple(_unchanged(roster.standings, book, roster.earlier))
    if not hooks:
        return Batch()
    named = json.dumps([(one.key, one.digest) for one in hooks])
    return Batch(hooks=hooks, digest=hashlib.sha256(named.encode()).hexdigest(), partial=roster.earlier.partial)


def _unchanged(standings: Sequence[Standing], book: Book, earlier: Earlier) -> Iterator[Standing]:
    decided = {*book.revoked, *(key for key, _ in book.denied)}
    for one in standings:
        before = earlier.approved.get(one.key)
        if one.state is State.PENDING and one.key not in decided and before and before.digest == one.digest:
            yield one


def facts(found: Batch) -> tuple[str, ...]:
    """What a person should know before reading the hooks, in short sentences."""
    number = len(found.hooks)
    lines = [
        count(
            "{n} hook waits with exactly the content that was approved before.",
            "{n} hooks wait with exactly the content that was approved before.",
            number,
        ),
        say("Nothing runs until you approve it."),
    ]
    if found.partial:
        lines.append(
            say("Some of the earlier decisions could not be read: a hook that you revoked may be among these.")
        )
    return tuple(lines)


def click(found: Batch) -> str:
    """The label of the row or button that approves them."""
    return say("Approve all {n} ({digest})", n=len(found.hooks), digest=found.digest[:SHOWN])


def text(found: Batch, copies: Copies, environment: Mapping[str, str]) -> str:
    """Every hook of the batch with its whole content, one after the other."""
    number = len(found.hooks)
    shown = (f"[{at}/{number}] {review(one, copies, environment)}" for at, one in enumerate(found.hooks, 1))
    return f"\n{LINE}\n\n".join(shown)


def written(found: Batch, about: Sequence[str], copies: Copies, environment: Mapping[str, str], folder: Path) -> Path:
    """The same as a file below `folder`, to be opened; `about` are lines that come first."""
    lines = [*about]
    if found:
        lines += ["", *facts(found), say("To approve them: the tray's menu, Approvals, “{row}”.", row=click(found))]
        lines += [LINE, "", text(found, copies, environment)]
    folder.mkdir(mode=0o700, exist_ok=True)
    path = folder / (f"{FILE}-{found.digest[:SHOWN]}.txt" if found else f"{FILE}.txt")
    path.write_text("\n".join(lines).strip("\n") + "\n", encoding="utf-8")
    return path
