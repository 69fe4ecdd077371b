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


def _overlay(nearer: AlertRule | None, farther: AlertRule | None) -> AlertRule:
    """Key by key."""
    if nearer is None or farther is None:
        return nearer or farther or AlertRule()
    return AlertRule(
        notify=farther.notify if nearer.notify is None else nearer.notify,
        sound=farther.sound if nearer.sound is None else nearer.sound,
        urgency=nearer.urgency or farther.urgency,
        sound_name=farther.sound_name if nearer.sound_name is None else nearer.sound_name,
    )
