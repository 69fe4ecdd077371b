"""A tray's alerts, with one thread for all; remembers what was opened and shown."""

from __future__ import annotations

from house import House

from tray.alerts.alert import Alert
from tray.alerts.herald import Herald
from tray.app.alerting import Alerting
from tray.settings import Settings
from tray.threads import Loop


class AlertBench:
    def __init__(self, house: House) -> None:
        self.house = house
        self.loop = Loop()
        self.opened: list[str] = []
        self.alerts: list[Alert] = []
        self.alerting = Alerting(
            loop=self.loop.loop,
            do=lambda work: work(),
            settings=Settings,
            asking=tuple,
            muted=lambda: True,
            heard=lambda records, word: None,
            seen=lambda: True,
            trusts=lambda pid: True,
        )
        self.alerting.reason = self.opened.append
        self.alerting.herald = Herald(self, Settings)

    def announce(self, alerts: tuple[Alert, ...], record: str = "", /) -> None:
        self.alerts += alerts

    def withdraw(self, keys: tuple[str, ...]) -> None:
        raise AssertionError(keys)

    @property
    def last(self) -> Alert:
        return self.alerts[-1]

    def close(self) -> None:
        self.alerting.close()
        self.loop.close()
