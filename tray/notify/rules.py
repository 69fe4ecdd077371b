"""Pure: which of the user's rules apply to one project: its own, else those for all, else none."""

from __future__ import annotations

from collections.abc import Collection

from tray.notify.alert import Rules
from tray.settings import AlertRule, Settings


def rules(settings: Settings, project: str = "", muted: Collection[str] = ()) -> Rules:
    """By class; `muted` are the classes that the menu turned off, which overrides every file."""
    own = settings.projects.get(project, {})
    merged = {cls: _overlay(own.get(cls), settings.alerts.get(cls)) for cls in {*own, *settings.alerts}}
    return merged | {cls: _overlay(AlertRule(notify=False, sound="none"), merged.get(cls)) for cls in muted}


def _overlay(rule: AlertRule | None, default: AlertRule | None) -> AlertRule:
    """Key by key."""
    if rule is None or default is None:
        return rule or default or AlertRule()
    return AlertRule(
        notify=default.notify if rule.notify is None else rule.notify,
        sound=default.sound if rule.sound is None else rule.sound,
        urgency=rule.urgency or default.urgency,
        sound_name=default.sound_name if rule.sound_name is None else rule.sound_name,
    )
