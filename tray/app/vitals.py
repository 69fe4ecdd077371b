"""What only the running tray knows of itself: `status` and `doctor` ask for it."""

from __future__ import annotations

import time
from collections.abc import Mapping

from tray.alerts.notifier import Notifier
from tray.alerts.sound import Player
from tray.desktop.icon import Icon
from tray.engine.runners.command import Background
from tray.store.journal import Journal


def vitals(
    icon: Icon, background: Background, journal: Journal, notifier: Notifier, player: Player
) -> Mapping[str, object]:
    now = time.monotonic()
    return {
        "icon": icon.name if icon.visible else "",
        "reason": icon.reason,
        "background": [[group, round(deadline - now, 1)] for group, deadline in background.living().items()],
        "late": journal.late,
        "notifications": "" if notifier.working else notifier.last_error,
        "sound": player.last_error,
    }
