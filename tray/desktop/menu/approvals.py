"""Approvals: what waits for a decision, what was requested, and what can be undone."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from tray.desktop.labels import clean, id_part
from tray.desktop.menu.actions import (
    Approve,
    ApproveBatch,
    Deny,
    DismissRequest,
    GrantRequest,
    Review,
    ReviewBatch,
    Revoke,
)
from tray.desktop.menu.items import Item, Items, child_id, click, deduplicate, label, separator, submenu, with_count
from tray.desktop.menu.state import Approval, MenuBatch, MenuRequest, MenuState
from tray.language import count, say
from tray.model.hook import ApprovalState
from tray.text import sanitise

ROW_LIMIT = 20
BATCH_LIMIT = 5
REQUEST_LIMIT = 5  # any program can make requests; they must not push the approvals out of sight
DIGEST_SHOWN = 8


def approvals(state: MenuState) -> Item:
    number = len(state.approvals) + len(state.requests)
    return submenu("approvals", with_count(say("Approvals"), number), _rows(state))


def _rows(state: MenuState) -> Items:
    """What waits for approval, then what was requested last."""
    waiting = deduplicate(_approval(each) for each in state.approvals)
    requested = deduplicate(_request(each) for each in state.requests if not each.is_undo)
    done = deduplicate(_request(each) for each in state.requests if each.is_undo)
    if not waiting and not requested and not done:
        return (label("approvals/none", say("Nothing waits for you")),)
    more = len(waiting) - ROW_LIMIT
    earlier = len(requested) - REQUEST_LIMIT
    return (
        *_batches(state.batches),
        *waiting[:ROW_LIMIT],
        *((label("approvals/more", _more(more)),) if more > 0 else ()),
        *requested[-REQUEST_LIMIT:],
        *((label("approvals/earlier", _earlier(earlier)),) if earlier > 0 else ()),
        *done[-REQUEST_LIMIT:],
    )


def _batches(batches: Sequence[MenuBatch]) -> Items:
    """One row for all hooks that can be approved together; as with a single one, the digest is part of the ids."""
    rows = deduplicate(map(_batch, batches[:BATCH_LIMIT]))
    return (*rows, separator("approvals/line")) if rows else ()


def _batch(batch: MenuBatch) -> Item:
    key = child_id("approvals/source", batch.source) if batch.source else "approvals/batch"
    text = count("{n} imported hook, unchanged", "{n} imported hooks, unchanged", batch.number)
    if batch.source:
        name = clean(Path(batch.source).name, 40)
        text = count("{n} hook of {file}", "{n} hooks of {file}", batch.number, file=name)
    exact = id_part(batch.digest)
    choices = (
        click(f"{key}/review/{exact}", say("Review"), ReviewBatch(batch.digest)),
        click(f"{key}/approve/{exact}", batch.label, ApproveBatch(batch.digest)),
    )
    return submenu(key, text, choices)


def _more(number: int) -> str:
    return count("And {n} more: see `hooktray list`", "And {n} more: see `hooktray list`", number)


def _earlier(number: int) -> str:
    return count("And {n} earlier request", "And {n} earlier requests", number)


def _approval(one: Approval) -> Item:
    key, text = child_id("approvals/ledger", one.kind, one.key), _approval_text(one)
    choices = _choices(one, key)
    return submenu(key, text, choices) if choices else label(key, text)


def _approval_text(one: Approval) -> str:
    """The row of one approval: its name, and what is new about it."""
    name = clean(one.name, 40)
    parts = (name, "" if one.removed or not one.digest else sanitise(one.event, 30), _change_text(one))
    text = " · ".join(each for each in parts if each)
    return say("Setting: {what}", what=text) if one.kind != "hook" and one.digest and not one.removed else text


def _change_text(one: Approval) -> str:
    if one.removed:
        return say("removed from its file")
    if one.digest:
        if one.imported:
            return say("imported")
        return say("changed") if _still_runs(one) else say("new")
    if not one.missing:
        return say("cannot be read")
    return say("file is gone") if _still_runs(one) else say("file is missing")


def _still_runs(one: Approval) -> bool:
    """Whether an approved copy goes on running."""
    return one.state is ApprovalState.CHANGED


def _choices(one: Approval, key: str) -> Items:
    """The digest is part of each click's id: a click can only mean the bytes that the row named."""
    exact = id_part(one.digest)
    review = click(f"{key}/review/{exact}", say("Review"), Review(one.key, one.digest))
    if one.removed:
        return (
            review,
            click(f"{key}/deny/{exact}", say("Keep it"), Deny(one.key, one.digest)),
            click(f"{key}/approve/{exact}", say("Revoke it"), Approve(one.key, one.digest)),
        )
    if not one.digest:
        return (review, click(f"{key}/revoke", say("Revoke it"), Revoke(one.key))) if _still_runs(one) else ()
    shown = clean(one.digest[:DIGEST_SHOWN], DIGEST_SHOWN, "?")
    deny = say("Keep the approved copy") if _still_runs(one) else say("Deny")
    return (
        *((review,) if one.kind == "hook" else ()),
        click(f"{key}/approve/{exact}", say("Approve {digest}", digest=shown), Approve(one.key, one.digest)),
        click(f"{key}/deny/{exact}", deny, Deny(one.key, one.digest)),
    )


def request_rows(state: MenuState, *, is_undo: bool = False) -> Items:
    """What a program requested that only the user may do, or what can be undone, below the first row."""
    rows = deduplicate(_request(each, "requests") for each in state.requests if each.is_undo is is_undo)
    return tuple(rows[-REQUEST_LIMIT:])


def _request(one: MenuRequest, parent: str = "approvals") -> Item:
    key = child_id(f"{parent}/done" if one.is_undo else f"{parent}/request", one.id)
    what = clean(one.summary, 44)
    who = clean(one.requester, 24, say("somebody"))
    if one.is_undo:
        text, yes, no = say("{what} · done in {who}", what=what, who=who), say("Undo"), say("Keep")
    else:
        text, yes, no = say("{what} · asked by {who}", what=what, who=who), say("Allow"), say("Dismiss")
    choices = click(f"{key}/allow", yes, GrantRequest(one.id)), click(f"{key}/dismiss", no, DismissRequest(one.id))
    return submenu(key, text, choices)
