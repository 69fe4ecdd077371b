"""A tray's alerts, with one thread for all; remembers what was opened and shown."""

from __future__ import annotations

from collections.abc import Callable
from typing import cast

from house import House
from notify import samples

from tray.desktop.alert_controller import AlertController
from tray.desktop.menu.actions import Action, ShowReason
from tray.desktop.opener import Opener
from tray.desktop.session_focus import SessionFocus
from tray.engine.user_questions import UserQuestions
from tray.event_loop import LoopThread
from tray.model.event import Event
from tray.notify.alert import Alert, FixedSettings
from tray.notify.alert_gate import NOTHING_PROVED, Attention
from tray.sessions.session_tracker import SessionTracker


class AlertBench(samples.Surroundings):
    """The controller, and a stand-in for each part that it holds; work in the background is done at once."""

    def __init__(self, house: House) -> None:
        self.house = house
        self.loop = LoopThread()
        self.opened: list[str] = []
        self.alerts: list[Alert] = []
        self.alerting = AlertController(
            self.loop.loop, self, self, house.stores, FixedSettings(), UserQuestions(),
            deliveries=self, sessions=cast(SessionTracker, self), places=cast(SessionFocus, self), presence=self,
            timer=self, opener=Opener(), folder=house.paths.state,
        )  # fmt: skip
        self.alerting.menu = self.alerting.presenter = self
        self.alerting.alerts = samples.service(self)

    def announce(self, alerts: tuple[Alert, ...], record: str = "", /) -> None:
        self.alerts += alerts

    def withdraw(self, keys: tuple[str, ...]) -> None:
        raise AssertionError(keys)

    def act(self, action: Action) -> None:
        assert isinstance(action, ShowReason)
        self.opened.append(action.record)

    def post(self, work: Callable[[], object]) -> None:
        work()

    def spawn(self, work: Callable[[], object]) -> bool:
        work()
        return True

    def look(self, agent: str, session: str, answer: Callable[[Attention], None]) -> None:
        answer(NOTHING_PROVED)

    def show(self) -> None: ...
    def go(self, agent: str, session: str) -> None: ...
    def asked(self, event: Event) -> None: ...
    def alerted(self, ids: tuple[str, ...], word: str) -> None: ...

    @property
    def last(self) -> Alert:
        return self.alerts[-1]

    def close(self) -> None:
        self.alerting.close()
        self.loop.close()
