"""Going to a session: what is said when it works, half works, or does not."""

from __future__ import annotations

from typing import cast

import pytest
from at_once import AtOnce

from tray.desktop.focus import FocusResult
from tray.desktop.session_focus import SessionFocus
from tray.errors import HooktrayError
from tray.model.place import Place
from tray.model.session import Session
from tray.notify.service import AlertService
from tray.sessions.session_tracker import SessionTracker

SESSION = Session(agent="codex", session="s", project="api", name="Import", place=Place(window="7"))


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


@pytest.fixture
def going(monkeypatch: pytest.MonkeyPatch) -> Going:
    going = Going()
    monkeypatch.setattr("tray.desktop.session_focus.focus", going.focus)  # no desktop is here
    return going


def test_when_the_window_is_in_front_nothing_is_said(going: Going) -> None:
    going.went.go("codex", "s")

    assert (going.said, going.opened) == ([], [])


def test_when_the_window_may_be_the_wrong_one_that_is_said(going: Going) -> None:
    going.result = FocusResult(True, "which of its 3 windows has it is not known")
    going.went.go("codex", "s")

    assert going.said == [("", "which of its 3 windows has it is not known")]


@pytest.mark.parametrize("page", [True, False])
def test_when_nothing_was_raised_one_line_says_why_and_the_page_opens(going: Going, page: bool) -> None:
    going.result, going.page = FocusResult(False, "its terminal is closed"), page
    going.went.go("codex", "s")

    hint = "its page is opened instead" if page else ""
    assert going.said == [("Cannot go to Import: its terminal is closed", hint)]
    assert going.opened == (["session?agent=codex&session=s"] if page else [])


def test_a_session_that_is_forgotten_says_so(going: Going) -> None:
    going.went.go("codex", "gone")

    assert going.said == [("this session is no longer known", "")]
    assert (going.went.can_focus("codex", "s"), going.went.can_focus("codex", "gone")) == (True, False)
