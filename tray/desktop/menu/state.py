"""Everything that the menu shows, as values that others fill in."""

from __future__ import annotations

import msgspec

from tray.model.decision import Record
from tray.model.hook import ApprovalState
from tray.model.session import Session


class Approval(msgspec.Struct, frozen=True, kw_only=True):
    """A hook, or a setting that loosens a gate, which waits for the user's decision."""

    key: str
    name: str
    event: str
    state: ApprovalState  # CHANGED = an approved copy goes on running
    digest: str  # of the bytes that an approval would put in force; "" when they could not be read
    kind: str = "hook"
    removed: bool = False  # no longer declared; to approve that is to revoke the hook
    missing: bool = False  # its program or script is not there
    imported: bool = False  # this very content was approved on another machine


class MenuBatch(msgspec.Struct, frozen=True, kw_only=True):
    """Hooks that wait with the imported content, or those of `source` that wait.

    `label` is that of the click which approves exactly them.
    """

    number: int
    digest: str
    label: str
    source: str = ""


class MenuRequest(msgspec.Struct, frozen=True, kw_only=True):
    """What a program requested that only the user may do, or what was done elsewhere and can be undone."""

    id: str
    summary: str
    requester: str
    is_undo: bool = False  # it was done at a terminal or by an edit of the file: it can be undone


class MenuQuestion(msgspec.Struct, frozen=True, kw_only=True):
    """An agent waits for the user's yes or no, or for the answers to a form."""

    id: str
    agent: str
    project: str
    subject: str  # the tool's name, or what else is asked about
    session: str = ""
    is_form: bool = False


class PartialPause(msgspec.Struct, frozen=True, kw_only=True):
    """A pause that is not for everybody."""

    until: float
    agent: str = ""
    session: str = ""  # as the agent calls it
    project: str = ""  # what people call the session


class MenuHook(msgspec.Struct, frozen=True, kw_only=True):
    """An approved hook and whether the menu lets it run; or one that the user revoked or denied, which does not."""

    key: str
    name: str
    event: str
    enabled: bool = True
    state: ApprovalState = ApprovalState.APPROVED
    granted: tuple[str, ...] = ()  # withheld variables that the user lets through to it
    asks_for: tuple[str, ...] = ()  # those that it names and does not get


class MenuPreview(msgspec.Struct, frozen=True, kw_only=True):
    """What connecting or disconnecting one agent would write; `digest` ties a click to exactly this."""

    digest: str
    summary: str
    difference: str = ""


class MenuAgent(msgspec.Struct, frozen=True, kw_only=True):
    """The state of one agent. `connect` and `disconnect` are there where they would write something."""

    agent: str
    name: str  # as people call it
    package: str = ""  # that brings it; "" for a built-in one
    installed: bool = False
    connected: bool = False
    trusted: bool | None = None  # None = its files do not say
    firing: bool | None = None  # None = not tried
    stale: bool = False  # its entries are not those that connecting would write now
    last_event: float | None = None
    advice: str = ""
    changed: str = ""  # how our entries differ from what was written; "" when they do not, or the user left them so
    changed_digest: str = ""
    is_wanted: bool = False  # nothing changed: a hook needs more of its events
    connect: MenuPreview | None = None
    disconnect: MenuPreview | None = None


class AlertsState(msgspec.Struct, frozen=True, kw_only=True):
    """The state of alerts."""

    muted_classes: frozenset[str] = frozenset()  # classes that the menu turned off
    snoozed_until: float | None = None
    quiet_hours: str = ""  # the quiet hours, such as "22:00 to 07:00"; "" when none are set
    quiet_hours_on: bool = True
    sound_pack: str = ""  # the sound pack with its licence; "" when there is none
    deferred: int = 0  # alerts that wait for a summary


class MenuState(msgspec.Struct, frozen=True, kw_only=True):
    """Everything that the menu shows."""

    now: float
    enabled: bool = True
    paused_until: float | None = None  # for everybody
    partial_pauses: tuple[PartialPause, ...] = ()
    muted: bool = False
    active_agents: int = 0  # agents with recent events
    running: str = ""  # what the hook that started last wants shown while it runs; "" when none does
    failing_hooks: int = 0  # hooks that failed lately
    unjudged: int = 0  # calls that ran unjudged since the user last looked
    dropped_rows: int = 0  # decisions that could not be recorded
    problem: str = ""
    incident: str = ""  # what happened to the state folder, until the user has read it
    recent: tuple[Record, ...] = ()
    sessions: tuple[Session, ...] = ()  # what waits first
    questions: tuple[MenuQuestion, ...] = ()
    approvals: tuple[Approval, ...] = ()
    batches: tuple[MenuBatch, ...] = ()
    requests: tuple[MenuRequest, ...] = ()
    hooks: tuple[MenuHook, ...] = ()
    agents: tuple[MenuAgent, ...] = ()
    alerts: AlertsState = AlertsState()
    at_login: bool = False
    has_passphrase: bool = False
    flat: bool = False  # the host cannot show a submenu inside of another one
