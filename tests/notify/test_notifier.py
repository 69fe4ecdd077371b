"""Alerts reach a notification server on a real bus, by either backend, and a bad server holds nobody up."""

from __future__ import annotations

import asyncio
import html
import os
from collections.abc import Awaitable, Callable
from pathlib import Path

import pytest
from every import every
from notify import parts, samples
from notify.parts import Recorder, tell
from notify.samples import Clicks, alert, until

from tray.notify.alert import Alert, Button, Urgency
from tray.notify.desktop_notifier_backend import DesktopNotifierBackend
from tray.notify.fallback_backends import ButtonlessBackend, NotifySendBackend, PlyerBackend
from tray.notify.freedesktop import FreedesktopBackend
from tray.notify.notifier import Delivery, NotificationBackend, Notifier, NotifierError

pytestmark = pytest.mark.desktop

Do = Callable[[Notifier], Awaitable[None]]
BACKENDS: list[type[DesktopNotifierBackend] | type[NotifySendBackend]] = [DesktopNotifierBackend, NotifySendBackend]


def run(do: Do, *backends: NotificationBackend, timeout: float = samples.LONG) -> Notifier:
    async def main() -> Notifier:
        notifier = samples.notifier(*backends, timeout=timeout)
        try:
            await do(notifier)
        finally:
            await notifier.disconnect()
        return notifier

    return asyncio.run(main())


def send(*alerts: Alert, expect: Delivery = Delivery.SENT) -> Do:
    async def do(notifier: Notifier) -> None:
        for one in alerts:
            assert await notifier.send(one) is expect, notifier.last_error

    return do


@pytest.mark.parametrize(("backend", "urgency"), [(DesktopNotifierBackend, 2), (NotifySendBackend, 1)])
def test_an_alert_arrives_with_its_text_and_urgency(
    server: Recorder, backend: Callable[[], NotificationBackend], urgency: int
) -> None:
    notifier = run(send(alert(urgency=Urgency.CRITICAL)), backend())

    (call,) = server.calls()
    assert (call["app"], call["title"], call["body"]) == ("Hooktray", "claude-code · shop", "Turn ended")
    assert (call["urgency"], notifier.working) == (urgency, backend().name)


def test_plyer_delivers_where_the_ways_before_it_failed(server: Recorder) -> None:
    broken, text = Broken(), "1 < 2 & <b>bold</b> \\o/"

    notifier = run(send(alert(title="-u critical", body=text)), broken, PlyerBackend())

    (call,) = server.calls()
    assert (call["app"], call["title"], html.unescape(call["body"])) == ("Hooktray", " -u critical", text)
    assert (notifier.working, notifier.last_error != "") == ("plyer", True), "what failed before it stays known"


async def fails(notifier: Notifier) -> None:
    assert await notifier.send(alert()) is Delivery.FAILED


def test_the_notifier_reports_that_no_backend_reaches_the_desktop(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("DBUS_SESSION_BUS_ADDRESS", "unix:path=/nonexistent/bus")

    errors = [run(fails, *backends).last_error for backends in ([PlyerBackend()], [PlyerBackend("darwin")], [])]

    assert errors[0].startswith("plyer: ")
    assert errors[1:] == ["plyer: pyobjus is not installed", "there is no way to the desktop"]


def test_an_alert_replaces_the_earlier_one_with_its_key_and_a_withdrawn_one_is_closed(
    server: Recorder,
) -> None:
    async def do(notifier: Notifier) -> None:
        for one in (alert(body="one"), alert(body="two"), alert(body="three", key="other")):
            await notifier.send(one)
        await notifier.take_down("other")
        await notifier.take_down("nobody")

    run(do, DesktopNotifierBackend())

    assert [call["id"] for call in server.calls("Close")] == [1, 3]
    assert [call["body"] for call in server.calls()] == ["one", "two", "three"]


def test_a_click_returns_the_alert_and_does_not_block_the_next_one(server: Recorder) -> None:
    clicks = Clicks()
    sent = alert(url="https://s.dev/c/9")

    async def do(notifier: Notifier) -> None:
        await notifier.send(sent)
        await tell("Press", "us", 1, "default")
        await until(lambda: clicks.counted)
        assert await notifier.send(alert(body="again")) is Delivery.SENT

    run(do, DesktopNotifierBackend(clicks))

    assert clicks.counted == [(sent, Button.DEFAULT)]
    assert server.calls("Close") == []


@pytest.mark.parametrize("backend", BACKENDS)
@pytest.mark.parametrize(
    ("capabilities", "body"),
    [(("body",), "a < b & <b>c</b>"), (("body", "body-markup"), "a &lt; b &amp; &lt;b&gt;c&lt;/b&gt;")],
)
def test_markup_is_escaped_exactly_where_it_is_read(
    bus: str, tmp_path: Path, backend: Callable[[], NotificationBackend], capabilities: tuple[str, ...], body: str
) -> None:
    with parts.recording_server(tmp_path, os.environ, *capabilities) as recorder:
        run(send(alert(body="a < b & <b>c</b>")), backend())

    assert [call["body"] for call in recorder.calls()] == [body]


HOSTILE = [
    *["-u", "--help", "-A=x", "--icon=/etc/passwd", "--replace-id=7", "--", "-", "$(id)", "%s%n"],
    "'; id",
    r"\033[31m\n\101",
]


@pytest.mark.parametrize("backend", BACKENDS)
def test_no_text_is_taken_for_an_option_or_lost(server: Recorder, backend: Callable[[], NotificationBackend]) -> None:
    texts = [*HOSTILE, "", "x\\"]
    run(send(*(alert(title=text, body=text, key=text) for text in texts)), backend())

    calls = server.calls()
    assert [call["body"].lstrip(" ") for call in calls] == texts
    assert [call["title"].lstrip(" ") for call in calls if call["title"] != "Hooktray"] == [
        text for text in texts if text
    ]
    assert {call["replaces"] for call in calls} == {0}


@pytest.mark.parametrize("backend", BACKENDS)
@every("mode", ["hang", "deaf"])
def test_a_server_that_hangs_delays_only_until_its_time_limit(
    server: Recorder, backend: Callable[[], NotificationBackend], mode: str
) -> None:
    server.mode(mode)

    notifier = run(send(alert(), expect=Delivery.FAILED), backend(), timeout=0.3)

    assert notifier.last_error == f"{backend().name}: no answer in 0.3 s"


def test_a_server_that_refuses_is_reported_with_its_reason(
    server: Recorder, caplog: pytest.LogCaptureFixture
) -> None:
    server.mode("refuse")

    notifier = run(send(alert(), alert(), expect=Delivery.FAILED), DesktopNotifierBackend())

    assert notifier.last_error == "desktop-notifier: too many"
    assert [record.getMessage() for record in caplog.records] == ["notification: desktop-notifier: too many"]


@pytest.mark.parametrize("backend", [FreedesktopBackend, *BACKENDS])
def test_without_a_server_or_a_bus_the_alert_fails_and_says_why(
    bus: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, backend: Callable[[], NotificationBackend]
) -> None:
    without_server = run(send(alert(), expect=Delivery.FAILED), backend())
    monkeypatch.setenv("DBUS_SESSION_BUS_ADDRESS", f"unix:path={tmp_path}/nobody")
    without_bus = run(send(alert(), expect=Delivery.FAILED), backend())

    assert "org.freedesktop.Notifications was not provided" in without_server.last_error
    assert without_bus.last_error.startswith(f"{backend().name}: ")


def test_alerts_arrive_again_after_the_server_hung_or_was_replaced(bus: str, tmp_path: Path) -> None:
    folders = [tmp_path / "first", tmp_path / "second"]
    for folder in folders:
        folder.mkdir()
    recorders: list[Recorder] = []
    backend = DesktopNotifierBackend()

    async def do(notifier: Notifier) -> None:
        with parts.recording_server(folders[0], os.environ) as first:
            await notifier.send(alert(body="one"))
            first.mode("hang")
            assert await samples.notifier(backend, timeout=0.5).send(alert(body="lost")) is Delivery.FAILED
            first.mode("")
            assert await notifier.send(alert(body="two")) is Delivery.SENT
            recorders.append(first)
        with parts.recording_server(folders[1], os.environ) as second:
            assert await notifier.send(alert(body="three")) is Delivery.SENT
            recorders.append(second)

    run(do, backend)

    assert [[call["body"] for call in recorder.calls()] for recorder in recorders] == [["one", "two"], ["three"]]
    assert recorders[1].calls("Close") == []  # number 1 there is somebody else's


class Broken(ButtonlessBackend):
    """A backend that never works, and records what is withdrawn."""

    name = "broken"

    def __init__(self) -> None:
        self.asked = 0
        self.withdrawn: list[str] = []

    async def withdraw(self, key: str) -> None:
        self.withdrawn.append(key)

    async def send(self, alert: Alert) -> None:
        self.asked += 1
        raise ValueError("what a library might raise")


def test_the_way_that_works_is_asked_first_the_next_time(server: Recorder) -> None:
    broken = Broken()

    notifier = run(send(alert(), alert(), alert()), broken, NotifySendBackend())

    assert (broken.asked, broken.withdrawn, len(server.calls())) == (1, [], 3)
    assert notifier.working == "notify-send"


class FailsSecondTime(Broken):
    """Works the first time and from the third on."""

    async def send(self, alert: Alert) -> None:
        self.asked += 1
        if self.asked == 2:
            raise NotifierError("too soon")


class Late(Broken):
    """Shows what it is sent after its time limit."""

    async def send(self, alert: Alert) -> None:
        await asyncio.Event().wait()


def test_what_a_back_end_may_show_after_its_time_limit_is_withdrawn_there(server: Recorder) -> None:
    late = Late()

    async def do(notifier: Notifier) -> None:
        await notifier.send(alert(key="q"))
        await notifier.take_down("q")

    run(do, late, NotifySendBackend(), timeout=5)

    assert late.withdrawn == ["q"]


def test_a_question_tries_the_first_back_end_though_the_next_one_works(server: Recorder) -> None:
    first = FailsSecondTime()
    question = alert(key="q", about="q", buttons=(Button.ALLOW, Button.DENY))

    notifier = run(send(alert(), alert(), alert(), question), first, NotifySendBackend())

    assert first.asked == 3  # the third alert went to the back end that worked
    assert len(server.calls()) == 2
    assert notifier.working == first.name


def test_an_alert_is_withdrawn_where_it_was_shown_though_another_back_end_works_now(server: Recorder) -> None:
    first = FailsSecondTime()

    async def do(notifier: Notifier) -> None:
        await notifier.send(alert(key="q"))
        await notifier.send(alert())
        await notifier.take_down("q")

    run(do, first, NotifySendBackend())

    assert first.withdrawn == ["q"]
