"""Undoes changes of the switch and decisions in the ledger."""

from __future__ import annotations

from typing import Protocol

import msgspec

from tray.approvals.catalog import HookCatalog
from tray.errors import HooktrayError
from tray.language import phrase, say
from tray.store.ledger import Ledger
from tray.store.switch import Switch, SwitchState

UNDO = "undo"  # the channel of what takes something back
LIST_HINT = phrase("`hooktray list` shows where each hook stands")


class Undo(Protocol):
    """Takes one thing back."""

    def undo(self) -> str:
        """Take it back; returns a sentence about what holds now, or "". Raises HooktrayError."""
        ...


class SwitchUndo(msgspec.Struct, frozen=True):
    """Puts the switch and its pauses back to an earlier state."""

    switch: Switch
    before: SwitchState

    def undo(self) -> str:
        self.switch.restore(self.before, UNDO)
        state = self.switch.state()
        if not state.enabled:
            return say("Undone: hooks are off")
        return say("Undone: hooks are paused") if state.paused_until else say("Undone: hooks are on")


class HookSwitchUndo(msgspec.Struct, frozen=True):
    """Switches one hook on again."""

    switch: Switch
    key: str

    def undo(self) -> str:
        self.switch.set_hook(self.key, True, UNDO)
        return ""


class LedgerUndo(msgspec.Struct, frozen=True):
    """Takes back decisions in the ledger. `versions` are the numbers of their rows."""

    ledger: Ledger
    catalog: HookCatalog
    versions: tuple[int, ...]

    def undo(self) -> str:
        """Take back each decision that was not made anew since. Raises HooktrayError if there is none left."""
        refused: HooktrayError | None = None
        done = 0
        for version in self.versions:
            try:
                undo_row(self.ledger, version, UNDO)
                done += 1
            except HooktrayError as error:
                refused = error
        self.catalog.refresh()
        if refused is not None and not done:
            raise refused
        return ""


def undo_row(ledger: Ledger, version: int, channel: str) -> int:
    """Take one row back; returns the number of the row that does so. Raises HooktrayError."""
    written = ledger.undo(version, channel)
    if not written:
        raise HooktrayError(say("it has been decided anew since"), hint=say(LIST_HINT))
    return written
