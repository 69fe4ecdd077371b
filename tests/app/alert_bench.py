"""A tray's alerts, with one thread for all; remembers what was opened and shown."""

from __future__ import annotations

from house import House

from tray.app.alert_controller import AlertController
from tray.app.alert_ports import AlertActions, AlertPorts
from tray.engine.user_questions import UserQuestions
from tray.event_loop import LoopThread
from tray.notify.alert import Alert
from tray.notify.service import AlertService
from tray.settings import Settings


class AlertBench:
    def __init__(self, house: House) -> None:
        self.house = house
        self.loop = LoopThread()
        self.opened: list[str] = []
        self.alerts: list[Alert] = []
        self.alerting = AlertController(
            self.loop.loop,
            lambda work: work(),
            AlertPorts(
                settings=Settings,
                ask_agents=tuple,
                muted=lambda: True,
                on_delivery=lambda records, word: None,
                icon_visible=lambda: True,
                show_balloon=lambda title, text: False,
                trusts=lambda pid: True,
            ),
            UserQuestions(),
        )
        self.alerting.actions = AlertActions(show_reason=self.opened.append)
        self.alerting.alerts = AlertService(self, Settings)

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
