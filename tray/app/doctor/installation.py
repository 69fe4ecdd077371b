"""Our own parts: the tray, the switch, the configuration, the relay, the journal, the database."""

from __future__ import annotations

import shlex
import time
from collections.abc import Iterator

from tray import relay_program
from tray.app import installed_relay
from tray.app.doctor.context import CheckContext
from tray.app.doctor.result import CheckResult, attention, broken, ok
from tray.store.db import damaged_files

FIND_OUT = "find out what deletes it; the menu's first row shows this, too"
MAKE_ROOM = "make room there, or make the folder above it writable; the tray tries again by itself"


def tray(context: CheckContext) -> Iterator[CheckResult]:
    if context.tray is None:
        yield attention("tray", "tray", "not running: hooks run, nothing is shown or told", "hooktray run")
    else:
        yield ok("tray", "tray", f"running, process {context.tray.get('pid')}")
        for problem in context.tray.get("problems", ()):
            result, remedy = (attention, FIND_OUT) if problem["solved"] else (broken, MAKE_ROOM)
            yield result("tray", "state folder", problem["text"], remedy)


def switch(context: CheckContext) -> Iterator[CheckResult]:
    state = context.stores.switch.state()
    if context.stores.switch.tampered and context.stores.database.is_whole():
        remedy = "look for who did; `hooktray on` puts it right"
        yield broken("switch", "switch", context.stores.switch.tampered, remedy)
    if not state.enabled:
        yield attention("switch", "switch", "off: no hook runs", "hooktray on")
    for pause in state.pauses:
        paused = " ".join(filter(None, (pause.agent, pause.session))) or "hooks"
        until = time.strftime("%Y-%m-%d %H:%M", time.localtime(pause.until))
        yield attention("switch", paused, f"paused until {until}", "hooktray on")
    if state.enabled and not state.pauses:
        yield ok("switch", "switch", "on")


def configuration(context: CheckContext) -> Iterator[CheckResult]:
    found = context.catalog.configuration
    for problem in filter(None, found.problem.split("\n")):
        if not problem.startswith("  "):
            remedy = _hint(found.problem, problem) or "hooktray config check"
            yield broken("configuration", context.paths.config.name, problem, remedy)
    for setting in context.catalog.settings():
        if setting.waiting:
            name = setting.key.removeprefix("setting:")
            message = f"`{setting.text}` does not count until it is confirmed"
            approve = f"hooktray approve {shlex.quote(name)}"
            remedy = f"tray's menu, Approvals; without an icon: hooktray open, or {approve}"
            yield attention("configuration", name, message, remedy)
    if not found.problem:
        message = "good" if context.paths.config.exists() else "not there yet; `hooktray run` makes one"
        yield ok("configuration", context.paths.config.name, message)


def _hint(text: str, problem: str) -> str:
    """The indented line that follows a problem says what to do about it."""
    after = text.partition(problem)[2].split("\n")[1:2]
    return after[0].strip() if after and after[0].startswith("  ") else ""


def sources(context: CheckContext) -> Iterator[CheckResult]:
    for warning in context.catalog.configuration.warnings:
        message, _, hint = warning.partition("\n")
        yield attention("source", "sources", message, hint.strip() or "correct that file; its other hooks count")


def relay(context: CheckContext) -> Iterator[CheckResult]:
    found = installed_relay.problems(context.paths, context.stores.database)
    for one in found:
        yield broken("relay", "relay", one.text, installed_relay.REMEDIES[one.cause])
    why = relay_program.problem()
    if why:
        remedy = "install Hooktray with a C compiler there, then start the tray again"
        yield attention("relay", "relay", f"the portable one is used, which is slower. {why}", remedy)
    elif not found:
        yield ok("relay", "relay", "native")


def journal(context: CheckContext) -> Iterator[CheckResult]:
    dropped, late = context.stores.journal.dropped, int((context.tray or {}).get("late", 0))
    if dropped:
        remedy = f"see that {context.paths.database.parent} is writable and not full"
        yield attention("journal", "journal", f"{dropped} rows could not be kept, ever", remedy)
    if late:
        yield attention("journal", "journal", f"{late} answers left before their row", "the disk is slow")
    if not dropped and not late:
        yield ok("journal", "journal", f"{context.stores.journal.count()} decisions")


def database(context: CheckContext) -> Iterator[CheckResult]:
    name = context.paths.database.name
    set_aside = [path.name for path in damaged_files(context.paths.database)]
    for file in set_aside:
        message = f"was damaged and set aside as {file}, with the approvals in it"
        remedy = (
            "approve the unchanged hooks together in the tray's menu, Approvals, and the others one by one; "
            f"then remove {context.paths.state / file}"
        )
        yield attention("database", name, message, remedy)
    if not context.stores.database.is_whole():
        remedy = "quit the tray and start it again: it keeps the damaged file and offers its approvals again"
        yield broken("database", name, "is damaged", remedy)
    elif context.stores.ledger.state.tampered:  # damage is excluded
        remedy = "read `hooktray list` and approve again what is missing there"
        yield broken("database", "ledger", context.stores.ledger.state.tampered, remedy)
    elif not set_aside:
        yield ok("database", name, "whole")
