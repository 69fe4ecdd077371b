"""Requests of callers that may not decide: the user grants or dismisses them in the tray."""

from __future__ import annotations

import itertools
import threading
from collections.abc import Callable

import msgspec

from tray.approvals.undo import Undo

MAX_REQUESTS, MAX_UNDOS = 20, 4  # any program can ask; asking must not push what can be undone out of sight


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

    def add_undo(self, summary: str, requester: str, undo: Undo) -> PendingRequest:
        """Add a request that takes back what was done elsewhere, if the user grants it."""
        with self._lock:
            request = PendingRequest(
                id=str(next(self._numbers)), summary=summary, requester=requester, grant=undo.undo, is_undo=True
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
