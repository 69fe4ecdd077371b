"""Going to a session: what is said when it works, half works, or does not."""

from __future__ import annotations

import pytest

from tray.desktop.focus import FocusResult
from tray.errors import HooktrayError
from tray.model.place import Place
from tray.model.session import Session
from tray.sessions.session_focus import SessionFocus

SESSION = Session(agent="codex", session="s", project="api", name="Import", place=Place(window="7"))


class Going:
    """A SessionFocus whose desktop answers as the test wants."""

    def __init__(self, result: FocusResult, *, page: bool = True) -> None:
        self.result, self.page = result, page
        self.said: list[tuple[str, str]] = []
        self.opened: list[tuple[str, str]] = []
        self.went = SessionFocus(
            lambda agent, session: SESSION if session == "s" else None,
            spawn=lambda work: work(),
            inform=lambda title, text: self.said.append((title, text)),
            open_page=self._open,
            focus=lambda place, title: self.result,
        )

    def _open(self, agent: str, session: str) -> None:
        if not self.page:
            raise HooktrayError("nothing here can open a browser", hint="")
        self.opened.append((agent, session))


def test_when_the_window_is_in_front_nothing_is_said() -> None:
    going = Going(FocusResult(True))
    going.went.go("codex", "s")

    assert (going.said, going.opened) == ([], [])


def test_when_the_window_may_be_the_wrong_one_that_is_said() -> None:
    going = Going(FocusResult(True, "which of its 3 windows has it is not known"))
    going.went.go("codex", "s")

    assert going.said == [("", "which of its 3 windows has it is not known")]


@pytest.mark.parametrize("page", [True, False])
def test_when_nothing_was_raised_one_line_says_why_and_the_page_opens(page: bool) -> None:
    going = Going(FocusResult(False, "its terminal is closed"), page=page)
    going.went.go("codex", "s")

    hint = "its page is opened instead" if page else ""
    assert going.said == [("Cannot go to Import: its terminal is closed", hint)]
    assert going.opened == ([("codex", "s")] if page else [])


def test_a_session_that_is_forgotten_says_so() -> None:
    going = Going(FocusResult(True))
    going.went.go("codex", "gone")

    assert going.said == [("this session is no longer known", "")]
    assert (going.went.can_focus("codex", "s"), going.went.can_focus("codex", "gone")) == (True, False)
