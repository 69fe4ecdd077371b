"""Asks a person at a terminal: the tray itself writes the question and a challenge there, and reads what is typed."""

from __future__ import annotations

import contextlib
import os
import secrets
import select
import sys
import threading
import time
from collections.abc import Callable, Iterator

from tray.approvals.callers.person import check_terminal
from tray.errors import HooktrayError
from tray.ipc.caller_facts import caller_facts, is_in_foreground, start_time
from tray.language import say
from tray.text import printable

CONFIRM_TIMEOUT = 60.0  # seconds for an answer
POLL_INTERVAL = 0.2  # seconds between two looks at the caller, while a question is open
CODE_ALPHABET = "abcdefghjkmnpqrstuvwxyz23456789"  # none that looks like another
CODE_LENGTH = 6


class TerminalPrompt:
    """One question at a time. `is_untrusted` knows the processes below agents and hooks."""

    def __init__(self, is_untrusted: Callable[[int], bool], *, timeout: float = CONFIRM_TIMEOUT) -> None:
        self._is_untrusted = is_untrusted
        self._timeout = timeout
        self._lock = threading.Lock()
        self._closing = threading.Event()

    def refusal(self, pid: int) -> str:
        """Why this process is no person at a terminal; "" when it is."""
        return check_terminal(caller_facts(pid, self._is_untrusted))

    def confirm(self, pid: int, question: str) -> bool:
        """Whether the person there typed the challenge. Raises HooktrayError when nobody could be asked."""
        if not self._lock.acquire(blocking=False):
            raise HooktrayError(say("another question is open at a terminal"), hint=say("answer that one first"))
        try:
            since = start_time(pid)
            facts = caller_facts(pid, self._is_untrusted)
            if not since or facts.terminal is None or check_terminal(facts):
                return False
            with _open_terminal(facts.terminal.path) as terminal:
                is_right = self._ask(terminal, question, lambda: is_in_foreground(pid, since))
            return is_right and start_time(pid) == since and not self.refusal(pid)
        finally:
            self._lock.release()

    def close(self) -> None:
        """End the question that is open."""
        self._closing.set()

    def _ask(self, terminal: int, question: str, is_there: Callable[[], bool]) -> bool:
        """A new challenge each time, and what was typed before it was shown does not count."""
        challenge = "".join(secrets.choice(CODE_ALPHABET) for _ in range(CODE_LENGTH))
        _discard_input(terminal)
        wanted = say("Type {letters} to do it; anything else leaves all as it is:", letters=challenge)
        text = f"{printable(question)}\n\n{wanted} "
        _write(terminal, text)
        typed = self._read_line(terminal, is_there)
        is_right = secrets.compare_digest(typed.strip().encode(), challenge.encode())
        _write(terminal, "" if typed.endswith("\n") else "\n")
        return is_right

    def _read_line(self, terminal: int, is_there: Callable[[], bool]) -> str:
        until = time.monotonic() + self._timeout
        typed = b""
        while time.monotonic() < until and is_there() and not self._closing.is_set():
            if not _readable(terminal, POLL_INTERVAL):
                continue
            try:
                part = os.read(terminal, 256)
            except OSError:  # hung up
                break
            typed += part
            if not part or len(typed) > 256 or typed.endswith((b"\n", b"\r")):
                break
        return typed.decode("utf-8", "replace")


@contextlib.contextmanager
def _open_terminal(path: str) -> Iterator[int]:
    if sys.platform == "win32":
        raise HooktrayError(say("there are no terminals to ask at here"), hint=say("use the tray's menu"))
    try:
        terminal = os.open(path, os.O_RDWR | os.O_NOCTTY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC)
    except OSError as error:
        raise HooktrayError(
            say("{place}: cannot ask there: {why}", place=path, why=error.strerror), hint=say("use another terminal")
        ) from error
    try:
        if not os.isatty(terminal):
            raise HooktrayError(say("{place}: is no terminal", place=path), hint=say("use another terminal"))
        yield terminal
    finally:
        os.close(terminal)


def _discard_input(terminal: int) -> None:
    if sys.platform != "win32":
        import termios

        with contextlib.suppress(termios.error):
            termios.tcflush(terminal, termios.TCIFLUSH)


def _write(terminal: int, text: str) -> None:
    """Write for at most two seconds: a terminal that takes nothing is not waited for."""
    data = text.replace("\n", "\r\n").encode()
    until = time.monotonic() + 2
    while data and time.monotonic() < until:
        try:
            data = data[os.write(terminal, data) :]
        except BlockingIOError:
            select.select([], [terminal], [], POLL_INTERVAL)
        except OSError:
            return


def _readable(terminal: int, seconds: float) -> bool:
    if sys.platform == "win32":
        return False
    poll = select.poll()
    poll.register(terminal, select.POLLIN | select.POLLHUP)
    return bool(poll.poll(seconds * 1000))
