"""The shared threads, an asyncio loop and a work queue, and the signals that the tray ends."""

from __future__ import annotations

import contextlib
import gc
import logging
import os
import sys
import threading
import time
from collections.abc import Callable, Iterable
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import asyncio  # too slow for those who only start threads

START_LIMIT = 2.0  # seconds until a thread that was started must run
OUT_OF_MEMORY = 3  # the exit code
LONGEST_HOLD = 10.0  # seconds that a ThrottledCall waits after costly work, at most
NEVER = 2**31 - 1  # collections of the younger values, after which all are looked at
# For glibc's mallopt, in its own numbers. A value above LARGEST_BLOCK, the most that glibc takes, gets memory of its
# own each time. A smaller one comes out of the heap, which keeps KEPT_FREE free bytes at its end.
TRIM_THRESHOLD, MMAP_THRESHOLD, ARENA_MAX = -1, -3, -8
LARGEST_BLOCK, KEPT_FREE = 32 * 1024 * 1024, 24 * 1024 * 1024

log = logging.getLogger(__name__)


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


class FullCollectionPause:
    """While a thread is inside, the garbage collector does not look at everything there is.

    It would when a large payload has become millions of values, and hold up every other thread for a second.
    """

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._inside = 0
        self._thresholds = gc.get_threshold()

    def __enter__(self) -> None:
        with self._lock:
            if not self._inside:
                self._thresholds = gc.get_threshold()
                gc.set_threshold(*self._thresholds[:2], NEVER)
            self._inside += 1

    def __exit__(self, *_: object) -> None:
        with self._lock:
            self._inside -= 1
            if not self._inside:
                gc.set_threshold(*self._thresholds)


def reduce_latency() -> None:
    """Shorten what computing threads and garbage collections delay an answer."""
    sys.setswitchinterval(0.0001)
    gc.set_threshold(5000, 20, 20)
    _share_heap()


def _share_heap() -> None:
    """One heap of C for all threads, which keeps what a large payload took.

    By default glibc gives a heap to each thread, and the next large payload waits again for the system to fill its
    memory, a page at a time.
    """
    if sys.platform != "linux":
        return
    from ctypes import CDLL

    mallopt = getattr(CDLL(None), "mallopt", None)
    if mallopt is not None:  # musl has none
        for option, value in ((ARENA_MAX, 1), (MMAP_THRESHOLD, LARGEST_BLOCK), (TRIM_THRESHOLD, KEPT_FREE)):
            mallopt(option, value)


class _NoWait(threading.Event):
    def wait(self, timeout: float | None = None) -> bool:
        return self.is_set()


class CheckedThread(threading.Thread):
    """A thread whose start never hangs, and whose lack of memory is never passed over.

    Python's own start() waits for ever for a thread that has no memory for its first lines. Here that is a
    RuntimeError, as when the system has no thread left, and the thread does nothing if it runs after all. If memory
    runs out later and is not handled, the process ends: its connections close, and relays judge without it.
    """

    def __init__(
        self,
        target: Callable[..., object],
        *,
        args: Iterable[object] = (),
        name: str | None = None,
        daemon: bool | None = None,
    ) -> None:
        super().__init__(target=target, args=args, name=name, daemon=daemon)
        self._started = _NoWait()  # what start() of the library waits for
        self._claim, self._runs = threading.Lock(), threading.Lock()  # the first is taken by who decides that it runs
        self._runs.acquire()

    def start(self) -> None:
        try:
            super().start()
            has_begun = self._runs.acquire(timeout=START_LIMIT)
        except (MemoryError, RuntimeError):
            has_begun = False
        if not has_begun and self._claim.acquire(blocking=False):
            raise RuntimeError("can't start new thread")

    def run(self) -> None:
        if not self._claim.acquire(blocking=False):
            return
        self._runs.release()
        try:
            super().run()
        except MemoryError:
            end_without_memory()


class CheckedTimer(CheckedThread):
    """A CheckedThread that calls a function after so many seconds, unless it is cancelled first."""

    def __init__(self, seconds: float, function: Callable[..., object], args: Iterable[object] = ()) -> None:
        super().__init__(self._call, args=(seconds, function, args))
        self._cancelled = threading.Event()

    def cancel(self) -> None:
        self._cancelled.set()

    def _call(self, seconds: float, function: Callable[..., object], args: Iterable[object]) -> None:
        if not self._cancelled.wait(seconds):
            function(*args)


def end_without_memory() -> None:
    """The end of this process, by what needs no memory."""
    os._exit(OUT_OF_MEMORY)


class LoopThread:
    """One asyncio loop in one thread. `loop` takes work with call_soon_threadsafe or run_coroutine_threadsafe."""

    def __init__(self) -> None:
        import asyncio

        self.loop = asyncio.new_event_loop()
        self._thread = CheckedThread(target=self._run, name="loop", daemon=True)
        self._thread.start()

    def close(self) -> None:
        """Cancel what still runs, wait for it, and end the thread."""
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
        self._thread = CheckedThread(target=self._run, name=name, daemon=True)
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
        self.begun = False
        self.must_end_hooks = False  # hooks that still run are ended from now on

    def begin(self) -> None:
        self.begun = True
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
