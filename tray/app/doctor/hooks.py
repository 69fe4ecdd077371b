"""Each hook: where it stands with the ledger, and whether its approved copy runs."""

from __future__ import annotations

import shlex
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor

from tray.app import engine, llm
from tray.app.doctor import remedies
from tray.app.doctor.case import Case
from tray.app.doctor.files import lacking
from tray.app.doctor.finding import Finding, attention, broken, ok
from tray.app.doctor.samples import fitting, sample
from tray.engine import trial
from tray.engine.approval.checks import cure, finding, problems
from tray.engine.approval.roster import Standing
from tray.engine.runners.environment import clean, injects, mentioned
from tray.errors import HooktrayError
from tray.model.event import EventKind
from tray.model.hook import Command, Prompt, Rule, State
from tray.store.ledger import Approved

AT_ONCE = 4  # hooks that are tried at the same time
APPROVALS = "read and decide it in the tray's menu, Approvals, or on the page: hooktray open"


def check(case: Case) -> Iterator[Finding]:
    """First what waits or does not count, then every hook in force, in its order."""
    for one in case.roster.standings:
        yield from _standing(one)
    with ThreadPoolExecutor(AT_ONCE, "doctor") as pool:
        for found in pool.map(lambda one: _approved(case, one), case.kept.ledger.in_order()):
            yield from found


def _standing(one: Standing) -> Iterator[Finding]:
    name = one.hook.name
    if one.state is State.PENDING and not one.digest:
        yield broken("hook", name, one.health, _cure(one))
    elif one.state is State.PENDING:
        yield attention("hook", name, "waits for your approval and does not run", APPROVALS)
        yield from _lacks(one)
    elif one.state is State.CHANGED:
        cure = APPROVALS if one.digest else _cure(one)
        yield attention("hook", name, one.health or "changed since approval; the approved copy runs", cure)
    elif one.state is State.INERT:
        yield attention("hook", name, f"inert: {one.health}", f"change that in {one.hook.source}, if you want it")


def _lacks(one: Standing) -> Iterator[Finding]:
    """What its scripts lack, as far as their files show; nothing of it has run."""
    for lack in problems(one.survey) if one.survey else ():
        yield attention("hook", one.hook.name, finding(lack), cure(lack))


def _cure(one: Standing) -> str:
    """Of what cannot be approved as it stands."""
    return f"{one.cure}: {one.hook.source}" if one.cure else f"correct it in {one.hook.source}"


def _approved(case: Case, one: Approved) -> list[Finding]:
    """At least one line for each hook in force."""
    found = [*_event(one), *_prompt(case, one), *_withheld(case, one)]
    trouble = lacking(case.kept.copies, one)
    if trouble:
        found.append(broken("hook", one.hook.name, trouble, remedies.remedy(trouble, one.hook)))
    elif not one.hook.enabled:
        said = "switched off by its own `enabled: false`"
        found.append(attention("hook", one.hook.name, said, f"write `enabled: true` in {one.hook.source}"))
    elif not case.static and not any(finding.remedy.startswith("name a known") for finding in found):
        found.append(_tried(case, one))
    return found or [ok("hook", one.hook.name, "its approved copy is whole")]


def _event(one: Approved) -> Iterator[Finding]:
    """What an older or newer Hooktray approved may name an event that this one does not know."""
    match = one.hook.match
    if sample(match) is None:
        said = f"no agent has the event `{match.event}`, so it is never asked"
        yield broken("hook", one.hook.name, said, f"name a known event in {one.hook.source}")


def _prompt(case: Case, one: Approved) -> Iterator[Finding]:
    if not isinstance(one.hook.action, Prompt):
        return
    if one.hook.match.event == EventKind.MODEL_BEFORE:
        said = "asks a model before every call of a model: each costs time and money"
        yield attention("hook", one.hook.name, said, "declare it for `prompt` or `turn_end`")
    if case.static and llm(case.paths, case.kept) is None:
        yield broken("hook", one.hook.name, "no llm configured", remedies.LLM)


def _withheld(case: Case, one: Approved) -> Iterator[Finding]:
    """Variables that the script speaks of and does not get."""
    if not isinstance(one.hook.action, Command):
        return
    names = clean(case.environment, wanted=one.hook.env, extra={}).withheld
    spoken = mentioned(_texts(case, one), names)
    secrets = [name for name in spoken if not injects(name)]
    if secrets:
        said = f"its script names variables that are withheld: {', '.join(secrets)}"
        yield attention("hook", one.hook.name, said, f"if it shall have them: `env: [{', '.join(secrets)}]`")
    if injecting := [name for name in spoken if injects(name)]:
        said = f"its script names variables that no hook gets: {', '.join(injecting)}"
        yield attention("hook", one.hook.name, said, "have the script set them itself")


def _texts(case: Case, one: Approved) -> bytes:
    try:
        files = case.kept.copies.check(one.digest).files
        return b"\n".join(case.kept.copies.path(one.digest, path).read_bytes() for path in files)
    except (HooktrayError, OSError):
        return b""


def _tried(case: Case, one: Approved) -> Finding:
    """Its approved copy, asked about an event that did not happen; it can tell by HOOKTRAY_TEST=1."""
    name, nobody = one.hook.name, trial.Nobody()
    judge = engine(
        case.kept, nobody, nobody.later, None, llm=lambda: llm(case.paths, case.kept), rows=nobody
    )  # fmt: skip
    happened = fitting(one, environment=case.environment, cwd=case.cwd)
    if happened is None:
        return ok("hook", name, "its approved copy is whole; not tried, as no test event meets its matchers")
    agent, event = happened.agent, happened.name
    try:
        tried = trial.run(judge, one, happened)
    except HooktrayError as error:
        return broken("hook", name, error.message, error.hint)
    outcome, shown = tried.outcome, f"hooktray test {event} --agent {agent} --hook {shlex.quote(name)}"
    if tried.word == "skipped":
        return attention(
            "hook", name, f"not tried: {outcome.cause or outcome.gate}", "`hooktray on` switches hooks on"
        )
    if tried.word == "failed":
        cause = remedies.named(outcome.cause, one, case.kept.copies)
        return broken("hook", name, cause, remedies.remedy(cause, one.hook) or f"`{shown}` shows all of it")
    if outcome.reading.warning:
        return attention("hook", name, outcome.reading.warning, remedies.SPEAK)
    kind = "a rule" if isinstance(one.hook.action, Rule) else f"{outcome.ms:.0f} ms"
    return ok("hook", name, f"{tried.word} on {agent}'s {event}, {kind}")
