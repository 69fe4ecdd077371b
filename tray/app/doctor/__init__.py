"""The examination: a table of small checks, each a function from a Case to its findings."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import Any

from tray.app import Stores, roster, stores
from tray.app.doctor import connected, desktop, hooks, matchers, ours
from tray.app.doctor.case import Case
from tray.app.doctor.finding import Finding, Health, broken, troubled
from tray.app.wiring import here, site
from tray.engine.approval.roster import Roster
from tray.engine.runners.process import MARK
from tray.errors import HooktrayError, StoreError
from tray.paths import Paths

__all__ = ["CHECKS", "Case", "Finding", "Health", "broken_hooks", "case", "examine", "told", "troubled"]

CHECKS: Mapping[str, Callable[[Case], Iterable[Finding]]] = {
    "tray": ours.tray,
    "switch": ours.switch,
    "configuration": ours.configuration,
    "sources": ours.sources,
    "hooks": hooks.check,
    "matchers": matchers.check,
    "agents": connected.check,
    "relay": ours.relay,
    "icon": desktop.host,
    "notifications": desktop.notifications,
    "sound": desktop.sound,
    "background": desktop.background,
    "journal": ours.journal,
    "database": ours.database,
}


def examine(
    paths: Paths,
    tray: Mapping[str, Any] | None,
    *,
    static: bool = False,
    inside: tuple[Stores, Roster] | None = None,
) -> Iterator[Finding]:
    """All findings, as they come. `tray` is what the running tray says of itself.

    The tray passes its own stores and roster as `inside`, so that no part of them is opened twice in one process.
    A hook cannot have hooks run.
    """
    if not static and MARK in os.environ:
        raise HooktrayError("a hook cannot try hooks", hint="run this in a terminal of your own, or with --static")
    if inside is not None:
        yield from _examined(paths, *inside, tray, static=static)
        return
    try:
        kept = stores(paths, migrate=not paths.database.exists())
    except StoreError as error:
        yield broken("database", paths.database.name, error.message, error.hint)
        return
    try:
        yield from _examined(paths, kept, roster(paths, kept), tray, static=static)
    finally:
        kept.journal.close()


def _examined(
    paths: Paths, kept: Stores, proposals: Roster, tray: Mapping[str, Any] | None, *, static: bool
) -> Iterator[Finding]:
    proposals.refresh()
    patient = case(paths, kept, proposals, tray, static=static)
    for check in CHECKS.values():
        yield from check(patient)


def broken_hooks(paths: Paths, kept: Stores, proposals: Roster) -> frozenset[str]:
    """Which hooks are broken, as far as that shows without running them."""
    return troubled(hooks.check(case(paths, kept, proposals, None, static=True)))


def told(findings: Iterable[Finding]) -> str:
    """For people: what is broken first."""
    rows = sorted(findings, key=lambda one: list(Health).index(one.health), reverse=True)
    lines = []
    for one in rows:
        whom = one.check if one.name == one.check else f"{one.check}: {one.name}"
        lines.append(f"{one.health.value:9}  {whom}: {one.said}")
        lines += [f"{'':11}{one.remedy}"] if one.remedy else []
    counts = ", ".join(f"{sum(one.health is health for one in rows)} {health.value}" for health in reversed(Health))
    return "\n".join([*lines, counts])


def case(paths: Paths, kept: Stores, proposals: Roster, tray: Mapping[str, Any] | None, *, static: bool) -> Case:
    return Case(
        paths=paths,
        kept=kept,
        roster=proposals,
        site=lambda: site(paths),
        cwd=str(here()),
        environment=dict(os.environ),
        tray=tray,
        static=static,
    )
