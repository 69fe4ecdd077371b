"""Questions that the notification server drops, as GNOME does: they are shown again, as far as it keeps them."""

from __future__ import annotations

import os
from io import BytesIO
from pathlib import Path
from urllib.parse import unquote, urlsplit

import pytest
from notify import parts
from notify.parts import CLOSED, DISMISSED, EXPIRED, UNDEFINED, Recorder, run, tell
from notify.samples import alert, until
from PIL import Image

from tray.desktop.artwork import IconState, draw
from tray.notify.alert import Alert, Button, Urgency
from tray.notify.freedesktop import FreedesktopBackend

pytestmark = pytest.mark.desktop


def question(key: str) -> Alert:
    buttons = (Button.DETAILS, Button.ALLOW, Button.DENY)
    return alert(title=key, key=key, about=key, urgency=Urgency.CRITICAL, buttons=buttons)


def shown(server: Recorder) -> list[str]:
    return [call["title"] for call in server.calls()]


@pytest.mark.parametrize("reason", [EXPIRED, UNDEFINED])
def test_a_question_that_the_server_drops_is_shown_again_and_can_be_answered(server: Recorder, reason: int) -> None:
    async def do(backend: FreedesktopBackend) -> None:
        await backend.send(question("q"))
        await tell("Drop", "uu", 1, reason)
        await until(lambda: shown(server) == ["q", "q"])
        await tell("Press", "us", 2, "deny")
        await tell("Drop", "uu", 2, reason)  # servers close what was pressed
        await backend.send(alert(title="last", key="last"))

    assert run(do).answers == [("q", Button.DENY)]
    assert shown(server) == ["q", "q", "last"]


@pytest.mark.parametrize(
    ("one", "reason"), [(question("q"), DISMISSED), (question("q"), CLOSED), (alert(title="q"), EXPIRED)]
)
def test_what_the_user_closes_and_what_is_no_question_stays_away(server: Recorder, one: Alert, reason: int) -> None:
    async def do(backend: FreedesktopBackend) -> None:
        await backend.send(one)
        await tell("Drop", "uu", 1, reason)
        await backend.send(alert(title="last", key="last"))

    run(do)

    assert shown(server) == ["q", "last"]


async def send_four(backend: FreedesktopBackend) -> None:
    """GNOME keeps three: the fourth pushes the first one away."""
    for number in range(1, 5):
        await backend.send(question(f"q{number}"))
    await tell("Drop", "uu", 1, EXPIRED)
    await backend.send(alert(title="between", key="between"))


def test_gnome_gets_no_more_questions_than_it_keeps_until_one_is_closed(server: Recorder) -> None:
    server.name("gnome-shell")

    async def do(backend: FreedesktopBackend) -> None:
        await send_four(backend)
        await backend.withdraw("q3")
        await until(lambda: len(shown(server)) == 6)

    run(do)

    assert shown(server) == ["q1", "q2", "q3", "q4", "between", "q1"]


def test_a_question_that_is_withdrawn_meanwhile_does_not_come_back(server: Recorder) -> None:
    server.name("gnome-shell")

    async def do(backend: FreedesktopBackend) -> None:
        await send_four(backend)
        await backend.withdraw("q1")
        await backend.withdraw("q2")
        await backend.send(alert(title="last", key="last"))

    run(do)

    assert shown(server) == ["q1", "q2", "q3", "q4", "between", "last"]


def test_a_server_that_drops_every_question_at_once_gets_no_more(server: Recorder) -> None:
    server.mode("dropping")

    async def do(backend: FreedesktopBackend) -> None:
        await backend.send(question("q"))
        await until(lambda: len(shown(server)) == 100)
        server.mode("")
        await backend.send(alert(title="last", key="last"))

    run(do)

    assert shown(server).count("q") == 100


def test_a_server_that_starts_later_gets_the_open_questions(bus: str, tmp_path: Path) -> None:
    async def do(backend: FreedesktopBackend) -> None:
        with parts.recording_server(tmp_path, os.environ):
            await backend.send(question("q"))
            await backend.send(alert(title="no question", key="other"))
        with parts.recording_server(tmp_path, os.environ) as later:
            await until(lambda: len(shown(later)) == 3)

    run(do)

    assert shown(Recorder(tmp_path)) == ["q", "no question", "q"]


@pytest.mark.parametrize(("name", "urgency"), [("recording", 2), ("gnome-shell", 1)])
def test_on_gnome_only_questions_are_urgent(server: Recorder, name: str, urgency: int) -> None:
    server.name(name)

    async def do(backend: FreedesktopBackend) -> None:
        await backend.send(question("q"))
        await backend.send(alert(key="needs you", urgency=Urgency.CRITICAL))

    run(do)

    assert [call["urgency"] for call in server.calls()] == [2, urgency]


def test_each_notification_has_our_picture(server: Recorder) -> None:
    async def do(backend: FreedesktopBackend) -> None:
        await backend.send(alert())

    run(do)

    (call,) = server.calls()
    picture = Image.open(BytesIO(Path(unquote(urlsplit(call["icon"]).path)).read_bytes()))
    assert picture.convert("RGBA").tobytes() == draw(IconState.ON, 64).tobytes()
