"""Hooks that wait although a person changed nothing: one review shows them, one click approves them.

They were approved before with the same content, in a damaged or lost database or on the machine of an import, which
approves nothing here. Or an earlier Hooktray approved them, whose copies run until then (upgrades.py).
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from tray.approvals.catalog import HookCatalog, HookState
from tray.approvals.review import review
from tray.language import count, say
from tray.model.hook import ApprovalState
from tray.store.copies import Copies
from tray.store.earlier_approvals import EarlierApprovals
from tray.store.ledger import LedgerState

FILE_NAME = "approved-before"
SEPARATOR = "=" * 80
DIGEST_DIGITS = 8  # digits of the digest that people see


@dataclass(frozen=True, slots=True, kw_only=True)
class ApprovalBatch:
    """What one click approves; `digest` names exactly these hooks with this content. It can be empty."""

    hooks: tuple[HookState, ...] = ()
    digest: str = ""
    partial: bool = False  # not all of the earlier decisions could be read

    @property
    def upgrades(self) -> int:
        """How many of them an earlier Hooktray approved."""
        return sum(one.is_upgrade for one in self.hooks)

    def __bool__(self) -> bool:
        return bool(self.hooks)


def find_batch(catalog: HookCatalog, ledger_state: LedgerState) -> ApprovalBatch:
    """The hooks of the catalog that wait although the same content was approved before.

    A hook with any entry in the ledger in force is decided by itself, unless only an upgrade changed it, and so is
    one that was changed, denied or revoked before.
    """
    hooks = (
        *_unchanged(catalog.states, ledger_state, catalog.earlier),
        *(one for one in catalog.states if one.is_upgrade and one.state is ApprovalState.CHANGED),
    )
    if not hooks:
        return ApprovalBatch()
    content = json.dumps([(one.key, one.digest) for one in hooks])
    return ApprovalBatch(
        hooks=hooks, digest=hashlib.sha256(content.encode()).hexdigest(), partial=catalog.earlier.partial
    )


def _unchanged(
    states: Sequence[HookState], ledger_state: LedgerState, earlier: EarlierApprovals
) -> Iterator[HookState]:
    decided = {*ledger_state.revoked, *(key for key, _ in ledger_state.denied)}
    for one in states:
        before = earlier.approved.get(one.key)
        if one.state is ApprovalState.PENDING and one.key not in decided and before and before.digest == one.digest:
            yield one


def summary_lines(batch: ApprovalBatch) -> tuple[str, ...]:
    """What a person should know before reading the hooks, in short sentences."""
    lines = []
    if number := len(batch.hooks) - batch.upgrades:
        lines += [
            count(
                "{n} hook waits with exactly the content that was approved before.",
                "{n} hooks wait with exactly the content that was approved before.",
                number,
            ),
            say("Nothing runs until you approve it."),
        ]
    if batch.upgrades:
        lines += [
            count(
                "{n} hook waits because this version of Hooktray covers other files or reads `failure:` otherwise.",
                "{n} hooks wait because this version of Hooktray covers other files or reads `failure:` otherwise.",
                batch.upgrades,
            ),
            say("The approved copies run until you approve them again."),
        ]
    if batch.partial:
        lines.append(
            say("Some of the earlier decisions could not be read: a hook that you revoked may be among these.")
        )
    return tuple(lines)


def button_label(batch: ApprovalBatch) -> str:
    """The label of the row or button that approves them."""
    return say("Approve all {n} ({digest})", n=len(batch.hooks), digest=batch.digest[:DIGEST_DIGITS])


def render_batch(batch: ApprovalBatch, copies: Copies, environment: Mapping[str, str]) -> str:
    """Every hook of the batch with its whole content, one after the other."""
    number = len(batch.hooks)
    reviews = (f"[{at}/{number}] {review(one, copies, environment)}" for at, one in enumerate(batch.hooks, 1))
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
    path = folder / (f"{FILE_NAME}-{batch.digest[:DIGEST_DIGITS]}.txt" if batch else f"{FILE_NAME}.txt")
    path.write_text("\n".join(lines).strip("\n") + "\n", encoding="utf-8")
    return path
