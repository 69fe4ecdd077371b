"""The one list of checks, behind the doctor, `hooktray agents`, the menu, the icon and the page."""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from operator import attrgetter

import msgspec

from tray.approvals.catalog import HookCatalog
from tray.doctor import agent_sites, desktop_services, hooks, installation
from tray.doctor.finding import Cause, CheckContext, Finding, Health, found, listed
from tray.engine.stores import Stores, open_stores
from tray.errors import HooktrayError, StoreError
from tray.execution.process import RUN_VARIABLE
from tray.ipc.health import TrayHealth
from tray.paths import Paths

NAMES_SHOWN = 4  # of hooks or agents with the same cause


class Check(msgspec.Struct, frozen=True):
    """One of the list: a subject, and the function that finds what is wrong with it, and what is well."""

    id: str
    run: Callable[[CheckContext], Iterable[Finding]]
    is_own: bool = False  # it is about Hooktray and its hooks, and costs little


CHECKS = (
    Check("tray", installation.tray),
    Check("switch", installation.switch, is_own=True),
    Check("configuration", installation.configuration, is_own=True),
    Check("sources", installation.sources, is_own=True),
    Check("hooks", hooks.check, is_own=True),
    Check("matchers", hooks.check_matchers),
    Check("agents", agent_sites.check),
    Check("calls", installation.calls, is_own=True),
    Check("environment", installation.environment, is_own=True),
    Check("relay", installation.relay),
    Check("icon", desktop_services.host),
    Check("notifications", desktop_services.notifications),
    Check("sound", desktop_services.sound),
    Check("push", desktop_services.push),
    Check("background", desktop_services.background),
    Check("journal", installation.journal),
    Check("database", installation.database, is_own=True),
)


def run_checks(
    paths: Paths,
    tray: TrayHealth | None,
    *,
    static: bool = False,
    opened: tuple[Stores, HookCatalog] | None = None,
) -> Iterator[Finding]:
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
        stores = open_stores(paths)
    except StoreError as error:
        yield found(Cause.DATABASE_UNREADABLE, paths.database.name, problem=error.message, remedy=error.hint)
        return
    try:
        yield from _run(paths, stores, HookCatalog(paths, stores.ledger, stores.copies), tray, static=static)
    finally:
        stores.journal.close()


def _run(
    paths: Paths, stores: Stores, catalog: HookCatalog, tray: TrayHealth | None, *, static: bool
) -> Iterator[Finding]:
    catalog.refresh()
    context = CheckContext(paths=paths, stores=stores, catalog=catalog, tray=tray, static=static)
    for check in CHECKS:
        yield from check.run(context)


def own_findings(context: CheckContext) -> Iterator[Finding]:
    """Yields what is not well with Hooktray, and every hook that is not only looked at: how its test run went."""
    for check in (one for one in CHECKS if one.is_own):
        is_wanted = check.id == "hooks" and not context.static
        yield from (one for one in check.run(context) if is_wanted or one.health is not Health.OK)


def render(results: Iterable[Finding]) -> str:
    """For people: what is broken first, and one line for all hooks or agents with the same cause and remedy.

    The counts at the end are those of the lines.
    """
    rows = sorted(results, key=attrgetter("severity"), reverse=True)
    groups: dict[tuple[str, ...], list[Finding]] = {}
    for one in rows:
        groups.setdefault((one.health, one.check, one.message, one.remedy), []).append(one)
    lines = []
    for (health, check, message, remedy), same in groups.items():
        names = dict.fromkeys(one.name for one in same)
        subject = check if check in names else f"{check}: {listed(list(names), NAMES_SHOWN)}"
        lines.append(f"{health:9}  {subject}: {message}")
        lines += [f"{'':11}{remedy}"] if remedy else []
    counted = Counter(health for health, *_ in groups)
    counts = ", ".join(f"{counted[health]} {health.value}" for health in reversed(Health))
    return "\n".join([*lines, counts])
