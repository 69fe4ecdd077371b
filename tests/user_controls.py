"""The user's controls and passphrase without a tray: stand-ins remember announcements and hooks to be tried."""

from __future__ import annotations

from tray.approvals.catalog import HookCatalog, HookState
from tray.approvals.controls import Controls, DecisionAnnouncer, HookTrials
from tray.approvals.passphrase import Passphrase
from tray.approvals.undo import Undo
from tray.engine.stores import Stores, open_stores
from tray.paths import Paths

SECRET = "seven quiet bridges"


class Announced:
    """Remembers what is announced: the text, the channel, and what takes it back."""

    def __init__(self) -> None:
        self.changes: list[tuple[str, str, Undo | None]] = []

    def switched(self, text: str, channel: str, undo: Undo | None) -> None:
        self.changes.append((text, channel, undo))

    @property
    def texts(self) -> list[str]:
        return [text for text, _, _ in self.changes]

    @property
    def undos(self) -> list[Undo]:
        return [undo for _, _, undo in self.changes if undo is not None]


class Untried:
    """Remembers which hooks are to be tried, and tries none."""

    def __init__(self) -> None:
        self.hooks: list[tuple[str, Undo]] = []

    def approved(self, state: HookState, undo: Undo) -> None:
        self.hooks.append((state.hook.name, undo))

    def describe(self, key: str, timeout: float) -> str:
        return ""


class Unshown:
    """Shows nothing."""

    def request(self) -> None:
        pass


def user_controls(
    stores: Stores,
    catalog: HookCatalog,
    *,
    announcer: DecisionAnnouncer | None = None,
    trials: HookTrials | None = None,
    passphrase: Passphrase | None = None,
) -> Controls:
    """What a person can do with these stores."""
    return Controls(
        switch=stores.switch,
        ledger=stores.ledger,
        catalog=catalog,
        passphrase=passphrase or Passphrase(stores.ledger),
        announcer=announcer or Announced(),
        refresh=Unshown(),
        trials=trials or Untried(),
    )


def set_passphrase(paths: Paths) -> None:
    """Sets SECRET as the user's passphrase, as the page does. No tray may run."""
    paths.prepare()
    stores = open_stores(paths, create=True)
    Passphrase(stores.ledger).set(SECRET, "page")
    stores.journal.close()
