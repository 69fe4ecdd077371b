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

from tray.door.caller import Caller
from tray.model.decision import Answer

Work = Callable[[], Answer | None]  # None: the relay gets no answer, and asks the one-shot engine


class Parked(Protocol):
    """An answer that waits, as the engine makes it."""

    @property
    def seconds(self) -> float: ...
    def wait(self, resume: Callable[[Work], None]) -> bool: ...
    def gone(self) -> None: ...
    def late(self) -> None: ...
    def quit(self) -> None: ...
    def unasked(self) -> Answer | None: ...


class Parking:
    """`take` a caller; `leave(caller, work)` is called once for it, on the parking thread, when there is an answer.

    The thread sleeps until a caller hangs up, its time is over, or someone answers; it ends with the last caller.
    """

    def __init__(self, leave: Callable[[Caller, Work], None]) -> None:
        self._leave = leave
        self._lock = threading.Lock()
        self._here: dict[Caller, tuple[Parked, float]] = {}
        self._coming: deque[Caller] = deque()
        self._leaving: deque[tuple[Caller, Work]] = deque()
        self._thread: threading.Thread | None = None
        self._bell: socket.socket | None = None
        self._closed = False

    def take(self, caller: Caller, parked: Parked) -> bool:
        """False when it cannot be parked; then it still belongs to who brought it."""
        with self._lock:
            if self._closed:
                return False
            self._here[caller] = (parked, time.monotonic() + parked.seconds)
            self._coming.append(caller)
            if not self._awake():
                del self._here[caller]
                self._coming.remove(caller)
                return False
            self._ring()
        if parked.wait(lambda work: self._resume(caller, work)):
            return True
        self._resume(caller, parked.unasked)
        return True

    def clear(self, until: float) -> None:
        """The tray quits: no question is parked any more, and each parked one is closed without an answer."""
        with self._lock:
            self._closed = True
            here, thread = list(self._here.values()), self._thread
        for parked, _ in here:
            parked.quit()
        if thread is not None:
            thread.join(max(0.0, until - time.monotonic()))

    def _resume(self, caller: Caller, work: Work) -> None:
        with self._lock:
            self._leaving.append((caller, work))
            self._ring()

    def _awake(self) -> bool:
        """Whether the thread runs; the lock is held."""
        if self._thread is not None:
            return True
        bell, self._bell = socket.socketpair()
        bell.setblocking(False)
        self._bell.setblocking(False)
        self._thread = threading.Thread(target=self._run, args=(bell,), name="door parking", daemon=True)
        try:
            self._thread.start()
        except RuntimeError:  # the system has no thread left
            bell.close()
            self._bell.close()
            self._thread, self._bell = None, None
            return False
        return True

    def _ring(self) -> None:
        if self._bell is not None:
            with contextlib.suppress(BlockingIOError):  # it rings loud enough
                self._bell.send(b".")

    # ---- on the parking thread ----

    def _run(self, bell: socket.socket) -> None:
        with selectors.DefaultSelector() as selector:
            selector.register(bell, selectors.EVENT_READ)
            while self._turn(selector, bell):
                pass
        bell.close()

    def _turn(self, selector: selectors.BaseSelector, bell: socket.socket) -> bool:
        """One wait, and what came of it; False when the last caller has left."""
        with self._lock:
            due = min((until for _, until in self._here.values()), default=time.monotonic())
        ready = [key for key, _ in selector.select(max(0.0, due - time.monotonic()))]
        if any(key.fileobj is bell for key in ready):
            bell.recv(4096)
        for caller, work in self._moves(selector):
            self._leave(caller, work)
        self._look({key.data for key in ready})
        with self._lock:
            if self._here or self._leaving or self._coming:
                return True
            self._thread = None
            if self._bell is not None:
                self._bell.close()
            self._bell = None
            return False

    def _moves(self, selector: selectors.BaseSelector) -> list[tuple[Caller, Work]]:
        """Watch those who came, and no longer those who leave, who are returned."""
        with self._lock:
            coming, leaving = list(self._coming), list(self._leaving)
            self._coming.clear()
            self._leaving.clear()
            for caller, _ in leaving:
                self._here.pop(caller, None)
        for caller in coming:
            selector.register(caller.gone, selectors.EVENT_READ, caller)
        for caller, _ in leaving:
            selector.unregister(caller.gone)
        return leaving

    def _look(self, silent: set[Caller | None]) -> None:
        """Who has hung up, and who has waited too long; each of them is resumed by what is said here."""
        now = time.monotonic()
        with self._lock:
            here = list(self._here.items())
        for caller, (parked, until) in here:
            if caller in silent:
                parked.gone()
            elif until <= now:
                parked.late()
