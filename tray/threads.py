"""Starts threads, handles their failures, queues work in the background, and tracks the end of the tray."""

from __future__ import annotations

import logging
import mmap
import os
import queue
import threading
from collections.abc import Callable, Iterable

FIRST_LINES = 4 << 20  # bytes: an arena of the interpreter and one of C, with as much to spare
OUT_OF_MEMORY = 3  # the exit code

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


def run_logged(works: Iterable[Callable[[], object]], problem: str) -> None:
    """Call each of `works` in turn; if one fails, log `problem` with the traceback and continue with the next.

    For work that no answer depends on: that of our threads, and what the engine does beside an answer (law 7).
    """
    for work in works:
        try:
            work()
        except Exception:
            log.exception(problem)
        del work  # it may hold large values, and the next work may come much later


class WorkQueue:
    """Work in the background, done one after another in a thread of its own. `post` adds work, from any thread."""

    def __init__(self, name: str) -> None:
        self._queue: queue.SimpleQueue[Callable[[], None] | None] = queue.SimpleQueue()
        self.post: Callable[[Callable[[], None]], None] = self._queue.put
        self._thread = threading.Thread(target=self._run, name=name, daemon=True)
        self._thread.start()

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
