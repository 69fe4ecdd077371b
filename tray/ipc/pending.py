"""Holds the connections whose answer waits for the user: one thread for all of them, and none when there are none."""

from __future__ import annotations

import contextlib
import selectors
import socket
import threading
import time
from collections import deque
from collections.abc import Callable
from typing import Protocol

from tray.ipc.connection import ClientConnection
from tray.model.decision import Answer

AnswerJob = Callable[[], Answer | None]  # None: the relay gets no answer, and asks the one-shot engine


class PendingAnswer(Protocol):
    """An answer that waits, as the engine makes it."""

    @property
    def timeout(self) -> float: ...
    def on_ready(self, resume: Callable[[AnswerJob], None]) -> bool: ...
    def client_disconnected(self) -> None: ...
    def expired(self) -> None: ...
    def shut_down(self) -> None: ...
    def fallback(self) -> Answer | None: ...


class PendingAnswers:
    """`take` a caller; `leave(caller, work)` is called once for it, on the parking thread, when there is an answer.

    The thread sleeps until a caller hangs up, its time is over, or someone answers; it ends with the last caller.
    """

    def __init__(self, deliver: Callable[[ClientConnection, AnswerJob], None]) -> None:
        self._deliver = deliver
        self._lock = threading.Lock()
        self._pending: dict[ClientConnection, tuple[PendingAnswer, float]] = {}
        self._added: deque[ClientConnection] = deque()
        self._ready: deque[tuple[ClientConnection, AnswerJob]] = deque()
        self._thread: threading.Thread | None = None
        self._wakeup: socket.socket | None = None
        self._closed = False

    def add(self, caller: ClientConnection, parked: PendingAnswer) -> bool:
        """False when it cannot be parked; then it still belongs to who brought it."""
        with self._lock:
            if self._closed:
                return False
            self._pending[caller] = (parked, time.monotonic() + parked.timeout)
            self._added.append(caller)
            if not self._ensure_thread():
                del self._pending[caller]
                self._added.remove(caller)
                return False
            self._wake()
        if parked.on_ready(lambda work: self._resume(caller, work)):
            return True
        self._resume(caller, parked.fallback)
        return True

    def close(self, until: float) -> None:
        """The tray quits: no question is parked any more, and each parked one is closed without an answer."""
        with self._lock:
            self._closed = True
            here, thread = list(self._pending.values()), self._thread
        for parked, _ in here:
            parked.shut_down()
        if thread is not None:
            thread.join(max(0.0, until - time.monotonic()))

    def _resume(self, caller: ClientConnection, work: AnswerJob) -> None:
        with self._lock:
            self._ready.append((caller, work))
            self._wake()

    def _ensure_thread(self) -> bool:
        """Whether the thread runs; the lock is held."""
        if self._thread is not None:
            return True
        bell, self._wakeup = socket.socketpair()
        bell.setblocking(False)
        self._wakeup.setblocking(False)
        self._thread = threading.Thread(target=self._run, args=(bell,), name="door parking", daemon=True)
        try:
            self._thread.start()
        except RuntimeError:  # the system has no thread left
            bell.close()
            self._wakeup.close()
            self._thread, self._wakeup = None, None
            return False
        return True

    def _wake(self) -> None:
        if self._wakeup is not None:
            with contextlib.suppress(BlockingIOError):  # it rings loud enough
                self._wakeup.send(b".")

    # ---- on the parking thread ----

    def _run(self, bell: socket.socket) -> None:
        with selectors.DefaultSelector() as selector:
            selector.register(bell, selectors.EVENT_READ)
            while self._step(selector, bell):
                pass
        bell.close()

    def _step(self, selector: selectors.BaseSelector, bell: socket.socket) -> bool:
        """One wait, and what came of it; False when the last caller has left."""
        with self._lock:
            due = min((until for _, until in self._pending.values()), default=time.monotonic())
        ready = [key for key, _ in selector.select(max(0.0, due - time.monotonic()))]
        if any(key.fileobj is bell for key in ready):
            bell.recv(4096)
        for caller, work in self._update_selector(selector):
            self._deliver(caller, work)
        self._check_pending({key.data for key in ready})
        with self._lock:
            if self._pending or self._ready or self._added:
                return True
            self._thread = None
            if self._wakeup is not None:
                self._wakeup.close()
            self._wakeup = None
            return False

    def _update_selector(self, selector: selectors.BaseSelector) -> list[tuple[ClientConnection, AnswerJob]]:
        """Watch those who came, and no longer those who leave, who are returned."""
        with self._lock:
            coming, leaving = list(self._added), list(self._ready)
            self._added.clear()
            self._ready.clear()
            for caller, _ in leaving:
                self._pending.pop(caller, None)
        for caller in coming:
            selector.register(caller.disconnect_signal, selectors.EVENT_READ, caller)
        for caller, _ in leaving:
            selector.unregister(caller.disconnect_signal)
        return leaving

    def _check_pending(self, silent: set[ClientConnection | None]) -> None:
        """Who has hung up, and who has waited too long; each of them is resumed by what is said here."""
        now = time.monotonic()
        with self._lock:
            here = list(self._pending.items())
        for caller, (parked, until) in here:
            if caller in silent:
                parked.client_disconnected()
            elif until <= now:
                parked.expired()
