"""Pure: which alerts the user wants: the rules of a project, the classes that the menu turned off, quiet hours."""

from __future__ import annotations

from collections.abc import Collection
from datetime import datetime, timedelta

import msgspec

from tray.notify.alert import Rules
from tray.settings import AlertRule, QuietHours, Settings, overlay

SILENT = AlertRule(notify=False, sound="none", sound_name="")
DAYS = ("mon", "tue", "wed", "thu", "fri", "sat", "sun")


def rules(settings: Settings, project: str = "") -> Rules:
    """Those of one project, by class: its own, else those for all, else none."""
    own = settings.projects.get(project, {})
    return {cls: overlay(own.get(cls), settings.alerts.get(cls)) for cls in {*own, *settings.alerts}}


def mute_classes(settings: Settings, muted: Collection[str]) -> Settings:
    """The settings without what the menu turned off, in every project."""
    if not muted:
        return settings
    off = dict.fromkeys(muted, SILENT)
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
