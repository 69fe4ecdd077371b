"""Our own way to the notification server: in place, with buttons that only the real server can press, once."""

from __future__ import annotations

import asyncio
import sys

import pytest

if sys.platform != "linux":
    pytest.skip("D-Bus", allow_module_level=True)

from dbus_fast import Message
from dbus_fast.aio import MessageBus
from every import every
from notify import samples
from notify.parts import DISMISSED, Recorder, run, tell
from notify.samples import Clicks, alert, until

from tray.notify.alert import Alert, Button
from tray.notify.freedesktop import FreedesktopBackend
from tray.notify.notifier import TIMEOUT, Delivery, NotifierError, ServerState
from tray.notify.server import NAME, PATH

pytestmark = pytest.mark.desktop

QUESTION = alert(key="q", about="q1", buttons=(Button.ALLOW, Button.DENY, Button.DETAILS))


def test_an_alert_replaces_the_earlier_one_with_its_key_in_place(server: Recorder) -> None:
    async def do(backend: FreedesktopBackend) -> None:
        for one in (alert(body="one"), alert(body="two"), alert(body="three", key="other")):
            await backend.send(one)

    run(do)

    assert [(call["body"], call["replaces"]) for call in server.calls()] == [("one", 0), ("two", 1), ("three", 0)]
    assert server.calls("Close") == []


def test_buttons_are_offered_and_each_counts_once(server: Recorder) -> None:
    clicks = Clicks()

    async def do(backend: FreedesktopBackend) -> None:
        await backend.send(QUESTION)
        for key in ("details", "allow", "allow", "snooze", "nonsense", "deny"):
            await tell("Press", "us", 1, key)
        await until(lambda: len(clicks.answers) == 3)

    run(do, clicks)

    (call,) = server.calls()
    assert call["actions"][2:] == ["allow", "Allow", "deny", "Deny", "details", "Details"]
    assert call["hints"]["resident"] is True
    assert sorted(clicks.answers) == [("q1", Button.ALLOW), ("q1", Button.DENY), ("q1", Button.DETAILS)]
    assert len(clicks.judged) == 1
    assert clicks.judged[0] > 1


def test_a_server_that_an_agent_started_can_deny_but_neither_allow_nor_undo(server: Recorder) -> None:
    clicks = Clicks(trusted=False)

    async def do(backend: FreedesktopBackend) -> None:
        await backend.send(QUESTION)
        await backend.send(alert(key="s", about="undo-1", buttons=(Button.UNDO,)))
        await tell("Press", "us", 1, "allow")
        await tell("Press", "us", 2, "undo")
        await until(lambda: len(clicks.judged) == 2)
        await tell("Press", "us", 1, "deny")
        await until(lambda: clicks.answers)

    run(do, clicks)

    assert clicks.answers == [("q1", Button.DENY)]


def test_a_button_pressed_by_anybody_else_does_nothing(server: Recorder) -> None:
    clicks = Clicks()

    async def do(backend: FreedesktopBackend) -> None:
        await backend.send(QUESTION)
        forger = await MessageBus().connect()
        for number in (1, 2):
            await forger.send(Message.new_signal(PATH, NAME, "ActionInvoked", "us", [number, "allow"]))
        for number in (2, 7):  # the server itself, for what is not ours
            await tell("Press", "us", number, "allow")
        await forger.call(
            Message(destination=NAME, path=PATH, interface=NAME, member="CloseNotification", signature="u", body=[1])
        )
        await tell("Press", "us", 1, "allow")  # closed meanwhile
        forger.disconnect()
        await backend.send(alert(key="last"))

    run(do, clicks)

    assert clicks.answers == []


def test_a_question_that_is_refused_as_a_repetition_is_sent_again_with_its_buttons(server: Recorder) -> None:
    server.mode("no-repeats")

    async def do(backend: FreedesktopBackend) -> None:
        for key in ("q1", "q2"):
            await backend.send(alert(key=key, about=key, buttons=(Button.ALLOW, Button.DENY)))

    run(do)

    first, second = server.calls()
    assert second["actions"] == first["actions"]
    assert [call["replaces"] for call in (first, second)] == [0, 0]
    assert len(server.calls("Asked")) == 3


def test_an_alert_that_is_always_refused_as_too_soon_fails_after_three_attempts(server: Recorder) -> None:
    server.mode("too-soon")

    async def do(backend: FreedesktopBackend) -> None:
        with pytest.raises(NotifierError, match="too soon"):
            await asyncio.wait_for(backend.send(QUESTION), TIMEOUT)

    run(do)

    assert len(server.calls("Asked")) == 3


def test_an_alert_that_is_withdrawn_before_it_is_sent_again_is_not_shown(server: Recorder) -> None:
    server.mode("too-soon")

    async def do(backend: FreedesktopBackend) -> None:
        sending = asyncio.create_task(backend.send(QUESTION))
        await until(lambda: backend._refused)
        await backend.withdraw("q")
        server.mode("")
        await sending

    run(do)

    assert server.calls() == []


def test_what_is_closed_while_its_replacement_is_refused_is_not_replaced(server: Recorder) -> None:
    clicks = Clicks()

    async def do(backend: FreedesktopBackend) -> None:
        await backend.send(QUESTION)
        server.mode("too-soon")
        sending = asyncio.create_task(backend.send(QUESTION))
        await until(lambda: backend._refused)
        await tell("Drop", "uu", 1, DISMISSED)
        server.mode("")
        await sending
        await tell("Press", "us", 2, "deny")
        await until(lambda: clicks.answers)

    run(do, clicks)

    assert [call["replaces"] for call in server.calls()] == [0, 0]


def test_an_alert_that_took_too_long_leaves_the_others_alone_and_is_ours_once_it_is_shown(server: Recorder) -> None:
    clicks = Clicks()
    late = alert(key="late", about="q2", buttons=(Button.DENY,))

    async def do(backend: FreedesktopBackend) -> None:
        await backend.send(QUESTION)
        server.mode("late")
        await give_up(server, backend, late)
        server.mode("")
        await until(lambda: len(server.calls()) == 2)
        await until_pressed(2, "deny", clicks)
        await tell("Press", "us", 1, "deny")
        await until(lambda: len(clicks.answers) == 2)
        await backend.withdraw("late")
        await backend.withdraw("q")

    run(do, clicks)

    assert clicks.answers == [("q2", Button.DENY), ("q1", Button.DENY)]
    assert [call["id"] for call in server.calls("Close")] == [2, 1]


async def give_up(server: Recorder, backend: FreedesktopBackend, late: Alert) -> None:
    """What a time limit does that ends when the server has been asked."""
    before = len(server.calls("Asked"))
    sending = asyncio.create_task(backend.send(late))
    await until(lambda: len(server.calls("Asked")) > before)
    sending.cancel()
    with pytest.raises(asyncio.CancelledError):
        await sending


async def until_pressed(number: int, key: str, clicks: Clicks) -> None:
    """Pressed again until it counts: the server's word on which number it gave is still on its way."""
    async with asyncio.timeout(samples.LONG):
        while not clicks.answers:
            await tell("Press", "us", number, key)


def test_an_alert_that_is_taken_back_before_it_is_there_goes_as_soon_as_it_is(server: Recorder) -> None:
    async def do(backend: FreedesktopBackend) -> None:
        server.mode("late")
        await give_up(server, backend, QUESTION)
        await backend.withdraw("q")
        server.mode("")
        await until(lambda: server.calls("Close"))

    run(do)

    assert [call["id"] for call in server.calls("Close")] == [1]


def test_a_button_that_is_pressed_before_we_know_the_number_counts(server: Recorder) -> None:
    clicks = Clicks()
    server.mode("eager")

    async def do(backend: FreedesktopBackend) -> None:
        await backend.send(alert(key="q", about="q1", buttons=(Button.ALLOW, Button.DENY)))
        await until(lambda: clicks.answers)

    run(do, clicks)

    assert clicks.answers == [("q1", Button.DENY)]


def test_who_refuses_a_new_alert_still_has_the_earlier_one_with_its_key(server: Recorder) -> None:
    async def do(backend: FreedesktopBackend) -> None:
        await backend.send(QUESTION)
        await backend.server_state()
        server.mode("unwilling")
        assert await samples.notifier(backend).send(QUESTION) is Delivery.FAILED
        server.mode("")
        await backend.withdraw("q")

    run(do)

    assert [call["id"] for call in server.calls("Close")] == [1]


def test_nothing_sounds_twice(server: Recorder) -> None:
    async def do(backend: FreedesktopBackend) -> None:
        await backend.send(alert(key="a"))
        await backend.send(alert(key="b", sound_name="complete"))

    run(do)

    ours, theirs = (call["hints"] for call in server.calls())
    assert (ours.get("suppress-sound"), ours.get("sound-name")) == (True, None)
    assert (theirs.get("suppress-sound"), theirs.get("sound-name")) == (None, "complete")


@every(("mode", "may_interrupt"), [("", True), ("inhibited", False)])
def test_do_not_disturb_is_read_from_the_server(server: Recorder, mode: str, may_interrupt: bool) -> None:
    server.mode(mode)

    async def do(backend: FreedesktopBackend) -> None:
        assert await backend.server_state() == ServerState(may_interrupt=may_interrupt, sounds=True)

    run(do)


@every("mode", ["hang", "deaf", "refuse"])
def test_a_bad_server_fails_in_time_and_a_good_one_is_taken_again(server: Recorder, mode: str) -> None:
    async def do(backend: FreedesktopBackend) -> None:
        notifier = samples.notifier(backend, timeout=0.2)
        server.mode(mode)
        assert await notifier.server_state() in (ServerState(), ServerState(sounds=True))
        assert await notifier.send(alert()) is Delivery.FAILED
        assert "D-Bus: " in notifier.last_error
        server.mode("")
        assert await samples.notifier(backend).send(alert(body="again")) is Delivery.SENT

    run(do)

    assert server.calls()[-1]["body"] == "again"
