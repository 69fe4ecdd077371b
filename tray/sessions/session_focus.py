"""Takes a person to the terminal of a session; if that fails, reports it in one line and opens its page."""

from __future__ import annotations

import contextlib
from collections.abc import Callable

from tray.desktop.focus import FocusResult, focus
from tray.errors import HooktrayError
from tray.language import say
from tray.model.place import Place
from tray.model.session import Session


def _focus(place: Place, project: str) -> FocusResult:
    return focus(place, project)


class SessionFocus:
    """`go` is for clicks and runs by `spawn`; `go_now` is for a command, which waits. Both from any thread."""

    def __init__(
        self,
        find: Callable[[str, str], Session | None],
        *,
        spawn: Callable[[Callable[[], object]], object],
        inform: Callable[[str, str], object],
        open_page: Callable[[str, str], object],
        focus: Callable[[Place, str], FocusResult] = _focus,
    ) -> None:
        self._find = find
        self._spawn = spawn
        self._inform = inform
        self._open_page = open_page
        self._focus = focus

    def can_focus(self, agent: str, session: str) -> bool:
        """Whether anything is known of where it is."""
        found = self._find(agent, session)
        return found is not None and found.place != Place()

    def go(self, agent: str, session: str) -> None:
        self._spawn(lambda: self._click(agent, session))

    def _click(self, agent: str, session: str) -> None:
        found = self._find(agent, session)
        try:
            if found is None:
                raise HooktrayError(say("this session is no longer known"), hint="")
            note = self.go_now(found)
        except HooktrayError as error:
            self._inform(error.message, error.hint)
        else:
            if note:
                self._inform("", note)

    def go_now(self, session: Session) -> str:
        """The message about it, "" for none. Raises HooktrayError when no window was raised."""
        result = self._focus(session.place, session.project)
        if result.raised:
            return result.note
        name = session.name or session.project or session.session
        hint = ""
        with contextlib.suppress(HooktrayError):  # nothing here can open a page either
            self._open_page(session.agent, session.session)
            hint = say("its page is opened instead")
        why = say("Cannot go to {name}: {why}", name=name, why=result.note)
        raise HooktrayError(why, hint=hint)
