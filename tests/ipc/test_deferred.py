"""What is done after answers: gathered, in order, never lost, and soon where somebody is to be told."""

from __future__ import annotations

import threading
import time
from collections.abc import Iterator
from functools import partial

import pytest

from tray.ipc.deferred import MAX_SIZE, DeferredWork

LONG = 60.0


@pytest.fixture
def deferred() -> Iterator[DeferredWork]:
    made = DeferredWork()
    made.start()
    yield made
    made.close(time.monotonic() + LONG)


@pytest.mark.parametrize("soon", [False, True])
def test_deferred_work_runs_in_order_also_after_a_failure(deferred: DeferredWork, soon: bool) -> None:
    done: list[int] = []
    over = threading.Event()

    deferred.put(lambda: 1 / 0)
    for number in range(5):
        deferred.put(partial(done.append, number))
    deferred.put(over.set, soon=soon)

    assert over.wait(LONG)
    assert done == [0, 1, 2, 3, 4]


def test_the_end_leaves_nothing_undone(deferred: DeferredWork) -> None:
    done: list[int] = []
    for number in range(100):
        deferred.put(partial(done.append, number))

    deferred.close(time.monotonic() + LONG)
    deferred.put(lambda: done.append(100))

    assert done == list(range(101))


def test_when_too_much_waits_everyone_does_their_own(deferred: DeferredWork) -> None:
    begun, hold = threading.Event(), threading.Event()
    deferred.put(begun.set, soon=True)
    deferred.put(lambda: hold.wait(LONG))
    assert begun.wait(LONG)
    here: list[str] = []

    for _ in range(2 * MAX_SIZE + 2):  # one batch may have been taken along
        deferred.put(lambda: here.append(threading.current_thread().name))

    assert set(here) == {threading.current_thread().name}
    hold.set()
