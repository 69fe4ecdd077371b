"""The second back end on Windows: a balloon at the tray icon that is there already."""

from __future__ import annotations

from collections.abc import Callable

from tray.notify.alert import Alert
from tray.notify.notifier import NotifierError, ServerState
from tray.notify.plyer_backend import render


class BalloonBackend:
    """Shows title and text; no button, no replacing. `show` says whether there is an icon."""

    name = "balloon"

    def __init__(self, show: Callable[[str, str], bool]) -> None:
        self._show = show

    async def send(self, alert: Alert) -> None:
        title, text = render(alert, markup=False, platform="win32")
        if not self._show(title, text or " "):  # without a text Windows shows nothing
            raise NotifierError("there is no tray icon at which it could be shown")

    async def withdraw(self, key: str) -> None:
        """It has no handle on the alerts that it showed."""

    async def server_state(self) -> ServerState:
        return ServerState()

    async def close(self) -> None:
        """Nothing is kept open."""
