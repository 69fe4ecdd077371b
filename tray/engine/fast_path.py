"""By far the most events: no hook is asked of them, or none may run, and nobody hears of them. Their agents go on.

Whether that is so is read from the payload as it stands. What is to be written down needs the whole event, and waits
until the answer has left.
"""

from __future__ import annotations

import time
from functools import lru_cache
from typing import NamedTuple

from tray.dialects import DIALECTS, NAMES, Payload, payload_of
from tray.dialects.tools import canonical
from tray.engine import scopes, typed
from tray.engine.ears import OFTEN
from tray.engine.late import Late
from tray.engine.protection.rule import Protection
from tray.engine.questions import Questions
from tray.model.decision import Gate
from tray.model.event import TEST, EventKind, Knock
from tray.store.ledger import Book
from tray.store.switch import Switch

PASSING = OFTEN - typed.KINDS


class Seen(NamedTuple):
    """What a look at a knock found. `silent`: no hook, rule, question or note of ours has a part in this event."""

    silent: bool = False
    gate: Gate | None = None  # what keeps all those from running that would be asked
    payload: Payload | None = None  # once it was read, so that nobody reads it twice


UNSEEN = Seen()


class FastPath:
    def __init__(self, *, switch: Switch, protection: Protection, late: Late, questions: Questions) -> None:
        self._switch = switch
        self._protection = protection
        self._late = late
        self._questions = questions

    def look(self, knock: Knock, book: Book) -> Seen:
        """What is not silent goes the whole way, and so does all that is not as agents say it."""
        kind = _passing(knock.agent, knock.event)
        if (
            kind is None
            or knock.problem
            or not self._late.nothing
            or self._questions.pending
            or TEST in knock.environment
        ):
            return UNSEEN
        gate = None
        if book.asked(knock.agent, kind, knock.event):
            gate = self._switch.gate(time.time())  # for everybody: whose session it is nobody knows yet
            if gate is None:
                return UNSEEN
        try:
            payload = payload_of(knock)
        except ValueError:
            return UNSEEN
        dialect = DIALECTS[knock.agent]
        if dialect.title(payload) not in ("", knock.event):
            return Seen(payload=payload)
        if kind is EventKind.TOOL_BEFORE:
            tool = dialect.tool(knock.event, payload)
            if tool is not None and (
                canonical(knock.agent, tool.name) == scopes.TOOL or self._protection.concerned(knock.agent, tool)
            ):
                return Seen(payload=payload)
        return Seen(silent=True, gate=gate, payload=payload)


@lru_cache(NAMES)
def _passing(agent: str, name: str) -> EventKind | None:
    """The kind of an event that may be passed by; None for any other.

    Where an agent tells of its rounds alone, whatever it does next says that its turn goes on: that is heard at once.
    """
    dialect = DIALECTS.get(agent)
    if dialect is None or name not in dialect.EVENTS:
        return None
    if any(each.kind is EventKind.ROUND_END for each in dialect.EVENTS.values()):
        return None
    found = dialect.EVENTS[name]
    return found.kind if found.kind in PASSING and not found.plain else None
