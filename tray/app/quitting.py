"""Quits without turning a guard that runs into an allow: its hooks finish, or their processes end before the answer.

Quit in the menu, SIGTERM, SIGINT, SIGHUP and an icon that ends by itself all come here.
"""

from __future__ import annotations

import contextlib
import faulthandler
import logging
import queue
import threading
import time
from collections.abc import Callable
from typing import Protocol

from tray.threads import Quit

FINISHING = 10.0  # seconds that hooks may take to finish when an agent waits for their answer
ENDING = 3.0  # seconds until the process trees of all other hooks are gone
CLOSING = 12.0  # seconds that everything else may take
LOOK = 0.02  # seconds between two looks at what still runs

log = logging.getLogger(__name__)


class Doors(Protocol):
    """What this needs of the Listener."""

    @property
    def busy(self) -> bool: ...
    def shut(self) -> None: ...
    def close(self, timeout: float) -> None: ...


class Quitting:
    """`ask` from anywhere, also from a signal handler; asked once more, hooks end at once.

    It works on a thread of its own, so that the icon goes on meanwhile. It calls `began` first, `waits` when hooks
    still run, and `ended` when none does any more.
    """

    def __init__(
        self,
        listener: Doors,
        quit: Quit,
        *,
        finishing: float = FINISHING,
        began: Callable[[], object],
        waits: Callable[[], object],
        ended: Callable[[], object],
    ) -> None:
        self._listener, self._quit, self._finishing = listener, quit, finishing
        self._began, self._waits, self._ended = began, waits, ended
        # A queue of C code: a signal handler that interrupts itself would wait for ever for the lock of an Event.
        self._asked: queue.SimpleQueue[None] = queue.SimpleQueue()
        self._thread = threading.Thread(target=self._run, name="quit", daemon=True)

    def start(self) -> None:
        self._thread.start()

    def ask(self) -> None:
        self._asked.put(None)

    def join(self) -> None:
        """Wait until it has ended; `ask` comes before this."""
        self._thread.join()

    def _run(self) -> None:
        self._asked.get()
        try:
            self._finish()
        except Exception:  # the tray ends all the same
            log.exception("hooks could not be waited for")
        finally:
            # A tray that hangs from here on dumps its threads to stderr and exits: a quit always ends it.
            faulthandler.dump_traceback_later(CLOSING, exit=True)
            self._ended()

    def _finish(self) -> None:
        """First by themselves, then by force; a connection is closed only after the processes behind it are gone."""
        until = time.monotonic() + self._finishing
        self._quit.begin()
        self._began()
        self._listener.shut()
        if self._listener.busy:
            log.info("quitting: hooks that an agent waits for have %g s to finish", self._finishing)
            self._waits()
        while self._listener.busy and time.monotonic() < until and not self._asked_again():
            pass
        if self._listener.busy:
            log.warning("quitting: hooks that still run are ended, and their agents ask the one-shot engine")
        self._quit.end_hooks()
        self._listener.close(ENDING)

    def _asked_again(self) -> bool:
        with contextlib.suppress(queue.Empty):
            self._asked.get(timeout=LOOK)
            return True
        return False
