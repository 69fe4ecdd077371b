"""Pure: the user's rules for alerts, without the classes that the menu turned off."""

from __future__ import annotations

from collections.abc import Collection, Mapping

from tray.settings import AlertRule

SILENT = AlertRule(notify=False, sound="none")


def told(rules: Mapping[str, AlertRule], untold: Collection[str]) -> Mapping[str, AlertRule]:
    return {**rules, **dict.fromkeys(untold, SILENT)} if untold else rules
