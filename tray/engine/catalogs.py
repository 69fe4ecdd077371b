"""Opens the catalogue for a command, and returns the settings that a person confirmed."""

from __future__ import annotations

from tray.approvals import guarded_settings
from tray.approvals.catalog import HookCatalog
from tray.engine.stores import Stores, open_stores
from tray.paths import Paths
from tray.settings import Llm
from tray.sources import configuration


def confirmed_llm(paths: Paths, stores: Stores) -> Llm | None:
    """The model that the user confirmed, as the file has it at this moment."""
    return guarded_settings.llm(configuration.load(paths).settings, stores.ledger.state)


class ConfirmedSettings:
    """What a person confirmed of the settings, for an engine; without a catalogue there are no exceptions."""

    def __init__(self, paths: Paths, stores: Stores, catalog: HookCatalog | None = None) -> None:
        self._paths, self._stores, self._catalog = paths, stores, catalog

    @property
    def exceptions(self) -> tuple[str, ...]:
        return self._catalog.exceptions if self._catalog else ()

    def llm(self) -> Llm | None:
        return confirmed_llm(self._paths, self._stores)


def open_catalog(paths: Paths) -> HookCatalog:
    """Opens the stores and returns the catalogue, for a command that uses nothing else of them. Raises StoreError."""
    paths.prepare()
    stores = open_stores(paths, create=False)
    return HookCatalog(paths, stores.ledger, stores.copies)
