"""The doctor: a table of small checks, each a function from a CheckContext to its results."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import Any

from tray.app import Stores, build_catalog, open_stores
from tray.app.agent_sites import site, working_folder
from tray.app.doctor import agents, desktop_services, hooks, installation, matchers
from tray.app.doctor.context import CheckContext
from tray.app.doctor.result import CheckResult, Health, broken, failing_names
from tray.approvals.catalog import HookCatalog
from tray.errors import HooktrayError, StoreError
from tray.execution.process import RUN_VARIABLE
from tray.paths import Paths

__all__ = [
    "CHECKS",
    "CheckContext",
    "CheckResult",
    "Health",
    "broken_hooks",
    "build_context",
    "failing_names",
    "render",
    "run_checks",
]

CHECKS: Mapping[str, Callable[[CheckContext], Iterable[CheckResult]]] = {
    "tray": installation.tray,
    "switch": installation.switch,
    "configuration": installation.configuration,
    "sources": installation.sources,
    "hooks": hooks.check,
    "matchers": matchers.check,
    "agents": agents.check,
    "environment": installation.environment,
    "relay": installation.relay,
    "icon": desktop_services.host,
    "notifications": desktop_services.notifications,
    "sound": desktop_services.sound,
    "background": desktop_services.background,
    "journal": installation.journal,
    "database": installation.database,
}


def run_checks(
    paths: Paths,
    tray: Mapping[str, Any] | None,
    *,
    static: bool = False,
    opened: tuple[Stores, HookCatalog] | None = None,
) -> Iterator[CheckResult]:
    """All results, as they come. `tray` is what the running tray reports of itself.

    The tray passes its own stores and catalog as `opened`, so that no part of them is opened twice in one process.
    A hook cannot have hooks run.
    """
    if not static and RUN_VARIABLE in os.environ:
        raise HooktrayError("a hook cannot try hooks", hint="run this in a terminal of your own, or with --static")
    if opened is not None:
        yield from _run(paths, *opened, tray, static=static)
        return
    try:
        stores = open_stores(paths, migrate=not paths.database.exists())
    except StoreError as error:
        yield broken("database", paths.database.name, error.message, error.hint)
        return
    try:
        yield from _run(paths, stores, build_catalog(paths, stores), tray, static=static)
    finally:
        stores.journal.close()


def _run(
    paths: Paths, stores: Stores, catalog: HookCatalog, tray: Mapping[str, Any] | None, *, static: bool
) -> Iterator[CheckResult]:
    catalog.refresh()
    context = build_context(paths, stores, catalog, tray, static=static)
    for check in CHECKS.values():
        yield from check(context)


def broken_hooks(paths: Paths, stores: Stores, catalog: HookCatalog) -> frozenset[str]:
    """Which hooks are broken, as far as that shows without running them."""
    return failing_names(hooks.check(build_context(paths, stores, catalog, None, static=True)))


def render(results: Iterable[CheckResult]) -> str:
    """For people: what is broken first."""
    rows = sorted(results, key=lambda one: list(Health).index(one.health), reverse=True)
    lines = []
    for one in rows:
        subject = one.check if one.name == one.check else f"{one.check}: {one.name}"
        lines.append(f"{one.health.value:9}  {subject}: {one.message}")
        lines += [f"{'':11}{one.remedy}"] if one.remedy else []
    counts = ", ".join(f"{sum(one.health is health for one in rows)} {health.value}" for health in reversed(Health))
    return "\n".join([*lines, counts])


def build_context(
    paths: Paths, stores: Stores, catalog: HookCatalog, tray: Mapping[str, Any] | None, *, static: bool
) -> CheckContext:
    return CheckContext(
        paths=paths,
        stores=stores,
        catalog=catalog,
        site=lambda: site(paths),
        cwd=str(working_folder()),
        environment=dict(os.environ),
        tray=tray,
        static=static,
    )
