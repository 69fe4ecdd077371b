"""What a click on the menu asks for, as values."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Toggle:
    """Flip the master switch."""


@dataclass(frozen=True, slots=True)
class Pause:
    """Pause hooks: all of them, those of one agent, or those of one session."""

    seconds: float | None  # None = until tomorrow
    agent: str = ""
    session: str = ""


@dataclass(frozen=True, slots=True)
class Resume:
    """End every pause now."""


@dataclass(frozen=True, slots=True)
class TogglePause:
    """Pause for a while, or end the pause: a click on the icon itself."""


@dataclass(frozen=True, slots=True)
class Reason:
    """Say why one recent decision came out as it did."""

    record: str


@dataclass(frozen=True, slots=True)
class Problem:
    """Say in full what is wrong with the configuration."""


@dataclass(frozen=True, slots=True)
class Incident:
    """Show in full what happened to the state folder."""


@dataclass(frozen=True, slots=True)
class Answer:
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
    """Show together all hooks that were approved before with the same content."""


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
class Grant:
    request: str


@dataclass(frozen=True, slots=True)
class Dismiss:
    request: str


@dataclass(frozen=True, slots=True)
class Mute:
    """Flip the sounds."""


@dataclass(frozen=True, slots=True)
class Snooze:
    """Hold alerts back for a while."""

    seconds: float | None  # None = until tomorrow


@dataclass(frozen=True, slots=True)
class Wake:
    """End the snooze, and tell what was held back."""


@dataclass(frozen=True, slots=True)
class HeedQuiet:
    """Let quiet hours count, or not."""

    on: bool


@dataclass(frozen=True, slots=True)
class Tell:
    """Whether one class of alerts is told."""

    cls: str
    on: bool


@dataclass(frozen=True, slots=True)
class Held:
    """Show what is held back."""


@dataclass(frozen=True, slots=True)
class Hooking:
    """Let one hook run, or not."""

    key: str
    on: bool


@dataclass(frozen=True, slots=True)
class StartAtLogin:
    on: bool


@dataclass(frozen=True, slots=True)
class OpenConfiguration:
    """Show hooktray.yaml in the user's editor."""


@dataclass(frozen=True, slots=True)
class OpenPage:
    """Show the page in the browser."""


@dataclass(frozen=True, slots=True)
class ShowAgents:
    """Show how all agents stand, as a text."""


@dataclass(frozen=True, slots=True)
class ReviewWiring:
    """Show what connecting or disconnecting an agent would write."""

    agent: str
    connect: bool


@dataclass(frozen=True, slots=True)
class Write:
    """Write the difference with this digest, which was shown before."""

    agent: str
    digest: str


@dataclass(frozen=True, slots=True)
class Probe:
    """Send an event of ours through an agent's own line."""

    agent: str


@dataclass(frozen=True, slots=True)
class Doctor:
    """Look for what is wrong and show it."""


@dataclass(frozen=True, slots=True)
class Quit:
    """End the tray."""


Switching = Toggle | Pause | Resume | TogglePause | Hooking
Asking = (
    Reason
    | Problem
    | Incident
    | Answer
    | Review
    | ReviewBatch
    | Approve
    | ApproveBatch
    | Deny
    | Revoke
    | Grant
    | Dismiss
)
Alerting = Mute | Snooze | Wake | HeedQuiet | Tell | Held
Setting = StartAtLogin | OpenConfiguration | OpenPage | Doctor
Wiring = ShowAgents | ReviewWiring | Write | Probe
Action = Switching | Asking | Alerting | Setting | Wiring | Quit
