"""Answers requests: a few acceptors that block, and a thread of its own for each request that takes time."""

from __future__ import annotations

import contextlib
import json
import logging
import socket
import sys
import threading
import time
from collections.abc import Callable, Mapping
from functools import partial
from pathlib import Path
from typing import Protocol

from tray.engine.ports import EventCaller, Execution
from tray.errors import FULL, MAKE_ROOM, HooktrayError
from tray.files import Identity
from tray.ipc import frames, sockets
from tray.ipc.connection import (
    STALL_TIMEOUT,
    CallerTerminal,
    ClientConnection,
    ClientDisconnected,
    PeerCredentials,
    peer_credentials,
)
from tray.ipc.deferred import DeferredWork
from tray.ipc.frames import FrameError
from tray.ipc.pending import PendingAnswer, PendingAnswers
from tray.ipc.sockets import ListeningSocket
from tray.model.decision import Answer
from tray.model.event import RelayRequest
from tray.threads import start_thread

__all__ = ["IpcServer", "IpcService", "PeerCredentials"]

ACCEPTORS = 8
INLINE_WORKERS = 4  # acceptors, at most, that work on an event themselves: to start a thread takes time as well
FRAME_WAIT = 0.02  # seconds that an acceptor waits for a whole frame
EVENT_THREADS = 256  # threads for events; no caller gets one before its whole frame is there
CONTROL_THREADS = 32  # threads for the user's own requests, whole as well
UNIDENTIFIED_THREADS = 32  # threads for callers that are not yet identified, and have not shown their token
SLOW_THREADS = 32  # threads for callers whose header is there, and whose body or long answer takes time
JOIN_INTERVAL = 0.05  # seconds between two cancellations of acceptors that are at work, when the server closes
INLINE_SIZE = 64 * 1024  # an answer that fits the socket's buffer cannot hold up an acceptor

_log = logging.getLogger(__name__)


class IpcService(Protocol):
    """What the server asks for answers: in the tray TrayService. It is called from the server's threads."""

    def timeout(self, agent: str, event: str) -> float:
        """Seconds the relay may wait for its answer in all."""

    def handle(self, request: RelayRequest, caller: EventCaller) -> Answer | PendingAnswer | Execution | None:
        """Returns the answer, or an execution, which gets a thread of its own, or a pending answer, which gets none.

        None closes the connection without an answer, so that the relay asks the one-shot engine.
        """

    def busy_answer(self, request: RelayRequest) -> Answer:
        """The answer when no thread is free."""

    def failure_answer(self, agent: str, event: str, body: bytes) -> Answer | None:
        """The answer after our own failure; None closes the connection: the relay asks the one-shot engine."""

    def control(
        self, request: Mapping[str, object], peer: PeerCredentials, terminal: CallerTerminal
    ) -> Mapping[str, object]:
        """A request of the CLI; a HooktrayError travels back to it. `terminal` is that of the command."""


# What a thread does for a caller; it returns True if the caller has moved on to another thread.
Task = Callable[[ClientConnection], bool]


class ConnectionPool:
    """A bounded number of slots for callers that take time: `reserve` one, then `start` a thread or `release` it."""

    def __init__(self, server: IpcServer, limit: int, name: str) -> None:
        self._server, self._limit, self._name = server, limit, name
        self._lock = threading.Lock()
        self._inside: list[ClientConnection] = []
        self._threads: set[threading.Thread] = set()

    def reserve(self, caller: ClientConnection) -> bool:
        with self._lock:
            if len(self._inside) >= self._limit:
                return False
            self._inside.append(caller)
            return True

    def release(self, caller: ClientConnection, thread: threading.Thread | None = None) -> None:
        with self._lock:
            self._inside.remove(caller)
            if thread is not None:
                self._threads.remove(thread)

    def start(self, caller: ClientConnection, task: Task) -> bool:
        """Do the task on a new thread in the reserved slot. Returns False if the system has no thread left.

        The slot is free afterwards. The thread closes the caller unless it moved on to another thread.
        """
        thread = threading.Thread(target=self._run, args=(caller, task), name=self._name, daemon=True)
        with self._lock:
            self._threads.add(thread)
        try:
            start_thread(thread)
        except RuntimeError:
            self.release(caller, thread)
            return False
        return True

    @property
    def is_busy(self) -> bool:
        """Whether a slot is reserved."""
        return bool(self._inside)

    def cancel(self) -> None:
        """Cancel every caller that is in the pool now."""
        with self._lock:
            inside = list(self._inside)
        for caller in inside:
            caller.cancel()

    def close(self, until: float) -> None:
        """Cancel every caller in the pool and wait for its threads until that moment of the monotonic clock."""
        while self._threads and time.monotonic() < until:
            self.cancel()
            with self._lock:
                threads = list(self._threads)
            for thread in threads:
                thread.join(max(0.0, until - time.monotonic()))

    def _run(self, caller: ClientConnection, task: Task) -> None:
        moved = False
        try:
            moved = self._server.proceed(caller, task)
        finally:
            if not moved:
                caller.close()
            self.release(caller, threading.current_thread())


class IpcServer:
    """Listens on the tray's socket. The caller of `start` holds the single-instance lock."""

    def __init__(self, path: Path, service: IpcService, *, loopback: bool = sys.platform == "win32") -> None:
        self._path = path
        self._owner = sockets.owner_uid()
        self._service = service
        self._loopback = loopback
        self._closing = threading.Event()
        self._rebind_lock = threading.Lock()  # held while the path of the socket changes hands
        self._unidentified_pool = ConnectionPool(self, UNIDENTIFIED_THREADS, "ipc unidentified")
        self._slow_pool = ConnectionPool(self, SLOW_THREADS, "ipc slow")
        self._event_pool = ConnectionPool(self, EVENT_THREADS, "ipc event")
        self._control_pool = ConnectionPool(self, CONTROL_THREADS, "ipc control")
        self._pending = PendingAnswers(self._deliver)
        self._deferred = DeferredWork()
        self._inline_slots = threading.Semaphore(INLINE_WORKERS)
        self._acceptors: list[threading.Thread] = []
        self._listener: ListeningSocket | None = None

    def start(self, inherited: socket.socket | None = None) -> None:
        """Listen at the path, or on the socket there that the tray was started with."""
        if inherited is None:
            self._listener = sockets.listen(self._path, loopback=self._loopback)
        else:
            self._listener = sockets.adopt(inherited, self._path)
        self._deferred.start()
        self._start_acceptors(self._listener)

    def _start_acceptors(self, listener: ListeningSocket) -> None:
        for number in range(1, ACCEPTORS + 1):
            thread = threading.Thread(target=self._accept, args=(listener,), name=f"ipc {number}", daemon=True)
            self._acceptors.append(thread)
            thread.start()

    def rebind(self) -> Identity | None:
        """Listen at the path again, where the socket was deleted or replaced; callers that are inside stay.

        Returns which file our socket is, because another program may replace it at once.
        """
        with self._rebind_lock:
            old = self._listener
            if old is None or self._closing.is_set():
                return None
            self._listener = sockets.listen(self._path, loopback=self._loopback)
            try:  # an inherited socket is of no use any more without its path
                old.socket.shutdown(socket.SHUT_RDWR)
                self._acceptors = [one for one in self._acceptors if one.is_alive()]
            except OSError:  # only Linux wakes the old acceptors; elsewhere they wait on, unused
                self._acceptors = []
            old.socket.close()
            self._start_acceptors(self._listener)
            return self._listener.identity

    @property
    def identity(self) -> Identity | None:
        """Which file our socket is; None once it is closed."""
        listener = self._listener
        return listener.identity if listener is not None else None

    @property
    def is_busy(self) -> bool:
        """Whether the answer of an event is being worked on."""
        return self._event_pool.is_busy

    def stop_accepting(self, timeout: float = 3.0) -> None:
        """Take no new events; open questions are closed without an answer.

        A caller whose frame is whole stays until it is answered. A frame that becomes whole later is not answered.
        """
        with self._rebind_lock:
            if self._listener is None or self._closing.is_set():
                return
            self._closing.set()
            self._listener.remove()
            self._wake_acceptors(self._listener)
        self._pending.close(time.monotonic() + timeout)

    def close(self, timeout: float = 10.0) -> None:
        """Take no new callers; cancel, answer and close those inside, for at most `timeout` seconds."""
        if self._listener is None:
            return
        until = time.monotonic() + timeout
        self.stop_accepting(timeout)
        while (left := [one for one in self._acceptors if one.is_alive()]) and time.monotonic() < until:
            self._event_pool.cancel()
            left[0].join(JOIN_INTERVAL)
        self._listener.close()
        # Callers move on in this order.
        for pool in (self._unidentified_pool, self._slow_pool, self._event_pool, self._control_pool):
            pool.close(until)
        self._deferred.close(until)
        self._listener = None

    def _wake_acceptors(self, listener: ListeningSocket) -> None:
        if not listener.is_inherited:  # whose owner could not listen any more either
            with contextlib.suppress(OSError):
                listener.socket.shutdown(socket.SHUT_RDWR)  # on Linux this ends every accept() at once
                return
        for _ in self._acceptors:
            listener.wake_acceptor()

    def _accept(self, listener: ListeningSocket) -> None:
        while not self._closing.is_set() and listener is self._listener:
            try:
                connection, _ = listener.socket.accept()
            except (MemoryError, OSError):
                self._closing.wait(0.05)  # out of memory or descriptors: they come back when callers leave
                continue
            if self._closing.is_set():
                connection.close()
                continue
            try:
                self._start_connection(connection, listener.token)
            except MemoryError:
                connection.close()  # the relay judges without us

    def _start_connection(self, connection: socket.socket, token: str) -> None:
        """Serve the caller and close it, unless it moves on to another thread, which then closes it."""
        try:
            if connection.family == socket.AF_INET:
                connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
            peer = peer_credentials(connection)
        except OSError:
            connection.close()
            return
        if peer.uid != self._owner:
            _log.warning("rejected a connection of user %d", peer.uid)
            connection.close()
            return
        caller = ClientConnection(connection, peer, self._service.timeout, self._deferred, token)
        if not self.proceed(caller, self._read):
            caller.close()

    def proceed(self, caller: ClientConnection, task: Task) -> bool:
        """Do a task for a caller; True if the caller has moved on to another thread.

        If the task fails, the service decides the answer. If that fails, too, the connection is closed without one.
        """
        failure: Exception | None = None
        for _ in range(2):
            try:
                return task(caller) if failure is None else self._answer_failure(caller, failure)
            except ClientDisconnected:
                return False
            except Exception as error:  # noqa: BLE001  the connection: its failure must not end the thread
                if isinstance(error, FrameError) and not caller.is_complete:
                    _log.warning("rejected a caller (pid %d): %s", caller.peer.pid, error)
                    return False
                failure = error
                with contextlib.suppress(MemoryError):
                    _log.exception("could not serve a caller (pid %d)", caller.peer.pid)
        return False

    def _answer_failure(self, caller: ClientConnection, error: Exception) -> bool:
        """A frame that is not whole gets no answer: the closed connection sends the relay to its own fall-back."""
        if not caller.is_complete or caller.header is None:
            return False
        if caller.prefix is not None and caller.prefix.kind == frames.CONTROL:
            return _send(caller, _encode_reply(*_failure(error)))
        agent, event = (caller.header.fields.get(name, "") for name in ("agent", "event"))
        return _send(caller, self._service.failure_answer(agent, event, caller.body()))

    def _read(self, caller: ClientConnection) -> bool:
        """Read the frame. A slow caller moves to a pool; if that is full, its relay asks the one-shot engine."""
        if caller.read(FRAME_WAIT):
            return self._serve(caller, inline=True)
        pool = self._unidentified_pool if caller.header is None else self._slow_pool
        return self._move_to_pool(pool, caller, self._read_rest)

    def _read_rest(self, caller: ClientConnection) -> bool:
        """Read the rest of the frame, as long as it keeps coming."""
        return caller.read(STALL_TIMEOUT, extend=True) and self._serve(caller, inline=False)

    def _serve(self, caller: ClientConnection, *, inline: bool) -> bool:
        """Handle a whole frame. An answer leaves at once; work is done in this thread if `inline`, or in a pool."""
        if self._closing.is_set():
            return False
        assert caller.prefix is not None
        if caller.prefix.kind == frames.CONTROL:
            return self._move_to_pool(self._control_pool, caller, self._control)
        request, pool = caller.relay_request(), self._event_pool
        if not pool.reserve(caller):
            return self._reply(caller, self._service.busy_answer(request))
        has_slot = True
        try:
            result = self._service.handle(request, caller)
            if isinstance(result, Answer):
                return self._reply(caller, result)
            if result is None:
                return False
            caller.acknowledge()
            if not isinstance(result, Execution):
                return self._add_pending(caller, result)
            if inline and self._inline_slots.acquire(blocking=False):
                try:
                    return self._execute(caller, result)
                finally:
                    self._inline_slots.release()
            has_slot = False  # its thread frees it
            if pool.start(caller, partial(self._execute, execution=result)):
                return True
        finally:
            if has_slot:
                pool.release(caller)
        return self._reply(caller, self._service.busy_answer(request))

    def _execute(self, caller: ClientConnection, execution: Execution) -> bool:
        result = execution.run(caller)
        if isinstance(result, Answer):
            caller.send_answer(result)
            return False
        return result is not None and self._add_pending(caller, result)

    def _add_pending(self, caller: ClientConnection, answer: PendingAnswer) -> bool:
        return self._pending.add(caller, answer) or _send_pending(caller, answer)

    def _deliver(self, caller: ClientConnection, answer: PendingAnswer) -> None:
        """Send a pending answer from a thread of the event pool, else from the calling thread."""
        task = partial(_send_pending, answer=answer)
        if not (self._event_pool.reserve(caller) and self._event_pool.start(caller, task)):
            self.proceed(caller, task)
            caller.close()

    def _reply(self, caller: ClientConnection, answer: Answer) -> bool:
        if len(answer.stdout) + len(answer.stderr) > INLINE_SIZE:
            return self._move_to_pool(self._slow_pool, caller, partial(_send, answer=answer))
        caller.send_answer(answer)
        return False

    def _control(self, caller: ClientConnection) -> bool:
        try:
            request = frames.decode_request(caller.body())
            reply = _encode_reply(self._service.control(request, caller.identify(), caller.terminal), 0)
        except HooktrayError as error:
            reply = _encode_reply({"error": error.message, "hint": error.hint}, 1)
        return _send(caller, reply)

    def _move_to_pool(self, pool: ConnectionPool, caller: ClientConnection, task: Task) -> bool:
        caller.acknowledge()
        return pool.reserve(caller) and pool.start(caller, task)


def _failure(error: Exception) -> tuple[dict[str, object], int]:
    """Returns the answer to a hooktray command whose request failed, and its exit code."""
    if isinstance(error, OSError) and error.errno in FULL:
        what = f"{error.filename or 'the disk'}: {error.strerror}; nothing was approved or changed"
        return {"error": what, "hint": MAKE_ROOM}, 1
    return {"error": "the tray failed at this request", "hint": "its log says why"}, 3


def _send(caller: ClientConnection, answer: Answer | None) -> bool:
    """Send the last answer; False, since the caller does not move on to another thread."""
    if answer is not None:
        caller.send_answer(answer)
    return False


def _send_pending(caller: ClientConnection, answer: PendingAnswer) -> bool:
    return _send(caller, answer.answer())


def _encode_reply(reply: Mapping[str, object], code: int) -> Answer:
    return Answer(stdout=json.dumps(dict(reply)).encode(), code=code)
