"""Pure: the user's settings for alerts, without the classes that the menu turned off."""

from __future__ import annotations

from collections.abc import Collection

import msgspec

from tray.settings import AlertRule, Settings

SILENT = AlertRule(notify=False, sound="none", sound_name="")


def mute_classes(settings: Settings, muted: Collection[str]) -> Settings:
    """What the menu turned off is off in every project."""
    if not muted:
        return settings
    off = dict.fromkeys(muted, SILENT)
    projects = {name: {**rules, **off} for name, rules in settings.projects.items()}
    return msgspec.structs.replace(settings, alerts={**settings.alerts, **off}, projects=projects)
