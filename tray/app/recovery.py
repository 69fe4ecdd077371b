"""Damage of the database as the user meets it: a critical alert, the icon's attention, one review of what is left."""

from __future__ import annotations

import os
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import Protocol

from tray.app import Stores
from tray.engine.approval.batch import Batch, written
from tray.engine.approval.controls import Controls
from tray.errors import StoreError
from tray.language import count, say

ABOUT = "approved before"  # what the alerts' Review is about


class Alarm(Protocol):
    """What this needs of the Herald."""

    def alarm(self, title: str, text: str, *, about: str = "") -> str: ...
    def unchanged(self, text: str, *, about: str) -> str: ...
    def withdraw(self, key: str) -> None: ...


class Recovery:
    """All of it runs on the menu's thread. `seen` is called when a person has opened the review."""

    def __init__(
        self, kept: Stores, controls: Controls, reviews: Path, herald: Alarm, open_file: Callable[[Path], None]
    ):
        self._database = kept.database
        self._copies = kept.copies
        self._controls = controls
        self._reviews = reviews
        self._herald = herald
        self._open_file = open_file
        self._found = self._unseen()
        self._announced = False
        self._offered = ""  # the digest of the batch that an alert was about
        self._alerts: list[str] = []  # keys of those whose Review still has something to show

    @property
    def headline(self) -> str:
        """The menu's first row; "" when there is nothing that a person has not seen."""
        if self._database.condemned:
            return say("The database is damaged: quit Hooktray and start it again")
        if self._found is None:
            return ""
        return say("The database was damaged") if self._found else say("The database was lost")

    def look(self) -> None:
        """Announce what is new, and take back the alerts whose cause is gone."""
        found = self._controls.batch
        if self._database.condemned:
            self._announce_in_use()
        elif self._found is not None and not self._announced:
            self._announced, self._offered = True, found.digest
            self._alerts.append(self._herald.alarm(self.headline, self._words(self._found, found), about=ABOUT))
        elif found and found.digest != self._offered:
            self._offered = found.digest
            self._alerts.append(self._herald.unchanged(_offer(found), about=ABOUT))
        elif self._offered and not found:
            self._offered = ""
            self._seen()
            while self._alerts:
                self._herald.withdraw(self._alerts.pop())

    def show(self) -> None:
        """Open the review: what happened, and every unchanged hook with its content."""
        found = self._controls.batch
        self._open_file(written(found, self._about(found), self._copies, os.environ, self._reviews))
        self._seen()

    def _announce_in_use(self) -> None:
        if not self._announced:
            self._announced = True
            words = (
                say("Approved hooks go on until Hooktray ends"),
                say("Quit it, start it again, and approve them in one review"),
            )
            self._herald.alarm(say("The database is damaged"), " · ".join(words))

    def _about(self, found: Batch) -> tuple[str, ...]:
        if self._database.condemned:
            return (self.headline,)
        if self._found is None:
            return (say("These approvals come from a database that was damaged"),)
        return (self.headline, *self._facts(self._found, found))

    def _words(self, file: str, found: Batch) -> str:
        return " · ".join(self._facts(file, found))

    def _facts(self, file: str, found: Batch) -> tuple[str, ...]:
        lines = [say("All approvals are gone, so no hook runs"), _offer(found)]
        if file:
            lines.append(say("The damaged file is kept: {file}", file=file))
        return tuple(lines)

    def _unseen(self) -> str | None:
        try:
            return self._database.damage()
        except StoreError:
            return None

    def _seen(self) -> None:
        if self._found is not None:
            self._found = None
            with suppress(StoreError):  # the next start shows it again
                self._database.damage_seen()


def _offer(found: Batch) -> str:
    if not found:
        return say("Each hook waits for you under Approvals")
    return count(
        "{n} hook is unchanged: one review approves it again",
        "{n} hooks are unchanged: one review approves all of them again",
        len(found.hooks),
    )
