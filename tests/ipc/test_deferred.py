"""What is done after answers: gathered, in order, never lost, and soon where somebody is to be told."""

from __future__ import annotations

import threading
import time
import weakref
from collections.abc import Iterator
from functools import partial

import pytest
from ipc.server_bench import until

from tray.ipc.deferred import BATCH_DELAY, MAX_SIZE, DeferredWork

LONG = 60.0


class Note:
    """What a work holds on to."""

    def read(self) -> None:
        pass


@pytest.fixture
def deferred() -> Iterator[DeferredWork]:
    made = DeferredWork()
    made.start()
    yield made
    made.close(time.monotonic() + LONG)


def test_what_is_put_off_is_gathered_and_done_in_order(deferred: DeferredWork) -> None:
    done: list[int] = []
    over = threading.Event()
    started = time.monotonic()

    for number in range(5):
        deferred.put(partial(done.append, number))
    deferred.put(over.set)

    assert over.wait(LONG)
    assert time.monotonic() - started >= BATCH_DELAY
    assert done == [0, 1, 2, 3, 4]


def test_what_somebody_is_to_be_told_takes_along_what_was_there_before(deferred: DeferredWork) -> None:
    done: list[str] = []
    over = threading.Event()

    deferred.put(lambda: done.append("first"))
    deferred.put(lambda: done.append("told"), soon=True)
    deferred.put(over.set)

    assert over.wait(LONG)
    assert done == ["first", "told"]


def test_what_is_done_is_let_go_though_nothing_comes_after_it(deferred: DeferredWork) -> None:
    over = threading.Event()
    kept = weakref.WeakSet[Note]()
    for _ in range(5):
        note = Note()
        kept.add(note)
        deferred.put(note.read)
    del note
    deferred.put(over.set)

    assert over.wait(LONG)
    assert until(lambda: not kept)


def test_a_failure_is_nobody_elses(deferred: DeferredWork) -> None:
    over = threading.Event()

    deferred.put(lambda: 1 / 0)
    deferred.put(over.set, soon=True)

    assert over.wait(LONG)


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
