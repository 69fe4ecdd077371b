"""Pure: which of the user's rules apply to one project: its own, else those for all, else none."""

from __future__ import annotations

from collections.abc import Collection

from tray.notify.alert import Rules
from tray.settings import AlertRule, Settings, overlay


def rules(settings: Settings, project: str = "", muted: Collection[str] = ()) -> Rules:
    """By class; `muted` are the classes that the menu turned off, which overrides every file."""
    own = settings.projects.get(project, {})
    merged = {cls: overlay(own.get(cls), settings.alerts.get(cls)) for cls in {*own, *settings.alerts}}
    return merged | {cls: overlay(AlertRule(notify=False, sound="none"), merged.get(cls)) for cls in muted}
