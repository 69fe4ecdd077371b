"""The CLI's side of the connection: sends a request to the running tray, and shows its questions at the terminal."""

from __future__ import annotations

import contextlib
import getpass
import os
import signal
import socket
import sys
import time
import warnings
from collections.abc import Iterator, Mapping
from pathlib import Path

from tray.errors import HooktrayError, IpcError
from tray.ipc import frames, sockets
from tray.ipc.frames import QUESTION_TIMEOUT, FrameError
from tray.language import phrase, say

TIMEOUT = 5.0  # seconds
HUNG_HINT = "it may be hung or of another version: end it and start `hooktray run`"
NOTHING_CHANGED = phrase("nothing was changed; ask once more")


def ask(path: Path, request: Mapping[str, object], timeout: float) -> Mapping[str, object]:
    """Sends a request for which the tray may ask the user for a proof, at the command's terminal."""
    can_ask = has_terminal()
    return send_request(path, {**request, "terminal": can_ask}, timeout, can_ask=can_ask)


def send_request(
    path: Path, request: Mapping[str, object], timeout: float = TIMEOUT, *, can_ask: bool = False
) -> Mapping[str, object]:
    """Returns the tray's reply. Raises IpcError if no tray listens at `path`, or it does not reply or refuses.

    With `can_ask` a question of the tray is shown at the terminal; the time until it is answered does not count.
    """
    until = time.monotonic() + timeout
    connection, token = _connect(path)
    with connection:
        try:
            connection.settimeout(_remaining(until))
            connection.sendall(frames.encode_control(request, token))
            frames.decode_ack(_receive(connection, frames.ACK_SIZE, until))
            start = _receive(connection, 1, until)
            while can_ask and start == frames.QUESTION:
                asked = time.monotonic()
                size = frames.question_size(start + _receive(connection, frames.QUESTION_SIZE - 1, until))
                typed = ask_hidden(_receive(connection, size, until).decode("utf-8", "replace"))
                with contextlib.suppress(ConnectionError):  # the tray no longer waits: its reply is there
                    connection.sendall(f"{typed}\n".encode())
                until += time.monotonic() - asked
                start = _receive(connection, 1, until)
            start += _receive(connection, frames.REPLY_SIZE - 1, until)
            rest = _receive(connection, frames.answer_size(start) - frames.REPLY_SIZE, until)
        except TimeoutError:
            raise IpcError(f"the tray did not reply within {timeout:g} seconds", hint=HUNG_HINT) from None
        except (OSError, FrameError) as error:
            raise IpcError(f"the tray broke off: {error}", hint="its log says why: `hooktray paths`") from error
    return _reply(start + rest)


def _connect(path: Path) -> tuple[socket.socket, str]:
    if not path.parent.exists():
        raise _not_running(path)
    try:
        return sockets.connect(path, TIMEOUT)
    except (FileNotFoundError, ConnectionRefusedError, ValueError):
        raise _not_running(path) from None
    except (TimeoutError, BlockingIOError):
        raise IpcError("the tray takes no requests", hint=HUNG_HINT) from None
    except OSError as error:
        raise IpcError(f"{path}: cannot reach the tray: {error}", hint="name its place with --home DIR") from error


def _not_running(path: Path) -> IpcError:
    return IpcError(f"the tray is not running (nobody listens at {path})", hint="`hooktray run` starts it")


def _reply(data: bytes) -> Mapping[str, object]:
    answer = frames.decode_answer(data)
    try:
        reply = frames.decode_request(answer.stdout)
    except FrameError as error:
        raise IpcError(f"the tray's reply cannot be read: {error}", hint=HUNG_HINT) from None
    if answer.code:
        raise IpcError(str(reply.get("error", "the tray says no")), hint=str(reply.get("hint", "")))
    return reply


def _receive(connection: socket.socket, size: int, until: float) -> bytes:
    received = bytearray()
    while len(received) < size:
        connection.settimeout(_remaining(until))
        part = connection.recv(min(size - len(received), 1024 * 1024))
        if not part:
            raise ConnectionError("the connection was closed before the reply")
        received += part
    return bytes(received)


def _remaining(until: float) -> float:
    left = until - time.monotonic()
    if left <= 0:
        raise TimeoutError
    return left


def has_terminal() -> bool:
    """True if the command has a controlling terminal and is in its foreground, so that it can ask the user."""
    if sys.platform == "win32":
        return sys.stdin is not None and sys.stdin.isatty()
    try:
        descriptor = os.open("/dev/tty", os.O_RDWR | os.O_NOCTTY | os.O_CLOEXEC)
    except OSError:
        return False
    try:
        return os.tcgetpgrp(descriptor) == os.getpgrp()
    except OSError:
        return False
    finally:
        os.close(descriptor)


def ask_hidden(text: str) -> str:
    """The line that was typed. Raises HooktrayError where the terminal would show it, and after a minute."""
    with warnings.catch_warnings(), _time_to_type():
        warnings.simplefilter("error", getpass.GetPassWarning)
        try:
            return getpass.getpass(text)
        except getpass.GetPassWarning:
            why = say("this terminal cannot hide what is typed")
            raise HooktrayError(why, hint=say("use another terminal")) from None
        except UnicodeDecodeError as error:
            why = say("what was typed is not {encoding}", encoding=error.encoding)
            raise HooktrayError(why, hint=say(NOTHING_CHANGED)) from None
        except (EOFError, KeyboardInterrupt):  # Enter was not typed
            print(file=sys.stderr)
            raise


if sys.platform == "win32":

    @contextlib.contextmanager
    def _time_to_type() -> Iterator[None]:
        yield

else:

    @contextlib.contextmanager
    def _time_to_type() -> Iterator[None]:
        """Ends a question for which the tray no longer waits. Ctrl-Z is ignored: a shell would show the line then."""
        before = signal.signal(signal.SIGTSTP, signal.SIG_IGN), signal.signal(signal.SIGALRM, _give_up)
        signal.setitimer(signal.ITIMER_REAL, QUESTION_TIMEOUT)
        try:
            yield
        finally:
            signal.setitimer(signal.ITIMER_REAL, 0)
            for number, handler in zip((signal.SIGTSTP, signal.SIGALRM), before, strict=True):
                signal.signal(number, handler)

    def _give_up(signal_number: int, frame: object) -> None:
        raise HooktrayError(say("nothing was typed in time"), hint=say(NOTHING_CHANGED))
