"""The thread of the tray's asyncio loop, delayed and throttled calls, and the signal that the tray ends."""

from __future__ import annotations

import asyncio
import contextlib
import socket
import threading
import time
from collections.abc import Callable
from typing import Protocol

from tray.threads import Queue

LONGEST_HOLD = 10.0  # seconds that a ThrottledCall waits after costly work, at most


class LoopThread:
    """One asyncio loop in one thread. `loop` takes work with call_soon_threadsafe or run_coroutine_threadsafe."""

    def __init__(self) -> None:
        self.loop = asyncio.new_event_loop()
        self._thread = threading.Thread(target=self._run, name="loop", daemon=True)
        self._thread.start()

    def close(self) -> None:
        """Cancel the running tasks and join the thread, for 5 seconds each at most.

        The caller is the thread that made this: on Windows only that one can take back the signals of the loop.
        """
        with contextlib.suppress(TimeoutError):
            asyncio.run_coroutine_threadsafe(_cancel_all(), self.loop).result(5)
        self.loop.call_soon_threadsafe(self.loop.stop)
        self._thread.join(5)
        if not self._thread.is_alive():
            self.loop.close()

    def _run(self) -> None:
        asyncio.set_event_loop(self.loop)
        self.loop.run_forever()


class Timer(Protocol):
    """Does work later."""

    def after(self, seconds: float, work: Callable[[], object]) -> None: ...


class QueueTimer:
    """Posts work to a queue after some seconds. It may be called from any thread."""

    def __init__(self, loop: asyncio.AbstractEventLoop, queue: Queue) -> None:
        self._loop, self._queue = loop, queue

    def after(self, seconds: float, work: Callable[[], object]) -> None:
        with contextlib.suppress(RuntimeError):  # the loop has ended
            self._loop.call_soon_threadsafe(self._loop.call_later, seconds, self._queue.post, work)


class LatestTimer(QueueTimer):
    """A QueueTimer of which only the latest call counts."""

    _handle: asyncio.TimerHandle | None = None

    def after(self, seconds: float, work: Callable[[], object]) -> None:
        with contextlib.suppress(RuntimeError):  # the loop has ended
            self._loop.call_soon_threadsafe(self._arm, seconds, work)

    def _arm(self, seconds: float, work: Callable[[], object]) -> None:
        if self._handle is not None:
            self._handle.cancel()
        self._handle = self._loop.call_later(seconds, self._queue.post, work)


class ThrottledCall:
    """Runs `work` at most once every `seconds`; several requests in between become one run at the end."""

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
        self._end, self._ours = socket.socketpair()

    def fileno(self) -> int:
        return self._end.fileno()

    def close(self) -> None:
        self._ours.close()


async def _cancel_all() -> None:
    tasks = [task for task in asyncio.all_tasks() if task is not asyncio.current_task()]
    for task in tasks:
        task.cancel()
    await asyncio.gather(*tasks, return_exceptions=True)
