"""The second back end on Windows: a balloon at the icon that is there already, and no icon of its own."""

from __future__ import annotations

import asyncio

from notify.samples import alert, notifier

from tray.app.alert_controller import backends
from tray.notify.alert import Alert
from tray.notify.fallback_backends import BalloonBackend
from tray.notify.notifier import Delivery


def send(one: Alert, backend: BalloonBackend) -> tuple[Delivery, str]:
    """What became of it, and the error."""

    async def main() -> tuple[Delivery, str]:
        sender = notifier(backend)
        return await sender.send(one), sender.last_error

    return asyncio.run(main())


def test_title_and_text_go_to_the_icon_as_long_as_windows_takes_them() -> None:
    shown: list[tuple[str, str]] = []

    def show(title: str, text: str) -> bool:
        shown.append((title, text))
        return True

    sent, _ = send(alert(title="t" * 100, body="🪝" * 300), BalloonBackend(show))

    assert sent is Delivery.SENT

    assert shown == [("t" * 63, "🪝" * 127)]


def test_without_an_icon_it_fails_and_says_why() -> None:
    sent, error = send(alert(), BalloonBackend(lambda title, text: False))

    assert sent is Delivery.FAILED
    assert error == "balloon: there is no tray icon at which it could be shown"


def test_each_system_has_its_own_second_way_and_plyer_as_the_last() -> None:
    names = {
        system: [one.name for one in backends(lambda *_: None, lambda _: True, lambda *_: True, system)]
        for system in ("linux", "darwin", "win32")
    }

    assert names == {
        "linux": ["D-Bus", "notify-send", "plyer"],
        "darwin": ["desktop-notifier", "osascript", "plyer"],
        "win32": ["desktop-notifier", "balloon", "plyer"],
    }
