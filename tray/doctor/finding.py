"""The input of the doctor's checks, and their findings: a cause with its values.

One table has each cause's severity, words and remedy.
"""

from __future__ import annotations

import enum
import os
from collections.abc import Iterable, Mapping, Sequence

import msgspec

from tray.approvals.catalog import HookCatalog
from tray.approvals.remedies import LLM_REMEDY
from tray.engine.stores import Stores
from tray.ipc.health import TrayHealth
from tray.language import count, phrase, say
from tray.paths import Paths


class Health(enum.StrEnum):
    OK = "ok"
    ATTENTION = "attention"  # works, or is meant so; the user should know
    BROKEN = "broken"


class Explanation(msgspec.Struct, frozen=True, eq=False):
    """One row of the table: its check, its health, and message and remedy with `{values}` as placeholders.

    Rows are compared by identity, as two causes may have the same words.
    """

    check: str
    health: Health
    message: str
    remedy: str = ""


OK, ATTENTION, BROKEN = Health.OK, Health.ATTENTION, Health.BROKEN
APPROVALS = "read and decide it in the tray's menu, Approvals, or on the page: hooktray open"
STARTUP_REMEDY = "look at it, and remove it if you did not put it there; the one-shot engine does not run it"
RELAY_BACK = "`hooktray run` or `hooktray connect` puts it back; find out who changes it"
START_TRAY = "start the tray (`hooktray run`) and try again; if that does not help, {reconnect}"
PUT_BACK = phrase("`{reconnect}` puts them back")


# fmt: off
class Cause(enum.Enum):
    """The causes that checks report, also for what is well: one table with the message and remedy of each."""

    AGENT_ASKS = Explanation("agent", ATTENTION, "")
    AGENT_BROKEN_PACKAGE = Explanation("package", BROKEN, "{text}")
    AGENT_CONNECTED = Explanation("agent", OK, "")
    AGENT_NOT_ANSWERING = Explanation("agent", BROKEN, "{problem}", START_TRAY)
    AGENT_NOT_ARRIVING = Explanation("agent", BROKEN, "{problem}", START_TRAY)
    AGENT_NOT_CONNECTED = Explanation("agent", ATTENTION, "", "`{reconnect}` connects it")
    AGENT_NOTHING_ARRIVES = Explanation("agent", BROKEN, "{problem}")  # for a reason that another finding has
    AGENT_OFF = Explanation("agent", ATTENTION, "")
    AGENT_OTHER_HOME = Explanation(
        "agent", ATTENTION, "", "its lines lead to another Hooktray; {reconnect} leads them here"
    )
    AGENT_OUTDATED = Explanation(
        "agent", ATTENTION, "", "its lines are not those of this version; {reconnect} brings them up to date"
    )
    AGENT_PACKAGE = Explanation("package", OK, "{agent}, a third-party agent, of {package}")
    AGENT_RELAY_GONE = Explanation(
        "agent", ATTENTION, "", "{file} is not there any more, so its lines do nothing; {reconnect} mends them"
    )
    AGENT_RELAY_UNUSABLE = Explanation(
        "agent", BROKEN, "{problem}, so its lines do nothing"
    )
    AGENT_SILENT = Explanation("agent", ATTENTION, "", "no event yet: start a session{more}")
    AGENT_UNREADABLE = Explanation("agent", BROKEN, "{problem}")
    AGENT_UNSUPPORTED = Explanation(
        "agent", ATTENTION, "{text}",
        "switch other agents' hooks off in its settings, or do without guards there: docs/agent-status.md",
    )
    AGENTS_NONE = Explanation(
        "agents", ATTENTION, "none is connected, so none tells Hooktray anything", "hooktray connect"
    )
    BACKGROUND_CHILDREN = Explanation(
        "background", ATTENTION, "a hook's children still live, {seconds:.0f} s at most",
        "kill -- -{group}, or `background_seconds: 0` in the hook",
    )
    CALLS_RAN = Explanation(
        "calls", BROKEN, "ran unjudged in the last 24 hours: {n}; the last: {last}",
        "`hooktray log --verdict unjudged` lists them; look for what answers the agent's events before Hooktray's "
        "lines do: mods, plugins and hooks of the project, and a command that timed out",
    )
    CALLS_UNJUDGED = Explanation(
        "relay", ATTENTION, "{n} guarded calls went on while nothing could judge them, at agents that cannot ask",
        "`hooktray run` writes them into the journal; look there for what else is broken",
    )
    CONFIGURATION_BROKEN = Explanation("configuration", BROKEN, "{problem}", "hooktray config check")
    CONFIGURATION_OK = Explanation("configuration", OK, "{text}")
    DATABASE_DAMAGED = Explanation(
        "database", BROKEN, "is damaged",
        "a running tray sets it aside and begins a new one; else `hooktray run`",
    )
    DATABASE_OK = Explanation("database", OK, "intact")
    DATABASE_SET_ASIDE = Explanation(
        "database", ATTENTION, "one that does not count any more was set aside as {file}",
        "approve the hooks of each source again in the tray's menu, Approvals; then remove {path}",
    )
    DATABASE_UNREADABLE = Explanation("database", BROKEN, "{problem}")
    ENTRY_ALTERED = Explanation(
        "agent", BROKEN, phrase("{file}: our entry for {events} was altered ({what})"), PUT_BACK
    )
    ENTRY_ELSEWHERE = Explanation(
        "agent", BROKEN, phrase("{file}: our entry for {events} leads elsewhere now"), PUT_BACK
    )
    ENTRY_FILE_GONE = Explanation("agent", BROKEN, phrase("{file} is gone, with our entries"), PUT_BACK)
    ENTRY_GONE = Explanation("agent", BROKEN, phrase("{file}: our entry for {events} is gone"), PUT_BACK)
    ENTRY_NARROWED = Explanation(
        "agent", BROKEN, phrase("{file}: our entry for {events} has other conditions ({what})"), PUT_BACK
    )
    ENTRY_RELAY_GONE = Explanation(
        "agent", BROKEN, phrase("{file}: our entries start {program}, which is gone, so they do nothing"), PUT_BACK
    )
    ENTRY_SWITCHED_OFF = Explanation("agent", ATTENTION, phrase("the agent runs no hook"))
    ENTRY_UNREADABLE = Explanation(
        "agent", BROKEN, "{problem}", phrase("correct that file; `{reconnect}` then looks at it again")
    )
    ENTRY_WANTED = Explanation(
        "agent", ATTENTION, phrase("{file} has no entry for {events}, which a hook needs"),
        phrase("`{reconnect}` adds it"),
    )
    HOOK_BROKEN = Explanation("hook", BROKEN, "{problem}")
    HOOK_CHANGED = Explanation("hook", ATTENTION, "{problem}", APPROVALS)
    HOOK_DISABLED = Explanation(
        "hook", ATTENTION, "switched off by its own `enabled: false`", "write `enabled: true` in {source}"
    )
    HOOK_FAILED = Explanation("hook", BROKEN, "{problem}", "`{command}` shows all of it")
    HOOK_INACTIVE = Explanation(
        "hook", ATTENTION, "inactive: {problem}", "change that in {source}, if you want it"
    )
    HOOK_INJECTION = Explanation(
        "hook", ATTENTION, "its script names variables that no hook gets: {names}", "have the script set them itself"
    )
    HOOK_LACKS = Explanation("hook", ATTENTION, "{problem}")
    HOOK_MODEL_CALLS = Explanation(
        "hook", ATTENTION, "asks a model before every call of a model: each costs time and money",
        "declare it for `prompt` or `turn_end`",
    )
    HOOK_NO_MODEL = Explanation("hook", BROKEN, "no llm configured", LLM_REMEDY)
    HOOK_NOT_TRIED = Explanation("hook", ATTENTION, "not tried: {problem}", "`hooktray on` switches hooks on")
    HOOK_OK = Explanation("hook", OK, "{text}")
    HOOK_UNKNOWN_EVENT = Explanation(
        "hook", BROKEN, "no agent has the event `{event}`, so it is never asked", "name a known event in {source}"
    )
    HOOK_UNREADABLE_OUTPUT = Explanation("hook", ATTENTION, "{problem}")
    HOOK_WAITS = Explanation("hook", ATTENTION, "waits for your approval and does not run", APPROVALS)
    HOOK_WITHHELD = Explanation(
        "hook", ATTENTION, "its script names variables that are withheld: {names}",
        "if it shall have them: `{command}`",
    )
    ICON_OK = Explanation("icon", OK, "the icon is shown ({icon})")
    ICON_UNSEEN = Explanation(
        "icon", ATTENTION, "{problem}",
        "run a StatusNotifier tray (Xfce, KDE Plasma, GNOME with AppIndicator), or use `hooktray open`",
    )
    JOURNAL_DROPPED = Explanation(
        "journal", ATTENTION, "{n} rows could not be kept, ever", "see that {folder} is writable and not full"
    )
    JOURNAL_FAILING = Explanation("journal", BROKEN, "cannot be written: {problem}")
    JOURNAL_LATE = Explanation("journal", ATTENTION, "{n} answers were sent before their row", "the disk is slow")
    JOURNAL_OK = Explanation("journal", OK, "{n} decisions")
    LEDGER_TAMPERED = Explanation(
        "database", BROKEN, "{problem}", "read `hooktray list` and approve again what is missing there"
    )
    MATCHER_NEVER = Explanation(
        "matcher", ATTENTION, "{keys} matched none of the latest {n} events of its kind",
        "if that is a surprise, correct it in {source}",
    )
    NOTIFICATIONS_NONE = Explanation(
        "notifications", ATTENTION, "no notification server: {problem}",
        "start a notification server (dunst, mako, your desktop's own) in the session of the tray",
    )
    NOTIFICATIONS_OK = Explanation("notifications", OK, "a server is there")
    PUSH_FAILED = Explanation(
        "push", ATTENTION, "{problem}", "`hooktray push test` tries all of them"
    )
    PUSH_LACKS = Explanation("push", BROKEN, "needs Apprise, which is not installed", "{command}")
    PUSH_NO_IDLE = Explanation(
        "push", ATTENTION, "nothing here says how long nobody used the desktop: only a locked screen counts as away",
        "write `when: always`, if that is too little",
    )
    PUSH_OK = Explanation("push", OK, "sends to {services}")
    RELAY_ALTERED = Explanation("relay", BROKEN, "{file} was altered", RELAY_BACK)
    RELAY_ARCHITECTURE = Explanation("relay", BROKEN, "{file} is a program for another processor", RELAY_BACK)
    RELAY_ELSEWHERE = Explanation("relay", BROKEN, "{file} leads to another Hooktray ({state})", RELAY_BACK)
    RELAY_FOLDER = Explanation(
        "relay", BROKEN, "{file} is a folder", "move it away; then `hooktray connect` puts the relay there"
    )
    RELAY_MISSING = Explanation("relay", BROKEN, "{file} is missing", RELAY_BACK)
    RELAY_NOEXEC = Explanation(
        "relay", BROKEN, "{file} is on a file system that runs no programs (noexec)",
        "use a folder on another file system: `hooktray --home DIR connect`, and start the tray with the same "
        "--home; or mount this one with exec",
    )
    RELAY_NOT_EXECUTABLE = Explanation("relay", BROKEN, "{file} is not executable", RELAY_BACK)
    RELAY_OK = Explanation("relay", OK, "native")
    RELAY_OTHER = Explanation("relay", BROKEN, "{file} is not the one of this version", RELAY_BACK)
    RELAY_PORTABLE = Explanation(
        "relay", ATTENTION, "the portable one is used, which is slower. {problem}",
        "install Hooktray with a C compiler there, then `hooktray connect` again",
    )
    RELAY_TABLE_ALTERED = Explanation(
        "relay", BROKEN,
        "{file} was altered, so the relay may not know where the tray is or which tools are guarded", RELAY_BACK,
    )
    RELAY_TABLE_MISSING = Explanation(
        "relay", BROKEN, "{file} is missing, so the relay does not know where the tray is", RELAY_BACK
    )
    SETTING_WAITS = Explanation(
        "configuration", ATTENTION, "`{text}` does not count until it is confirmed",
        "tray's menu, Approvals; without an icon: hooktray open, or {approve}",
    )
    SOUND_MUTED = Explanation("sound", ATTENTION, "muted", "untick *Mute sounds* in the tray's menu")
    SOUND_NO_DEVICE = Explanation(
        "sound", ATTENTION, "{problem}",
        "choose a device that plays sounds in the system's settings, or write `sound: none`",
    )
    SOUND_NO_PLAYER = Explanation(
        "sound", ATTENTION, "{problem}",
        "install a sound server's player (pipewire-bin, pulseaudio-utils), or write `sound: none`",
    )
    SOUND_OK = Explanation("sound", OK, "{text}")
    SOUND_PACK = Explanation("sound", OK, "{line}")
    SOURCE_WARNING = Explanation("source", ATTENTION, "{problem}", "correct that file; its other hooks count")
    STARTUP_FILE = Explanation(
        "environment", ATTENTION, "{path} runs at each `hooktray` command, and no package brought it", STARTUP_REMEDY
    )
    STARTUP_FILE_CHANGED = Explanation(
        "environment", ATTENTION, "{path} runs at each `hooktray` command, and it was changed since its package came",
        STARTUP_REMEDY,
    )
    STATE_LOST = Explanation(
        "tray", ATTENTION, "{problem}", "find out what deletes it; the menu's first row shows this, too"
    )
    STATE_UNSOLVED = Explanation(
        "tray", BROKEN, "{problem}",
        "make room there, or make the folder above it writable; the tray tries again by itself",
    )
    SWITCH_OFF = Explanation("switch", ATTENTION, "off: no hook runs", "hooktray on")
    SWITCH_OK = Explanation("switch", OK, "on")
    SWITCH_PAUSED = Explanation("switch", ATTENTION, "paused until {until}", "hooktray on")
    SWITCH_TAMPERED = Explanation(
        "switch", BROKEN, "{problem}", "look for who did; `hooktray on` puts it right"
    )
    TRAY_OK = Explanation("tray", OK, "running, process {pid}")
    TRAY_STOPPED = Explanation(
        "tray", ATTENTION, "not running: hooks run, nothing is shown or told", "hooktray run"
    )
# fmt: on


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
        return self.cause.value.check

    @property
    def health(self) -> Health:
        return self.cause.value.health

    @property
    def severity(self) -> int:
        return list(Health).index(self.health)

    @property
    def message(self) -> str:
        return ": ".join(filter(None, (self.lead, self._text(self.cause.value.message))))

    @property
    def remedy(self) -> str:
        """What exactly to do about it: the `remedy` of its values, else that of the table; "" for none."""
        return str(self.values.get("remedy", "")) or self._text(self.cause.value.remedy)

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


def found(cause: Cause, name: str, **values: object) -> Finding:
    return Finding(cause=cause, name=name, values=values)


class CheckContext(msgspec.Struct, frozen=True, kw_only=True):
    """The input of the checks. `tray` is the report of the running tray; None if none runs.

    `static`: checks start no program of the user's.
    """

    paths: Paths
    stores: Stores
    catalog: HookCatalog
    tray: TrayHealth | None = None
    static: bool = False
    environment: Mapping[str, str] = msgspec.field(default_factory=lambda: dict(os.environ))


def listed(names: Sequence[str], most: int) -> str:
    """Returns the first `most` names, and the number of the others."""
    shown, more = ", ".join(names[:most]), len(names) - most
    return f"{shown} " + count("and {n} more", "and {n} more", more) if more > 0 else shown


def failing_names(results: Iterable[Finding]) -> frozenset[str]:
    """The broken hooks; the menu and `hooktray status` count them with those that failed when they last ran."""
    return frozenset(one.name for one in results if one.check == "hook" and one.health is Health.BROKEN)
