"""The tray's menu as a value, for one state of the tray. Pure; back ends draw it.

One file for each submenu; `actions` are what clicks request, `state` is all that is shown.
"""

from __future__ import annotations

from tray.desktop.menu.actions import OpenPage, QuitTray, ToggleSwitch
from tray.desktop.menu.alerts import alerts
from tray.desktop.menu.approvals import approvals
from tray.desktop.menu.items import Items, check, click, flatten, separator
from tray.desktop.menu.pause import pause
from tray.desktop.menu.questions import questions
from tray.desktop.menu.recent import recent
from tray.desktop.menu.sessions import sessions
from tray.desktop.menu.settings import settings
from tray.desktop.menu.state import MenuState
from tray.desktop.menu.status import status
from tray.language import say


def menu(state: MenuState) -> Items:
    """The rows from top to bottom: eleven, and the lines between them."""
    rows = (
        status(state),
        separator("line/switch"),
        check("enabled", say("Hooks enabled"), state.enabled, ToggleSwitch()),
        pause(state),
        separator("line/recent"),
        sessions(state),
        click("page", say("Open page"), OpenPage()),
        recent(state),
        questions(state),
        approvals(state),
        separator("line/end"),
        alerts(state),
        settings(state),
        click("quit", say("Quit"), QuitTray()),
    )
    return tuple(map(flatten, rows)) if state.flat else rows
