"""Hooks that one review shows together and one click approves: all of a source, or those that were imported.

The imported ones were approved on another machine with the same content.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping, Sequence
from pathlib import Path

import msgspec

from tray.approvals.catalog import REMOVED, HookCatalog, HookState
from tray.approvals.review import LIMIT, review
from tray.language import count, say
from tray.model.hook import ApprovalState
from tray.store.copies import Copies
from tray.store.ledger import LedgerState

FILE_NAME, SOURCE_FILE_NAME = "imported", "of-one-source"
SEPARATOR = "=" * 80
DIGEST_DIGITS = 8  # digits of the digest that people see


class ApprovalBatch(msgspec.Struct, frozen=True, kw_only=True):
    """The hooks that one click approves; there may be none."""

    hooks: tuple[HookState, ...] = ()
    source: str = ""  # the file whose waiting hooks these are; "" for imported hooks
    unreadable: int = 0  # hooks of that file that wait, too, and cannot be approved yet

    def __bool__(self) -> bool:
        return bool(self.hooks)

    @property
    def digest(self) -> str:
        """Identifies exactly these hooks with this content; "" if there are none."""
        content = json.dumps([(one.key, one.digest) for one in self.hooks])
        return hashlib.sha256(content.encode()).hexdigest() if self.hooks else ""


def find_batch(catalog: HookCatalog, ledger_state: LedgerState) -> ApprovalBatch:
    """Returns the hooks of the catalog that wait although the same content was approved on another machine.

    A hook with an entry in the ledger here is reviewed by itself.
    """
    decided = {*ledger_state.revoked, *(key for key, _ in ledger_state.denied)}
    waiting = (one for one in catalog.states if one.state is ApprovalState.PENDING and one.key not in decided)
    known = {key: one.digest for key, one in catalog.imported.items()}
    return ApprovalBatch(hooks=tuple(one for one in waiting if known.get(one.key) == one.digest))


def find_batches(catalog: HookCatalog, ledger_state: LedgerState) -> tuple[ApprovalBatch, ...]:
    """Returns all that can be approved together: imported hooks, then each source with other hooks."""
    imported = find_batch(catalog, ledger_state)
    keys = {one.key for one in imported.hooks}
    others = (batch for batch in source_batches(catalog.states) if any(one.key not in keys for one in batch.hooks))
    return (*((imported,) if imported else ()), *others)


def source_batches(states: Sequence[HookState]) -> tuple[ApprovalBatch, ...]:
    """For each source the hooks that wait; what is not declared any more is decided by itself."""
    groups: dict[str, list[HookState]] = {}
    for one in states:
        if one.waiting and one.digest != REMOVED:
            groups.setdefault(one.hook.source.path, []).append(one)
    return tuple(
        ApprovalBatch(
            hooks=tuple(one for one in waiting if one.digest),
            source=source,
            unreadable=sum(not one.digest for one in waiting),
        )
        for source, waiting in groups.items()
    )


def summary_lines(batch: ApprovalBatch) -> tuple[str, ...]:
    """What the user should know before reading the hooks, in short sentences."""
    if not batch.source:
        waiting = count(
            "{n} hook waits with exactly the imported content.",
            "{n} hooks wait with exactly the imported content.",
            len(batch.hooks),
        )
        return waiting, say("Nothing runs until you approve it.")
    lines = [
        count(
            "{n} hook of {source} waits for you.", "{n} hooks of {source} wait for you.",
            len(batch.hooks), source=batch.source,
        )
    ]  # fmt: skip
    if changed := sum(1 for one in batch.hooks if one.approved):
        lines.append(
            count(
                "{n} of them was approved before it changed; its approved copy runs until you decide.",
                "{n} of them were approved before they changed; their approved copies run until you decide.",
                changed,
            )
        )
    if batch.unreadable:
        lines.append(
            count(
                "{n} more waits and cannot be approved as it stands: `hooktray list` says why.",
                "{n} more wait and cannot be approved as they stand: `hooktray list` says why.",
                batch.unreadable,
            )
        )
    return tuple(lines)


def button_label(batch: ApprovalBatch) -> str:
    """The label of the row or button that approves them."""
    return say("Approve all {n} ({digest})", n=len(batch.hooks), digest=batch.digest[:DIGEST_DIGITS])


def render_batch(
    batch: ApprovalBatch, copies: Copies, environment: Mapping[str, str], file_limit: int | None = None
) -> str:
    """Every hook of the batch with its whole content, one after the other; each shows an equal part of the limit."""
    number = len(batch.hooks)
    limit = (LIMIT if file_limit is None else file_limit) // max(number, 1)
    reviews = (f"[{at}/{number}] {review(one, copies, environment, limit)}" for at, one in enumerate(batch.hooks, 1))
    return f"\n{SEPARATOR}\n\n".join(reviews)


def write_batch(
    batch: ApprovalBatch, about: Sequence[str], copies: Copies, environment: Mapping[str, str], folder: Path
) -> Path:
    """The same as a file below `folder`, to be opened; `about` are lines that come first."""
    lines = [*about]
    if batch:
        lines += [
            "",
            *summary_lines(batch),
            say("To approve them: the tray's menu, Approvals, “{row}”.", row=button_label(batch)),
        ]
        lines += [SEPARATOR, "", render_batch(batch, copies, environment)]
    folder.mkdir(mode=0o700, exist_ok=True)
    name = SOURCE_FILE_NAME if batch.source else FILE_NAME
    path = folder / (f"{name}-{batch.digest[:DIGEST_DIGITS]}.txt" if batch else f"{name}.txt")
    path.write_text("\n".join(lines).strip("\n") + "\n", encoding="utf-8")
    return path
