"""Approvals: what waits for a decision, what was requested, and what can be undone."""

from __future__ import annotations

from pathlib import Path

from tray.approvals.user_action import UserAction
from tray.desktop.labels import clean, id_part
from tray.desktop.menu.actions import Review, ReviewBatch
from tray.desktop.menu.items import (
    Item,
    Items,
    child_id,
    click,
    deduplicate,
    label,
    separator,
    submenu,
    truncated,
    with_count,
)
from tray.desktop.menu.state import Approval, MenuBatch, MenuRequest, MenuState
from tray.language import count, say
from tray.model.hook import ApprovalState
from tray.text import sanitise

BATCH_LIMIT = 5
REQUEST_LIMIT = 5  # any program can make requests; they must not push the approvals out of sight
DIGEST_SHOWN = 8


def approvals(state: MenuState) -> Item:
    """What waits for approval, then what was requested last."""
    waiting = deduplicate(_approval(each) for each in state.approvals)
    requested = deduplicate(_request(each) for each in state.requests if not each.is_undo)
    done = deduplicate(_request(each) for each in state.requests if each.is_undo)
    rows = [*truncated(waiting, "approvals/more", is_in_list=True), *requested[-REQUEST_LIMIT:]]
    if (more := len(requested) - REQUEST_LIMIT) > 0:
        earlier = count("And {n} earlier request", "And {n} earlier requests", more)
        rows.append(label("approvals/earlier", earlier))
    rows += done[-REQUEST_LIMIT:]
    if rows and (batches := deduplicate(map(_batch, state.batches[:BATCH_LIMIT]))):
        rows = [*batches, separator("approvals/line"), *rows]
    none = label("approvals/none", say("Nothing waits for you"))
    number = len(state.approvals) + len(state.requests)
    return submenu("approvals", with_count(say("Approvals"), number), tuple(rows or [none]))


def _batch(batch: MenuBatch) -> Item:
    """The row of hooks that can be approved together; the digest is part of its ids, as it is for a single hook."""
    key = child_id("approvals/source", batch.source) if batch.source else "approvals/batch"
    text = count("{n} imported hook, unchanged", "{n} imported hooks, unchanged", batch.number)
    if batch.source:
        name = clean(Path(batch.source).name, 40)
        text = count("{n} hook of {file}", "{n} hooks of {file}", batch.number, file=name)
    exact = id_part(batch.digest)
    choices = (
        click(f"{key}/review/{exact}", say("Review"), ReviewBatch(batch.digest)),
        click(f"{key}/approve/{exact}", batch.label, UserAction(action="batch", digest=batch.digest)),
    )
    return submenu(key, text, choices)


def _approval(one: Approval) -> Item:
    """The row of one approval: its name, what is new about it, and the choices."""
    is_proposed = bool(one.digest) and not one.removed
    parts = (clean(one.name, 40), sanitise(one.event, 30) if is_proposed else "", _change_text(one))
    text = " · ".join(each for each in parts if each)
    if is_proposed and one.kind != "hook":
        text = say("Setting: {what}", what=text)
    key = child_id("approvals/ledger", one.kind, one.key)
    choices = _choices(one, key)
    return submenu(key, text, choices) if choices else label(key, text)


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
    approve = UserAction(action="approve", key=one.key, digest=one.digest)
    deny = UserAction(action="deny", key=one.key, digest=one.digest)
    review = click(f"{key}/review/{exact}", say("Review"), Review(one.key, one.digest))
    if one.removed:
        return (
            review,
            click(f"{key}/deny/{exact}", say("Keep it"), deny),
            click(f"{key}/approve/{exact}", say("Revoke it"), approve),
        )
    if not one.digest:
        revoke = click(f"{key}/revoke", say("Revoke it"), UserAction(action="revoke", key=one.key))
        return (review, revoke) if _still_runs(one) else ()
    shown = clean(one.digest[:DIGEST_SHOWN], DIGEST_SHOWN, "?")
    refuse = say("Keep the approved copy") if _still_runs(one) else say("Deny")
    return (
        *((review,) if one.kind == "hook" else ()),
        click(f"{key}/approve/{exact}", say("Approve {digest}", digest=shown), approve),
        click(f"{key}/deny/{exact}", refuse, deny),
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
    choices = (("allow", yes), ("dismiss", no))
    return submenu(
        key, text, tuple(click(f"{key}/{word}", name, UserAction(action=word, key=one.id)) for word, name in choices)
    )
