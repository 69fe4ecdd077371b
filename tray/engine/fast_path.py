"""The fast path: of most events no hook is asked, or hooks are off, and their agents need not wait for more.

Whether that is so is read from the payload as it stands. What is to be told and written down needs the whole event,
and waits until the answer has left. All else goes the whole way.
"""

from __future__ import annotations

import logging
import time
from functools import lru_cache
from typing import NamedTuple

from tray.dialects import DIALECTS, NAMES, Payload
from tray.dialects.tools import canonical
from tray.engine import scopes, typed
from tray.engine.ears import OFTEN, Ears
from tray.engine.late import Late
from tray.engine.protection.rule import Protection
from tray.engine.questions import Questions
from tray.model.decision import Gate
from tray.model.event import TEST, EventKind, Knock
from tray.store.ledger import Book
from tray.store.switch import Switch

KINDS = OFTEN - typed.KINDS


class Seen(NamedTuple):
    """What a look at a knock found. `fast`: no hook, rule, question or note of ours has anything to say to it."""

    fast: bool = False
    gate: Gate | None = None  # what keeps all those from running that would be asked


UNSEEN = Seen()

log = logging.getLogger(__name__)


class FastPath:
    """Looks at knocks: is this one's answer silence, whatever else is in it?"""

    def __init__(
        self, *, switch: Switch, protection: Protection, late: Late, questions: Questions, ears: Ears
    ) -> None:
        self._ears = ears
        self._switch = switch
        self._protection = protection
        self._late = late
        self._questions = questions

    def look(self, knock: Knock, book: Book, payload: Payload | None) -> Seen:
        """UNSEEN after a fault, or for a payload that cannot be read: the whole way handles both."""
        try:
            return UNSEEN if payload is None else self._look(knock, book, payload)
        except Exception:
            log.exception("whether %s of %s may take the fast path", knock.event, knock.agent)
            return UNSEEN

    def _look(self, knock: Knock, book: Book, payload: Payload) -> Seen:
        kind = _kind(knock.agent, knock.event)
        if kind is None or self._questions.pending or self._ears.awaits or TEST in knock.environment:
            return UNSEEN
        gate = None
        if book.asked(knock.agent, kind, knock.event):
            gate = self._switch.gate(time.time())  # for everybody: whose session it is nobody knows yet
            if gate is None:
                return UNSEEN
        dialect = DIALECTS[knock.agent]
        if dialect.title(payload) not in ("", knock.event) or self._late.may_wait(
            knock.agent, dialect.session(knock, payload)
        ):
            return UNSEEN
        if kind is EventKind.TOOL_BEFORE:
            tool = dialect.tool(knock.event, payload)
            if tool is not None and (
                canonical(knock.agent, tool.name) == scopes.TOOL or self._protection.concerned(knock.agent, tool)
            ):
                return UNSEEN
        return Seen(fast=True, gate=gate)


@lru_cache(NAMES)
def _kind(agent: str, name: str) -> EventKind | None:
    """The kind of an event that may take the fast path; None for any other."""
    dialect = DIALECTS.get(agent)
    if dialect is None or name not in dialect.EVENTS:
        return None
    found = dialect.EVENTS[name]
    return found.kind if found.kind in KINDS and not found.plain else None
