"""What happened to the state folder, whether it was made anew, and the texts about both."""

from __future__ import annotations

import enum
from typing import TYPE_CHECKING

from tray.language import count, phrase, say
from tray.lazy_dataclass import dataclass

if TYPE_CHECKING:
    from tray.ipc.health import StateProblem


class IncidentCause(enum.Enum):
    DELETED = phrase("The state folder was deleted")
    MOVED = phrase("The state folder was moved away")
    REPLACED = phrase("Another folder was put in the place of the state folder")
    DATABASE = phrase("The database was deleted or replaced")
    COPIES = phrase("The folder of approved copies was deleted or replaced")
    SOCKET = phrase("The socket was deleted or replaced")
    LOCK = phrase("The lock file was deleted or replaced")


@dataclass(frozen=True, slots=True, kw_only=True)
class Incident:
    """What happened to the state folder, and what was made anew, lost or set aside."""

    at: float
    cause: IncidentCause
    folder: str
    moved_to: str = ""
    approvals: int = 0
    decisions: int | None = None  # that are in the new database; None = it is the old one
    lost: tuple[str, ...] = ()
    set_aside: str = ""
    failure: str = ""  # why it cannot be made anew; "" when it was

    @property
    def brief(self) -> str:
        """For a notification and the first row of the menu: what matters most comes first."""
        return f"{say(self.cause.value)}: {self.outcome}"

    @property
    def text(self) -> str:
        """The same with the places."""
        moved = say("it is at {place} now", place=self.moved_to) if self.moved_to else ""
        aside = say("what was found there is in {place}", place=self.set_aside) if self.set_aside else ""
        folder = "" if self.folder in self.failure else self.folder
        return " · ".join(filter(None, (self.brief, folder, moved, aside)))

    @property
    def outcome(self) -> str:
        if self.failure:
            return say("it cannot be restored: {why}", why=self.failure)
        approvals = count("{n} approval", "{n} approvals", self.approvals)
        if self.cause in (IncidentCause.SOCKET, IncidentCause.LOCK):
            result = say("restored")
        elif self.decisions is None:
            result = say("restored with {approvals}", approvals=approvals)
        else:
            decisions = count("{n} decision", "{n} decisions", self.decisions)
            result = say("restored with {approvals} and {decisions}", approvals=approvals, decisions=decisions)
        return f"{result} · " + say("lost: {what}", what=", ".join(self.lost)) if self.lost else result

    @property
    def row(self) -> StateProblem:
        """For `hooktray status --json`."""
        return {
            "problem": "state_folder",
            "cause": self.cause.name.lower(),
            "at": self.at,
            "solved": not self.failure,
            "text": self.text,
        }
