"""Toasts on Windows: what the back end asks of winrt, told by a stand-in that records it (not run on Windows)."""

from __future__ import annotations

import asyncio
import platform
import sys
from collections.abc import Awaitable, Callable, Iterator
from types import ModuleType, SimpleNamespace

import pytest
from notify.samples import Balloons, Clicks, alert, notifier, until
from notify.toasts import NotificationSetting, ToastNotificationMode, ToastNotificationPriority, Toasts, modules

from tray.notify.alert import APP, Button, Urgency
from tray.notify.desktop_notifier_backend import DesktopNotifierBackend
from tray.notify.fallback_backends import BalloonBackend
from tray.notify.notifier import Delivery, Notifier

LIBRARY = "desktop_notifier.backends.winrt"


@pytest.fixture
def toasts(monkeypatch: pytest.MonkeyPatch) -> Iterator[Toasts]:
    """This system has none: the library gets the stand-in, and takes the system for Windows."""
    for name, module in modules().items():
        monkeypatch.setitem(sys.modules, name, module)
    monkeypatch.setitem(sys.modules, "winreg", ModuleType("winreg"))
    monkeypatch.setattr(platform, "system", lambda: "Windows")
    monkeypatch.setattr(platform, "version", lambda: "10.0.19045")
    monkeypatch.setattr("tray.notify.desktop_notifier_backend.sys", SimpleNamespace(platform="win32"))
    sys.modules.pop(LIBRARY, None)
    yield Toasts()
    sys.modules.pop(LIBRARY, None)


def run(do: Callable[[Notifier], Awaitable[object]], backend: DesktopNotifierBackend) -> list[tuple[str, str]]:
    """The balloons that were shown instead."""
    balloons = Balloons()

    async def all_of_it() -> None:
        chain = notifier(backend, BalloonBackend(balloons))
        await do(chain)
        await chain.disconnect()

    asyncio.run(all_of_it())
    return balloons.shown


def test_a_toast_has_title_and_text_as_they_are_and_makes_no_sound_of_its_own(toasts: Toasts) -> None:
    sent = alert(title="R&D <b>", body='a < b && "c" · 守卫', urgency=Urgency.CRITICAL)

    balloons = run(lambda chain: chain.send(sent), DesktopNotifierBackend())

    assert (toasts.texts, balloons, toasts.names) == ([["R&D <b>", 'a < b && "c" · 守卫']], [], [APP])
    assert toasts.shown[0]._content.find("audio").attrib == {"silent": "true"}  # type: ignore[union-attr]
    assert toasts.shown[0].priority is ToastNotificationPriority.HIGH


def test_a_button_is_reported_with_its_alert_and_none_of_them_allows_anything(toasts: Toasts) -> None:
    clicks = Clicks()
    sent = alert(buttons=(Button.ALLOW, Button.DENY, Button.DETAILS))

    async def do(chain: Notifier) -> None:
        await chain.send(sent)
        toasts.press(0, "Details")
        await until(lambda: clicks.counted)

    run(do, DesktopNotifierBackend(clicks))

    assert toasts.labels(0) == ["Deny", "Details"]
    assert clicks.counted == [(sent, Button.DETAILS)]


def test_the_earlier_toast_with_the_same_key_is_taken_away(toasts: Toasts) -> None:
    async def do(chain: Notifier) -> None:
        await chain.send(alert(key="a"))
        await chain.send(alert(key="b"))
        await chain.send(alert(key="a"))

    run(do, DesktopNotifierBackend())

    first = toasts.shown[0]
    assert toasts.removed == [(first.tag, first.group, APP)]
    assert len({one.tag for one in toasts.shown}) == 3


def test_where_the_user_allows_no_toasts_it_is_a_balloon(toasts: Toasts) -> None:
    toasts.setting = NotificationSetting.DISABLED_FOR_USER
    found: list[Delivery] = []

    async def do(chain: Notifier) -> None:
        found.append(await chain.send(alert()))

    balloons = run(do, DesktopNotifierBackend())

    assert (toasts.shown, found) == ([], [Delivery.SENT])
    assert balloons == [("claude-code · shop", "Turn ended")]


@pytest.mark.parametrize(
    ("mode", "may_interrupt"),
    [(ToastNotificationMode.UNRESTRICTED, True), (ToastNotificationMode.PRIORITY_ONLY, False), (None, True)],
)
def test_do_not_disturb_of_windows_is_respected_where_it_can_be_known(
    toasts: Toasts, mode: ToastNotificationMode | None, may_interrupt: bool
) -> None:
    toasts.mode = mode
    found: list[bool] = []

    async def do(chain: Notifier) -> None:
        found.append((await chain.server_state()).may_interrupt)

    run(do, DesktopNotifierBackend())

    assert found == [may_interrupt]
