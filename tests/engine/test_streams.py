"""What a process said, where a thread moves it: all of it until the exit, and nothing of who holds the pipe then."""

from __future__ import annotations

import os
import threading

import pytest

from tray.engine.runners import streams
from tray.engine.runners.streams import LAST, Stream

LONG = 20.0  # seconds
SAID = b"0123456789" * 10


@pytest.mark.parametrize("chunk", [1, 2, 7, LAST - 1, LAST, LAST + 1, len(SAID), 1 << 16])
@pytest.mark.parametrize("length", [0, 1, LAST - 1, LAST, len(SAID)])
def test_all_that_was_said_is_heard_and_no_more(monkeypatch: pytest.MonkeyPatch, chunk: int, length: int) -> None:
    said = SAID[:length]
    monkeypatch.setattr(streams, "CHUNK", chunk)
    stream = Stream(1000, lambda: None)
    grandchild = os.dup(stream.end.fileno())
    stream.start()
    os.write(stream.end.fileno(), said)

    assert stream.take() == said

    os.write(grandchild, b"it goes on")
    os.close(grandchild)
    stream.join(LONG)
    assert not stream.is_alive()


def test_a_thread_that_does_not_get_its_turn_for_long_loses_nothing() -> None:
    turn = threading.Event()

    class Starved(Stream):
        def _listen(self) -> None:
            turn.wait(LONG)
            super()._listen()

    stream = Starved(1000, lambda: None)
    stream.start()
    os.write(stream.end.fileno(), SAID)
    threading.Timer(0.3, turn.set).start()

    assert stream.take() == SAID


@pytest.mark.parametrize(("limit", "floods"), [(len(SAID), 0), (len(SAID) - 1, 1), (len(SAID) + 1, 0)])
def test_only_what_is_over_the_limit_is_too_much(limit: int, floods: int) -> None:
    told: list[str] = []
    stream = Stream(limit, lambda: told.append("too much"))
    stream.start()
    os.write(stream.end.fileno(), SAID)

    assert stream.take() == SAID[:limit]
    assert bool(told) == bool(floods)


def test_who_never_had_a_thread_said_nothing() -> None:
    stream = Stream(1000, lambda: None)

    assert stream.take() == b""

    stream.close()
