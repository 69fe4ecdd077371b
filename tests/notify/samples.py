"""An alert, a service, a notifier, and stand-ins for what they hold, for the tests of every system."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable
from typing import Any, cast

from tray.clock import Clock
from tray.notify.alert import Alert, AlertClass, Button, FixedSettings, SettingsInForce, Urgency
from tray.notify.notifier import NotificationBackend, Notifier
from tray.notify.own_alerts import AlertSink
from tray.notify.service import AlertService
from tray.notify.sound import Player
from tray.store.journal import Journal
from tray.store.switch import Switch, SwitchState

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


class Surroundings:
    """What a service holds beside gate and settings: it knows no session, and does at once what is due later."""

    def is_first(self, key: str) -> bool:
        return True

    def name(self, agent: str, session: str) -> str:
        return ""

    def is_headless(self, agent: str, session: str) -> bool:
        return False

    def can_focus(self, agent: str, session: str) -> bool:
        return False

    def after(self, seconds: float, work: Callable[[], object]) -> None:
        work()


def service(
    gate: AlertSink, settings: SettingsInForce | None = None, around: Surroundings | None = None, clock: Clock = time
) -> AlertService:
    around = around or Surroundings()
    return AlertService(
        gate, settings or FixedSettings(), notices=cast(Journal, around), sessions=around, places=around,
        timer=around, clock=clock,
    )  # fmt: skip


class Clicks:
    """Records the buttons that were pressed, and which processes were judged. Stand-in for the controller."""

    def __init__(self, trusted: bool = True) -> None:
        self.trusted = trusted
        self.counted: list[tuple[Alert, Button]] = []
        self.judged: list[int] = []

    def pressed(self, alert: Alert, button: Button) -> None:
        self.counted.append((alert, button))

    @property
    def answers(self) -> list[tuple[str, Button]]:
        """The buttons that were pressed, with the subjects of their alerts."""
        return [(alert.about, button) for alert, button in self.counted]

    def trusts(self, pid: int) -> bool:
        self.judged.append(pid)
        return self.trusted

    def rejected(self, pid: int, alert: Alert, button: Button) -> None: ...


class Balloons:
    """Records the balloons at the tray icon, if there is one."""

    def __init__(self, *, icon: bool = True) -> None:
        self.icon = icon
        self.shown: list[tuple[str, str]] = []

    def show_balloon(self, title: str, text: str) -> bool:
        if self.icon:
            self.shown.append((title, text))
        return self.icon


class Desktop:
    """A desktop with these back ends, on which sounds are off; nothing is noted."""

    current = SwitchState(muted=True)

    def __init__(self, *backends: NotificationBackend) -> None:
        self._backends = backends

    def backends(self) -> tuple[NotificationBackend, ...]:
        return self._backends

    def alerted(self, ids: tuple[str, ...], word: str) -> None: ...


def notifier(*backends: NotificationBackend, timeout: float = LONG) -> Notifier:
    """A notifier on the running loop; it plays no sounds."""
    desktop = Desktop(*backends)
    return Notifier(
        asyncio.get_running_loop(), desktop, Player(FixedSettings()), cast(Switch, desktop), desktop, timeout
    )


async def until(condition: Callable[[], object]) -> None:
    async with asyncio.timeout(LONG):
        while not condition():
            await asyncio.sleep(0.005)
