"""A real client whose questions reach its user's desk: a notification server, and a browser that is driven."""

from __future__ import annotations

import asyncio
import http.client
import json
import os
import re
from collections.abc import Iterator, Mapping, Sequence
from contextlib import closing, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from urllib.parse import urlencode

from clients.client import LONG, Client, Session, session
from clients.wires import Call
from dbus_fast import Message
from dbus_fast.aio import MessageBus
from desk import wait
from live import Live
from notify import parts
from notify.parts import Recorder
from plain import Plain
from web.site import found, token

from tray.notify.server import NAME, PATH

DRIVEN = (str(Path(__file__).parents[1] / "web" / "driven_tray.py"),)
DESKTOP = '#!/bin/sh\nprintf %s "$1" > "$HOME/opened.part" && mv "$HOME/opened.part" "$HOME/opened"\n'
HELLO = {"session_id": "earlier", "hook_event_name": "Notification", "message": "Hello"}
QUESTION = re.compile(rb'href="(/questions/[0-9a-f]{32})"')


@dataclass(frozen=True)
class Desk:
    """What the user of a connected client sees, and presses."""

    session: Session
    server: Recorder
    address: str  # of the session bus

    def notification(self, text: str) -> Mapping[str, Any]:
        """The notification that shows this."""

        def shown() -> Mapping[str, Any] | None:
            return next((one for one in self.server.calls() if text in one["body"]), None)

        return wait(shown, LONG, f"a notification with {text!r}")

    def press(self, notification: Mapping[str, Any], label: str) -> None:
        """The server reports this button of it."""
        actions = list(notification["actions"])
        key = actions[actions.index(label) - 1]

        async def press() -> None:
            bus = await MessageBus(bus_address=self.address).connect()
            body = [notification["id"], key]
            await bus.call(
                Message(destination=NAME, path=PATH, interface=NAME, member="Press", signature="us", body=body)
            )
            bus.disconnect()

        asyncio.run(press())

    def answer_on_page(self, fields: Mapping[str, str]) -> None:
        """What a browser sends whose user opens the page, follows *Answer…* and fills the form in."""
        page = Page(self.session.live)
        link = wait(lambda: QUESTION.search(page.get("/sessions")), LONG, "the question on the page")[1].decode()
        sent = {"question": link.rpartition("/")[2], "token": token(page.get(link)), "act": "answer", **fields}
        assert page.post("/answer", urlencode(sent)) == 303


class Page:
    """A browser that is signed in, without its pictures."""

    def __init__(self, live: Live) -> None:
        note = live.place.folder / "opened"
        note.unlink(missing_ok=True)
        assert live.cli("open").returncode == 0
        link = found(Path(str(wait(lambda: note.exists() and note.read_text(), LONG, "the page is opened"))))
        self._authority = link.split("/")[2]
        self._own = {"Origin": f"http://{self._authority}", "Sec-Fetch-Site": "same-origin"}
        body = json.dumps({"token": link.partition("#")[2]})
        answer, _ = self._ask("POST", "/enter", body, {**self._own, "Content-Type": "application/json"})
        self._cookie = {"Cookie": str(answer.getheader("Set-Cookie")).partition(";")[0]}

    def get(self, path: str) -> bytes:
        return self._ask("GET", path, "", self._cookie)[1]

    def post(self, path: str, form: str) -> int:
        kind = {"Content-Type": "application/x-www-form-urlencoded"}
        return self._ask("POST", path, form, {**self._own, **self._cookie, **kind})[0].status

    def _ask(
        self, method: str, path: str, body: str, headers: Mapping[str, str]
    ) -> tuple[http.client.HTTPResponse, bytes]:
        with closing(http.client.HTTPConnection(self._authority, timeout=LONG)) as connection:
            connection.request(method, path, body or None, dict(headers))
            answer = connection.getresponse()
            return answer, answer.read()


@contextmanager
def at_a_desk(client: Client, folder: Path, calls: Sequence[Call]) -> Iterator[Desk]:
    """The client is connected, and its questions are put to the desk."""
    plain, own = Plain(folder), folder / "desk"
    for each in (own, folder / "bin"):
        each.mkdir()
    (folder / "bin" / "xdg-open").write_text(DESKTOP)
    (folder / "bin" / "xdg-open").chmod(0o755)
    with parts.session_bus(own, os.environ) as address:
        plain.environment |= {"DBUS_SESSION_BUS_ADDRESS": address, "PATH": f"{folder / 'bin'}:{os.environ['PATH']}"}
        with parts.recording_server(own, {**os.environ, **plain.environment}) as server:
            asks = {"ask_on_desktop": {"agents": [client.agent]}}
            live = Live.fresh(plain, folder, configuration=asks, program=DRIVEN)
            live.relay("claude-code", "Notification", HELLO)
            wait(lambda: live.wait_log(1)[0]["alerted"] == "sent", LONG, "the tray knows that the server works")
            one = session(client, folder, calls, live=live)
            try:
                one.connect()
                yield Desk(one, server, address)
            finally:
                one.close()
