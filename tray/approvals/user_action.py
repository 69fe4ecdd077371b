"""Actions that the user confirms, requests that wait for his answer, and the length of a pause."""

from __future__ import annotations

import itertools
import re
import threading
import time
from collections.abc import Callable
from datetime import datetime, timedelta

import msgspec

from tray.errors import HooktrayError
from tray.language import say
from tray.text import sanitise

MAX_REQUESTS, MAX_UNDOS = 20, 4  # any program can ask; asking must not push what can be undone out of sight


class UserAction(msgspec.Struct, frozen=True, kw_only=True):
    """One action on exactly one thing, as it was shown."""

    action: str
    key: str = ""
    digest: str = ""
    variables: tuple[str, ...] = ()  # of the environment
    path: str = ""  # the PATH of the terminal that approves
    seconds: float | None = None  # of a pause, which may be of one agent or session
    agent: str = ""
    session: str = ""


class PendingRequest(msgspec.Struct, frozen=True, kw_only=True):
    """One request."""

    id: str
    summary: str
    requester: str
    grant: Callable[[], object]
    word: str = ""  # by which `hooktray approve` finds it
    is_undo: bool = False  # it was done, and to grant it is to undo it


class PendingRequests:
    """The open requests. Any thread may call this."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._numbers = itertools.count(1)
        self.open: tuple[PendingRequest, ...] = ()

    def add(self, summary: str, requester: str, grant: Callable[[], object], word: str = "") -> PendingRequest:
        """Add a request; one with the same summary as an open one returns that one."""
        with self._lock:
            asked = [one for one in self.open if not one.is_undo]
            known = next((one for one in asked if one.summary == summary), None)
            if known:
                return known
            request = PendingRequest(
                id=str(next(self._numbers)), summary=summary, requester=requester, grant=grant, word=word
            )
            self.open = (*asked[1 - MAX_REQUESTS :], request, *(one for one in self.open if one.is_undo))
            return request

    def add_undo(self, summary: str, requester: str, undo: Callable[[], object]) -> PendingRequest:
        """Add a request that takes back what was done elsewhere, if the user grants it."""
        with self._lock:
            request = PendingRequest(
                id=str(next(self._numbers)), summary=summary, requester=requester, grant=undo, is_undo=True
            )
            others = (one for one in self.open if not one.is_undo)
            earlier = [one for one in self.open if one.is_undo and one.summary != summary]
            self.open = (*others, *earlier[1 - MAX_UNDOS :], request)
            return request

    def take(self, id: str) -> PendingRequest | None:
        """Remove a request and return it; None if it was answered before."""
        with self._lock:
            found = next((one for one in self.open if one.id == id), None)
            self.open = tuple(one for one in self.open if one is not found)
            return found


def pause_sentence(until: float, agent: str, session: str) -> str:
    """Returns whose hooks are paused, and until when."""
    clock = time.strftime("%H:%M", time.localtime(until))
    if whom := " ".join(filter(None, (agent, sanitise(session, 60)))):
        return say("Hooks of {agent} are paused until {time}", agent=whom, time=clock)
    return say("Hooks are paused until {time}", time=clock)


def tomorrow(now: float) -> float:
    """The next local midnight after `now`, in seconds since the epoch."""
    day = datetime.fromtimestamp(now).replace(hour=0, minute=0, second=0, microsecond=0)
    return (day + timedelta(days=1)).timestamp()


def parse_duration(text: str) -> float | None:
    """`30m`, `1h` or `90s` in seconds; None = until tomorrow. Raises HooktrayError."""
    if text == "tomorrow":
        return None
    found = re.fullmatch(r"(\d{1,4})([smh])", text)
    if not found or int(found[1]) == 0:
        raise HooktrayError(
            say("`{length}` is not a length of time", length=text), hint=say("write 30m, 1h or tomorrow")
        )
    return int(found[1]) * {"s": 1.0, "m": 60.0, "h": 3600.0}[found[2]]
