"""Going to a session: what is said when it works, half works, or does not."""

from __future__ import annotations

from typing import cast

import pytest
from at_once import AtOnce
from every import every

from tray.desktop.focus import FocusResult
from tray.desktop.session_focus import SessionFocus
from tray.errors import HooktrayError
from tray.model.place import Place
from tray.model.session import Session
from tray.notify.service import AlertService
from tray.sessions.session_tracker import SessionTracker

SESSION = Session(agent="codex", session="s", project="api", name="Import", place=Place(window="7"))
CLOSED = FocusResult(False, "its terminal is closed")


class Going(AtOnce):
    """A SessionFocus whose desktop answers as the test wants. Stands in for all parts around it."""

    def __init__(self) -> None:
        self.result, self.page = FocusResult(True), True
        self.said: list[tuple[str, str]] = []
        self.opened: list[str] = []
        self.went = SessionFocus(cast(SessionTracker, self), self, self)
        self.went.alerts, self.went.pages = cast(AlertService, self), self

    def get(self, agent: str, session: str) -> Session | None:
        return SESSION if session == "s" else None

    def focus(self, place: Place, project: str) -> FocusResult:
        return self.result

    def inform(self, title: str, text: str) -> None:
        self.said.append((title, text))

    def open(self, place: str) -> None:
        if not self.page:
            raise HooktrayError("nothing here can open a browser", hint="")
        self.opened.append(place)


@every(
    ("result", "page", "said"),
    [
        (FocusResult(True), True, []),
        (
            FocusResult(True, "one of 3 windows"),
            True,
            [("", "one of 3 windows")],
        ),
        (CLOSED, True, [("Cannot go to Import: its terminal is closed", "its page is opened instead")]),
        (CLOSED, False, [("Cannot go to Import: its terminal is closed", "")]),
    ],
)
def test_going_to_a_session_reports_what_failed_and_opens_its_page_instead(
    monkeypatch: pytest.MonkeyPatch, result: FocusResult, page: bool, said: list[tuple[str, str]]
) -> None:
    going = Going()
    monkeypatch.setattr("tray.desktop.session_focus.focus", going.focus)  # no desktop is here
    going.result, going.page = result, page

    going.went.go("codex", "s")

    assert going.said == said
    assert going.opened == (["session?agent=codex&session=s"] if result == CLOSED and page else [])


def test_going_to_an_unknown_session_reports_that() -> None:
    going = Going()
    going.went.go("codex", "gone")

    assert going.said == [("this session is no longer known", "")]
    assert (going.went.can_focus("codex", "s"), going.went.can_focus("codex", "gone")) == (True, False)
