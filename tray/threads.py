"""The shared threads, an asyncio loop and a work queue, and the signals that the tray ends."""

from __future__ import annotations

import contextlib
import logging
import mmap
import os
import threading
import time
from collections.abc import Callable, Iterable
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import asyncio  # too slow for those who only start threads

FIRST_LINES = 4 << 20  # bytes: an arena of the interpreter and one of C, with as much to spare
OUT_OF_MEMORY = 3  # the exit code
LONGEST_HOLD = 10.0  # seconds that a ThrottledCall waits after costly work, at most

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


class LoopThread:
    """One asyncio loop in one thread. `loop` takes work with call_soon_threadsafe or run_coroutine_threadsafe."""

    def __init__(self) -> None:
        import asyncio

        self.loop = asyncio.new_event_loop()
        self._thread = threading.Thread(target=self._run, name="loop", daemon=True)
        self._thread.start()

    def close(self) -> None:
        """Cancel the running tasks and join the thread, for 5 seconds each at most.

        The caller is the thread that made this: on Windows only that one can take back the signals of the loop.
        """
        import asyncio

        with contextlib.suppress(TimeoutError):
            asyncio.run_coroutine_threadsafe(_cancel_all(), self.loop).result(5)
        self.loop.call_soon_threadsafe(self.loop.stop)
        self._thread.join(5)
        if not self._thread.is_alive():
            self.loop.close()

    def _run(self) -> None:
        import asyncio

        asyncio.set_event_loop(self.loop)
        self.loop.run_forever()


class WorkQueue:
    """Work in the background, done one after another in a thread of its own. `post` adds work, from any thread."""

    def __init__(self, name: str) -> None:
        import queue  # the one-shot engine has none

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


class ThrottledCall:
    """Runs `work` at most once in so many seconds; of the calls in between, one runs when they are over."""

    def __init__(self, loop: asyncio.AbstractEventLoop, work: Callable[[], None], seconds: float) -> None:
        self._loop = loop
        self._work = work
        self._seconds = seconds
        self._lock = threading.Lock()
        self._free = 0.0  # when it may run again
        self.waiting = False  # a call is due; one more request adds nothing

    def request(self) -> None:
        with self._lock:
            now = time.monotonic()
            left = self._free - now
            if self.waiting:
                return
            self.waiting = left > 0
            self._free = max(now, self._free) + self._seconds
        if left > 0:
            self._loop.call_soon_threadsafe(self._loop.call_later, left, self._run_late)
        else:
            self._work()

    def record_cost(self, seconds: float) -> None:
        """Delay the next call by 50 times the processor time of the last one, but by LONGEST_HOLD at most."""
        with self._lock:
            self._free = max(self._free, time.monotonic() + min(50 * seconds, LONGEST_HOLD))

    def _run_late(self) -> None:
        with self._lock:
            self.waiting = False
        self._work()


class StopSignal:
    """Readable once the tray ends: threads that poll it stop waiting."""

    def __init__(self) -> None:
        import socket  # the one-shot engine has none

        self._end, self._ours = socket.socketpair()

    def fileno(self) -> int:
        return self._end.fileno()

    def close(self) -> None:
        self._ours.close()


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


async def _cancel_all() -> None:
    import asyncio

    tasks = [task for task in asyncio.all_tasks() if task is not asyncio.current_task()]
    for task in tasks:
        task.cancel()
    await asyncio.gather(*tasks, return_exceptions=True)
