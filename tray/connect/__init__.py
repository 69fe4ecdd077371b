"""Wiring an agent to Hooktray and taking the wires out again: one agent, one file; CONNECTORS lists them."""

from __future__ import annotations

import contextlib
from collections.abc import Mapping
from typing import Any, Protocol

from tray.connect import claude_code, shelley, starchild, x_code
from tray.connect.book import Book
from tray.connect.edit import apply, remove_folders
from tray.connect.plan import Plan, Site, Wire


class Connector(Protocol):
    """What each agent's module offers. Nothing is written by any of it: plans are carried out by `write`.

    `wires` are our entries as they stand in the agent's settings; `trust` says what stands in the way of their being
    run, or that nothing does, as far as the agent's own files tell ("" when they do not). `probe` is the payload with
    which this agent would tell of an event that no hook is for.
    """

    def is_installed(self, site: Site) -> bool: ...
    def connect(self, site: Site) -> Plan: ...
    def disconnect(self, site: Site) -> Plan: ...
    def wires(self, site: Site) -> tuple[Wire, ...]: ...
    def trust(self, site: Site) -> str: ...
    def probe(self, session: str, cwd: str) -> Mapping[str, Any]: ...


CONNECTORS: dict[str, Connector] = {
    "claude-code": claude_code,
    "shelley": shelley,
    "starchild": starchild,
    "x-code": x_code,
}


def write(site: Site, agent: str, plan: Plan, book: Book | None = None) -> None:
    """Carry out a plan to connect: what stood there is in our book before anything is touched."""
    book = book or site.book
    pages = [(change.path, book.get(change.path)) for change in plan.changes]
    book.keep(agent, plan.changes, ())
    try:
        folders = apply(plan.changes)
    except BaseException:
        for path, page in pages:
            book.put(page) if page else book.forget(path)
        raise
    book.keep(agent, plan.changes, folders)


def undo(site: Site, agent: str, plan: Plan, book: Book | None = None) -> None:
    """Carry out a plan to disconnect, and forget what we knew of these files."""
    book = book or site.book
    folders = [folder for kept in book.of(agent) for folder in kept.folders]
    apply(plan.changes)
    with contextlib.suppress(OSError):
        for change in plan.changes:
            book.forget(change.path)
    remove_folders(folders)
