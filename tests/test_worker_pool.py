"""Threads for what nobody waits for, and a system that has none left."""

from __future__ import annotations

import threading
from concurrent.futures import ThreadPoolExecutor
from types import SimpleNamespace

import pytest

from tray import threads as module
from tray.threads import THREAD_LIMIT, WorkerPool

LONG = 60.0  # seconds on a busy machine


@pytest.mark.parametrize("error", [MemoryError(), RuntimeError("can't start new thread")])
def test_a_system_without_a_thread_is_as_good_as_no_place(monkeypatch: pytest.MonkeyPatch, error: Exception) -> None:
    def refuse(thread: threading.Thread) -> None:
        raise error

    observers = WorkerPool()
    with monkeypatch.context() as short:
        short.setattr(threading.Thread, "start", refuse)
        assert {observers.spawn(lambda: None) for _ in range(THREAD_LIMIT + 1)} == {False}

    done = threading.Event()
    assert observers.spawn(done.set)
    assert done.wait(20)
    observers.join()


def test_there_are_so_many_places_and_one_that_is_left_is_free_again() -> None:
    observers = WorkerPool()
    release = threading.Event()
    assert {observers.spawn(lambda: release.wait(20)) for _ in range(THREAD_LIMIT)} == {True}
    assert not observers.spawn(lambda: None)

    release.set()
    observers.join()

    assert observers.spawn(lambda: None)
    observers.join()


def test_many_that_hang_do_not_hold_up_the_end_one_after_the_other(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "JOIN_TIMEOUT", 0.3)
    observers, release = WorkerPool(), threading.Event()
    assert {observers.spawn(lambda: release.wait(120)) for _ in range(THREAD_LIMIT)} == {True}

    ending = threading.Thread(target=observers.join)
    ending.start()
    ending.join(30)  # one after the other they would take twice as long

    assert not ending.is_alive()
    release.set()


def test_the_end_waits_for_a_thread_that_is_just_being_started(monkeypatch: pytest.MonkeyPatch) -> None:
    entered, goes_on, done = threading.Event(), threading.Event(), threading.Event()

    class Slow(threading.Thread):
        """As on a busy machine: the thread is not there yet."""

        def start(self) -> None:
            entered.set()
            goes_on.wait(LONG)
            super().start()

    pool = WorkerPool()
    slow_only_here = SimpleNamespace(Thread=Slow, current_thread=threading.current_thread)
    monkeypatch.setattr(module, "threading", slow_only_here)
    with ThreadPoolExecutor() as executor:
        spawned = executor.submit(pool.spawn, done.set)
        entered.wait(LONG)
        joined = executor.submit(pool.join)
        with pytest.raises(TimeoutError):
            joined.result(0.2)
        goes_on.set()

        assert spawned.result(LONG)
        joined.result(LONG)
    assert done.is_set()
