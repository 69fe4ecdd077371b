"""The tray's menu as a value: what stands in it, for one state of the tray. Pure; back ends draw it."""

from __future__ import annotations

import enum
from collections.abc import Iterable
from dataclasses import dataclass

from tray.desktop.words import clean, clock, counted, part, row, short
from tray.model.decision import Record
from tray.model.hook import State
from tray.text import sanitise

SHOWN_RECORDS = 10
SHOWN_APPROVALS = 20
SHOWN_REQUESTS = 5  # anybody can ask; nobody shall push the approvals out of sight by asking
STATUS_LIMIT = 60  # the first row is the one that would stretch the whole menu
DIGEST_SHOWN = 8


@dataclass(frozen=True, slots=True)
class Toggle:
    """Flip the master switch."""


@dataclass(frozen=True, slots=True)
class Pause:
    seconds: float | None  # None = until tomorrow


@dataclass(frozen=True, slots=True)
class Resume:
    """End the pause now."""


@dataclass(frozen=True, slots=True)
class Reason:
    """Say why one recent decision came out as it did."""

    record: str


@dataclass(frozen=True, slots=True)
class Problem:
    """Say in full what is wrong with the configuration."""


@dataclass(frozen=True, slots=True)
class Review:
    key: str
    digest: str


@dataclass(frozen=True, slots=True)
class Approve:
    key: str
    digest: str


@dataclass(frozen=True, slots=True)
class Deny:
    key: str
    digest: str


@dataclass(frozen=True, slots=True)
class Revoke:
    key: str


@dataclass(frozen=True, slots=True)
class Grant:
    request: str


@dataclass(frozen=True, slots=True)
class Dismiss:
    request: str


@dataclass(frozen=True, slots=True)
class Mute:
    """Flip the sounds."""


@dataclass(frozen=True, slots=True)
class OpenPage:
    """Show the page in the browser."""


@dataclass(frozen=True, slots=True)
class Doctor:
    """Examine everything and show what came out."""


@dataclass(frozen=True, slots=True)
class Quit:
    """End the tray."""


Asking = Reason | Problem | Review | Approve | Deny | Revoke | Grant | Dismiss
Action = Toggle | Pause | Resume | Asking | Mute | OpenPage | Doctor | Quit


class Kind(enum.Enum):
    ACTION = enum.auto()
    CHECK = enum.auto()
    SUBMENU = enum.auto()
    SEPARATOR = enum.auto()
    LABEL = enum.auto()


@dataclass(frozen=True, slots=True, kw_only=True)
class Item:
    """One row. `id` is a path that stays the same as long as the row means the same."""

    id: str
    kind: Kind
    label: str = ""
    checked: bool = False
    enabled: bool = True
    children: tuple[Item, ...] = ()
    action: Action | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Approval:
    """A hook, or a setting that loosens a gate, which waits for the user's word."""

    key: str
    name: str
    event: str
    state: State  # CHANGED = an approved copy goes on running
    digest: str  # of the bytes that an approval would put in force; "" when they could not be read
    kind: str = "hook"
    removed: bool = False  # no longer declared; to approve that is to revoke the hook
    missing: bool = False  # its program or script is not there


@dataclass(frozen=True, slots=True, kw_only=True)
class Request:
    """What somebody asked for who may not do it himself."""

    id: str
    what: str
    who: str
    done: bool = False  # it was done at a terminal: it can be undone


@dataclass(frozen=True, slots=True, kw_only=True)
class MenuState:
    """Everything that the menu shows."""

    now: float
    enabled: bool = True
    paused_until: float | None = None
    muted: bool = False
    status: str = ""
    running: str = ""  # what the hook that started last wants shown while it runs; "" when none does
    problem: str = ""
    trouble: int = 0  # hooks that are broken
    recent: tuple[Record, ...] = ()
    approvals: tuple[Approval, ...] = ()
    requests: tuple[Request, ...] = ()


def menu(state: MenuState) -> tuple[Item, ...]:
    """The rows from top to bottom."""
    return (
        _status(state),
        _separator("line/switch"),
        Item(id="enabled", kind=Kind.CHECK, label="Hooks enabled", checked=state.enabled, action=Toggle()),
        _submenu("pause", _paused(state).capitalize() or "Pause", _pauses(state), enabled=state.enabled),
        _submenu("recent", "Recent decisions", _recent(state)),
        _submenu("approvals", counted("Approvals", len(state.approvals) + len(state.requests)), _approvals(state)),
        _click("page", "Open page", OpenPage()),
        _separator("line/end"),
        Item(id="mute", kind=Kind.CHECK, label="Mute sounds", checked=state.muted, action=Mute()),
        _click("quit", "Quit", Quit()),
    )


def _label(key: str, text: str) -> Item:
    return Item(id=key, kind=Kind.LABEL, label=text, enabled=False)


def _separator(key: str) -> Item:
    return Item(id=key, kind=Kind.SEPARATOR)


def _click(key: str, text: str, action: Action) -> Item:
    return Item(id=key, kind=Kind.ACTION, label=text, action=action)


def _submenu(key: str, text: str, children: tuple[Item, ...], *, enabled: bool = True) -> Item:
    return Item(id=key, kind=Kind.SUBMENU, label=text, children=children, enabled=enabled)


def _status(state: MenuState) -> Item:
    """The first row: what is not as usual, else what a hook does just now, else the last thing that happened."""
    if state.problem:
        return _click("status", clean(short(state.problem), STATUS_LIMIT), Problem())
    if state.trouble and state.enabled and not state.running:
        return _click("status", f"Hooks in trouble: {state.trouble}", Doctor())
    paused = _paused(state) and f"Hooks are {_paused(state)}"
    text = paused or sanitise(state.running, STATUS_LIMIT) or state.status if state.enabled else "Hooks are off"
    return _label("status", clean(text, STATUS_LIMIT, "Hooktray"))


def _paused(state: MenuState) -> str:
    """Until when; "" when hooks are not paused."""
    if state.paused_until is None or state.paused_until <= state.now:
        return ""
    return f"paused until {clock(state.paused_until, state.now)}"


def _pauses(state: MenuState) -> tuple[Item, ...]:
    choices = (
        _click("pause/30m", "30 minutes", Pause(30 * 60.0)),
        _click("pause/1h", "1 hour", Pause(60 * 60.0)),
        _click("pause/tomorrow", "Until tomorrow", Pause(None)),
    )
    if not _paused(state):
        return choices
    return (_click("pause/resume", "Resume", Resume()), _separator("pause/line"), *choices)


def _recent(state: MenuState) -> tuple[Item, ...]:
    rows = {record.id: record for record in reversed(state.recent[:SHOWN_RECORDS])}
    if not rows:
        return (_label("recent/none", "No decisions yet"),)
    return tuple(
        _click(f"recent/{part(record.id)}", row(record, state.now), Reason(record.id))
        for record in reversed(rows.values())
    )


def _approvals(state: MenuState) -> tuple[Item, ...]:
    """What waits for approval, then what was asked for last."""
    approvals = _unique(_approval(each) for each in state.approvals)
    requests = _unique(_request(each) for each in state.requests)
    if not approvals and not requests:
        return (_label("approvals/none", "Nothing waits for you"),)
    more = len(approvals) - SHOWN_APPROVALS
    earlier = len(requests) - SHOWN_REQUESTS
    return (
        *approvals[:SHOWN_APPROVALS],
        *([_label("approvals/more", f"And {more} more: see `hooktray list`")] if more > 0 else []),
        *requests[-SHOWN_REQUESTS:],
        *([_label("approvals/earlier", f"And {earlier} earlier requests")] if earlier > 0 else []),
    )


def _unique(rows: Iterable[Item]) -> list[Item]:
    return list({row.id: row for row in rows}.values())


def _approval(one: Approval) -> Item:
    key, label = f"approvals/ledger/{part(one.kind)}/{part(one.key)}", _wanted(one)
    choices = _choices(one, key)
    return _submenu(key, label, choices) if choices else _label(key, label)


def _wanted(one: Approval) -> str:
    """The row of one approval: what it is, and what about it is new."""
    name = clean(one.name, 40)
    if one.removed:
        return f"{name} · removed from its file"
    if not one.digest:
        word = "cannot be read" if not one.missing else "file is gone" if _runs(one) else "file is missing"
        return f"{name} · {word}"
    label = " · ".join(part for part in (name, sanitise(one.event, 30), "changed" if _runs(one) else "new") if part)
    return label if one.kind == "hook" else f"Setting: {label}"


def _runs(one: Approval) -> bool:
    """Whether an approved copy goes on running."""
    return one.state is State.CHANGED


def _choices(one: Approval, key: str) -> tuple[Item, ...]:
    """The digest is part of each click's id: a click can only mean the bytes that the row named."""
    exact = part(one.digest)
    review = _click(f"{key}/review/{exact}", "Review", Review(one.key, one.digest))
    approve, deny = Approve(one.key, one.digest), Deny(one.key, one.digest)
    if one.removed:
        return (
            review,
            _click(f"{key}/deny/{exact}", "Keep it", deny),
            _click(f"{key}/approve/{exact}", "Revoke it", approve),
        )
    if not one.digest:
        return (review, _click(f"{key}/revoke", "Revoke it", Revoke(one.key))) if _runs(one) else ()
    shown = clean(one.digest[:DIGEST_SHOWN], DIGEST_SHOWN, "?")
    return (
        *((review,) if one.kind == "hook" else ()),
        _click(f"{key}/approve/{exact}", f"Approve {shown}", approve),
        _click(f"{key}/deny/{exact}", "Keep the approved copy" if _runs(one) else "Deny", deny),
    )


def _request(one: Request) -> Item:
    key = f"approvals/request/{part(one.id)}"
    allow, dismiss, by = ("Undo", "Keep", "done at") if one.done else ("Allow", "Dismiss", "asked by")
    choices = _click(f"{key}/allow", allow, Grant(one.id)), _click(f"{key}/dismiss", dismiss, Dismiss(one.id))
    return _submenu(key, f"{clean(one.what, 60)} · {by} {clean(one.who, 40, 'somebody')}", choices)
