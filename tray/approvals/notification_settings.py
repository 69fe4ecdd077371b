"""Pure: which edits of the file reduce notifications so that a person must confirm them, and the values until then.

Those are notifications about questions, refusals, failed hooks, unjudged calls, waiting approvals, changed hooks and
switching (decision 39). Each key is judged by itself. An edit that adds notifications applies at once.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from functools import cache

import msgspec

from tray.settings import SOUNDS, AlertRule, JournalLimits, QuietHours, Settings, overlay, ready_for_threads
from tray.text import sanitise

# As in DEFAULTS of tray/notify/alert.py: the urgency and the sound of each class that only a person may make quieter.
HELD_CLASSES = {
    "asked": ("critical", "bell"),
    "blocked": ("normal", "low"),
    "hook_failed": ("normal", "alarm"),
    "hook_timed_out": ("normal", "alarm"),
    "unjudged": ("critical", "alarm"),
    "approval_pending": ("normal", "tick"),
    "changed": ("normal", "tick"),
    "switched": ("normal", "tick"),
}
URGENCIES = ("low", "normal", "critical")
NO_SOUND = ("", "none")
AUDIBLE = 0.1  # a volume below it counts as none
DAY = 24 * 60  # minutes
WEEK = 7 * DAY
DAYS = ("mon", "tue", "wed", "thu", "fri", "sat", "sun")

Rules = dict[str, AlertRule]


@ready_for_threads
class NotificationSettings(msgspec.Struct, frozen=True, kw_only=True):
    """The part of the settings that decides how loud those notifications are."""

    alerts: Rules = {}
    projects: dict[str, Rules] = {}
    quiet_hours: QuietHours | None = None
    volume: float = 1.0
    sound_pack: str = ""
    question_seconds: float = 60.0
    journal: JournalLimits = JournalLimits()

    def encode(self) -> str:
        return msgspec.json.encode(self, order="deterministic").decode()


def notification_settings(settings: Settings) -> NotificationSettings:
    """The part of these settings."""
    projects = {name: _held(rules) for name, rules in settings.projects.items()}
    return NotificationSettings(
        alerts=_held(settings.alerts),
        projects={name: rules for name, rules in projects.items() if rules},
        quiet_hours=settings.quiet_hours,
        volume=settings.volume,
        sound_pack=settings.sound_pack,
        question_seconds=settings.ask_on_desktop.seconds,
        journal=settings.journal,
    )


def decode(text: str) -> NotificationSettings:
    """What was kept; the defaults, which hold nothing back, where nothing readable was."""
    try:
        return msgspec.json.decode(text, type=NotificationSettings) if text else NotificationSettings()
    except msgspec.DecodeError:
        return NotificationSettings()


def with_notifications(settings: Settings, part: NotificationSettings) -> Settings:
    """The settings with this part in place of their own."""
    return msgspec.structs.replace(
        settings,
        alerts={**_others(settings.alerts), **part.alerts},
        projects={
            name: {**_others(settings.projects.get(name, {})), **part.projects.get(name, {})}
            for name in {**settings.projects, **part.projects}
        },
        quiet_hours=part.quiet_hours,
        volume=part.volume,
        sound_pack=part.sound_pack,
        ask_on_desktop=msgspec.structs.replace(settings.ask_on_desktop, seconds=part.question_seconds),
        journal=part.journal,
    )


def reductions(new: NotificationSettings, old: NotificationSettings) -> tuple[str, ...]:
    """The keys of `new`, with their values, that tell a person less than `old` does."""
    return tuple(_reductions(new, old))


def loudest(new: NotificationSettings, old: NotificationSettings) -> NotificationSettings:
    """`new`, with the values of `old` where `new` has less."""
    if not reductions(new, old):
        return new
    scopes = {name: _loudest_rules(new, old, name) for name in ("", *_projects(new, old))}
    shorter = new.question_seconds < old.question_seconds
    limits = {
        key: max(getattr(new.journal, key), getattr(old.journal, key)) for key in JournalLimits.__struct_fields__
    }
    return NotificationSettings(
        alerts=scopes.pop(""),
        projects={name: rules for name, rules in scopes.items() if rules},
        quiet_hours=old.quiet_hours if _adds_quiet_time(new.quiet_hours, old.quiet_hours) else new.quiet_hours,
        volume=old.volume if _is_softer(new.volume, old.volume) else new.volume,
        sound_pack=old.sound_pack if _is_other_pack(new, old) else new.sound_pack,
        question_seconds=old.question_seconds if shorter else new.question_seconds,
        journal=JournalLimits(**limits),
    )


def _reductions(new: NotificationSettings, old: NotificationSettings) -> Iterator[str]:
    for project in ("", *_projects(new, old)):
        place = f"projects.{sanitise(project, 60)}" if project else "alerts"
        # What holds for all projects is named once.
        known = set(_rule_reductions(new, old, "")) if project else set()
        for cls, key, value in _rule_reductions(new, old, project):
            if (cls, key, value) not in known:
                yield f"{place}.{cls}.{key} {value}"
    if new.quiet_hours is not None and _adds_quiet_time(new.quiet_hours, old.quiet_hours):
        days = f" {','.join(new.quiet_hours.days)}" if new.quiet_hours.days else ""
        yield f"quiet_hours {new.quiet_hours.begin}-{new.quiet_hours.end}{days}"
    if _is_softer(new.volume, old.volume):
        yield f"volume {new.volume:g}"
    if _is_other_pack(new, old):
        yield f"sound_pack {sanitise(new.sound_pack, 120)}"
    if new.question_seconds < old.question_seconds:
        yield f"ask_on_desktop.seconds {new.question_seconds:g}"
    for key in JournalLimits.__struct_fields__:
        if getattr(new.journal, key) < getattr(old.journal, key):
            yield f"journal.{key} {getattr(new.journal, key):g}"


def _rule_reductions(
    new: NotificationSettings, old: NotificationSettings, project: str
) -> Iterator[tuple[str, str, str]]:
    for cls in HELD_CLASSES:
        rule, before = _rule(new, project, cls), _rule(old, project, cls)
        for key in _reduced_keys(cls, rule, before):
            value = getattr(rule, key)
            yield cls, key, "as usual" if value is None else sanitise(str(value).lower(), 60) or "none"


def _loudest_rules(new: NotificationSettings, old: NotificationSettings, project: str) -> Rules:
    made = {}
    for cls in HELD_CLASSES:
        rule, before = _rule(new, project, cls), _rule(old, project, cls)
        kept = {key: getattr(before, key) for key in _reduced_keys(cls, rule, before)}
        made[cls] = msgspec.structs.replace(rule, **kept)
    return {cls: rule for cls, rule in made.items() if rule != AlertRule()}


def _reduced_keys(cls: str, new: AlertRule, old: AlertRule) -> Iterator[str]:
    urgency, sound = HELD_CLASSES[cls]
    if new.notify is False and old.notify is not False:
        yield "notify"
    if URGENCIES.index(new.urgency or urgency) < URGENCIES.index(old.urgency or urgency):
        yield "urgency"
    new_sound = sound if new.sound is None else new.sound
    old_sound = sound if old.sound is None else old.sound
    if _is_quieter(new_sound, old_sound):
        yield "sound"
    # A server that has no sound of that name plays none; without the name ours is played, if there is one.
    if new.sound_name != old.sound_name and (new.sound_name or (old.sound_name and new_sound in NO_SOUND)):
        yield "sound_name"


def _is_quieter(new: str, old: str) -> bool:
    """It is not known what a file sounds like, so it counts as less than a sound of ours and than another file."""
    if new == old or old in NO_SOUND:
        return False
    return new not in SOUNDS


def _is_softer(new: float, old: float) -> bool:
    return new < min(old, AUDIBLE)


def _is_other_pack(new: NotificationSettings, old: NotificationSettings) -> bool:
    """Hooktray cannot know what it sounds like; our own sounds are never less."""
    return new.sound_pack not in ("", old.sound_pack)


def _adds_quiet_time(new: QuietHours | None, old: QuietHours | None) -> bool:
    return bool(_quiet_minutes(new) & ~_quiet_minutes(old))


@cache
def _minutes(begin: str, end: str, days: tuple[str, ...]) -> int:
    """The minutes of a week in which it is quiet, as bits."""
    first, last = (int(at[:2]) * 60 + int(at[3:]) for at in (begin, end))
    length = last - first if last > first else last - first + DAY  # the same time twice is a whole day
    found = 0
    for number, day in enumerate(DAYS):
        if not days or day in days:
            found |= ((1 << length) - 1) << (number * DAY + first)
    return (found | found >> WEEK) & ((1 << WEEK) - 1)  # Sunday's night ends on Monday


def _quiet_minutes(hours: QuietHours | None) -> int:
    return 0 if hours is None else _minutes(hours.begin, hours.end, tuple(hours.days))


def _rule(part: NotificationSettings, project: str, cls: str) -> AlertRule:
    return overlay(part.projects.get(project, {}).get(cls), part.alerts.get(cls))


def _projects(new: NotificationSettings, old: NotificationSettings) -> tuple[str, ...]:
    return tuple({**new.projects, **old.projects})


def _held(rules: Mapping[str, AlertRule]) -> Rules:
    return {cls: rule for cls, rule in rules.items() if cls in HELD_CLASSES and rule != AlertRule()}


def _others(rules: Mapping[str, AlertRule]) -> Rules:
    return {cls: rule for cls, rule in rules.items() if cls not in HELD_CLASSES}
