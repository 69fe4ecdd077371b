"""One alert as a value, and the user's rules for showing it and for its sound."""

from __future__ import annotations

import enum
from collections.abc import Collection, Mapping
from datetime import datetime, timedelta
from typing import TYPE_CHECKING, Protocol

import msgspec

from tray.language import phrase, plural, say
from tray.settings import AlertRule, QuietHours, Settings, overlay
from tray.text import sanitise

if TYPE_CHECKING:
    from tray.approvals.catalog import HookCatalog
    from tray.store.ledger import Ledger, LedgerState
    from tray.store.switch import Switch, SwitchState

TITLE_LIMIT = 63  # characters; Windows takes 64 with the closing zero
BODY_LIMIT = 200
APP = "Hooktray"
ALARM = "alarm"  # the sound of what is critical


class AlertClass(enum.StrEnum):
    """What an alert is about; the value is the key below `alerts:` in hooktray.yaml."""

    TURN_END = "turn_end"
    SESSION_END = "session_end"
    NEEDS_YOU = "needs_you"
    ASKED = "asked"
    BLOCKED = "blocked"
    REWRITTEN = "rewritten"
    NOTE = "note"
    HOOK_FAILED = "hook_failed"
    HOOK_TIMED_OUT = "hook_timed_out"
    UNJUDGED = "unjudged"
    APPROVAL_PENDING = "approval_pending"
    CHANGED = "changed"
    SWITCHED = "switched"
    INFORMATION = "information"


class Urgency(enum.IntEnum):
    """Ordered; the numbers are those of the desktop's notification specification."""

    LOW = 0
    NORMAL = 1
    CRITICAL = 2


class Button(enum.StrEnum):
    """What can be pressed on an alert; the value is the key by which a server reports it. None approves a hook."""

    DEFAULT = "default"  # a click on the alert itself
    ALLOW = "allow"
    DENY = "deny"
    REVIEW = "review"
    DETAILS = "details"
    SNOOZE = "snooze"
    UNDO = "undo"
    PUT_BACK = "put_back"  # our entries in an agent's settings
    CONNECT = "connect"  # an agent, or the events of it that hooks need
    LEAVE = "leave"  # them as they are
    GO = "go"  # to the terminal of the session
    ANSWER = "answer"  # opens an agent's form on the page
    CHOOSE_1 = "choose-1"  # one of the answers that the form offers
    CHOOSE_2 = "choose-2"
    CHOOSE_3 = "choose-3"


# They count only from a process that no agent and no hook has started.
CHOICES = (Button.CHOOSE_1, Button.CHOOSE_2, Button.CHOOSE_3)
GRANTS = frozenset({Button.ALLOW, Button.CONNECT, Button.LEAVE, Button.UNDO, *CHOICES})
ALL_AGENTS = "all agents"  # what *Connect* is about when it is not one agent
INCIDENT = "state"  # what *Review* shows when the tray's state was lost


class Alert(msgspec.Struct, frozen=True, kw_only=True):
    """One thing to show and to sound. Alerts with the same key replace each other; `sound` "" is silent."""

    cls: AlertClass
    title: str
    body: str
    urgency: Urgency
    sound: str
    notify: bool
    key: str
    url: str = ""
    sound_name: str = ""  # what a server that plays sounds must play instead of ours; "" = ours
    project: str = ""
    buttons: tuple[Button, ...] = ()
    about: str = ""  # what the buttons are about: a question, a decision, a hook
    digest: str = ""  # of the hook's content that Review opens
    agent: str = ""
    session: str = ""  # of the agent, to which *Go there* leads
    reply: bool = False  # to what the user has just done: it is shown at once, also in quiet hours
    apart: bool = False  # a summary never takes it in
    event: str = ""  # the event that it is about
    category: str = ""  # of a sound pack, whose sound is played instead of ours; "" = ours
    choices: tuple[str, ...] = ()  # the labels of the buttons with a form's answers

    def label(self, button: Button) -> str:
        return self.choices[CHOICES.index(button)] if button in CHOICES else say(LABELS[button])

    @property
    def is_question(self) -> bool:
        """Whether an answer on the desktop decides it."""
        return Button.ALLOW in self.buttons or Button.ANSWER in self.buttons


Rules = Mapping[str, AlertRule]
NO_RULES: Rules = {}
SILENT = ("", "none")  # both are how a user writes "no sound"


class Default(msgspec.Struct, frozen=True):
    urgency: Urgency
    sound: str
    notify: bool = True
    buttons: tuple[Button, ...] = ()


_DECISION_BUTTONS = (Button.DETAILS, Button.SNOOZE)

DEFAULTS: Mapping[AlertClass, Default] = {
    AlertClass.TURN_END: Default(Urgency.NORMAL, "chime", buttons=(Button.SNOOZE,)),
    AlertClass.SESSION_END: Default(Urgency.LOW, "fall", buttons=(Button.SNOOZE,)),
    AlertClass.NEEDS_YOU: Default(Urgency.CRITICAL, "bell"),
    AlertClass.ASKED: Default(Urgency.CRITICAL, "bell"),
    AlertClass.BLOCKED: Default(Urgency.NORMAL, "low", buttons=_DECISION_BUTTONS),
    AlertClass.REWRITTEN: Default(Urgency.LOW, "", buttons=_DECISION_BUTTONS),
    AlertClass.NOTE: Default(Urgency.NORMAL, "tick", buttons=_DECISION_BUTTONS),
    AlertClass.HOOK_FAILED: Default(Urgency.NORMAL, "alarm", buttons=_DECISION_BUTTONS),
    AlertClass.HOOK_TIMED_OUT: Default(Urgency.NORMAL, "alarm", buttons=_DECISION_BUTTONS),
    AlertClass.UNJUDGED: Default(Urgency.CRITICAL, ALARM, buttons=(Button.DETAILS,)),
    AlertClass.APPROVAL_PENDING: Default(Urgency.NORMAL, "tick", buttons=(Button.REVIEW,)),
    AlertClass.CHANGED: Default(Urgency.NORMAL, "tick", buttons=(Button.REVIEW,)),
    AlertClass.SWITCHED: Default(Urgency.NORMAL, "tick"),
    AlertClass.INFORMATION: Default(Urgency.LOW, "tick"),
}

LABELS: Mapping[Button, str] = {
    Button.DEFAULT: phrase("Open"),
    Button.ALLOW: phrase("Allow"),
    Button.DENY: phrase("Deny"),
    Button.REVIEW: phrase("Review"),
    Button.DETAILS: phrase("Details"),
    Button.SNOOZE: phrase("Snooze"),
    Button.UNDO: phrase("Undo"),
    Button.PUT_BACK: phrase("Put it back"),
    Button.LEAVE: phrase("Leave it"),
    Button.CONNECT: phrase("Connect"),
    Button.GO: phrase("Go there"),
    Button.ANSWER: phrase("Answer…"),
}

# Those of sound packs for each class; the others have our own sounds with any pack.
CATEGORIES: Mapping[AlertClass, str] = {
    AlertClass.TURN_END: "task.complete",
    AlertClass.SESSION_END: "session.end",
    AlertClass.NEEDS_YOU: "input.required",
    AlertClass.ASKED: "input.required",
    AlertClass.APPROVAL_PENDING: "input.required",
    AlertClass.HOOK_FAILED: "task.error",
    AlertClass.HOOK_TIMED_OUT: "task.error",
    AlertClass.UNJUDGED: "task.error",
}
FAILED_CATEGORY, LIMIT_CATEGORY = "task.error", "resource.limit"  # of a turn that did not end well

# What people call them; the menu has a row for each that can be turned off.
CLASS_NAMES: Mapping[str, str] = {
    AlertClass.TURN_END: phrase("Turn ended"),
    AlertClass.SESSION_END: phrase("Session ended"),
    AlertClass.NEEDS_YOU: phrase("Agent needs you"),
    AlertClass.ASKED: phrase("Asked"),
    AlertClass.BLOCKED: phrase("Blocked"),
    AlertClass.REWRITTEN: phrase("Rewritten"),
    AlertClass.NOTE: phrase("Note from a hook"),
    AlertClass.HOOK_FAILED: phrase("Hook failed"),
    AlertClass.HOOK_TIMED_OUT: phrase("Hook timed out"),
    AlertClass.UNJUDGED: phrase("Ran unjudged"),
    AlertClass.APPROVAL_PENDING: phrase("Approval pending"),
    AlertClass.CHANGED: phrase("Changed since approval"),
    AlertClass.SWITCHED: phrase("Switched"),
    AlertClass.INFORMATION: phrase("Information"),
}

# One and many, for a summary.
COUNT_PHRASES: Mapping[AlertClass, tuple[str, str]] = {
    AlertClass.TURN_END: plural("{n} turn ended", "{n} turns ended"),
    AlertClass.SESSION_END: plural("{n} session ended", "{n} sessions ended"),
    AlertClass.NEEDS_YOU: plural("{n} needs you", "{n} need you"),
    AlertClass.ASKED: plural("{n} question", "{n} questions"),
    AlertClass.BLOCKED: plural("{n} blocked", "{n} blocked"),
    AlertClass.REWRITTEN: plural("{n} rewritten", "{n} rewritten"),
    AlertClass.NOTE: plural("{n} note", "{n} notes"),
    AlertClass.HOOK_FAILED: plural("{n} hook failed", "{n} hooks failed"),
    AlertClass.HOOK_TIMED_OUT: plural("{n} hook too slow", "{n} hooks too slow"),
    AlertClass.UNJUDGED: plural("{n} ran unjudged", "{n} ran unjudged"),
    AlertClass.APPROVAL_PENDING: plural("{n} approval waits", "{n} approvals wait"),
    AlertClass.CHANGED: plural("{n} hook changed", "{n} hooks changed"),
    AlertClass.SWITCHED: plural("{n} switched", "{n} switched"),
    AlertClass.INFORMATION: plural("{n} message", "{n} messages"),
}

# Who did it and where, as the ledger names it -> as people do; an agent into which it was typed is named as it is.
CHANNELS: Mapping[str, str] = {
    "command line": phrase("by a command"),
    "file": phrase("by an edit of the file"),
    "notification": phrase("by you, on a notification"),
    "page": phrase("by you, on the page"),
    "passphrase": phrase("by you, with the passphrase"),
    "terminal": phrase("at a terminal"),
    "tray": phrase("by you, in the menu"),
    "tray, asked for at a command line": phrase("by you, in the menu, as a command asked"),
    "undo": phrase("undone"),
}
UNDOABLE = frozenset({"file", "passphrase", "terminal"})  # channels whose changes can be undone in the menu


def make_alert(
    cls: AlertClass,
    title: str,
    body: str,
    key: str,
    rules: Rules,
    *,
    urgency: Urgency | None = None,
    url: str = "",
    project: str = "",
    about: str = "",
    digest: str = "",
    buttons: tuple[Button, ...] | None = None,
) -> Alert:
    """One alert of this class, by the user's rules; foreign text is made fit for the screen here."""
    default = DEFAULTS[cls]
    rule = rules.get(cls) or AlertRule()
    sound = default.sound if rule.sound is None else rule.sound
    chosen = default.buttons if buttons is None else buttons
    return Alert(
        cls=cls,
        title=sanitise(title, TITLE_LIMIT) or APP,
        body=sanitise(body, BODY_LIMIT),
        urgency=_urgency(default.urgency if urgency is None else urgency, rule),
        sound="" if sound in SILENT else sound,
        notify=default.notify if rule.notify is None else rule.notify,
        key=key,
        url=url,
        sound_name=sanitise(rule.sound_name or "", TITLE_LIMIT),
        project=sanitise(project, TITLE_LIMIT),
        buttons=chosen if about else tuple(one for one in chosen if one is Button.SNOOZE),
        about=about,
        digest=digest,
        category=CATEGORIES.get(cls, "") if rule.sound is None else "",
    )


def _urgency(default: Urgency, rule: AlertRule) -> Urgency:
    return Urgency[rule.urgency.upper()] if rule.urgency else default


class SettingsInForce(Protocol):
    """The user's settings: `current` is another value once they have changed."""

    @property
    def current(self) -> Settings: ...


class AlertSettings:
    """The settings in force, without the classes that the menu turned off; made again when a source changed."""

    def __init__(self, catalog: HookCatalog, ledger: Ledger, switch: Switch) -> None:
        self._catalog, self._ledger, self._switch = catalog, ledger, switch
        # The settings, ledger and switch that the last result was made from, and the result.
        self._known: tuple[Settings, LedgerState, SwitchState, Settings] | None = None

    @property
    def current(self) -> Settings:
        settings, ledger = self._catalog.configuration.settings, self._ledger.state
        switch = self._switch.current
        known = self._known
        if known is None or known[0] is not settings or known[1] is not ledger or known[2] is not switch:
            found = mute_classes(self._catalog.settings_in_force, switch.muted_classes)
            known = self._known = settings, ledger, switch, found
        return known[3]


class FixedSettings(msgspec.Struct):
    """Settings that no file changes; by default those of a user who has written none."""

    current: Settings = Settings()


MUTED = AlertRule(notify=False, sound="none", sound_name="")
DAYS = ("mon", "tue", "wed", "thu", "fri", "sat", "sun")


def rules(settings: Settings, project: str = "") -> Rules:
    """Those of one project, by class: its own, else those for all, else none."""
    own = settings.projects.get(project)
    if not own:
        return settings.alerts
    return {cls: overlay(own.get(cls), settings.alerts.get(cls)) for cls in {*own, *settings.alerts}}


def mute_classes(settings: Settings, muted: Collection[str]) -> Settings:
    """The settings without what the menu turned off, in every project."""
    if not muted:
        return settings
    off = dict.fromkeys(muted, MUTED)
    projects = {name: {**rules, **off} for name, rules in settings.projects.items()}
    return msgspec.structs.replace(settings, alerts={**settings.alerts, **off}, projects=projects)


def quiet_until(hours: QuietHours | None, now: float) -> float | None:
    """Until when it is quiet, in seconds since the epoch; None when it is not."""
    if hours is None:
        return None
    local = datetime.fromtimestamp(now)
    for day in (local.date() - timedelta(days=1), local.date()):
        if hours.days and DAYS[day.weekday()] not in hours.days:
            continue
        begin, end = (datetime.combine(day, datetime.strptime(at, "%H:%M").time()) for at in (hours.begin, hours.end))
        if end <= begin:  # over midnight; the same time twice is a whole day
            end += timedelta(days=1)
        if begin <= local < end:
            return end.timestamp()
    return None
