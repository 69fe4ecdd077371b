"""Starts the process that sends a message, and ends it when it takes too long."""

from __future__ import annotations

import contextlib
import subprocess
import threading
from collections.abc import Sequence

import msgspec

from tray.execution.isolation import isolated_command
from tray.notify.push.message import PushResult, PushStatus
from tray.notify.push.sender import SendAnswer, SendRequest

WORD = "push-send"
DEADLINE = 20.0  # seconds for one message
CLOSE_TIMEOUT = 2.0  # seconds that messages under way have when the tray ends


class PushProcesses:
    """Used by many threads; `close` ends what runs."""

    def __init__(self, command: Sequence[str] = (), deadline: float = DEADLINE) -> None:
        self._command = tuple(command)
        self._deadline = deadline
        self._lock = threading.Condition()
        self._running: set[subprocess.Popen[bytes]] = set()
        self._is_closed = False

    def run(self, request: SendRequest) -> SendAnswer:
        """Blocks until the process has ended or was ended. It never raises."""
        process = self._start()
        if process is None:
            return SendAnswer(result=PushResult(PushStatus.UNREACHED, "no process could be started for it"))
        try:
            output, _ = process.communicate(msgspec.json.encode(request), timeout=self._deadline)
            return msgspec.json.decode(output, type=SendAnswer)
        except subprocess.TimeoutExpired:
            return _unknown("it took too long")
        except (msgspec.DecodeError, OSError):
            return _unknown("Apprise failed in an unexpected way")
        finally:
            with contextlib.suppress(OSError):
                process.kill()
            process.communicate()
            with self._lock:
                self._running.discard(process)
                self._lock.notify_all()

    def close(self, deadline: float = CLOSE_TIMEOUT) -> None:
        with self._lock:
            self._is_closed = True
            self._lock.wait_for(lambda: not self._running, deadline)
            for process in self._running:
                with contextlib.suppress(OSError):
                    process.kill()

    def _start(self) -> subprocess.Popen[bytes] | None:
        pipe = subprocess.PIPE
        flags = getattr(subprocess, "CREATE_NO_WINDOW", 0)
        with self._lock:
            if self._is_closed:
                return None
            try:
                process = subprocess.Popen(
                    self._command or isolated_command(WORD), stdin=pipe, stdout=pipe, stderr=subprocess.DEVNULL,
                    creationflags=flags,
                )  # fmt: skip
            except OSError:
                return None
            self._running.add(process)
        return process


def _unknown(why: str) -> SendAnswer:
    return SendAnswer(result=PushResult(PushStatus.UNKNOWN, f"{why}: it may have arrived"))
