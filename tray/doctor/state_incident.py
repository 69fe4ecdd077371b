"""What happened to the tray's state, and the texts about it."""

from __future__ import annotations

import enum
import time
from pathlib import Path

import msgspec

from tray.engine.stores import Stores
from tray.ipc.health import StateProblem
from tray.language import phrase, say
from tray.store.set_aside import OTHER_VERSION


class IncidentCause(enum.Enum):
    DELETED = phrase("The state folder was deleted")
    MOVED = phrase("The state folder was moved away")
    REPLACED = phrase("Another folder was put in the place of the state folder")
    DATABASE = phrase("The database was deleted or replaced")
    DAMAGED = phrase("The database was damaged")
    VERSION = phrase("The database belongs to another version of Hooktray")
    ALTERED = phrase("Another program altered the approvals")
    COPIES = phrase("The folder of approved copies was deleted or replaced")
    SOCKET = phrase("The socket was deleted or replaced")
    LOCK = phrase("The lock file was deleted or replaced")

    @property
    def loses_approvals(self) -> bool:
        return self not in (IncidentCause.COPIES, IncidentCause.SOCKET, IncidentCause.LOCK)


# Why a running tray sets a database aside that is still at its path, and the word for it in the file's name.
KINDS = {IncidentCause.ALTERED: "altered", IncidentCause.DAMAGED: "damaged"}


def _cause_of(file: str) -> IncidentCause:
    """Returns why the database that is kept under this name was set aside; "" = no file was left."""
    if OTHER_VERSION in file:
        return IncidentCause.VERSION
    return next((cause for cause, kind in KINDS.items() if f".{kind}-" in file), IncidentCause.DATABASE)


class Incident(msgspec.Struct, frozen=True, kw_only=True):
    """What happened to the state, and whether it was made anew."""

    at: float
    cause: IncidentCause
    folder: str
    moved_to: str = ""
    set_aside: str = ""  # the name of the file that is kept
    failure: str = ""  # why it cannot be made anew; "" when it was

    @property
    def headline(self) -> str:
        return say(self.cause.value)

    @property
    def outcome(self) -> str:
        """Returns the consequences, the most important first."""
        parts = [say("It cannot be made anew: {why}", why=self.failure)] if self.failure else []
        if self.cause.loses_approvals:
            parts.append(say("All approvals are lost: each call that a hook guarded is asked about or denied"))
            parts.append(say("Approve the hooks of each source again under Approvals"))
        elif not self.failure:
            parts.append(say("It was made anew"))
        if self.cause is IncidentCause.COPIES:
            parts.append(say("A hook whose files changed since its approval fails until you approve it again"))
        if self.set_aside:
            parts.append(say("The file is kept: {file}", file=self.set_aside))
        return " · ".join(parts)

    @property
    def text(self) -> str:
        """Returns headline, outcome and places in one line."""
        moved = say("it is at {place} now", place=self.moved_to) if self.moved_to else ""
        return " · ".join(filter(None, (self.headline, self.outcome, self.folder, moved)))

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


def unread_loss(stores: Stores, folder: Path) -> Incident | None:
    """The loss of approvals that the user has not read yet, of this tray or an earlier one. Raises StoreError."""
    file = stores.database.damage()
    if file is None and not stores.ledger.state.tampered:
        return None
    cause = IncidentCause.ALTERED if file is None else _cause_of(file)
    return Incident(at=time.time(), cause=cause, folder=str(folder), set_aside=file or "")


def loss_notice(stores: Stores) -> str:
    """The text about the loss of approvals that the user has not read yet; "" for none."""
    loss = unread_loss(stores, stores.database.path)
    return loss.text if loss else ""
