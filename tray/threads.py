"""Starts threads, handles their failures, does work in the background, and tracks the end of the tray."""

from __future__ import annotations

import logging
import mmap
import os
import queue
import threading
import time
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from typing import Protocol

FIRST_LINES = 4 << 20  # bytes: an arena of the interpreter and one of C, with as much to spare
OUT_OF_MEMORY = 3  # the exit code
THREAD_LIMIT = 256  # threads of a WorkerPool at the same time
JOIN_TIMEOUT = 5.0  # seconds that all threads of a WorkerPool have when the tray ends

log = logging.getLogger(__name__)


def start_thread(thread: threading.Thread) -> None:
    """Start it. Raises RuntimeError if the system has no thread left, or no memory for the thread's first lines.

    `Thread.start` waits without end for a thread that cannot run these, so room for them is asked for first.
    """
    try:
        mmap.mmap(-1, FIRST_LINES).close()
        thread.start()
    except (MemoryError, OSError) as error:
        raise RuntimeError("can't start new thread") from error


def end_without_memory(failure: threading.ExceptHookArgs) -> None:
    """End the process if a thread has ended for want of memory: its connections close, and relays judge without it.

    For `threading.excepthook`.
    """
    if issubclass(failure.exc_type, MemoryError):
        os._exit(OUT_OF_MEMORY)
    threading.__excepthook__(failure)


@contextmanager
def failures_logged(problem: str) -> Iterator[None]:
    """Log a failure of the block as `problem` with the traceback, and continue after it.

    For work that no answer depends on: that of our threads, and what the engine does beside an answer (law 7).
    """
    try:
        yield
    except Exception:
        log.exception(problem)


def run_logged(works: Iterable[Callable[[], object]], problem: str) -> None:
    """Call each of `works` in turn, also if one fails."""
    for work in works:
        with failures_logged(problem):
            work()
        del work  # it may hold large values, and the next work may come much later


class Queue(Protocol):
    """Does work in the background, in the order in which it was posted."""

    def post(self, work: Callable[[], object]) -> None: ...


class Workers(Protocol):
    """Does work in the background, each in a thread of its own."""

    def spawn(self, work: Callable[[], object]) -> bool:
        """Start the work. Returns False if no thread is left."""
        ...


class WorkQueue:
    """Work in the background, done one after another in a thread of its own. `post` adds work, from any thread."""

    def __init__(self, name: str) -> None:
        self._queue: queue.SimpleQueue[Callable[[], object] | None] = queue.SimpleQueue()
        self._thread = threading.Thread(target=self._run, name=name, daemon=True)
        self._thread.start()

    def post(self, work: Callable[[], object]) -> None:
        self._queue.put(work)

    def run(self, work: Callable[[], object], timeout: float) -> None:
        """Post it and wait for its end, at most `timeout` seconds. In this queue's own thread it runs at once."""
        if threading.current_thread() is self._thread:
            work()
            return
        ended = threading.Event()

        def run() -> None:
            try:
                work()
            finally:
                ended.set()

        self.post(run)
        ended.wait(timeout)

    def close(self, timeout: float = 5.0) -> None:
        """Finish what was given, then end; gives up waiting after `timeout` seconds."""
        self._queue.put(None)
        self._thread.join(timeout)

    def _run(self) -> None:
        run_logged(iter(self._queue.get, None), "work in the queue failed")


class WorkerPool:
    """Threads for the hooks of events whose agent already has its answer, and for other work in the background."""

    def __init__(self) -> None:
        self._slots = threading.BoundedSemaphore(THREAD_LIMIT)
        self._threads: set[threading.Thread] = set()
        self._starting = threading.Lock()  # no thread is joined before it runs

    def spawn(self, work: Callable[[], object]) -> bool:
        """Run it in a thread; False when there are too many already, or the system has no thread left."""
        if not self._slots.acquire(blocking=False):
            return False

        def run() -> None:
            try:
                run_logged((work,), "an event could not be judged")
            finally:
                self._threads.discard(threading.current_thread())
                self._slots.release()

        thread = threading.Thread(target=run, name="observe", daemon=True)
        with self._starting:
            try:
                self._threads.add(thread)
                start_thread(thread)
            except RuntimeError:
                self._threads.discard(thread)
                self._slots.release()
                return False
        return True

    def join(self) -> None:
        until = time.monotonic() + JOIN_TIMEOUT
        with self._starting:
            threads = list(self._threads)
        for thread in threads:
            thread.join(max(0.0, until - time.monotonic()))


class ShutdownState:
    """How far the end of the tray has come. It begins once, and hooks that take too long are ended later."""

    def __init__(self) -> None:
        self._begun = threading.Event()
        self.must_end_hooks = False  # hooks that still run are ended from now on

    @property
    def begun(self) -> bool:
        return self._begun.is_set()

    def begin(self) -> None:
        self._begun.set()

    def end_hooks(self) -> None:
        self.must_end_hooks = True

    def wait(self, seconds: float) -> bool:
        """Wait until it has begun, at most that long."""
        return self._begun.wait(seconds)
