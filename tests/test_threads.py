"""The threads that others share."""

from __future__ import annotations

import threading
import time
import weakref
from collections.abc import Iterator

import pytest

from tray.threads import LONGEST_HOLD, LoopThread, ThrottledCall, WorkQueue


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


@pytest.mark.parametrize(("cost", "hold"), [(0.01, 0.5), (0.1, 5.0), (60.0, LONGEST_HOLD)])
def test_costly_work_is_done_less_often_and_no_call_waits_for_minutes(
    loop: LoopThread, monkeypatch: pytest.MonkeyPatch, cost: float, hold: float
) -> None:
    now = 1000.0
    monkeypatch.setattr(time, "monotonic", lambda: now)
    done: list[int] = []
    seldom = ThrottledCall(loop.loop, lambda: done.append(1), 0.001)

    seldom.record_cost(cost)
    now += hold + 0.01
    seldom.request()

    assert len(done) == 1


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


def test_work_that_runs_more_work_of_its_own_queue_does_not_wait_for_itself() -> None:
    queue = WorkQueue("work")
    done: list[str] = []

    def outer() -> None:
        queue.run(lambda: done.append("inner"), timeout=300)
        done.append("outer")

    queue.run(outer, timeout=60)

    assert done == ["inner", "outer"]
    queue.close()


def test_work_that_fails_ends_neither_its_queue_nor_its_thread(caplog: pytest.LogCaptureFixture) -> None:
    queue, done = WorkQueue("test"), threading.Event()

    def fail() -> None:
        raise ValueError("of our own")

    queue.post(fail)
    queue.post(done.set)

    assert done.wait(60)
    queue.close()
    assert "of our own" in caplog.text
