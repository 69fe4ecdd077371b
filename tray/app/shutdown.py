"""Quits without turning a guard that runs into an allow: its hooks finish, or their processes end before the answer.

Quit in the menu, SIGTERM, SIGINT, SIGHUP and an icon that ends by itself all come here.
"""

from __future__ import annotations

import contextlib
import faulthandler
import logging
import signal
import sys
import threading
import time
from collections.abc import Iterator
from queue import Empty, SimpleQueue
from types import FrameType
from typing import Protocol

from tray.ipc.server import IpcServer
from tray.threads import Queue, ShutdownState, run_logged

GRACE = 10.0  # seconds that hooks may take to finish when an agent waits for their answer
KILL_TIMEOUT = 3.0  # seconds until the process trees of all other hooks are gone
CLOSE_TIMEOUT = 12.0  # seconds that everything else may take
POLL_INTERVAL = 0.02  # seconds between two checks whether something still runs

if sys.platform == "win32":
    SIGNALS = (signal.SIGTERM, signal.SIGINT)
else:
    SIGNALS = (signal.SIGTERM, signal.SIGINT, signal.SIGHUP)

log = logging.getLogger(__name__)


class ShutdownView(Protocol):
    """The part of the user interface that a shutdown calls: `show_waiting` on the thread of the queue."""

    def show_waiting(self) -> None:
        """Show that the tray waits for hooks that still run."""

    def stop_icon(self) -> None:
        """Stop the icon, as no hook runs any more. Called from any thread."""


class GracefulShutdown:
    """`request` from anywhere, also from a signal handler; after a second request, hooks end at once.

    It runs on a thread of its own, so that the icon keeps working. `view` is set before `start`.
    """

    view: ShutdownView

    def __init__(
        self, listener: IpcServer, shutdown_state: ShutdownState, queue: Queue, *, grace: float = GRACE
    ) -> None:
        self._listener, self._shutdown_state, self._grace = listener, shutdown_state, grace
        self._queue = queue
        # A queue of C code: a signal handler that interrupts itself would wait for ever for the lock of an Event.
        self._requests: SimpleQueue[None] = SimpleQueue()
        self._thread = threading.Thread(target=self._run, name="quit", daemon=True)

    def start(self) -> None:
        self._thread.start()

    def request(self) -> None:
        self._requests.put(None)

    def join(self) -> None:
        """Wait until it has ended; call `request` first."""
        self._thread.join()

    @contextlib.contextmanager
    def on_signals(self) -> Iterator[None]:
        """While the block runs, a signal requests the shutdown; closing the terminal sends one, too."""
        before = {number: signal.signal(number, self._signalled) for number in SIGNALS}
        try:
            yield
        finally:
            for number, handler in before.items():
                signal.signal(number, handler)

    def _signalled(self, number: int, frame: FrameType | None) -> None:
        self.request()

    def _run(self) -> None:
        self._requests.get()
        try:
            run_logged((self._drain,), "hooks could not be waited for")
        finally:
            # A tray that hangs from here on dumps its threads to stderr and exits: a quit always ends it.
            faulthandler.dump_traceback_later(CLOSE_TIMEOUT, exit=True)
            self.view.stop_icon()

    def _drain(self) -> None:
        """First by themselves, then by force; a connection is closed only after the processes behind it are gone."""
        until = time.monotonic() + self._grace
        self._shutdown_state.begin()
        self._listener.stop_accepting()
        if self._listener.is_busy:
            log.info("quitting: hooks that an agent waits for have %g s to finish", self._grace)
            self._queue.post(self.view.show_waiting)
        while self._listener.is_busy and time.monotonic() < until and not self._requested_again():
            pass
        if self._listener.is_busy:
            log.warning("quitting: hooks that still run are ended, and their agents ask the one-shot engine")
        self._shutdown_state.end_hooks()
        self._listener.close(KILL_TIMEOUT)

    def _requested_again(self) -> bool:
        with contextlib.suppress(Empty):
            self._requests.get(timeout=POLL_INTERVAL)
            return True
        return False
