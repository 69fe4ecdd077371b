"""Our own parts: the tray, the switch, the configuration, the relay, the journal, the database."""

from __future__ import annotations

import shlex
import time
from collections.abc import Iterator
from pathlib import PurePath

from tray import relay_program
from tray.doctor import relay_problems
from tray.doctor.context import CheckContext
from tray.doctor.finding import Cause, Finding
from tray.doctor.state_incident import loss_notice
from tray.engine.sentence import sentence
from tray.execution.python_startup import unexpected_startup_files
from tray.sessions import unjudged_calls
from tray.store.set_aside import files_set_aside


def tray(context: CheckContext) -> Iterator[Finding]:
    if context.tray is None:
        yield Finding(cause=Cause.TRAY_STOPPED, name="tray")
    else:
        yield Finding(cause=Cause.TRAY_OK, name="tray", values={"pid": context.tray.get("pid")})
        for problem in context.tray.get("problems", ()):
            cause = Cause.STATE_LOST if problem["solved"] else Cause.STATE_UNSOLVED
            yield Finding(cause=cause, name="state folder", values={"problem": problem["text"]})


def switch(context: CheckContext) -> Iterator[Finding]:
    state = context.stores.switch.state()
    if context.stores.switch.tampered and not context.stores.database.is_damaged:
        values = {"problem": context.stores.switch.tampered}
        yield Finding(cause=Cause.SWITCH_TAMPERED, name="switch", values=values)
    if not state.enabled:
        yield Finding(cause=Cause.SWITCH_OFF, name="switch")
    for pause in state.pauses:
        paused = " ".join(filter(None, (pause.agent, pause.session))) or "hooks"
        until = time.strftime("%Y-%m-%d %H:%M", time.localtime(pause.until))
        yield Finding(cause=Cause.SWITCH_PAUSED, name=paused, values={"until": until})
    if state.enabled and not state.pauses:
        yield Finding(cause=Cause.SWITCH_OK, name="switch")


def configuration(context: CheckContext) -> Iterator[Finding]:
    found = context.catalog.configuration
    for problem in filter(None, found.problem.split("\n")):
        if not problem.startswith("  "):
            remedy = _hint(found.problem, problem)
            values = {"problem": problem, "remedy": remedy}
            yield Finding(cause=Cause.CONFIGURATION_BROKEN, name=context.paths.config.name, values=values)
    for setting in context.catalog.settings():
        if setting.waiting:
            name = setting.key.removeprefix("setting:")
            values = {"text": setting.text, "approve": f"hooktray approve {shlex.quote(name)}"}
            yield Finding(cause=Cause.SETTING_WAITS, name=name, values=values)
    if not found.problem:
        text = "good" if context.paths.config.exists() else "not there yet; `hooktray run` makes one"
        yield Finding(cause=Cause.CONFIGURATION_OK, name=context.paths.config.name, values={"text": text})


def _hint(text: str, problem: str) -> str:
    """The indented line that follows a problem has what to do about it."""
    after = text.partition(problem)[2].split("\n")[1:2]
    return after[0].strip() if after and after[0].startswith("  ") else ""


def sources(context: CheckContext) -> Iterator[Finding]:
    for warning in context.catalog.configuration.warnings:
        message, _, hint = warning.partition("\n")
        values = {"problem": message, "remedy": hint.strip()}
        yield Finding(cause=Cause.SOURCE_WARNING, name="sources", values=values)


def environment(context: CheckContext) -> Iterator[Finding]:
    for found in unexpected_startup_files():
        cause = Cause.STARTUP_FILE_CHANGED if found.changed else Cause.STARTUP_FILE
        yield Finding(cause=cause, name=PurePath(found.path).name, values={"path": found.path})


def relay(context: CheckContext) -> Iterator[Finding]:
    found = relay_problems.problems(context.paths, context.stores.database)
    yield from found
    if unjudged := unjudged_calls.number(context.paths):
        yield Finding(cause=Cause.CALLS_UNJUDGED, name="relay", values={"n": unjudged})
    why = relay_program.problem()
    if why:
        yield Finding(cause=Cause.RELAY_PORTABLE, name="relay", values={"problem": why})
    elif not found:
        yield Finding(cause=Cause.RELAY_OK, name="relay")


def calls(context: CheckContext) -> Iterator[Finding]:
    for number, last in unjudged_calls.lately(context.stores.journal):
        yield Finding(cause=Cause.CALLS_RAN, name=last.agent, values={"n": number, "last": sentence(last)})


def journal(context: CheckContext) -> Iterator[Finding]:
    dropped, late = context.stores.journal.dropped, int((context.tray or {}).get("late", 0))
    if dropped:
        values = {"n": dropped, "folder": context.paths.database.parent}
        yield Finding(cause=Cause.JOURNAL_DROPPED, name="journal", values=values)
    problem, _, remedy = (context.tray or {}).get("journal", "").partition("\n")
    if problem:
        values = {"problem": problem, "remedy": remedy.strip()}
        yield Finding(cause=Cause.JOURNAL_FAILING, name="journal", values=values)
    if late:
        yield Finding(cause=Cause.JOURNAL_LATE, name="journal", values={"n": late})
    if not dropped and not late and not problem:
        yield Finding(cause=Cause.JOURNAL_OK, name="journal", values={"n": context.stores.journal.count()})


def database(context: CheckContext) -> Iterator[Finding]:
    name = context.paths.database.name
    set_aside = [path.name for path in files_set_aside(context.paths.database)]
    for file in set_aside:
        values = {"file": file, "path": context.paths.state / file}
        yield Finding(cause=Cause.DATABASE_SET_ASIDE, name=name, values=values)
    if context.stores.database.is_damaged:
        yield Finding(cause=Cause.DATABASE_DAMAGED, name=name)
    elif problem := context.stores.ledger.state.tampered:  # damage is excluded
        yield Finding(cause=Cause.LEDGER_TAMPERED, name="ledger", values={"problem": problem})
    elif context.tray is None and (problem := loss_notice(context.stores)) and not set_aside:
        yield Finding(cause=Cause.STATE_LOST, name="state folder", values={"problem": problem})
    elif not set_aside:
        yield Finding(cause=Cause.DATABASE_OK, name=name)
