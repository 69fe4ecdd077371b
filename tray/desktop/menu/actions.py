"""What a click on the menu requests, as values."""

from __future__ import annotations

from tray.lazy_dataclass import dataclass


@dataclass(frozen=True, slots=True)
class ToggleSwitch:
    """Flip the master switch."""


@dataclass(frozen=True, slots=True)
class PauseHooks:
    """Pause hooks: all of them, those of one agent, or those of one session."""

    seconds: float | None  # None = until tomorrow
    agent: str = ""
    session: str = ""


@dataclass(frozen=True, slots=True)
class ResumeHooks:
    """End every pause now."""


@dataclass(frozen=True, slots=True)
class ShowReason:
    """Show why one recent decision came out as it did."""

    record: str


@dataclass(frozen=True, slots=True)
class ShowProblem:
    """Show in full what is wrong with the configuration."""


@dataclass(frozen=True, slots=True)
class ShowIncident:
    """Show in full what happened to the state folder."""


@dataclass(frozen=True, slots=True)
class GoToSession:
    """Bring the terminal of a session to the front."""

    agent: str
    session: str


@dataclass(frozen=True, slots=True)
class AnswerQuestion:
    """Answer an open question."""

    question: str
    allow: bool


@dataclass(frozen=True, slots=True)
class Review:
    key: str
    digest: str


@dataclass(frozen=True, slots=True)
class Approve:
    key: str
    digest: str


@dataclass(frozen=True, slots=True)
class ReviewBatch:
    """Show together the hooks of the batch with this digest."""

    digest: str


@dataclass(frozen=True, slots=True)
class ApproveBatch:
    digest: str


@dataclass(frozen=True, slots=True)
class Deny:
    key: str
    digest: str


@dataclass(frozen=True, slots=True)
class Revoke:
    key: str


@dataclass(frozen=True, slots=True)
class GrantRequest:
    request: str


@dataclass(frozen=True, slots=True)
class DismissRequest:
    request: str


@dataclass(frozen=True, slots=True)
class ToggleSound:
    """Flip the sounds."""


@dataclass(frozen=True, slots=True)
class Snooze:
    """Defer alerts for a while."""

    seconds: float | None  # None = until tomorrow


@dataclass(frozen=True, slots=True)
class EndSnooze:
    """End the snooze, and announce what was deferred."""


@dataclass(frozen=True, slots=True)
class SetQuietHours:
    """Turn quiet hours on or off."""

    on: bool


@dataclass(frozen=True, slots=True)
class SetAlertClass:
    """Turn one class of alerts on or off."""

    cls: str
    on: bool


@dataclass(frozen=True, slots=True)
class ShowDeferred:
    """Show what is deferred."""


@dataclass(frozen=True, slots=True)
class SwitchHook:
    """Let one hook run, or not."""

    key: str
    on: bool


@dataclass(frozen=True, slots=True)
class SetVariable:
    """Let a withheld variable through to one approved hook, or not."""

    key: str
    variable: str
    on: bool


@dataclass(frozen=True, slots=True)
class StartAtLogin:
    on: bool


@dataclass(frozen=True, slots=True)
class OpenConfiguration:
    """Show hooktray.yaml in the user's editor."""


@dataclass(frozen=True, slots=True)
class OpenPage:
    """Show the page in the browser: the decisions, or another place of it."""

    place: str = ""


@dataclass(frozen=True, slots=True)
class ShowAgents:
    """Show the state of all agents, as a text."""


@dataclass(frozen=True, slots=True)
class ReviewConnection:
    """Show what connecting or disconnecting an agent would write."""

    agent: str
    connect: bool


@dataclass(frozen=True, slots=True)
class ConnectAll:
    """Connect every agent that is offered, with these previews."""

    digests: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class ApplyConnection:
    """Write the preview with this digest, whose summary was shown."""

    agent: str
    digest: str


@dataclass(frozen=True, slots=True)
class ProbeAgent:
    """Send a test event of ours through an agent's own hook command."""

    agent: str


@dataclass(frozen=True, slots=True)
class PutEntriesBack:
    """Write our entries into an agent's settings again."""

    agent: str


@dataclass(frozen=True, slots=True)
class LeaveEntries:
    """Leave an agent's settings as they are, with this digest, until they change again."""

    agent: str
    digest: str


@dataclass(frozen=True, slots=True)
class RunDoctor:
    """Run all checks and show the results."""


@dataclass(frozen=True, slots=True)
class QuitTray:
    """End the tray."""


SwitchAction = ToggleSwitch | PauseHooks | ResumeHooks | SwitchHook
ApprovalAction = (
    ShowReason
    | ShowProblem
    | ShowIncident
    | AnswerQuestion
    | GoToSession
    | Review
    | ReviewBatch
    | Approve
    | ApproveBatch
    | Deny
    | Revoke
    | GrantRequest
    | SetVariable
    | DismissRequest
)
AlertAction = ToggleSound | Snooze | EndSnooze | SetQuietHours | SetAlertClass | ShowDeferred
SettingsAction = StartAtLogin | OpenConfiguration | OpenPage | RunDoctor
AgentAction = (
    ShowAgents | ReviewConnection | ApplyConnection | ConnectAll | ProbeAgent | PutEntriesBack | LeaveEntries
)
Action = SwitchAction | ApprovalAction | AlertAction | SettingsAction | AgentAction | QuitTray
