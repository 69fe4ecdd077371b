"""Runs the main thread of an icon that needs no toolkit. HeadlessIcon, without a screen, has nothing else."""

from __future__ import annotations

import contextlib
import queue
import signal
import socket
import threading
from collections.abc import Callable, Iterator

from tray.desktop.artwork import IconState
from tray.desktop.menu.items import Item


class MainLoop:
    """Runs what others post, until it is stopped; blocks without waking up while there is nothing to do.

    It waits on a socket and not on the queue: a signal that comes between Python's last check of its signals and a
    wait on a lock would go unnoticed, while one that writes to the socket ends any wait.
    """

    def __init__(self) -> None:
        self._posted: queue.SimpleQueue[Callable[[], object] | None] = queue.SimpleQueue()
        self._waker: socket.socket | None = None  # while it runs

    def run(self) -> None:
        woken, waker = socket.socketpair()
        with woken, waker:
            waker.setblocking(False)
            self._waker = waker
            with _signals_to(waker):
                while self._run_posted():
                    woken.recv(4096)
            self._waker = None

    def post(self, work: Callable[[], object]) -> None:
        self._posted.put(work)
        self._wake()

    def stop(self) -> None:
        """Everything posted before is still run."""
        self._posted.put(None)
        self._wake()

    def _run_posted(self) -> bool:
        """Run what is posted; False when `stop` was among it."""
        with contextlib.suppress(queue.Empty):
            while (posted := self._posted.get_nowait()) is not None:
                posted()
            return False
        return True

    def _wake(self) -> None:
        waker = self._waker
        if waker is not None:
            with contextlib.suppress(OSError):  # full of bytes that wake it already, or just over
                waker.send(b"\0")


class HeadlessIcon(MainLoop):
    """The icon without a screen: `reason` is why there is none."""

    name = "headless"
    visible = False

    def __init__(self, reason: str) -> None:
        super().__init__()
        self.reason = reason

    def show(self, state: IconState, tooltip: str, items: tuple[Item, ...]) -> None:
        """Does nothing, as there is no screen."""


@contextlib.contextmanager
def _signals_to(waker: socket.socket) -> Iterator[None]:
    """Have every signal write to this socket, where that is possible: in the main thread."""
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    before = signal.set_wakeup_fd(waker.fileno(), warn_on_full_buffer=False)
    try:
        yield
    finally:
        signal.set_wakeup_fd(before)
