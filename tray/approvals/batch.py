"""Pending hooks that were approved before with the same content: one review shows them, one click approves them.

The earlier approvals come from outside the ledger in force: a damaged database, or an import. They approve nothing.
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
from tray.store.ledger import LedgerState
from tray.store.salvage import EarlierApprovals

FILE_NAME = "approved-before"
SEPARATOR = "=" * 80
DIGEST_DIGITS = 8  # digits of the digest that people see


@dataclass(frozen=True, slots=True, kw_only=True)
class ApprovalBatch:
    """What one click approves; `digest` names exactly these hooks with this content. It can be empty."""

    hooks: tuple[HookState, ...] = ()
    digest: str = ""
    partial: bool = False  # not all of the earlier decisions could be read

    def __bool__(self) -> bool:
        return bool(self.hooks)


def find_batch(catalog: HookCatalog, ledger_state: LedgerState) -> ApprovalBatch:
    """The hooks of the roster that wait although the same content was approved before.

    A hook with any entry in the ledger in force is decided by itself, and so is one that was changed, denied or
    revoked before.
    """
    hooks = tuple(_unchanged(catalog.states, ledger_state, catalog.earlier))
    if not hooks:
        return ApprovalBatch()
    named = json.dumps([(one.key, one.digest) for one in hooks])
    return ApprovalBatch(
        hooks=hooks, digest=hashlib.sha256(named.encode()).hexdigest(), partial=catalog.earlier.partial
    )


def _unchanged(
    standings: Sequence[HookState], ledger_state: LedgerState, earlier: EarlierApprovals
) -> Iterator[HookState]:
    decided = {*ledger_state.revoked, *(key for key, _ in ledger_state.denied)}
    for one in standings:
        before = earlier.approved.get(one.key)
        if one.state is ApprovalState.PENDING and one.key not in decided and before and before.digest == one.digest:
            yield one


def summary_lines(found: ApprovalBatch) -> tuple[str, ...]:
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


def button_label(found: ApprovalBatch) -> str:
    """The label of the row or button that approves them."""
    return say("Approve all {n} ({digest})", n=len(found.hooks), digest=found.digest[:DIGEST_DIGITS])


def render_batch(found: ApprovalBatch, copies: Copies, environment: Mapping[str, str]) -> str:
    """Every hook of the batch with its whole content, one after the other."""
    number = len(found.hooks)
    shown = (f"[{at}/{number}] {review(one, copies, environment)}" for at, one in enumerate(found.hooks, 1))
    return f"\n{SEPARATOR}\n\n".join(shown)


def write_batch(
    found: ApprovalBatch, about: Sequence[str], copies: Copies, environment: Mapping[str, str], folder: Path
) -> Path:
    """The same as a file below `folder`, to be opened; `about` are lines that come first."""
    lines = [*about]
    if found:
        lines += [
            "",
            *summary_lines(found),
            say("To approve them: the tray's menu, Approvals, “{row}”.", row=button_label(found)),
        ]
        lines += [SEPARATOR, "", render_batch(found, copies, environment)]
    folder.mkdir(mode=0o700, exist_ok=True)
    path = folder / (f"{FILE_NAME}-{found.digest[:DIGEST_DIGITS]}.txt" if found else f"{FILE_NAME}.txt")
    path.write_text("\n".join(lines).strip("\n") + "\n", encoding="utf-8")
    return path
