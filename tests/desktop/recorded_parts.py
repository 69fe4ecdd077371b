"""Stand-ins for the parts of the tray that the menu shows and controls: nothing is wrong, and they remember calls."""

from __future__ import annotations

from collections.abc import Collection
from pathlib import Path
from typing import cast

from at_once import AtOnce
from house import House

from tray.desktop.alert_controller import AlertController
from tray.desktop.autostart import Autostart
from tray.desktop.menu.state import MenuAgent
from tray.desktop.menu_parts import MenuIncident, MenuParts
from tray.desktop.opener import Opener
from tray.desktop.session_focus import SessionFocus
from tray.engine.user_questions import UserQuestion
from tray.errors import HooktrayError
from tray.model.session import Session
from tray.notify.service import AlertService
from tray.sessions.call_audit import CallAudit
from tray.sessions.session_tracker import SessionTracker


class Recorded:
    """Writes what it is asked for into a list that all parts share."""

    def __init__(self, asked: list[object]) -> None:
        self.asked = asked


class RecordedAlerts(Recorded):
    """Stand-in for the AlertController."""

    open_questions: tuple[UserQuestion, ...] = ()
    deferred = 0
    snoozed_until: float | None = None
    quiet_hours = ""
    quiet_hours_on = True
    sound_pack = ""
    failing_hooks: frozenset[str] = frozenset()

    def answer(self, question: str, allow: bool) -> None:
        self.asked.append((question, allow))

    def snooze(self, seconds: float | None) -> None:
        self.asked.append(("snooze", seconds))

    def end_snooze(self) -> None:
        self.asked.append("wake")

    def set_quiet_hours(self, on: bool) -> None:
        self.asked.append(("quiet", on))

    def show_deferred(self) -> None:
        self.asked.append("held")


class RecordedMessages:
    """Stand-in for the AlertService."""

    def __init__(self) -> None:
        self.told: list[tuple[str, str]] = []

    def inform(self, title: str, text: str) -> None:
        self.told.append((title, text))


class RecordedAgents(Recorded):
    """Stand-in for the AgentsMenu with the rows in `found`."""

    found: tuple[MenuAgent, ...] = ()

    def refresh(self) -> None:
        self.asked.append("look")

    def rows(self) -> tuple[MenuAgent, ...]:
        return self.found

    def review(self, agent: str, *, connect: bool) -> None:
        self.asked.append(("review", agent, connect))

    def apply(self, agent: str, digest: str) -> str:
        self.asked.append(("take", agent, digest))
        return f"{agent} is connected"

    def connect_all(self, digests: Collection[str]) -> str:
        self.asked.append(("take all", *digests))
        return "they are connected"

    def probe(self, agent: str) -> None:
        self.asked.append(("probe", agent))

    def put_back(self, agent: str) -> str:
        self.asked.append(("put back", agent))
        return "its entries are back"

    def leave(self, agent: str, digest: str) -> str:
        self.asked.append(("leave", agent, digest))
        return "left as it is"

    def show(self) -> None:
        self.asked.append("agents")


class RecordedRest(Recorded):
    """Stand-in for sessions, focus, doctor, audit, lost state, connections, sources and the tray itself."""

    sessions: tuple[Session, ...] = ()
    unseen = 0
    incident: MenuIncident | None = None
    problem = ""

    def go(self, agent: str, session: str) -> None:
        self.asked.append(("go", agent, session))

    def failing_hooks(self, failed: frozenset[str]) -> frozenset[str]:
        return failed

    def report(self) -> Path:
        self.asked.append("doctor")
        return Path("doctor.txt")

    def acknowledge(self) -> None:
        self.asked.append("acknowledge")

    def show(self) -> None:
        self.asked.append("incident")

    def request(self) -> None:
        self.asked.append("sources")

    def quit_by_person(self) -> None:
        self.asked.append("quit")


class RecordedPage(Recorded):
    """Stand-in for the WebPage; without a browser it refuses."""

    has_browser = False

    def open(self, place: str) -> object:
        if not self.has_browser:
            raise HooktrayError("nothing here can open a browser", hint="install one")
        self.asked.append(("page", place))
        return None


class RecordedLogin:
    """Stand-in for start at login; `refuses` says whether the entry cannot be written."""

    def __init__(self) -> None:
        self.on = False
        self.refuses = False

    def is_on(self) -> bool:
        return self.on

    def turn(self, on: bool) -> None:
        if self.refuses:
            raise HooktrayError("it could not be set", hint="check the permissions there")
        self.on = on


class RecordedOpener(Opener):
    """Stand-in for the user's viewer."""

    def __init__(self) -> None:
        super().__init__()
        self.opened: list[Path] = []

    def open(self, path: Path) -> None:
        self.opened.append(path)


class RecordedParts:
    """All of them. `asked` is what the menu asked for, in this order."""

    def __init__(self, house: House) -> None:
        self.asked: list[object] = []
        self.alerts, self.messages = RecordedAlerts(self.asked), RecordedMessages()
        self.agents, self.page = RecordedAgents(self.asked), RecordedPage(self.asked)
        self.login, self.opener, self.background = RecordedLogin(), RecordedOpener(), AtOnce()
        rest = RecordedRest(self.asked)
        self.parts = MenuParts(
            queue=self.background,
            workers=self.background,
            alerts=cast(AlertController, self.alerts),
            messages=cast(AlertService, self.messages),
            sessions=cast(SessionTracker, rest),
            focus=cast(SessionFocus, rest),
            agents=self.agents,
            doctor=rest,
            audit=cast(CallAudit, rest),
            lost_state=rest,
            connections=rest,
            journal=house.stores.journal,
            page=self.page,
            login=cast(Autostart, self.login),
            opener=self.opener,
            sources=rest,
            tray=rest,
        )
