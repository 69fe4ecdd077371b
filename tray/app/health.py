"""What only the running tray knows of itself: `status` and `doctor` request it."""

from __future__ import annotations

import time
from collections.abc import Mapping

from tray.desktop.icon import Icon
from tray.execution.command import BackgroundProcesses
from tray.store.journal import Journal


def runtime_health(
    icon: Icon, background: BackgroundProcesses, journal: Journal, problems: Mapping[str, object]
) -> Mapping[str, object]:
    """`problems` is what went wrong last with notifications and sounds, and which hooks fail."""
    now = time.monotonic()
    return {
        "icon": icon.name if icon.visible else "",
        "reason": icon.reason,
        "background": [[group, round(deadline - now, 1)] for group, deadline in background.alive().items()],
        "late": journal.late_count,
        **problems,
    }
