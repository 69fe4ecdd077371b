"""What the page shows and acts on; `tray.app` builds it."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Protocol

import msgspec

from tray.approvals.callers.click_check import ClickRejection
from tray.approvals.catalog import HookCatalog
from tray.approvals.controls import Controls
from tray.engine.replay import ReplayComparison
from tray.engine.user_questions import UserQuestion
from tray.model.decision import Record
from tray.model.form import Answers
from tray.model.session import Session
from tray.store.copies import Copies
from tray.store.journal import Journal
from tray.store.stats import Statistics


class PageSetting(msgspec.Struct, frozen=True, kw_only=True):
    """A row of the menu's settings: a tick (on or off), a thing to do (None), a heading for `settings`, or a note."""

    id: str
    text: str
    is_on: bool | None = None
    settings: tuple[PageSetting, ...] = ()
    is_note: bool = False


class AgentConnection(msgspec.Struct, frozen=True, kw_only=True):
    """Whether our lines are in an agent's settings, and what to do about it."""

    installed: bool
    connected: bool
    advice: tuple[str, ...] = ()
    changed: tuple[str, ...] = ()  # how our entries differ from what was written
    is_wanted: bool = False  # nothing changed: a hook needs more of its events


class ConnectOffer(msgspec.Struct, frozen=True, kw_only=True):
    """A row of the menu that connects an agent, or all of them: what it writes, in a line and in full."""

    id: str
    text: str
    summary: str = ""
    difference: str = ""


class BrowserClicks(Protocol):
    """Decides which clicks on the page count."""

    def browser_objection(self, pid: int) -> ClickRejection | None: ...
    def confirm_browser(self, pids: Sequence[int], typed: str) -> bool: ...


class PageServices(msgspec.Struct, frozen=True, kw_only=True):
    """`refresh` reads the sources again before hooks are shown.

    `settings` are those that the menu has now; `change_setting` clicks one, unless it is as it should be already.
    `answer` gives the user's answers to an open question, or None to decline it; False when it is closed already.

    `replay` asks the hooks in force once more, and raises HooktrayError when a row cannot be replayed.
    """

    journal: Journal
    statistics: Statistics
    catalog: HookCatalog
    copies: Copies
    controls: Controls
    refresh: Callable[[], None]
    clicks: BrowserClicks
    replay: Callable[[Record], ReplayComparison]
    settings: Callable[[], tuple[PageSetting, ...]]
    change_setting: Callable[[str, bool | None], bool]
    connections: Callable[[], Mapping[str, AgentConnection]]
    offers: Callable[[], tuple[ConnectOffer, ...]] = tuple
    sessions: Callable[[], tuple[Session, ...]] = tuple  # as they are now, what waits first
    go_to_session: Callable[[str, str], None] = lambda agent, session: None
    questions: Callable[[], tuple[UserQuestion, ...]] = tuple  # that are open
    answer: Callable[[str, Answers | None, str], bool] = lambda question, answers, channel: False
