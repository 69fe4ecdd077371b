"""The tray's menu as a value, for one state of the tray. Pure; back ends draw it.

One file for each submenu; `actions` are what clicks request, `state` is all that is shown.
"""

from __future__ import annotations

from tray.desktop.menu.actions import (
    Action,
    AnswerQuestion,
    ApplyConnection,
    Approve,
    ApproveBatch,
    ConnectAll,
    Deny,
    DismissRequest,
    EndSnooze,
    GoToSession,
    GrantRequest,
    LeaveEntries,
    OpenConfiguration,
    OpenPage,
    PauseHooks,
    ProbeAgent,
    PutEntriesBack,
    QuitTray,
    ResumeHooks,
    Review,
    ReviewBatch,
    ReviewConnection,
    Revoke,
    RunDoctor,
    SetAlertClass,
    SetQuietHours,
    SetVariable,
    ShowAgents,
    ShowDeferred,
    ShowIncident,
    ShowProblem,
    ShowReason,
    Snooze,
    StartAtLogin,
    SwitchHook,
    ToggleSound,
    ToggleSwitch,
)
from tray.desktop.menu.alerts import alerts
from tray.desktop.menu.approvals import approvals
from tray.desktop.menu.items import Item, ItemKind, Items, check, click, flatten, separator
from tray.desktop.menu.pause import SHORTEST, pause, paused_until
from tray.desktop.menu.questions import questions, waiting_number
from tray.desktop.menu.recent import RECORD_LIMIT as SHOWN_RECORDS
from tray.desktop.menu.recent import recent
from tray.desktop.menu.sessions import sessions
from tray.desktop.menu.settings import settings
from tray.desktop.menu.state import (
    AlertsState,
    Approval,
    MenuAgent,
    MenuBatch,
    MenuHook,
    MenuOptions,
    MenuPreview,
    MenuQuestion,
    MenuRequest,
    MenuState,
    PartialPause,
)
from tray.desktop.menu.status import STATUS_LIMIT, status, tampered, trouble
from tray.language import say

__all__ = [
    "SHORTEST",
    "SHOWN_RECORDS",
    "STATUS_LIMIT",
    "Action",
    "AlertsState",
    "AnswerQuestion",
    "ApplyConnection",
    "Approval",
    "Approve",
    "ApproveBatch",
    "ConnectAll",
    "Deny",
    "DismissRequest",
    "EndSnooze",
    "GoToSession",
    "GrantRequest",
    "Item",
    "ItemKind",
    "LeaveEntries",
    "MenuAgent",
    "MenuBatch",
    "MenuHook",
    "MenuOptions",
    "MenuPreview",
    "MenuQuestion",
    "MenuRequest",
    "MenuState",
    "OpenConfiguration",
    "OpenPage",
    "PartialPause",
    "PauseHooks",
    "ProbeAgent",
    "PutEntriesBack",
    "QuitTray",
    "ResumeHooks",
    "Review",
    "ReviewBatch",
    "ReviewConnection",
    "Revoke",
    "RunDoctor",
    "SetAlertClass",
    "SetQuietHours",
    "SetVariable",
    "ShowAgents",
    "ShowDeferred",
    "ShowIncident",
    "ShowProblem",
    "ShowReason",
    "Snooze",
    "StartAtLogin",
    "SwitchHook",
    "ToggleSound",
    "ToggleSwitch",
    "menu",
    "paused_until",
    "status",
    "tampered",
    "trouble",
    "waiting_number",
]


def menu(state: MenuState) -> Items:
    """The rows from top to bottom: ten, and the lines between them."""
    rows = (
        status(state),
        separator("line/switch"),
        check("enabled", say("Hooks enabled"), state.enabled, ToggleSwitch()),
        pause(state),
        separator("line/recent"),
        sessions(state),
        *((click("page", say("Open page"), OpenPage()),) if state.options.page else ()),
        recent(state),
        questions(state),
        approvals(state),
        separator("line/end"),
        alerts(state),
        settings(state),
        click("quit", say("Quit"), QuitTray()),
    )
    return tuple(map(flatten, rows)) if state.options.flat else rows
