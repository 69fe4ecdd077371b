"""An alert, and a notifier that sends it: what the tests of every system's notifications use."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from typing import Any

from tray.notify.notifier import NotificationBackend, Notifier
from tray.notify.policy import Alert, AlertClass, Urgency
from tray.notify.sound import Player

LONG = 60.0  # seconds; every wait ends far earlier unless something is broken


def alert(title: str = "claude-code · shop", body: str = "Turn ended", **fields: Any) -> Alert:
    base: dict[str, Any] = {
        "cls": AlertClass.TURN_END,
        "urgency": Urgency.NORMAL,
        "sound": "chime",
        "notify": True,
        "key": "claude-code|s1|turn_end",
    }
    return Alert(title=title, body=body, **(base | fields))


def notifier(*backends: NotificationBackend, timeout: float = LONG) -> Notifier:
    """A notifier on the running loop; it plays no sounds."""
    return Notifier(asyncio.get_running_loop(), lambda: backends, Player(), lambda: True, lambda *_: None, timeout)


async def until(condition: Callable[[], object]) -> None:
    async with asyncio.timeout(LONG):
        while not condition():
            await asyncio.sleep(0.005)
