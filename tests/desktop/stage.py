"""A session bus of its own, the icon on it with its two threads, and a foreign process that tries to click."""

from __future__ import annotations

import asyncio
import subprocess
import sys
import threading
from collections.abc import Callable, Coroutine
from typing import Any, TypeVar

from desk.wait import wait as desk_wait

from desktop.recorded_clicks import RecordedClicks
from desktop.watcher import Watcher
from tray.desktop.sni import SniIcon

T = TypeVar("T")
DEADLINE = 60.0
MENU = "com.canonical.dbusmenu"


FOREIGNER = """
import asyncio, sys
from dbus_fast import Message, Variant
from dbus_fast.aio import MessageBus
async def main(address, name, member, interface, number, own):
    bus = await MessageBus(bus_address=address).connect()
    if own:
        await bus.request_name(own)
    event = [int(number), "clicked", Variant("i", 0), 0]
    body, signature = (event, "isvu") if member == "Event" else ([[event]], "a(isvu)")
    reply = await bus.call(Message(destination=name, path="/MenuBar", interface=interface or None, member=member,
                                   signature=signature, body=body))
    print(reply.error_name)
    bus.disconnect()
    await bus.wait_for_disconnect()
asyncio.run(main(*sys.argv[1:]))
"""


def wait(condition: Callable[[], T | None], what: str) -> T:
    return desk_wait(condition, DEADLINE, what)


class Stage:
    """A session bus, a loop in a thread, an icon whose main thread is another thread, and hosts."""

    def __init__(self) -> None:
        self.address = ""
        self.raise_bus()
        self.loop = asyncio.new_event_loop()
        self.thread = threading.Thread(target=self.loop.run_forever, name="loop")
        self.thread.start()
        self.clicks = RecordedClicks()
        self.icon = SniIcon(self.loop, self.address, self.clicks)
        self.main = threading.Thread(target=self.icon.run, name="main")
        self.main.start()
        self.watchers: list[Watcher] = []

    def raise_bus(self) -> None:
        """A session bus; the second one is where the first one was."""
        where = [f"--address={self.address.split(',')[0]}"] if self.address else []
        self.daemon = subprocess.Popen(
            ["dbus-daemon", "--session", "--print-address", "--nofork", "--nopidfile", *where],
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            text=True,
        )
        assert self.daemon.stdout
        self.address = self.daemon.stdout.readline().strip()

    def kill_bus(self) -> None:
        """As a crash or a log-out does; hosts die with it."""
        self.daemon.kill()
        self.daemon.communicate(timeout=DEADLINE)
        self.watchers.clear()

    def do(self, work: Coroutine[Any, Any, T]) -> T:
        return asyncio.run_coroutine_threadsafe(work, self.loop).result(DEADLINE)

    def watcher(self, *names: str) -> Watcher:
        watcher = self.do(Watcher.start(self.address, *names))
        self.watchers.append(watcher)
        return watcher

    @property
    def item(self) -> str:
        """The name under which the icon has registered with the last host."""
        return wait(lambda: self.watchers[-1].registered, "the icon registers")[0]

    def leave(self, watcher: Watcher) -> None:
        self.watchers.remove(watcher)
        self.do(watcher.stop())

    def foreign_click(self, number: int, member: str = "Event", interface: str = MENU, own: str = "") -> str:
        """What another process is told that clicks, after it took the name `own` for itself; "None" = done."""
        argv = [sys.executable, "-c", FOREIGNER, self.address, self.item, member, interface, str(number), own]
        done = subprocess.run(argv, capture_output=True, text=True, timeout=DEADLINE, check=True)
        return done.stdout.strip()

    def flush(self) -> None:
        """Everything posted to the icon's main thread has run."""
        done = threading.Event()
        self.icon.main.post(done.set)
        assert done.wait(DEADLINE)

    def close(self) -> None:
        self.icon.stop()
        self.main.join(DEADLINE)
        for watcher in self.watchers:
            self.do(watcher.stop())
        self.loop.call_soon_threadsafe(self.loop.stop)
        self.thread.join(DEADLINE)
        self.loop.close()
        self.daemon.terminate()
        self.daemon.communicate(timeout=DEADLINE)
