"""Takes a person to the terminal of a session; if that fails, reports it in one line and opens its page."""

from __future__ import annotations

import contextlib
from functools import partial
from typing import Protocol
from urllib import parse

from tray.desktop.focus import focus
from tray.errors import HooktrayError
from tray.language import say
from tray.model.place import Place
from tray.model.session import Session
from tray.notify.service import AlertService
from tray.sessions.session_tracker import SessionTracker
from tray.threads import Queue, Workers


class SessionPages(Protocol):
    """The part of WebPage that is used here. Raises HooktrayError where nothing can open a page."""

    def open(self, place: str) -> object: ...


class SessionFocus:
    """`go` is for clicks and starts a thread; `go_now` is for a command, which waits. Any thread may call both.

    `alerts` and `pages` are set before the queue runs anything.
    """

    alerts: AlertService
    pages: SessionPages

    def __init__(self, sessions: SessionTracker, queue: Queue, workers: Workers) -> None:
        self._sessions = sessions
        self._queue, self._workers = queue, workers

    def can_focus(self, agent: str, session: str) -> bool:
        """Whether anything is known of where it is."""
        found = self._sessions.get(agent, session)
        return found is not None and found.place != Place()

    def go(self, agent: str, session: str) -> None:
        self._workers.spawn(partial(self._click, agent, session))

    def _click(self, agent: str, session: str) -> None:
        found = self._sessions.get(agent, session)
        try:
            if found is None:
                raise HooktrayError(say("this session is no longer known"), hint="")
            title, text = "", self.go_now(found)
        except HooktrayError as error:
            title, text = error.message, error.hint
        if title or text:
            self._queue.post(partial(self.alerts.inform, title, text))

    def go_now(self, session: Session) -> str:
        """The message about it, "" for none. Raises HooktrayError when no window was raised."""
        result = focus(session.place, session.project)
        if result.raised:
            return result.note
        hint = ""
        with contextlib.suppress(HooktrayError):  # nothing here can open a page either
            self.pages.open(session_place(session.agent, session.session))
            hint = say("its page is opened instead")
        name = session.name or session.project or session.session
        raise HooktrayError(say("Cannot go to {name}: {why}", name=name, why=result.note), hint=hint)


def session_place(agent: str, session: str) -> str:
    """Returns the place of a session's page."""
    return "session?" + parse.urlencode({"agent": agent, "session": session}, quote_via=parse.quote)
