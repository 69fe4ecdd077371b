"""The tray's menu as a value: what stands in it, for one state of the tray. Pure; back ends draw it."""

from __future__ import annotations

import enum
import time
from collections.abc import Iterable
from dataclasses import dataclass

from tray.model.decision import Record, Status, Verdict
from tray.model.hook import State
from tray.text import sanitise

SHOWN_RECORDS = 10
SHOWN_APPROVALS = 20
LABEL_LIMIT = 120  # characters that no row exceeds
STATUS_LIMIT = 60  # the first row is the one that would stretch the whole menu
DIGEST_SHOWN = 8
PADDING = {"?": "\u2005", "!": "\u2004", "·": "\u2002"}  # narrow marks become as wide as the others


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
class Grant:
    request: str


@dataclass(frozen=True, slots=True)
class Dismiss:
    request: str


@dataclass(frozen=True, slots=True)
class Mute:
    """Flip the sounds."""


@dataclass(frozen=True, slots=True)
class Quit:
    """End the tray."""


Action = Toggle | Pause | Resume | Reason | Review | Approve | Deny | Grant | Dismiss | Mute | Quit


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
    state: State
    digest: str
    kind: str = "hook"


@dataclass(frozen=True, slots=True, kw_only=True)
class Request:
    """What somebody asked for who may not do it himself."""

    id: str
    what: str
    who: str


@dataclass(frozen=True, slots=True, kw_only=True)
class MenuState:
    """Everything that the menu shows."""

    now: float
    enabled: bool = True
    paused_until: float | None = None
    muted: bool = False
    status: str = ""
    problem: str = ""
    running: str = ""
    recent: tuple[Record, ...] = ()
    approvals: tuple[Approval, ...] = ()
    requests: tuple[Request, ...] = ()


def menu(state: MenuState) -> tuple[Item, ...]:
    """The rows from top to bottom."""
    return (
        _label("status", clean(state.problem or state.running or state.status, STATUS_LIMIT, "Hooktray")),
        _separator("line/switch"),
        Item(id="enabled", kind=Kind.CHECK, label="Hooks enabled", checked=state.enabled, action=Toggle()),
        _submenu("pause", "Pause", _pauses(state), enabled=state.enabled),
        _submenu("recent", "Recent decisions", _recent(state)),
        _submenu("approvals", _waiting(len(state.approvals) + len(state.requests)), _approvals(state)),
        _separator("line/end"),
        Item(id="mute", kind=Kind.CHECK, label="Mute sounds", checked=state.muted, action=Mute()),
        _click("quit", "Quit", Quit()),
    )


def clean(text: str, limit: int, empty: str = "(no name)") -> str:
    """Foreign text, fit for a row."""
    return sanitise(text, limit) or empty


def clock(at: float, now: float) -> str:
    """Local time, with the day when it is not today."""
    try:
        then, today = time.localtime(at), time.localtime(now)
    except (OverflowError, ValueError, OSError):
        return "--:--"
    same_day = then[:3] == today[:3]
    return time.strftime("%H:%M" if same_day else "%d %b %H:%M", then)


def _label(key: str, text: str) -> Item:
    return Item(id=key, kind=Kind.LABEL, label=text, enabled=False)


def _separator(key: str) -> Item:
    return Item(id=key, kind=Kind.SEPARATOR)


def _click(key: str, text: str, action: Action) -> Item:
    return Item(id=key, kind=Kind.ACTION, label=text, action=action)


def _submenu(key: str, text: str, children: tuple[Item, ...], *, enabled: bool = True) -> Item:
    return Item(id=key, kind=Kind.SUBMENU, label=text, children=children, enabled=enabled)


def _pauses(state: MenuState) -> tuple[Item, ...]:
    choices = (
        _click("pause/30m", "30 minutes", Pause(30 * 60.0)),
        _click("pause/1h", "1 hour", Pause(60 * 60.0)),
        _click("pause/tomorrow", "Until tomorrow", Pause(None)),
    )
    if state.paused_until is None or state.paused_until <= state.now:
        return choices
    return (
        _label("pause/until", f"Paused until {clock(state.paused_until, state.now)}"),
        _click("pause/resume", "Resume", Resume()),
        _separator("pause/line"),
        *choices,
    )


def _recent(state: MenuState) -> tuple[Item, ...]:
    rows = {record.id: record for record in reversed(state.recent[:SHOWN_RECORDS])}
    if not rows:
        return (_label("recent/none", "No decisions yet"),)
    return tuple(
        _click(f"recent/{_part(record.id)}", _row(record, state.now), Reason(record.id))
        for record in reversed(rows.values())
    )


def _row(record: Record, now: float) -> str:
    parts = (clean(record.agent, 20), clean(record.event, 30), sanitise(record.project, 30), clock(record.at, now))
    sign = mark(record)
    return f"{sign}{PADDING.get(sign, '')}  {' · '.join(part for part in parts if part)}"


def mark(record: Record) -> str:
    """The verdict by shape, so that no colour is needed."""
    if record.verdict is Verdict.DENY:
        return "✕"
    if record.verdict is Verdict.ASK:
        return "?"
    if record.problem or any(hook.get("status") in {Status.FAILED, Status.TIMED_OUT} for hook in record.hooks):
        return "!"
    if record.rewrites:
        return "✎"
    return "✓" if record.verdict is Verdict.ALLOW else "·"


def _waiting(count: int) -> str:
    return f"Approvals ({count})" if count else "Approvals"


def _approvals(state: MenuState) -> tuple[Item, ...]:
    rows = _unique([_request(request) for request in state.requests] + [_approval(each) for each in state.approvals])
    if not rows:
        return (_label("approvals/none", "Nothing waits for you"),)
    hidden = len(rows) - SHOWN_APPROVALS
    if hidden <= 0:
        return tuple(rows)
    return (*rows[:SHOWN_APPROVALS], _label("approvals/more", f"And {hidden} more: see `hooktray list`"))


def _unique(rows: Iterable[Item]) -> list[Item]:
    return list({row.id: row for row in rows}.values())


def _approval(one: Approval) -> Item:
    """The digest is part of each click's id: a click can only mean the bytes that the row named."""
    key, shown = (
        f"approvals/ledger/{_part(one.kind)}/{_part(one.key)}",
        clean(one.digest[:DIGEST_SHOWN], DIGEST_SHOWN, "?"),
    )
    word = "changed" if one.state is State.CHANGED else "new"
    label = " · ".join(part for part in (clean(one.name, 40), sanitise(one.event, 30), word) if part)
    exact = _part(one.digest)
    return _submenu(
        key,
        label if one.kind == "hook" else f"Setting: {label}",
        (
            _click(f"{key}/review/{exact}", "Review", Review(one.key, one.digest)),
            _click(f"{key}/approve/{exact}", f"Approve {shown}", Approve(one.key, one.digest)),
            _click(f"{key}/deny/{exact}", "Deny", Deny(one.key, one.digest)),
        ),
    )


def _request(one: Request) -> Item:
    key = f"approvals/request/{_part(one.id)}"
    return _submenu(
        key,
        f"{clean(one.what, 60)} · asked by {clean(one.who, 40, 'somebody')}",
        (_click(f"{key}/allow", "Allow", Grant(one.id)), _click(f"{key}/dismiss", "Dismiss", Dismiss(one.id))),
    )


def _part(name: str) -> str:
    """One name as one part of a path."""
    return name.replace("%", "%25").replace("/", "%2F")
