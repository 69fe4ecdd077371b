"""The threads that others share."""

from __future__ import annotations

import threading
import time
import weakref
from collections.abc import Iterator

import pytest

from tray.threads import LoopThread, ThrottledCall, WorkQueue


@pytest.fixture
def loop() -> Iterator[LoopThread]:
    loop = LoopThread()
    yield loop
    loop.close()


def test_what_is_asked_for_often_is_done_at_once_and_once_more_in_the_end(loop: LoopThread) -> None:
    done: list[float] = []
    seldom = ThrottledCall(loop.loop, lambda: done.append(time.monotonic()), 0.2)

    for _ in range(5):
        seldom.request()

    deadline = time.monotonic() + 20
    while len(done) < 2 and time.monotonic() < deadline:
        time.sleep(0.01)
    first, last = done
    assert last - first >= 0.2


def test_what_is_asked_for_often_is_done_once_in_its_time(loop: LoopThread) -> None:
    done: list[int] = []
    seldom = ThrottledCall(loop.loop, lambda: done.append(1), 3600.0)

    for _ in range(5):
        seldom.request()

    assert len(done) == 1


def test_what_is_asked_for_seldom_is_done_at_once(loop: LoopThread) -> None:
    done: list[int] = []
    seldom = ThrottledCall(loop.loop, lambda: done.append(1), 0.001)

    for number in range(1, 4):
        seldom.request()
        assert len(done) == number
        time.sleep(0.01)


def test_a_chore_that_is_done_is_let_go_though_none_comes_after_it() -> None:
    class Large:
        def use(self) -> None:
            pass

    work = WorkQueue("work")
    kept = weakref.WeakSet([large := Large()])
    work.post(large.use)
    del large

    deadline = time.monotonic() + 20
    while kept and time.monotonic() < deadline:
        threading.Event().wait(0.01)
    assert not kept
    work.close()
