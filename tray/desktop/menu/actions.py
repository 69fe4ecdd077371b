"""The actions that a click on the menu can request, and the receiver of clicks.

The page and the commands can request a UserAction, too.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol

import msgspec

from tray.approvals.user_action import UserAction


class ToggleSwitch(msgspec.Struct, frozen=True):
    """Flip the master switch."""


class ShowReason(msgspec.Struct, frozen=True):
    """Show why one recent decision came out as it did."""

    record: str


class ShowProblem(msgspec.Struct, frozen=True):
    """Show in full what is wrong with the configuration."""


class ShowIncident(msgspec.Struct, frozen=True):
    """Show in full what happened to the state folder."""


class GoToSession(msgspec.Struct, frozen=True):
    """Bring the terminal of a session to the front."""

    agent: str
    session: str


class AnswerQuestion(msgspec.Struct, frozen=True):
    """Answer an open question."""

    question: str
    allow: bool


class Review(msgspec.Struct, frozen=True):
    key: str
    digest: str


class ReviewBatch(msgspec.Struct, frozen=True):
    """Show together the hooks of the batch with this digest."""

    digest: str


class ToggleSound(msgspec.Struct, frozen=True):
    """Flip the sounds."""


class Snooze(msgspec.Struct, frozen=True):
    """Defer alerts for a while."""

    seconds: float | None  # None = until tomorrow


class EndSnooze(msgspec.Struct, frozen=True):
    """End the snooze, and announce what was deferred."""


class SetQuietHours(msgspec.Struct, frozen=True):
    """Turn quiet hours on or off."""

    on: bool


class SetAlertClass(msgspec.Struct, frozen=True):
    """Turn one class of alerts on or off."""

    cls: str
    on: bool


class ShowDeferred(msgspec.Struct, frozen=True):
    """Show what is deferred."""


class StartAtLogin(msgspec.Struct, frozen=True):
    on: bool


class OpenConfiguration(msgspec.Struct, frozen=True):
    """Show hooktray.yaml in the user's editor."""


class OpenPage(msgspec.Struct, frozen=True):
    """Show the page in the browser: the decisions, or another place of it."""

    place: str = ""


class ShowAgents(msgspec.Struct, frozen=True):
    """Show the state of all agents, as a text."""


class ReviewConnection(msgspec.Struct, frozen=True):
    """Show what connecting or disconnecting an agent would write."""

    agent: str
    connect: bool


class ConnectAll(msgspec.Struct, frozen=True):
    """Connect every agent that is offered, with these previews."""

    digests: tuple[str, ...]


class ApplyConnection(msgspec.Struct, frozen=True):
    """Write the preview with this digest, whose summary was shown."""

    agent: str
    digest: str


class ProbeAgent(msgspec.Struct, frozen=True):
    """Send a test event of ours through an agent's own hook command."""

    agent: str


class PutEntriesBack(msgspec.Struct, frozen=True):
    """Write our entries into an agent's settings again."""

    agent: str


class LeaveEntries(msgspec.Struct, frozen=True):
    """Leave an agent's settings as they are, with this digest, until they change again."""

    agent: str
    digest: str


class RunDoctor(msgspec.Struct, frozen=True):
    """Run all checks and show the results."""


class QuitTray(msgspec.Struct, frozen=True):
    """End the tray."""


AlertAction = AnswerQuestion | ToggleSound | SetAlertClass | Snooze | EndSnooze | SetQuietHours | ShowDeferred
AgentAction = (
    ShowAgents | ReviewConnection | ApplyConnection | ConnectAll | ProbeAgent | PutEntriesBack | LeaveEntries
)
ViewAction = (
    Review | ReviewBatch | ShowReason | ShowProblem | ShowIncident | GoToSession | OpenConfiguration | OpenPage
)
TrayAction = ToggleSwitch | StartAtLogin | RunDoctor | QuitTray
Action = UserAction | AlertAction | AgentAction | ViewAction | TrayAction


class IconClicks(Protocol):
    """Takes the clicks on an icon and its menu, from any thread."""

    def act(self, action: Action) -> None:
        """Do what was clicked."""
        ...

    def opened(self) -> None:
        """The menu is about to be shown."""
        ...

    def is_trusted_host(self, pid: int) -> bool:
        """True if a click through this tray host counts: any process of the user can call itself a tray host."""
        ...

    def menu_rejected(self, pid: int, is_host: bool, actions: Sequence[Action]) -> None:
        """Handle a click that did not count: its process, whether that is a tray host, and what was clicked."""
        ...
