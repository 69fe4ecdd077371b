"""What the page shows and acts on; `tray.app` builds it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Protocol

import msgspec

from tray.approvals.callers.click_check import ClickRejection
from tray.approvals.catalog import HookCatalog
from tray.approvals.controls import Controls
from tray.engine.replay import LiveReplays
from tray.engine.stores import Stores
from tray.engine.user_questions import UserQuestions
from tray.sessions.session_tracker import SessionTracker


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


class FileOpener(Protocol):
    """Opens a file in the user's browser. Raises HooktrayError where nothing can."""

    def open(self, path: Path) -> None: ...


class TrayMenu(Protocol):
    """What the page needs of higher layers: rows of the menu, agents' connections, and a refresh of the sources."""

    def refresh(self) -> None:
        """Read the sources again, before hooks are shown."""

    def connections(self) -> Mapping[str, AgentConnection]: ...
    def settings(self) -> tuple[PageSetting, ...]: ...
    def offers(self) -> tuple[ConnectOffer, ...]: ...
    def change_setting(self, id: str, on: bool | None) -> bool:
        """Click a row, unless it is as it should be already. Returns False if the menu does not have it."""


class PageFocus(Protocol):
    """Brings the window of a session to the front."""

    def go(self, agent: str, session: str) -> None: ...


class PageParts(msgspec.Struct, frozen=True, kw_only=True):
    """The parts of the tray that the page shows and acts on."""

    stores: Stores
    catalog: HookCatalog
    controls: Controls
    clicks: BrowserClicks
    replayer: LiveReplays
    menu: TrayMenu
    board: SessionTracker
    windows: PageFocus
    questions: UserQuestions
    opener: FileOpener
