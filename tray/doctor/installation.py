"""Our own parts: the tray, the switch, the configuration, the relay, the journal, the database."""

from __future__ import annotations

import shlex
import time
from collections.abc import Iterator
from itertools import zip_longest
from pathlib import PurePath

from tray import relay_program
from tray.doctor import relay_problems
from tray.doctor.finding import Cause, CheckContext, Finding, found
from tray.doctor.state_incident import loss_notice
from tray.engine.sentence import sentence
from tray.execution.python_startup import unexpected_startup_files
from tray.sessions import unjudged_calls
from tray.store.set_aside import files_set_aside


def tray(context: CheckContext) -> Iterator[Finding]:
    if context.tray is None:
        yield found(Cause.TRAY_STOPPED, "tray")
        return
    yield found(Cause.TRAY_OK, "tray", pid=context.tray.get("pid"))
    for problem in context.tray.get("problems", ()):
        cause = Cause.STATE_LOST if problem["solved"] else Cause.STATE_UNSOLVED
        yield found(cause, "state folder", problem=problem["text"])


def switch(context: CheckContext) -> Iterator[Finding]:
    state, tampered = context.stores.switch.state(), context.stores.switch.tampered
    if tampered and not context.stores.database.is_damaged:
        yield found(Cause.SWITCH_TAMPERED, "switch", problem=tampered)
    if not state.enabled:
        yield found(Cause.SWITCH_OFF, "switch")
    for pause in state.pauses:
        paused = " ".join(filter(None, (pause.agent, pause.session))) or "hooks"
        until = time.strftime("%Y-%m-%d %H:%M", time.localtime(pause.until))
        yield found(Cause.SWITCH_PAUSED, paused, until=until)
    if state.enabled and not state.pauses:
        yield found(Cause.SWITCH_OK, "switch")


def configuration(context: CheckContext) -> Iterator[Finding]:
    """The indented line after a problem is its remedy."""
    file, problem = context.paths.config, context.catalog.configuration.problem
    lines = problem.split("\n")
    for line, after in zip_longest(lines, lines[1:], fillvalue=""):
        if line and not line.startswith("  "):
            remedy = after.strip() if after.startswith("  ") else ""
            yield found(Cause.CONFIGURATION_BROKEN, file.name, problem=line, remedy=remedy)
    for setting in context.catalog.settings():
        if setting.waiting:
            name = setting.key.removeprefix("setting:")
            approve = f"hooktray approve {shlex.quote(name)}"
            yield found(Cause.SETTING_WAITS, name, text=setting.text, approve=approve)
    if not problem:
        text = "good" if file.exists() else "not there yet; `hooktray run` makes one"
        yield found(Cause.CONFIGURATION_OK, file.name, text=text)


def sources(context: CheckContext) -> Iterator[Finding]:
    for warning in context.catalog.configuration.warnings:
        message, _, hint = warning.partition("\n")
        yield found(Cause.SOURCE_WARNING, "sources", problem=message, remedy=hint.strip())


def environment(context: CheckContext) -> Iterator[Finding]:
    for file in unexpected_startup_files():
        cause = Cause.STARTUP_FILE_CHANGED if file.changed else Cause.STARTUP_FILE
        yield found(cause, PurePath(file.path).name, path=file.path)


def relay(context: CheckContext) -> Iterator[Finding]:
    problems = relay_problems.problems(context.paths, context.stores.database)
    yield from problems
    if unjudged := unjudged_calls.number(context.paths):
        yield found(Cause.CALLS_UNJUDGED, "relay", n=unjudged)
    if why := relay_program.problem():
        yield found(Cause.RELAY_PORTABLE, "relay", problem=why)
    elif not problems:
        yield found(Cause.RELAY_OK, "relay")


def calls(context: CheckContext) -> Iterator[Finding]:
    for number, last in unjudged_calls.lately(context.stores.journal):
        yield found(Cause.CALLS_RAN, last.agent, n=number, last=sentence(last))


def journal(context: CheckContext) -> Iterator[Finding]:
    dropped, late = context.stores.journal.dropped, int((context.tray or {}).get("late", 0))
    problem, _, remedy = (context.tray or {}).get("journal", "").partition("\n")
    if dropped:
        yield found(Cause.JOURNAL_DROPPED, "journal", n=dropped, folder=context.paths.database.parent)
    if problem:
        yield found(Cause.JOURNAL_FAILING, "journal", problem=problem, remedy=remedy.strip())
    if late:
        yield found(Cause.JOURNAL_LATE, "journal", n=late)
    if not dropped and not late and not problem:
        yield found(Cause.JOURNAL_OK, "journal", n=context.stores.journal.count())


def database(context: CheckContext) -> Iterator[Finding]:
    name = context.paths.database.name
    set_aside = [path.name for path in files_set_aside(context.paths.database)]
    for file in set_aside:
        yield found(Cause.DATABASE_SET_ASIDE, name, file=file, path=context.paths.state / file)
    if context.stores.database.is_damaged:
        yield found(Cause.DATABASE_DAMAGED, name)
    elif problem := context.stores.ledger.state.tampered:  # damage is excluded
        yield found(Cause.LEDGER_TAMPERED, "ledger", problem=problem)
    elif set_aside:
        return
    elif context.tray is None and (problem := loss_notice(context.stores)):
        yield found(Cause.STATE_LOST, "state folder", problem=problem)
    else:
        yield found(Cause.DATABASE_OK, name)
