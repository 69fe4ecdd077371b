"""Opens the page: starts its server when it is opened for the first time, and gives a browser the link.

The link carries a token that works once. It is in a file that only its owner can read, and which is removed after
use: on a browser's command line every process of the machine could read it.
"""

from __future__ import annotations

import asyncio
import contextlib
import tempfile
import threading
from pathlib import Path
from typing import TYPE_CHECKING

from tray.errors import HooktrayError
from tray.language import say
from tray.model.decision import Record
from tray.protection.self_protection import PageAddress
from tray.web.parts import PageParts
from tray.web.request_checks import RefusalCause

if TYPE_CHECKING:
    from tray.web.server import WebServer

START_TIMEOUT = 20.0  # seconds
LINK_LIFETIME = 60.0  # seconds between the click in the menu and the browser's first request
REMOTE_LIFETIME = 600.0  # seconds to set up a tunnel, copy the file and open it
NOTE_LIFETIME = 600.0  # seconds that the note stays that replaces an unused link
PREFIX = "open-"
LINK_PAGE = """<!doctype html><html lang="en"><meta charset="utf-8"><meta name="referrer" content="no-referrer">
<meta http-equiv="refresh" content="0;url={link}"><title>Hooktray</title>
<p><a href="{link}">Open Hooktray</a></p></html>
"""


class WebPage:
    """Cheap until opened: neither the server nor its libraries are loaded before."""

    def __init__(self, loop: asyncio.AbstractEventLoop, parts: PageParts, folder: Path, address: PageAddress) -> None:
        self._loop, self._parts, self._folder = loop, parts, folder
        self.address = address
        self._lock = threading.Lock()
        self.server: WebServer | None = None  # set while the page is open
        self._remove_links()

    def open(self, place: str = "") -> Path:
        """Open the decision with this id, or another place of the page; "" = the decisions.

        Call it from any thread but the loop's. Returns the file with the link, in case the desktop opens nothing.
        Raises HooktrayError if no program can open a file.
        """
        with self._lock:
            is_decision = place and not set("/?") & set(place)
            target = f"decisions/{place}" if is_decision else place
            path = self._write(self.server or self._start(), target, LINK_LIFETIME)
            try:
                self._parts.opener.open(path)
            except HooktrayError as error:
                _remove(path)
                raise HooktrayError(
                    say("nothing here can open a browser"),
                    hint=say(
                        "install a browser and xdg-utils; the tray's menu and the command line work without the page"
                    ),
                ) from error
        return path

    def write_link(self) -> tuple[Path, int]:
        """A file that leads to the page from a browser on another machine, and the page's port here."""
        with self._lock:
            server = self.server or self._start()
            return self._write(server, "", REMOTE_LIFETIME), server.port

    def publish(self, record: Record) -> None:
        """From any thread."""
        if server := self.server:
            self._loop.call_soon_threadsafe(server.publish, record)

    def close(self) -> None:
        with self._lock:
            if self.server:
                with contextlib.suppress(TimeoutError):
                    asyncio.run_coroutine_threadsafe(self.server.close(), self._loop).result(5)
            self.server, self.address.port = None, 0
            self._remove_links()

    def _start(self) -> WebServer:
        from tray.web.server import WebServer

        async def start() -> WebServer:
            server = WebServer(self._parts)
            await server.start()
            return server

        starting = asyncio.run_coroutine_threadsafe(start(), self._loop)
        try:
            self.server = starting.result(START_TIMEOUT)
            self.address.port = self.server.port
        except (TimeoutError, OSError) as error:
            starting.cancel()
            why = str(error) or f"not within {START_TIMEOUT:g} s"
            raise HooktrayError(
                say("the page could not be started: {why}", why=why), hint=say("try it once more")
            ) from error
        return self.server

    def _write(self, server: WebServer, target: str, lifetime: float) -> Path:
        number, name = tempfile.mkstemp(".html", PREFIX, self._folder)  # only for its owner
        path = Path(name)
        with open(number, "w", encoding="utf-8") as file:  # noqa: PTH123 - it is open already
            file.write(LINK_PAGE.format(link=server.link(path, target, lifetime)))
        note = server.refusal(RefusalCause.LINK)
        self._loop.call_soon_threadsafe(self._loop.call_later, lifetime, _expire, path, note)
        self._loop.call_soon_threadsafe(self._loop.call_later, lifetime + NOTE_LIFETIME, _remove, path)
        return path

    def _remove_links(self) -> None:
        for path in self._folder.glob(f"{PREFIX}*.html"):
            _remove(path)


def _expire(path: Path, note: str) -> None:
    """Replace an unused link by a note, which shows a late browser why the link does not work."""
    if path.exists():
        path.write_text(note, encoding="utf-8")


def _remove(path: Path) -> None:
    path.unlink(missing_ok=True)
