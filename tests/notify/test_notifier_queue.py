"""Announcing returns at once, from any thread, and what became of it is reported in the end."""

from __future__ import annotations

import asyncio
import os
import queue
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import cast

import pytest
from desk.sound import Recording
from notify import parts
from notify.parts import Recorder
from notify.samples import Desktop, alert

from tray.notify.alert import Alert, FixedSettings, Urgency
from tray.notify.desktop_notifier_backend import DesktopNotifierBackend
from tray.notify.fallback_backends import ButtonlessBackend
from tray.notify.notifier import QUEUE_LIMIT, Delivery, NotificationBackend, Notifier
from tray.notify.sound import Player
from tray.store.switch import Switch, SwitchState

pytestmark = pytest.mark.desktop
LONG = 60.0  # seconds; every wait ends far earlier unless something is broken


class Stage:
    """A notifier with everything it needs, on a loop in a thread of its own."""

    def __init__(self, timeout: float = LONG, backend: NotificationBackend | None = None) -> None:
        self.loop = asyncio.new_event_loop()
        self.thread = threading.Thread(target=self.loop.run_forever)
        self.thread.start()
        self.current = SwitchState()
        self.deaf = ""
        self.deliveries: queue.SimpleQueue[tuple[str, str]] = queue.SimpleQueue()
        self.player = Player(FixedSettings())
        desktop = Desktop(backend or DesktopNotifierBackend())
        self.queue = Notifier(self.loop, desktop, self.player, cast(Switch, self), self, timeout)

    def alerted(self, ids: tuple[str, ...], word: str) -> None:
        (record,) = ids
        if record == self.deaf:
            raise ValueError(record)
        self.deliveries.put((record, word))

    def close(self) -> None:
        self.queue.close()
        self.player.close()
        self.end_loop()

    def end_loop(self) -> None:
        if not self.loop.is_closed():
            self.loop.call_soon_threadsafe(self.loop.stop)
            self.thread.join()
            self.loop.close()


@pytest.fixture
def stage() -> Iterator[Stage]:
    stage = Stage()
    yield stage
    stage.close()


QUIET = alert(sound="")


def test_an_announcement_arrives_and_its_record_is_marked_as_sent(server: Recorder, stage: Stage) -> None:
    stage.queue.announce((QUIET,))
    stage.queue.announce((QUIET, alert(body="second", key="b", sound="")), "r1")
    stage.queue.announce((alert(notify=False, sound=""),), "r2")  # it would only sound

    assert [stage.deliveries.get(timeout=LONG) for _ in range(2)] == [("r1", "sent"), ("r2", "sent")]
    assert [call["body"] for call in server.calls()] == ["Turn ended", "Turn ended", "second"]


def test_many_threads_announce_at_once_and_each_gets_its_answer(server: Recorder, stage: Stage) -> None:
    def announce(number: int) -> None:
        stage.queue.announce((alert(key=str(number), sound=""),), str(number))

    threads = [threading.Thread(target=announce, args=(number,)) for number in range(40)]
    for thread in threads:
        thread.start()
    delivered = {stage.deliveries.get(timeout=LONG) for _ in threads}
    for thread in threads:
        thread.join()

    assert delivered == {(str(number), "sent") for number in range(40)}


def test_a_server_that_hangs_delays_nobody_and_not_everything_waits_for_it(server: Recorder) -> None:
    stage = Stage(timeout=10 * LONG)  # nobody below waits for even one announcement to be given up
    stage.queue.announce((QUIET,), "warm")  # what the first one imports holds up the loop
    stage.deliveries.get(timeout=LONG)
    server.mode("hang")
    for number in range(QUEUE_LIMIT * 3):
        stage.queue.announce((QUIET,), str(number))

    overflow = [stage.deliveries.get(timeout=LONG) for _ in range(QUEUE_LIMIT * 2 - 1)]
    stage.queue.close(0.1)
    rest = [stage.deliveries.get(timeout=LONG) for _ in range(QUEUE_LIMIT + 1)]

    stage.close()
    assert {what for _, what in overflow + rest} == {"failed"}


def test_closing_sends_what_still_waits(server: Recorder, stage: Stage) -> None:
    for number in range(10):
        stage.queue.announce((QUIET,), str(number))

    stage.queue.close(LONG)

    assert [stage.deliveries.get_nowait() for _ in range(10)] == [(str(number), "sent") for number in range(10)]


def test_a_listener_that_fails_for_one_announcement_still_hears_of_the_next(server: Recorder, stage: Stage) -> None:
    stage.loop.set_exception_handler(lambda loop, context: None)  # asyncio would log the listener's fault
    stage.deaf = "r1"
    stage.queue.announce((QUIET,), "r1")
    stage.queue.announce((QUIET,), "r2")

    assert stage.deliveries.get(timeout=LONG) == ("r2", "sent")


def test_after_closing_and_after_the_loop_an_announcement_fails(server: Recorder, stage: Stage) -> None:
    stage.queue.close()
    stage.queue.announce((QUIET,), "late")
    assert stage.deliveries.get(timeout=LONG) == ("late", "failed")

    stage.end_loop()
    stage.queue.announce((QUIET,), "later")
    assert stage.deliveries.get(timeout=LONG) == ("later", "failed")


@pytest.fixture
def own_server(bus: str, tmp_path: Path) -> Iterator[Recorder]:
    """A server for tests with sound, which run on the same worker as all others with sound."""
    with parts.recording_server(tmp_path, os.environ) as recorder:
        yield recorder


def test_the_sound_of_the_most_urgent_alert_is_played(
    own_server: Recorder, recording: Recording, stage: Stage
) -> None:
    stage.queue.announce((alert(sound="bell"), alert(sound="tick", urgency=Urgency.CRITICAL)))
    recording.wait_end()

    assert recording.seconds_heard < 0.5  # the tick alone; the bell would be 0.7


def test_a_muted_alert_is_shown_without_sound(own_server: Recorder, recording: Recording, stage: Stage) -> None:
    stage.current = SwitchState(muted=True)
    stage.queue.announce((alert(),), "r1")

    assert stage.deliveries.get(timeout=LONG) == ("r1", "sent")
    recording.wait_more(1.0)
    assert recording.seconds_heard == 0
    stage.current = SwitchState()
    stage.queue.announce((alert(),))
    recording.wait_end()


class UnexpectedBackend(ButtonlessBackend):
    name = "surprising"

    async def send(self, alert: Alert) -> None:
        raise ArithmeticError  # which no library is known to raise


def test_a_back_end_that_raises_an_unknown_error_loses_only_that_alert() -> None:
    stage = Stage(backend=UnexpectedBackend())
    stage.loop.set_exception_handler(lambda loop, context: None)  # asyncio would log it
    for name in ("one", "two"):
        stage.queue.announce((QUIET,), name)

    assert [stage.deliveries.get(timeout=LONG) for _ in range(2)] == [("one", "failed"), ("two", "failed")]
    stage.close()


class TakingBackend(ButtonlessBackend):
    name = "taking"

    async def send(self, alert: Alert) -> None:
        pass


def test_back_ends_that_cannot_be_made_are_the_problem_until_they_can() -> None:
    problems = ["no more files", ""]

    class BrokenDesktop(Desktop):
        def backends(self) -> tuple[NotificationBackend, ...]:
            if problem := problems.pop(0):
                raise OSError(problem)
            return (TakingBackend(),)

    async def main() -> None:
        desktop = BrokenDesktop()
        notifier = Notifier(
            asyncio.get_running_loop(), desktop, Player(FixedSettings()), cast(Switch, desktop), desktop
        )
        await notifier.take_down("key")
        assert (await notifier.send(QUIET), notifier.last_error) == (Delivery.FAILED, "no more files")
        assert (await notifier.send(QUIET), notifier.last_error) == (Delivery.SENT, "")
        await notifier.disconnect()

    asyncio.run(main())
