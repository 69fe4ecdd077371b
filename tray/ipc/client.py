"""The CLI's side of the connection: send one request to the running tray."""

from __future__ import annotations

import contextlib
import socket
import time
from collections.abc import Mapping
from pathlib import Path

from tray.errors import IpcError
from tray.ipc import frames, sockets
from tray.ipc.command_terminal import ask_hidden, has_terminal
from tray.ipc.frames import FrameError

TIMEOUT = 5.0  # seconds
HUNG_HINT = "it may be hung or of another version: end it and start `hooktray run`"


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
                _answer_question(connection, until)
                until += time.monotonic() - asked
                start = _receive(connection, 1, until)
            start += _receive(connection, frames.REPLY_SIZE - 1, until)
            rest = _receive(connection, frames.answer_size(start) - frames.REPLY_SIZE, until)
        except TimeoutError:
            raise IpcError(f"the tray did not reply within {timeout:g} seconds", hint=HUNG_HINT) from None
        except (OSError, FrameError) as error:
            raise IpcError(f"the tray broke off: {error}", hint="its log says why: `hooktray paths`") from error
    return _reply(start + rest)


def _answer_question(connection: socket.socket, until: float) -> None:
    size = frames.question_size(frames.QUESTION + _receive(connection, frames.QUESTION_SIZE - 1, until))
    typed = ask_hidden(_receive(connection, size, until).decode("utf-8", "replace"))
    with contextlib.suppress(ConnectionError):  # the tray no longer waits: its reply is there
        connection.sendall(f"{typed}\n".encode())


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
