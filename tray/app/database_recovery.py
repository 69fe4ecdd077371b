"""Reports a database that was damaged, lost or of another version, and offers one review of what is left."""

from __future__ import annotations

import os
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import Protocol

from tray.app import Stores
from tray.approvals.batch import ApprovalBatch, write_batch
from tray.approvals.controls import Controls
from tray.errors import StoreError
from tray.language import count, say
from tray.store.db import OTHER_VERSION

REAPPROVAL = "approved before"  # what the alerts' Review is about


class AlarmService(Protocol):
    """What this needs of the alert service."""

    def alarm(self, title: str, text: str, *, about: str = "") -> str: ...
    def hooks_unchanged(self, text: str, *, about: str) -> str: ...
    def withdraw(self, key: str) -> None: ...


class DatabaseRecovery:
    """All of it runs on the menu's thread."""

    def __init__(
        self,
        stores: Stores,
        controls: Controls,
        reviews: Path,
        alerts: AlarmService,
        open_file: Callable[[Path], None],
    ):
        self._database = stores.database
        self._copies = stores.copies
        self._controls = controls
        self._reviews = reviews
        self._alerts_service = alerts
        self._open_file = open_file
        self._unseen = self._unseen_damage()
        self._announced = False
        self._offered = ""  # the digest of the batch that was announced last
        self._alerts: list[str] = []  # keys of those whose Review still has something to show

    @property
    def headline(self) -> str:
        """The menu's first row; "" when there is nothing that a person has not seen."""
        if self._database.is_marked_damaged:
            return say("The database is damaged: quit Hooktray and start it again")
        if self._unseen is None:
            return ""
        if OTHER_VERSION in self._unseen:
            return say("The database belongs to another version of Hooktray")
        return say("The database was damaged") if self._unseen else say("The database was lost")

    def refresh(self) -> None:
        """Announce what is new, and withdraw the alerts whose cause is gone."""
        batch = self._controls.batch
        if self._database.is_marked_damaged:
            self._announce_in_use()
        elif self._unseen is not None and not self._announced:
            self._announced, self._offered = True, batch.digest
            self._alerts.append(
                self._alerts_service.alarm(self.headline, self._summary(self._unseen, batch), about=REAPPROVAL)
            )
        elif batch and batch.digest != self._offered:
            self._offered = batch.digest
            self._alerts.append(self._alerts_service.hooks_unchanged(_reapproval_text(batch), about=REAPPROVAL))
        elif self._offered and not batch:
            self._offered = ""
            self._acknowledge()
            while self._alerts:
                self._alerts_service.withdraw(self._alerts.pop())

    def show(self) -> None:
        """Open the review: what happened, and every unchanged hook with its content."""
        batch = self._controls.batch
        self._open_file(write_batch(batch, self._about(batch), self._copies, os.environ, self._reviews))
        self._acknowledge()

    def _announce_in_use(self) -> None:
        if not self._announced:
            self._announced = True
            parts = (
                say("Approved hooks go on until Hooktray ends"),
                say("Quit it, start it again, and approve them in one review"),
            )
            self._alerts_service.alarm(say("The database is damaged"), " · ".join(parts))

    def _about(self, batch: ApprovalBatch) -> tuple[str, ...]:
        if self._database.is_marked_damaged:
            return (self.headline,)
        if self._unseen is None:
            return (say("These approvals come from an imported file or a damaged database"),)
        return (self.headline, *self._facts(self._unseen, batch))

    def _summary(self, file: str, batch: ApprovalBatch) -> str:
        return " · ".join(self._facts(file, batch))

    def _facts(self, file: str, batch: ApprovalBatch) -> tuple[str, ...]:
        lines = [say("All approvals are gone, so no hook runs"), _reapproval_text(batch)]
        if file:
            lines.append(say("The file is kept: {file}", file=file))
        return tuple(lines)

    def _unseen_damage(self) -> str | None:
        """The file that was set aside, "" when the database was lost; None when a person has seen it."""
        try:
            return self._database.damage()
        except StoreError:
            return None

    def _acknowledge(self) -> None:
        if self._unseen is not None:
            self._unseen = None
            with suppress(StoreError):  # the next start shows it again
                self._database.acknowledge_damage()


def _reapproval_text(batch: ApprovalBatch) -> str:
    if not batch:
        return say("Each hook waits for you under Approvals")
    return count(
        "{n} hook is unchanged: one review approves it again",
        "{n} hooks are unchanged: one review approves all of them again",
        len(batch.hooks),
    )
