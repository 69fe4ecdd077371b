"""What a process said, where a thread moves it: all of it until the exit, and nothing of who holds the pipe then."""

from __future__ import annotations

import contextlib
import gc
import itertools
import os
import sys
import threading
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

if sys.platform == "win32":
    pytest.skip("descriptors of POSIX", allow_module_level=True)

import resource

from tray.execution import process_windows, streams
from tray.execution.process import Job, ProcessTree
from tray.execution.streams import SENTINEL_SIZE, PipeReader, ThreadPipes

LONG = 60.0  # seconds
SAID = b"0123456789" * 10


class Starved(PipeReader):
    """Its thread does not get its turn for long."""

    turn: threading.Event

    def _read_all(self) -> None:
        self.turn.wait(LONG)
        super()._read_all()


def starved(limit: int = 1 << 20) -> Starved:
    stream = Starved(limit)
    stream.turn = threading.Event()
    stream.start()
    return stream


def taken(stream: PipeReader) -> bytes:
    return stream.take(time.monotonic() + LONG)


def descriptors() -> int:
    """How many are open; what earlier tests left in reference cycles is closed first, not while one is counted."""
    gc.collect()
    return len(os.listdir("/dev/fd"))  # noqa: PTH208 - counts


@contextlib.contextmanager
def held(stream: PipeReader) -> Iterator[int]:
    """Somebody else holds the pipe, too."""
    number = os.dup(stream.end.fileno())
    try:
        yield number
    finally:
        os.close(number)


@contextlib.contextmanager
def spare(count: int) -> Iterator[None]:
    """So many descriptors are left, and no more."""
    limits = resource.getrlimit(resource.RLIMIT_NOFILE)
    highest = max(int(name) for name in os.listdir("/dev/fd"))  # noqa: PTH208 - not on the way to an answer
    resource.setrlimit(resource.RLIMIT_NOFILE, (highest + 40, limits[1]))
    taken: list[int] = []
    try:
        with contextlib.suppress(OSError):
            while True:
                taken.append(os.open(os.devnull, os.O_RDONLY))
        for _ in range(count):
            os.close(taken.pop())
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_NOFILE, limits)
        for number in taken:
            os.close(number)


def test_all_output_up_to_the_end_is_read_and_nothing_after_it(monkeypatch: pytest.MonkeyPatch) -> None:
    around = (SENTINEL_SIZE - 1, SENTINEL_SIZE, SENTINEL_SIZE + 1)
    before = descriptors()
    for chunk, length in itertools.product((1, 7, *around, 1 << 16), (0, 1, *around, len(SAID))):
        monkeypatch.setattr(streams, "CHUNK", chunk)
        stream = PipeReader(1000)
        with held(stream) as grandchild:
            stream.start()
            os.write(stream.end.fileno(), SAID[:length])

            assert (taken(stream), stream.complete) == (SAID[:length], True), (chunk, length)

            os.write(grandchild, b"it goes on")
        stream.join(LONG)
    assert descriptors() == before


def test_what_comes_behind_the_last_word_is_no_part_of_it() -> None:
    stream = starved()
    with held(stream) as grandchild:
        os.write(grandchild, SAID + stream._sentinel + b"it goes on")
        stream.turn.set()

        assert taken(stream) == SAID


def test_a_thread_that_does_not_get_its_turn_for_long_loses_nothing() -> None:
    stream = starved()
    os.write(stream.end.fileno(), SAID)
    threading.Timer(0.3, stream.turn.set).start()

    assert (taken(stream), stream.complete) == (SAID, True)


def test_a_thread_that_gets_no_turn_at_all_says_that_it_is_not_all() -> None:
    stream = starved()
    os.write(stream.end.fileno(), SAID)

    stream.take(time.monotonic() + 0.1)

    assert not stream.complete
    stream.turn.set()
    stream.join(LONG)


@pytest.mark.parametrize("is_held", [False, True])
def test_a_full_pipe_that_waits_for_nobody_loses_nothing(is_held: bool) -> None:
    stream = starved()
    with held(stream) if is_held else contextlib.nullcontext():
        os.set_blocking(stream.end.fileno(), False)
        written = 0
        with contextlib.suppress(BlockingIOError):
            while True:
                written += os.write(stream.end.fileno(), b"x" * 1000)
        threading.Timer(0.1, stream.turn.set).start()

        assert taken(stream) == b"x" * written
    stream.join(LONG)


@pytest.mark.parametrize(("limit", "floods"), [(len(SAID), False), (len(SAID) - 1, True), (len(SAID) + 1, False)])
def test_only_what_is_over_the_limit_is_too_much(limit: int, floods: bool) -> None:
    overflows: list[bool] = []
    stream = PipeReader(limit, lambda: overflows.append(True))
    stream.start()
    os.write(stream.end.fileno(), SAID)

    assert taken(stream) == SAID[:limit]
    assert bool(overflows) is floods


def test_what_was_never_listened_to_is_closed_and_not_whole() -> None:
    before = descriptors()
    pipes = ThreadPipes(process_windows.ThreadedRun(LONG, None))

    assert pipes.take() == (b"", b"")

    assert not pipes.complete
    assert descriptors() == before


def test_a_process_that_cannot_be_watched_has_failed(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    def refuse(pid: int, mark: str) -> ProcessTree:
        raise OSError("no handle is left")

    monkeypatch.setattr(process_windows, "tree", refuse)
    before = descriptors()
    job = Job(argv=("/bin/sleep", "60"), cwd=str(tmp_path))

    (result,) = process_windows.run([job], time.monotonic() + LONG, None)

    assert (result.code, result.cause) == (None, "could not be watched: no handle is left")
    assert descriptors() == before


def test_a_hook_whose_output_was_cut_has_failed(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    turn, listen = threading.Event(), PipeReader._read_all
    monkeypatch.setattr(PipeReader, "_read_all", lambda stream: turn.wait(LONG) and listen(stream))
    monkeypatch.setattr(streams, "DRAIN_TIMEOUT", 0.1)
    job = Job(argv=("/bin/echo", "no"), cwd=str(tmp_path))

    (result,) = process_windows.run([job], time.monotonic() + LONG, None)
    turn.set()

    assert (result.code, result.cause) == (None, "its output could not be read to its end")


def test_without_descriptors_a_hook_has_failed_and_the_others_go_on(tmp_path: Path) -> None:
    job = Job(argv=("/bin/true",), cwd=str(tmp_path), environment={"PATH": os.environ["PATH"]})
    causes = set()
    for count in range(20):
        with spare(count):
            results = process_windows.run([job, job], time.monotonic() + LONG, None)

        assert [bool(result.cause) for result in results] == [result.code is None for result in results]
        causes |= {result.cause for result in results}
    assert {"could not start /bin/true: Too many open files", ""} <= causes
