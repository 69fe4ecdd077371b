"""Parts of an agent that are not needed for its events: each is imported by the call that wants it."""

from __future__ import annotations

import importlib
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from tray.agents.connection import Site


def part(place: str) -> Callable[[], Any]:
    """Returns what a place names: a module, or `module:NAME`. A test compares it with the protocol that it is for."""
    module, _, name = place.partition(":")

    def found() -> Any:
        imported = importlib.import_module(module)
        return getattr(imported, name) if name else imported

    return found


def options_of(place: str) -> Callable[[Site, Sequence[str]], str]:
    """The `connect_options` of the connector at this place."""
    connector = part(place)

    def connect_options(site: Site, files: Sequence[str]) -> str:
        return str(connector().connect_options(site, files))

    return connect_options
