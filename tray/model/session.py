"""What one session of an agent does: working, waiting for its user, done or failed."""

from __future__ import annotations

import enum
from collections.abc import Mapping

import msgspec

from tray.language import phrase
from tray.model.place import NO_PLACE, Place


class SessionState(enum.StrEnum):
    """In the order in which people want to see them."""

    WAITING = "waiting"
    FAILED = "failed"
    WORKING = "working"
    DONE = "done"


STATE_WORDS: Mapping[SessionState, str] = {
    SessionState.WAITING: phrase("waits for you"),
    SessionState.FAILED: phrase("failed"),
    SessionState.WORKING: phrase("works"),
    SessionState.DONE: phrase("done"),
}


class Session(msgspec.Struct, frozen=True, kw_only=True):
    """One session as people see it; `name` is the agent's own title, else the branch and the first prompt's words."""

    agent: str
    session: str  # as the agent calls it
    project: str = ""
    name: str = ""
    state: SessionState = SessionState.DONE
    since: float = 0.0  # when it came into this state
    machine: str = ""  # "" = this one
    ended: bool = False
    usage_limit: str = ""  # the agent's text when one ended its last turn; "" when none did
    place: Place = NO_PLACE


def by_urgency(session: Session) -> tuple[int, float]:
    """What waits comes first, longest waiting on top; the others by their state, the latest on top."""
    rank = list(SessionState).index(session.state)
    return rank, session.since if session.state is SessionState.WAITING else -session.since
