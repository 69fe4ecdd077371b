"""The second back end on Windows: a balloon at the icon that is there already, and no icon of its own."""

from __future__ import annotations

import asyncio

from notify.samples import Balloons, alert, notifier

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
    icon = Balloons()
    sent, _ = send(alert(title="t" * 100, body="🪝" * 300), BalloonBackend(icon))

    assert sent is Delivery.SENT

    assert icon.shown == [("t" * 63, "🪝" * 127)]


def test_without_an_icon_it_fails_and_says_why() -> None:
    sent, error = send(alert(), BalloonBackend(Balloons(icon=False)))

    assert sent is Delivery.FAILED
    assert error == "balloon: there is no tray icon at which it could be shown"
