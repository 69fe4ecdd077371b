"""The second back end on Windows: a balloon at the icon that is there already, and no icon of its own."""

from __future__ import annotations

import asyncio

from notify.samples import Balloons, alert, notifier

from tray.notify.fallback_backends import BalloonBackend
from tray.notify.notifier import Delivery


def test_a_balloon_has_title_and_text_as_long_as_windows_takes_them_and_fails_without_an_icon() -> None:
    icon = Balloons()

    async def main() -> None:
        shown = await notifier(BalloonBackend(icon)).send(alert(title="t" * 100, body="🪝" * 300))
        without = notifier(BalloonBackend(Balloons(icon=False)))
        assert (shown, await without.send(alert())) == (Delivery.SENT, Delivery.FAILED)
        assert without.last_error == "balloon: there is no tray icon at which it could be shown"

    asyncio.run(main())

    assert icon.shown == [("t" * 63, "🪝" * 127)]
