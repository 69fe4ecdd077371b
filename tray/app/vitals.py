"""What only the running tray knows of itself: `status` and `doctor` ask for it."""

from __future__ import annotations

import time
from collections.abc import Mapping

from tray.desktop.icon import Icon
from tray.engine.runners.command import Background
from tray.store.journal import Journal


def vitals(icon: Icon, background: Background, journal: Journal, told: Mapping[str, object]) -> Mapping[str, object]:
    """`told` is what went wrong last with notifications and sounds, and which hooks are in trouble."""
    now = time.monotonic()
    return {
        "icon": icon.name if icon.visible else "",
        "reason": icon.reason,
        "background": [[group, round(deadline - now, 1)] for group, deadline in background.living().items()],
        "late": journal.late,
        **told,
    }
