"""What the running tray reports about itself, for `status` and `doctor`: its type, and the check of a reply."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Protocol, TypedDict

import msgspec

from tray.errors import IpcError
from tray.ipc.client import HUNG_HINT


class StateProblem(TypedDict):
    """What happened to the state folder; in `status` also that calls ran unjudged."""

    problem: str
    cause: str
    at: float
    solved: bool
    text: str


class ChangedEntry(TypedDict):
    """An agent's settings in which our entries are not as they were written."""

    agent: str
    causes: list[str]
    text: str
    is_guard: bool


class TrayHealth(TypedDict, total=False):
    """A tray of another version may leave out what it does not know, and report more."""

    done: str  # "running"
    pid: int
    icon: str  # "" while none is shown
    reason: str  # why none is shown
    requests: int  # that wait for a person
    problems: list[StateProblem]
    changes: list[ChangedEntry]
    unanswered: dict[str, str]  # why an agent's line gave no answer when it was tried, by agent
    failed_agents: dict[str, tuple[str, str]]  # by agent of a package: its first failure, and the remedy
    troubled: list[str]  # the names of hooks that fail
    background: list[tuple[int, float]]  # process groups that hooks left, each with the seconds until it is ended
    late: int  # decisions that were written down late
    journal: str  # why none can be written down now, and what to do; "" for nothing
    notifications: str  # what went wrong last; "" for nothing
    sound: str
    push: str


class HealthSource(Protocol):
    """Reports on the running tray."""

    def health(self) -> TrayHealth: ...


def parse_health(reply: Mapping[str, object]) -> TrayHealth:
    """Raises IpcError if a value has another type than in TrayHealth."""
    try:
        return msgspec.convert(dict(reply), TrayHealth)
    except msgspec.ValidationError as error:
        raise IpcError(f"the tray's report of itself cannot be read: {error}", hint=HUNG_HINT) from None
