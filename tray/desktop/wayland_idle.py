"""How long keyboard and pointer were not used, on Wayland compositors that report it: KWin, sway, Hyprland, niri.

They cannot be asked. They report when their user stops and goes on, so one connection stays open while the tray runs.
Of two protocols the compositor has at least one, and both have the same two events:
https://wayland.app/protocols/ext-idle-notify-v1 https://wayland.app/protocols/kde-idle
"""

from __future__ import annotations

import asyncio
import contextlib
import logging
import struct
import sys
import time
from collections.abc import AsyncIterator, Mapping
from pathlib import Path

from tray.clock import Clock

STEP = 30.0  # seconds without a key after which the compositor reports it
RETRY_SECONDS = 60.0  # after the connection ended
ANSWER_TIMEOUT = 5.0  # seconds
SEAT, EXT, KDE = "wl_seat", "ext_idle_notifier_v1", "org_kde_kwin_idle"
# Numbers of requests and events, in the order of the protocols' files.
SYNC, GET_REGISTRY, BIND, EXT_GET, KDE_GET = 0, 1, 0, 1, 0
ERROR, GLOBAL, DONE, IDLED, RESUMED = 0, 0, 0, 0, 1
# Objects of ours; the display is there from the start.
DISPLAY, REGISTRY, CALLBACK, OUR_SEAT, NOTIFIER, NOTIFICATION = range(1, 7)

log = logging.getLogger(__name__)

Message = tuple[int, int, bytes]  # object, event, arguments


class WaylandError(Exception):
    """The compositor refuses, or has no such protocol."""


class IdleWatch:
    """Watches from `start` on. `seconds` may be called from any thread."""

    def __init__(
        self,
        loop: asyncio.AbstractEventLoop,
        environment: Mapping[str, str],
        step: float = STEP,
        clock: Clock = time,
    ) -> None:
        self._loop = loop
        self._environment = environment
        self._step = step
        self._clock = clock
        self._task: asyncio.Task[None] | None = None
        self._next_try = 0.0
        self._known_from: float | None = None  # before that the user may be idle since long; None = not connected
        self._idle_since: float | None = None

    def start(self) -> None:
        if self._environment.get("WAYLAND_DISPLAY"):
            with contextlib.suppress(RuntimeError):  # the loop has ended with the tray
                self._loop.call_soon_threadsafe(self._begin)

    def seconds(self) -> float | None:
        """Since the last use; 0 below `step` seconds, None when it is not known."""
        known, idle, now = self._known_from, self._idle_since, self._clock.monotonic()
        if known is None:
            self.start()
            return None
        if idle is not None:
            return now - idle
        return 0.0 if now >= known else None

    def _begin(self) -> None:
        """Once a minute at most."""
        if (self._task is None or self._task.done()) and self._clock.monotonic() >= self._next_try:
            self._next_try = self._clock.monotonic() + RETRY_SECONDS
            self._task = self._loop.create_task(self._watch(), name="hooktray-idle")

    async def _watch(self) -> None:
        try:
            async with _connection(self._environment) as connection:
                await connection.ask_for_idle(round(self._step * 1000))
                self._known_from = self._clock.monotonic() + self._step + 1
                while True:
                    event = (await connection.message())[:2]
                    if event == (NOTIFICATION, IDLED):
                        self._idle_since = self._clock.monotonic() - self._step
                    elif event == (NOTIFICATION, RESUMED):
                        self._idle_since, self._known_from = None, self._clock.monotonic()
        except (EOFError, OSError, TimeoutError, ValueError, WaylandError, struct.error) as error:
            log.info("the compositor does not report idle time: %s", error)
        finally:
            self._known_from = self._idle_since = None


def reports_idle(environment: Mapping[str, str]) -> bool:
    """Whether there is a compositor that does. It waits for its answer, and needs a thread without a loop."""

    async def ask() -> bool:
        async with _connection(environment) as connection:
            return not {EXT, KDE}.isdisjoint(await connection.globals())

    try:
        return bool(environment.get("WAYLAND_DISPLAY")) and asyncio.run(ask())
    except (EOFError, OSError, TimeoutError, ValueError, WaylandError, struct.error):
        return False


class _Connection:
    """As much of Wayland's wire format as it takes: words of 32 bits, and texts."""

    def __init__(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self._reader = reader
        self._writer = writer

    async def globals(self) -> dict[str, int]:
        """The number of each interface."""
        self._send(DISPLAY, GET_REGISTRY, REGISTRY)
        self._send(DISPLAY, SYNC, CALLBACK)
        found: dict[str, int] = {}
        async with asyncio.timeout(ANSWER_TIMEOUT):
            while (received := await self.message())[:2] != (CALLBACK, DONE):
                target, event, body = received
                if (target, event) == (REGISTRY, GLOBAL):
                    number, size = struct.unpack_from("=II", body)
                    found.setdefault(body[8 : 7 + size].decode(), number)
        return found

    async def ask_for_idle(self, milliseconds: int) -> None:
        known = await self.globals()
        name = next((one for one in (EXT, KDE) if one in known), "")
        if not name or SEAT not in known:
            raise WaylandError("no protocol for it")
        self._send(REGISTRY, BIND, known[SEAT], SEAT, 1, OUR_SEAT)
        self._send(REGISTRY, BIND, known[name], name, 1, NOTIFIER)
        if name == EXT:
            self._send(NOTIFIER, EXT_GET, NOTIFICATION, milliseconds, OUR_SEAT)
        else:
            self._send(NOTIFIER, KDE_GET, NOTIFICATION, OUR_SEAT, milliseconds)

    async def message(self) -> Message:
        target, word = struct.unpack("=II", await self._reader.readexactly(8))
        event, body = word & 0xFFFF, await self._reader.readexactly((word >> 16) - 8)
        if (target, event) == (DISPLAY, ERROR):
            raise WaylandError(f"it refuses: {body[12:].decode(errors='replace')[:100]!r}")
        return target, event, body

    def _send(self, target: int, request: int, *words: int | str) -> None:
        body = b"".join(_word(one) for one in words)
        self._writer.write(struct.pack("=II", target, (8 + len(body)) << 16 | request) + body)


def _word(one: int | str) -> bytes:
    if isinstance(one, int):
        return struct.pack("=I", one)
    text = one.encode() + b"\0"
    return struct.pack("=I", len(text)) + text + bytes(-len(text) % 4)


@contextlib.asynccontextmanager
async def _connection(environment: Mapping[str, str]) -> AsyncIterator[_Connection]:
    if sys.platform == "win32":
        raise WaylandError("not on this system")
    path = Path(environment.get("XDG_RUNTIME_DIR", "")) / environment["WAYLAND_DISPLAY"]
    async with asyncio.timeout(ANSWER_TIMEOUT):
        reader, writer = await asyncio.open_unix_connection(path)
    try:
        yield _Connection(reader, writer)
    finally:
        writer.close()
