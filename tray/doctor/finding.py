"""What a check found: a cause with its values. One table has each cause's severity, words and remedy."""

from __future__ import annotations

import enum
from collections.abc import Iterable, Mapping

import msgspec

from tray.approvals.remedies import LLM_REMEDY
from tray.language import phrase, say


class Health(enum.StrEnum):
    OK = "ok"
    ATTENTION = "attention"  # works, or is meant so; the user should know
    BROKEN = "broken"


class Cause(enum.Enum):
    """Why something is as it is. What is well has causes, too, as the report names it."""

    AGENT_ASKS = enum.auto()
    AGENT_BROKEN_PACKAGE = enum.auto()
    AGENT_CONNECTED = enum.auto()
    AGENT_NOT_ANSWERING = enum.auto()
    AGENT_NOT_ARRIVING = enum.auto()
    AGENT_NOT_CONNECTED = enum.auto()
    AGENT_OFF = enum.auto()
    AGENT_OTHER_HOME = enum.auto()
    AGENT_OUTDATED = enum.auto()
    AGENT_PACKAGE = enum.auto()
    AGENT_RELAY_GONE = enum.auto()
    AGENT_RELAY_UNUSABLE = enum.auto()
    AGENT_SILENT = enum.auto()
    AGENT_UNREADABLE = enum.auto()
    AGENT_UNSUPPORTED = enum.auto()
    AGENTS_NONE = enum.auto()
    BACKGROUND_CHILDREN = enum.auto()
    CALLS_RAN = enum.auto()
    CALLS_UNJUDGED = enum.auto()
    CONFIGURATION_BROKEN = enum.auto()
    CONFIGURATION_OK = enum.auto()
    DATABASE_DAMAGED = enum.auto()
    DATABASE_OK = enum.auto()
    DATABASE_SET_ASIDE = enum.auto()
    DATABASE_UNREADABLE = enum.auto()
    ENTRY_ALTERED = enum.auto()
    ENTRY_ELSEWHERE = enum.auto()
    ENTRY_FILE_GONE = enum.auto()
    ENTRY_GONE = enum.auto()
    ENTRY_NARROWED = enum.auto()
    ENTRY_RELAY_GONE = enum.auto()
    ENTRY_SWITCHED_OFF = enum.auto()
    ENTRY_UNREADABLE = enum.auto()
    ENTRY_WANTED = enum.auto()
    HOOK_BROKEN = enum.auto()
    HOOK_CHANGED = enum.auto()
    HOOK_DISABLED = enum.auto()
    HOOK_INACTIVE = enum.auto()
    HOOK_INJECTION = enum.auto()
    HOOK_LACKS = enum.auto()
    HOOK_MODEL_CALLS = enum.auto()
    HOOK_NO_MODEL = enum.auto()
    HOOK_NOT_TRIED = enum.auto()
    HOOK_OK = enum.auto()
    HOOK_UNKNOWN_EVENT = enum.auto()
    HOOK_UNREADABLE_OUTPUT = enum.auto()
    HOOK_WAITS = enum.auto()
    HOOK_WITHHELD = enum.auto()
    ICON_OK = enum.auto()
    ICON_UNSEEN = enum.auto()
    JOURNAL_DROPPED = enum.auto()
    JOURNAL_FAILING = enum.auto()
    JOURNAL_LATE = enum.auto()
    JOURNAL_OK = enum.auto()
    LEDGER_TAMPERED = enum.auto()
    MATCHER_NEVER = enum.auto()
    NOTIFICATIONS_NONE = enum.auto()
    NOTIFICATIONS_OK = enum.auto()
    PUSH_FAILED = enum.auto()
    PUSH_LACKS = enum.auto()
    PUSH_NO_IDLE = enum.auto()
    PUSH_OK = enum.auto()
    RELAY_OK = enum.auto()
    RELAY_PLACE = enum.auto()
    RELAY_PORTABLE = enum.auto()
    SETTING_WAITS = enum.auto()
    SOUND_MUTED = enum.auto()
    SOUND_NONE = enum.auto()
    SOUND_OK = enum.auto()
    SOUND_PACK = enum.auto()
    SOURCE_WARNING = enum.auto()
    STARTUP_FILE = enum.auto()
    STARTUP_FILE_CHANGED = enum.auto()
    STATE_LOST = enum.auto()
    STATE_UNSOLVED = enum.auto()
    SWITCH_OFF = enum.auto()
    SWITCH_OK = enum.auto()
    SWITCH_PAUSED = enum.auto()
    SWITCH_TAMPERED = enum.auto()
    TRAY_OK = enum.auto()
    TRAY_STOPPED = enum.auto()


class Explanation(msgspec.Struct, frozen=True):
    """One row of the table: the check that finds it, how bad it is, what to say and what to do, with `{values}`."""

    check: str
    health: Health
    message: str
    remedy: str = ""


OK, ATTENTION, BROKEN = Health.OK, Health.ATTENTION, Health.BROKEN
APPROVALS = "read and decide it in the tray's menu, Approvals, or on the page: hooktray open"
STARTUP_REMEDY = "look at it, and remove it if you did not put it there; the one-shot engine does not run it"
PUT_BACK = phrase("`{reconnect}` puts them back")
EXPLANATIONS: Mapping[Cause, Explanation] = {
    Cause.AGENT_ASKS: Explanation("agent", ATTENTION, "", "{remedy}"),
    Cause.AGENT_BROKEN_PACKAGE: Explanation("package", BROKEN, "{text}", "{remedy}"),
    Cause.AGENT_CONNECTED: Explanation("agent", OK, ""),
    Cause.AGENT_NOT_ANSWERING: Explanation("agent", BROKEN, "{problem}", "{remedy}"),
    Cause.AGENT_NOT_ARRIVING: Explanation("agent", BROKEN, "{problem}", "{remedy}"),
    Cause.AGENT_NOT_CONNECTED: Explanation("agent", ATTENTION, "", "`{reconnect}` connects it"),
    Cause.AGENT_OFF: Explanation("agent", ATTENTION, "", "{remedy}"),
    Cause.AGENT_OTHER_HOME: Explanation(
        "agent", ATTENTION, "", "its lines lead to another Hooktray; {reconnect} leads them here"
    ),
    Cause.AGENT_OUTDATED: Explanation(
        "agent", ATTENTION, "", "its lines are not those of this version; {reconnect} brings them up to date"
    ),
    Cause.AGENT_PACKAGE: Explanation("package", OK, "{agent}, a third-party agent, of {package}"),
    Cause.AGENT_RELAY_GONE: Explanation(
        "agent", ATTENTION, "", "{file} is not there any more, so its lines do nothing; {reconnect} mends them"
    ),
    Cause.AGENT_RELAY_UNUSABLE: Explanation(
        "agent", BROKEN, "{problem}, so its lines do nothing", "{remedy}"
    ),
    Cause.AGENT_SILENT: Explanation("agent", ATTENTION, "", "no event yet: start a session{more}"),
    Cause.AGENT_UNREADABLE: Explanation("agent", BROKEN, "{problem}", "{remedy}"),
    Cause.AGENT_UNSUPPORTED: Explanation(
        "agent", ATTENTION, "{text}",
        "switch other agents' hooks off in its settings, or do without guards there: docs/agent-status.md",
    ),
    Cause.AGENTS_NONE: Explanation(
        "agents", ATTENTION, "none is connected, so none tells Hooktray anything", "hooktray connect"
    ),
    Cause.BACKGROUND_CHILDREN: Explanation(
        "background", ATTENTION, "a hook's children still live, {seconds:.0f} s at most",
        "kill -- -{group}, or `background_seconds: 0` in the hook",
    ),
    Cause.CALLS_RAN: Explanation(
        "calls", BROKEN, "ran unjudged in the last 24 hours: {n}; the last: {last}",
        "`hooktray log --verdict unjudged` lists them; look for what answers the agent's events before Hooktray's "
        "lines do: mods, plugins and hooks of the project, and a command that timed out",
    ),
    Cause.CALLS_UNJUDGED: Explanation(
        "relay", ATTENTION, "{n} guarded calls went on while nothing could judge them, at agents that cannot ask",
        "`hooktray run` writes them into the journal; look there for what else is broken",
    ),
    Cause.CONFIGURATION_BROKEN: Explanation("configuration", BROKEN, "{problem}", "{remedy}"),
    Cause.CONFIGURATION_OK: Explanation("configuration", OK, "{text}"),
    Cause.DATABASE_DAMAGED: Explanation(
        "database", BROKEN, "is damaged",
        "a running tray sets it aside and begins a new one; else `hooktray run`",
    ),
    Cause.DATABASE_OK: Explanation("database", OK, "intact"),
    Cause.DATABASE_SET_ASIDE: Explanation(
        "database", ATTENTION, "one that does not count any more was set aside as {file}",
        "approve the hooks of each source again in the tray's menu, Approvals; then remove {path}",
    ),
    Cause.DATABASE_UNREADABLE: Explanation("database", BROKEN, "{problem}", "{remedy}"),
    Cause.ENTRY_ALTERED: Explanation(
        "agent", BROKEN, phrase("{file}: our entry for {events} was altered ({what})"), PUT_BACK
    ),
    Cause.ENTRY_ELSEWHERE: Explanation(
        "agent", BROKEN, phrase("{file}: our entry for {events} leads elsewhere now"), PUT_BACK
    ),
    Cause.ENTRY_FILE_GONE: Explanation("agent", BROKEN, phrase("{file} is gone, with our entries"), PUT_BACK),
    Cause.ENTRY_GONE: Explanation("agent", BROKEN, phrase("{file}: our entry for {events} is gone"), PUT_BACK),
    Cause.ENTRY_NARROWED: Explanation(
        "agent", BROKEN, phrase("{file}: our entry for {events} has other conditions ({what})"), PUT_BACK
    ),
    Cause.ENTRY_RELAY_GONE: Explanation(
        "agent", BROKEN, phrase("{file}: our entries start {program}, which is gone, so they do nothing"), PUT_BACK
    ),
    Cause.ENTRY_SWITCHED_OFF: Explanation("agent", ATTENTION, phrase("the agent runs no hook"), "{remedy}"),
    Cause.ENTRY_UNREADABLE: Explanation(
        "agent", BROKEN, "{problem}", phrase("correct that file; `{reconnect}` then looks at it again")
    ),
    Cause.ENTRY_WANTED: Explanation(
        "agent", ATTENTION, phrase("{file} has no entry for {events}, which a hook needs"),
        phrase("`{reconnect}` adds it"),
    ),
    Cause.HOOK_BROKEN: Explanation("hook", BROKEN, "{problem}", "{remedy}"),
    Cause.HOOK_CHANGED: Explanation("hook", ATTENTION, "{problem}", "{remedy}"),
    Cause.HOOK_DISABLED: Explanation(
        "hook", ATTENTION, "switched off by its own `enabled: false`", "write `enabled: true` in {source}"
    ),
    Cause.HOOK_INACTIVE: Explanation(
        "hook", ATTENTION, "inactive: {problem}", "change that in {source}, if you want it"
    ),
    Cause.HOOK_INJECTION: Explanation(
        "hook", ATTENTION, "its script names variables that no hook gets: {names}", "have the script set them itself"
    ),
    Cause.HOOK_LACKS: Explanation("hook", ATTENTION, "{problem}", "{remedy}"),
    Cause.HOOK_MODEL_CALLS: Explanation(
        "hook", ATTENTION, "asks a model before every call of a model: each costs time and money",
        "declare it for `prompt` or `turn_end`",
    ),
    Cause.HOOK_NO_MODEL: Explanation("hook", BROKEN, "no llm configured", LLM_REMEDY),
    Cause.HOOK_NOT_TRIED: Explanation("hook", ATTENTION, "not tried: {problem}", "`hooktray on` switches hooks on"),
    Cause.HOOK_OK: Explanation("hook", OK, "{text}"),
    Cause.HOOK_UNKNOWN_EVENT: Explanation(
        "hook", BROKEN, "no agent has the event `{event}`, so it is never asked", "name a known event in {source}"
    ),
    Cause.HOOK_UNREADABLE_OUTPUT: Explanation("hook", ATTENTION, "{problem}", "{remedy}"),
    Cause.HOOK_WAITS: Explanation("hook", ATTENTION, "waits for your approval and does not run", APPROVALS),
    Cause.HOOK_WITHHELD: Explanation(
        "hook", ATTENTION, "its script names variables that are withheld: {names}",
        "if it shall have them: `{command}`",
    ),
    Cause.ICON_OK: Explanation("icon", OK, "the icon is shown ({icon})"),
    Cause.ICON_UNSEEN: Explanation(
        "icon", ATTENTION, "{problem}",
        "run a StatusNotifier tray (Xfce, KDE Plasma, GNOME with AppIndicator), or use `hooktray open`",
    ),
    Cause.JOURNAL_DROPPED: Explanation(
        "journal", ATTENTION, "{n} rows could not be kept, ever", "see that {folder} is writable and not full"
    ),
    Cause.JOURNAL_FAILING: Explanation("journal", BROKEN, "cannot be written: {problem}", "{remedy}"),
    Cause.JOURNAL_LATE: Explanation("journal", ATTENTION, "{n} answers left before their row", "the disk is slow"),
    Cause.JOURNAL_OK: Explanation("journal", OK, "{n} decisions"),
    Cause.LEDGER_TAMPERED: Explanation(
        "database", BROKEN, "{problem}", "read `hooktray list` and approve again what is missing there"
    ),
    Cause.MATCHER_NEVER: Explanation(
        "matcher", ATTENTION, "{keys} matched none of the latest {n} events of its kind",
        "if that is a surprise, correct it in {source}",
    ),
    Cause.NOTIFICATIONS_NONE: Explanation(
        "notifications", ATTENTION, "no notification server: {problem}",
        "start a notification server (dunst, mako, your desktop's own) in the session of the tray",
    ),
    Cause.NOTIFICATIONS_OK: Explanation("notifications", OK, "a server is there"),
    Cause.PUSH_FAILED: Explanation(
        "push", ATTENTION, "{problem}", "`hooktray push test` tries all of them"
    ),
    Cause.PUSH_LACKS: Explanation("push", BROKEN, "needs Apprise, which is not installed", "{command}"),
    Cause.PUSH_NO_IDLE: Explanation(
        "push", ATTENTION, "nothing here says how long nobody used the desktop: only a locked screen counts as away",
        "write `when: always`, if that is too little",
    ),
    Cause.PUSH_OK: Explanation("push", OK, "sends to {services}"),
    Cause.RELAY_OK: Explanation("relay", OK, "native"),
    Cause.RELAY_PLACE: Explanation(
        "relay", BROKEN, "{problem}", "{remedy}"
    ),
    Cause.RELAY_PORTABLE: Explanation(
        "relay", ATTENTION, "the portable one is used, which is slower. {problem}",
        "install Hooktray with a C compiler there, then `hooktray connect` again",
    ),
    Cause.SETTING_WAITS: Explanation(
        "configuration", ATTENTION, "`{text}` does not count until it is confirmed",
        "tray's menu, Approvals; without an icon: hooktray open, or {approve}",
    ),
    Cause.SOUND_MUTED: Explanation("sound", ATTENTION, "muted", "untick *Mute sounds* in the tray's menu"),
    Cause.SOUND_NONE: Explanation(
        "sound", ATTENTION, "{problem}", "{remedy}",
    ),
    Cause.SOUND_OK: Explanation("sound", OK, "{text}"),
    Cause.SOUND_PACK: Explanation("sound", OK, "{line}"),
    Cause.SOURCE_WARNING: Explanation("source", ATTENTION, "{problem}", "{remedy}"),
    Cause.STARTUP_FILE: Explanation(
        "environment", ATTENTION, "{path} runs at each `hooktray` command, and no package brought it", STARTUP_REMEDY
    ),
    Cause.STARTUP_FILE_CHANGED: Explanation(
        "environment", ATTENTION, "{path} runs at each `hooktray` command, and it was changed since its package came",
        STARTUP_REMEDY,
    ),
    Cause.STATE_LOST: Explanation(
        "tray", ATTENTION, "{problem}", "find out what deletes it; the menu's first row shows this, too"
    ),
    Cause.STATE_UNSOLVED: Explanation(
        "tray", BROKEN, "{problem}",
        "make room there, or make the folder above it writable; the tray tries again by itself",
    ),
    Cause.SWITCH_OFF: Explanation("switch", ATTENTION, "off: no hook runs", "hooktray on"),
    Cause.SWITCH_OK: Explanation("switch", OK, "on"),
    Cause.SWITCH_PAUSED: Explanation("switch", ATTENTION, "paused until {until}", "hooktray on"),
    Cause.SWITCH_TAMPERED: Explanation(
        "switch", BROKEN, "{problem}", "look for who did; `hooktray on` puts it right"
    ),
    Cause.TRAY_OK: Explanation("tray", OK, "running, process {pid}"),
    Cause.TRAY_STOPPED: Explanation(
        "tray", ATTENTION, "not running: hooks run, nothing is shown or told", "hooktray run"
    ),
}  # fmt: skip
# Causes that mean that an agent does not ask Hooktray where it did: the tray announces them and offers to mend them.
ENTRY_CAUSES = frozenset(cause for cause in Cause if cause.name.startswith("ENTRY_"))


class Finding(msgspec.Struct, frozen=True, kw_only=True):
    """One line of the report: a cause, what it is about, and the values of its words."""

    cause: Cause
    name: str
    values: Mapping[str, object] = {}
    lead: str = ""  # words before the message

    @property
    def check(self) -> str:
        return EXPLANATIONS[self.cause].check

    @property
    def health(self) -> Health:
        return EXPLANATIONS[self.cause].health

    @property
    def message(self) -> str:
        return ": ".join(filter(None, (self.lead, self._text(EXPLANATIONS[self.cause].message))))

    @property
    def remedy(self) -> str:
        """What exactly to do about it; "" where nothing is to be done."""
        return self._text(EXPLANATIONS[self.cause].remedy)

    @property
    def row(self) -> Mapping[str, str]:
        """For `hooktray doctor --json`."""
        return {
            "check": self.check,
            "name": self.name,
            "health": self.health.value,
            "message": self.message,
            "remedy": self.remedy,
        }

    def _text(self, text: str) -> str:
        return say(text).format(**self.values) if text else ""


def failing_names(results: Iterable[Finding]) -> frozenset[str]:
    """The broken hooks; the menu and `hooktray status` count them with those that failed when they last ran."""
    return frozenset(one.name for one in results if one.check == "hook" and one.health is Health.BROKEN)
