"""The second back end on Windows: a balloon at the icon that is there already, and no icon of its own."""

from __future__ import annotations

import asyncio

from notify.parts import alert

from tray.app.alert_controller import backends
from tray.notify.fallback_backends import BalloonBackend
from tray.notify.notifier import Delivery, NotifierChain


def test_title_and_text_go_to_the_icon_as_long_as_windows_takes_them() -> None:
    shown: list[tuple[str, str]] = []

    def show(title: str, text: str) -> bool:
        shown.append((title, text))
        return True

    chain = NotifierChain([BalloonBackend(show)])

    assert asyncio.run(chain.send(alert(title="t" * 100, body="🪝" * 300))) is Delivery.SENT

    assert shown == [("t" * 63, "🪝" * 127)]


def test_without_an_icon_it_fails_and_says_why() -> None:
    chain = NotifierChain([BalloonBackend(lambda title, text: False)])

    assert asyncio.run(chain.send(alert())) is Delivery.FAILED

    assert chain.last_error == "balloon: there is no tray icon at which it could be shown"


def test_each_system_has_its_own_second_way() -> None:
    names = {
        system: [one.name for one in backends(lambda *_: None, lambda _: True, lambda *_: True, system)]
        for system in ("linux", "darwin", "win32")
    }

    assert names == {
        "linux": ["D-Bus", "notify-send"],
        "darwin": ["desktop-notifier", "osascript"],
        "win32": ["desktop-notifier", "balloon"],
    }
