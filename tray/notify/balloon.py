"""The second back end on Windows: a balloon at the tray icon that is there already."""

from __future__ import annotations

from collections.abc import Callable

from tray.notify.alert import APP, Alert
from tray.notify.notifier import NotifierError, ServerState

WIDTH_LIMITS = (63, 255)  # UTF-16 units that Windows takes for title and text


class BalloonBackend:
    """Shows title and text; no button, no replacing. `show` returns whether an icon exists."""

    name = "balloon"

    def __init__(self, show: Callable[[str, str], bool]) -> None:
        self._show = show

    async def send(self, alert: Alert) -> None:
        title, text = render(alert)
        if not self._show(title, text or " "):  # without a text Windows shows nothing
            raise NotifierError("there is no tray icon at which it could be shown")

    async def withdraw(self, key: str) -> None:
        """It has no handle on the alerts that it showed."""

    async def server_state(self) -> ServerState:
        return ServerState()

    async def close(self) -> None:
        """Nothing is kept open."""


def render(alert: Alert) -> tuple[str, str]:
    """Title and text as the structure of Windows holds them."""
    return _cut(alert.title or APP, WIDTH_LIMITS[0]), _cut(alert.body, WIDTH_LIMITS[1])


def _cut(text: str, units: int) -> str:
    return text.encode("utf-16-le")[: 2 * units].decode("utf-16-le", errors="ignore")
