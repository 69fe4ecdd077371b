"""The tray's menu as a value: what stands in it, for one state of the tray. Pure; back ends draw it.

One file for each submenu; `actions` are what clicks ask for, `state` is all that is shown.
"""

from __future__ import annotations

from tray.desktop.menu.actions import (
    Action,
    Answer,
    Approve,
    ApproveBatch,
    Deny,
    Dismiss,
    Doctor,
    Grant,
    HeedQuiet,
    Held,
    Hooking,
    Incident,
    Mute,
    OpenConfiguration,
    OpenPage,
    Pause,
    Probe,
    Problem,
    Quit,
    Reason,
    Resume,
    Review,
    ReviewBatch,
    ReviewWiring,
    Revoke,
    ShowAgents,
    Snooze,
    StartAtLogin,
    Tell,
    Toggle,
    TogglePause,
    Wake,
    Write,
)
from tray.desktop.menu.alerts import alerts
from tray.desktop.menu.approvals import approvals
from tray.desktop.menu.items import Item, Items, Kind, check, click, separator
from tray.desktop.menu.pause import SHORTEST, pause, paused
from tray.desktop.menu.questions import questions
from tray.desktop.menu.recent import SHOWN as SHOWN_RECORDS
from tray.desktop.menu.recent import recent
from tray.desktop.menu.settings import settings
from tray.desktop.menu.state import (
    Approval,
    Batch,
    Lull,
    MenuState,
    Offers,
    Question,
    Request,
    Running,
    Telling,
    Wired,
)
from tray.desktop.menu.status import STATUS_LIMIT, status
from tray.language import say

__all__ = [
    "SHORTEST",
    "SHOWN_RECORDS",
    "STATUS_LIMIT",
    "Action",
    "Answer",
    "Approval",
    "Approve",
    "ApproveBatch",
    "Batch",
    "Deny",
    "Dismiss",
    "Doctor",
    "Grant",
    "HeedQuiet",
    "Held",
    "Hooking",
    "Incident",
    "Item",
    "Kind",
    "Lull",
    "MenuState",
    "Mute",
    "Offers",
    "OpenConfiguration",
    "OpenPage",
    "Pause",
    "Probe",
    "Problem",
    "Question",
    "Quit",
    "Reason",
    "Request",
    "Resume",
    "Review",
    "ReviewBatch",
    "ReviewWiring",
    "Revoke",
    "Running",
    "ShowAgents",
    "Snooze",
    "StartAtLogin",
    "Tell",
    "Telling",
    "Toggle",
    "TogglePause",
    "Wake",
    "Wired",
    "Write",
    "menu",
    "paused",
]


def menu(state: MenuState) -> Items:
    """The rows from top to bottom: nine, and the lines between them."""
    return (
        status(state),
        separator("line/switch"),
        check("enabled", say("Hooks enabled"), state.enabled, Toggle()),
        pause(state),
        separator("line/news"),
        recent(state),
        questions(state),
        approvals(state),
        separator("line/end"),
        alerts(state),
        settings(state),
        click("quit", say("Quit"), Quit()),
    )
