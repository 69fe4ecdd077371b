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
from tray.threads import start_thread


class PendingAnswer(Protocol):
    """An answer that waits, as the engine makes it."""

    @property
    def timeout(self) -> float: ...
    def open(self, waiter: PendingAnswers) -> None:
        """`waiter.resume` is called once, from any thread, as soon as `answer` may be called."""

    def answer(self) -> Answer | None:
        """None: the relay gets no answer, and asks the one-shot engine."""

    def client_disconnected(self) -> None: ...
    def expired(self) -> None: ...
    def shut_down(self) -> None: ...


class PendingAnswers:
    """Calls `deliver` once for each added caller, on the pending thread, when there is an answer.

    The thread sleeps until a caller hangs up, its time is over, or someone answers; it ends with the last caller.
    """

    def __init__(self, deliver: Callable[[ClientConnection, PendingAnswer], None]) -> None:
        self._deliver = deliver
        self._lock = threading.Lock()
        self._pending: dict[PendingAnswer, tuple[ClientConnection, float]] = {}
        self._added: deque[PendingAnswer] = deque()
        self._ready: deque[PendingAnswer] = deque()
        self._thread: threading.Thread | None = None
        self._wakeup: socket.socket | None = None
        self._closed = False

    def add(self, caller: ClientConnection, answer: PendingAnswer) -> bool:
        """False when it cannot wait here; then it still belongs to whoever called."""
        with self._lock:
            if self._closed:
                return False
            self._pending[answer] = (caller, time.monotonic() + answer.timeout)
            self._added.append(answer)
            if not self._ensure_thread():
                del self._pending[answer]
                self._added.remove(answer)
                return False
            self._wake()
        answer.open(self)
        if self._closed:  # `close` ran before `open`, and had nothing to end
            answer.shut_down()
        return True

    def close(self, until: float) -> None:
        """The tray quits: no question waits any more, and each open one is closed without an answer."""
        with self._lock:
            self._closed = True
            pending, thread = list(self._pending), self._thread
        for answer in pending:
            answer.shut_down()
        if thread is not None:
            thread.join(max(0.0, until - time.monotonic()))

    def resume(self, answer: PendingAnswer) -> None:
        """Deliver the answer; called from any thread."""
        with self._lock:
            if answer in self._pending:  # otherwise its caller was closed, as the thread failed
                self._ready.append(answer)
                self._wake()

    def _ensure_thread(self) -> bool:
        """Whether the thread runs; the lock is held."""
        if self._thread is not None:
            return True
        with contextlib.ExitStack() as opened:
            try:
                reader, wakeup = map(opened.enter_context, socket.socketpair())
                reader.setblocking(False)
                wakeup.setblocking(False)
                selector = opened.enter_context(selectors.DefaultSelector())
                selector.register(reader, selectors.EVENT_READ)
                thread = threading.Thread(target=self._run, args=(selector, reader), name="ipc pending", daemon=True)
                start_thread(thread)
            except (OSError, RuntimeError):  # no file can be opened any more, or no thread started
                return False
            opened.pop_all()
        self._thread, self._wakeup = thread, wakeup
        return True

    def _wake(self) -> None:
        if self._wakeup is not None:
            with contextlib.suppress(BlockingIOError):  # the thread is about to wake anyway
                self._wakeup.send(b".")

    # ---- on the pending thread ----

    def _run(self, selector: selectors.BaseSelector, wakeup_reader: socket.socket) -> None:
        try:
            with selector, wakeup_reader:
                while self._step(selector, wakeup_reader):
                    pass
        except BaseException:
            self._drop_all()
            raise

    def _drop_all(self) -> None:
        """Close every caller, as the thread has failed: their relays ask the one-shot engine."""
        with self._lock:
            dropped = [caller for caller, _ in self._pending.values()]
            for waiting in (self._pending, self._added, self._ready):
                waiting.clear()
            self._forget_thread()
        for caller in dropped:
            caller.close()

    def _forget_thread(self) -> None:
        """Let the next caller start another thread; the lock is held."""
        self._thread = None
        if self._wakeup is not None:
            self._wakeup.close()
        self._wakeup = None

    def _step(self, selector: selectors.BaseSelector, wakeup_reader: socket.socket) -> bool:
        """Wait once and handle what became ready; False when the last caller has left."""
        with self._lock:
            due = min((until for _, until in self._pending.values()), default=time.monotonic())
        ready = [key for key, _ in selector.select(max(0.0, due - time.monotonic()))]
        if any(key.fileobj is wakeup_reader for key in ready):
            wakeup_reader.recv(4096)
        for caller, answer in self._update_selector(selector):
            self._deliver(caller, answer)
        self._check_pending({key.data for key in ready})
        with self._lock:
            if self._pending or self._ready or self._added:
                return True
            self._forget_thread()
            return False

    def _update_selector(self, selector: selectors.BaseSelector) -> list[tuple[ClientConnection, PendingAnswer]]:
        """Watch the added callers, stop watching those with an answer, and return the latter with it."""
        with self._lock:
            added = [self._pending[answer][0] for answer in self._added]
            ready = [(self._pending.pop(answer)[0], answer) for answer in self._ready]
            self._added.clear()
            self._ready.clear()
        for caller in added:
            selector.register(caller, selectors.EVENT_READ, caller)
        for caller, _ in ready:
            selector.unregister(caller)
        return ready

    def _check_pending(self, disconnected: set[ClientConnection | None]) -> None:
        """Report the callers that have hung up or waited too long; the answer then calls `resume`."""
        now = time.monotonic()
        with self._lock:
            pending = list(self._pending.items())
        for answer, (caller, until) in pending:
            if caller in disconnected:
                answer.client_disconnected()
            elif until <= now:
                answer.expired()
