"""The page in this process: a real server on a real port over a real house, and a way in."""

from __future__ import annotations

import json
import re
import socket
import time
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import cast

from desktop.recorded_parts import RecordedParts
from house import House
from user_controls import Announced

from tray.app.web import choices, choose, offers
from tray.approvals.callers.click_check import ClickRejection
from tray.desktop.menu_controller import MenuController
from tray.desktop.presenter import Presenter
from tray.engine.catalogs import ConfirmedSettings
from tray.engine.ports import EngineOptions
from tray.engine.replay import LiveReplays
from tray.engine.user_questions import UserQuestion, UserQuestions
from tray.event_loop import LoopThread
from tray.model.decision import Record, Verdict
from tray.model.form import Answers
from tray.model.session import Session
from tray.protection.self_protection import PageAddress
from tray.sessions.session_tracker import SessionTracker
from tray.web.page import WebPage
from tray.web.parts import AgentConnection, ConnectOffer, PageParts, PageSetting

FORM = "application/x-www-form-urlencoded"
ROW = Record(
    id="0" * 32, at=0.0, agent="claude-code", session="s-1", project="web", event="PreToolUse", kind="tool_before",
    verdict=Verdict.ABSTAIN, reason="", ms=1.5, payload='{"tool_name": "Bash"}', digest="d" * 64,
    answer={"stdout": "", "stderr": "", "code": 0, "exact": True},
)  # fmt: skip


class RecordingQuestions(UserQuestions):
    """The open questions that a test sets, and how they were answered; the first answer counts."""

    def __init__(self) -> None:
        super().__init__()
        self.asked: tuple[UserQuestion, ...] = ()
        self.answered: list[tuple[str, Answers | None, str]] = []

    @property
    def open(self) -> tuple[UserQuestion, ...]:
        return self.asked

    def answer(self, id: str, *, allow: bool, channel: str) -> bool:
        return self._end(id, None, channel)

    def answer_form(self, id: str, answers: Answers, *, channel: str) -> bool:
        return self._end(id, answers, channel)

    def _end(self, id: str, answers: Answers | None, channel: str) -> bool:
        is_open = any(one.id == id for one in self.asked)
        self.asked = ()
        self.answered += [(id, answers, channel)] if is_open else []
        return is_open


class Site:
    """Also stands in for the parts of the tray above the page.

    `finding`: what is wrong with every process that clicks; `said`: what the tray was given to announce."""

    def __init__(self, house: House) -> None:
        self.house = house
        self.finding: ClickRejection | None = None
        self.findings: dict[int, ClickRejection] = {}  # of single processes
        self.connected: dict[str, AgentConnection] = {}
        self.sessions: tuple[Session, ...] = ()
        self.went: list[tuple[str, str]] = []  # sessions that somebody wanted to see
        self.questions = RecordingQuestions()
        self.loop = LoopThread()
        self.announced = Announced()
        self.controls = house.controls(self.announced)
        others = RecordedParts(house)
        self.alerts, self.agents, self.asked = others.alerts, others.agents, others.asked
        self.opened = others.opener.opened  # the files that a browser would have been started for
        self.presenter = Presenter(controls=self.controls, catalog=house.catalog, recent=(), parts=others.parts)
        self.menu = MenuController(
            presenter=self.presenter, controls=self.controls, catalog=house.catalog, copies=house.stores.copies,
            paths=house.paths, parts=others.parts,
        )  # fmt: skip
        settings = ConfirmedSettings(house.paths, house.stores, house.catalog)
        replays = LiveReplays(house.stores, EngineOptions(settings=settings))
        parts = PageParts(
            stores=house.stores, catalog=house.catalog, controls=self.controls, clicks=self, menu=self,
            board=cast(SessionTracker, self),
            replayer=replays, windows=self,
            questions=self.questions, opener=others.opener,
        )  # fmt: skip
        self.page = WebPage(self.loop.loop, parts, house.paths.state, PageAddress())

    def browser_objection(self, pid: int) -> ClickRejection | None:
        return self.findings.get(pid, self.finding)

    def confirm_browser(self, pids: Sequence[int], typed: str) -> bool:
        if self.controls.passphrase.check(typed, "the browser"):
            self.finding = None
            return True
        return False

    def refresh(self) -> None:
        self.house.catalog.refresh()

    def connections(self) -> Mapping[str, AgentConnection]:
        return self.connected

    def settings(self) -> tuple[PageSetting, ...]:
        return choices(self.presenter.state(time.time()))

    def offers(self) -> tuple[ConnectOffer, ...]:
        return offers(self.presenter.state(time.time()))

    def change_setting(self, id: str, on: bool | None) -> bool:
        return choose(self.presenter, self.menu, id, on)

    def go(self, agent: str, session: str) -> None:
        self.went.append((agent, session))

    def open(self) -> str:
        """The link that a browser would be shown, after the file that holds it was read."""
        self.page.open()
        return found(self.opened[-1])

    def enter(self) -> None:
        """Sign in without a browser."""
        answer = self.enter_with(self.arrive())
        self.cookie = re.findall(rb"Set-Cookie: ([^;]+);", answer)[0].decode()

    def arrive(self) -> str:
        """The pass of a fresh link."""
        link = self.open()
        self.port = int(link.split(":")[2].split("/")[0])
        return link.partition("#")[2]

    def enter_with(self, token: object) -> bytes:
        """Returns the page's answer to a request with this pass."""
        body = json.dumps({"token": token}).encode()
        return self.ask("POST", "/enter", {**self.own, "Content-Type": "application/json"}, body)

    @property
    def own(self) -> dict[str, str]:
        """What a browser says of a request that comes from the page itself."""
        return {"Origin": f"http://127.0.0.1:{self.port}", "Sec-Fetch-Site": "same-origin"}

    def get(self, path: str) -> bytes:
        return self.ask("GET", path, {"Cookie": self.cookie})

    def post(self, path: str, form: str) -> bytes:
        return self.ask("POST", path, {**self.own, "Cookie": self.cookie, "Content-Type": FORM}, form.encode())

    def confirm(self, path: str, more: str = "") -> bytes:
        """Gets the confirmation at this path, confirms it and returns the answer."""
        return self.post("/confirm", f"token={token(self.get(path))}{more}")

    def ask(self, method: str, path: str, headers: Mapping[str, str], body: bytes = b"") -> bytes:
        """One request on a connection of its own; everything that came back."""
        return self.raw(self.written(method, path, headers, body))

    def written(self, method: str, path: str, headers: Mapping[str, str], body: bytes = b"") -> bytes:
        lines = [f"{method} {path} HTTP/1.1", f"Host: 127.0.0.1:{self.port}"]
        lines += [f"{name}: {value}" for name, value in headers.items()] + ["Connection: close"]
        lines += [f"Content-Length: {len(body)}"] if method == "POST" else []
        return "\r\n".join([*lines, "", ""]).encode() + body

    def raw(self, request: bytes) -> bytes:
        with socket.create_connection(("127.0.0.1", self.port), 20) as connection:
            connection.sendall(request)
            parts = []
            while part := connection.recv(65536):
                parts.append(part)
        return b"".join(parts)

    def close(self) -> None:
        self.page.close()
        self.loop.close()


def found(file: Path) -> str:
    """The address that a redirect file leads to."""
    return str(re.findall(r'href="([^"]+)"', file.read_text())[0])


def status(answer: bytes) -> int:
    return int(answer.split(b" ", 2)[1])


def token(answer: bytes) -> str:
    """The token of a confirmation that was asked for."""
    return bytes(re.findall(rb'name="token" value="([^"]+)"', answer)[0]).decode()
