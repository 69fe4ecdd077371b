"""Each hook: its state by the ledger, and whether its approved copy runs."""

from __future__ import annotations

import shlex
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor

from tray.app import build_engine, confirmed_llm
from tray.app.doctor import remedies
from tray.app.doctor.context import CheckContext
from tray.app.doctor.result import CheckResult, attention, broken, ok
from tray.app.doctor.samples import sample, sample_event
from tray.app.doctor.startable import start_problem
from tray.approvals.catalog import HookState
from tray.approvals.checks import message as problem_message
from tray.approvals.checks import problems
from tray.approvals.checks import remedy as problem_remedy
from tray.engine import trial
from tray.errors import HooktrayError
from tray.execution.environment import clean, is_injection, mentioned_in
from tray.model.event import EventKind
from tray.model.hook import ApprovalState, Command, Prompt, Rule
from tray.store.ledger import ApprovedHook

PARALLEL = 4  # hooks that are tried at the same time
APPROVALS = "read and decide it in the tray's menu, Approvals, or on the page: hooktray open"


def check(context: CheckContext) -> Iterator[CheckResult]:
    """First what waits or does not count, then every hook in force, in its order."""
    for one in context.catalog.states:
        yield from _state(one)
    with ThreadPoolExecutor(PARALLEL, "doctor") as pool:
        for found in pool.map(lambda one: _approved(context, one), context.stores.ledger.in_order()):
            yield from found


def _state(one: HookState) -> Iterator[CheckResult]:
    name = one.hook.name
    if one.state is ApprovalState.PENDING and not one.digest:
        yield broken("hook", name, one.health, _remedy(one))
    elif one.state is ApprovalState.PENDING:
        yield attention("hook", name, "waits for your approval and does not run", APPROVALS)
        yield from _missing(one)
    elif one.state is ApprovalState.CHANGED:
        remedy = APPROVALS if one.digest else _remedy(one)
        yield attention("hook", name, one.health or "changed since approval; the approved copy runs", remedy)
    elif one.state is ApprovalState.INACTIVE:
        yield attention("hook", name, f"inactive: {one.health}", f"change that in {one.hook.source}, if you want it")


def _missing(one: HookState) -> Iterator[CheckResult]:
    """What its scripts lack, as far as their files show; nothing has run yet."""
    for problem in problems(one.inspection) if one.inspection else ():
        yield attention("hook", one.hook.name, problem_message(problem), problem_remedy(problem))


def _remedy(one: HookState) -> str:
    """For a hook that cannot be approved as it is."""
    return f"{one.remedy}: {one.hook.source}" if one.remedy else f"correct it in {one.hook.source}"


def _approved(context: CheckContext, one: ApprovedHook) -> list[CheckResult]:
    """At least one line for each hook in force."""
    found = [*_event(one), *_prompt(context, one), *_withheld(context, one)]
    problem = start_problem(context.stores.copies, one)
    if problem:
        found.append(broken("hook", one.hook.name, problem, remedies.remedy(problem, one.hook)))
    elif not one.hook.enabled:
        message = "switched off by its own `enabled: false`"
        found.append(attention("hook", one.hook.name, message, f"write `enabled: true` in {one.hook.source}"))
    elif not context.static and not any(result.remedy.startswith("name a known") for result in found):
        found.append(_trial(context, one))
    return found or [ok("hook", one.hook.name, "its approved copy is whole")]


def _event(one: ApprovedHook) -> Iterator[CheckResult]:
    """What an older or newer Hooktray approved may name an event that this one does not know."""
    match = one.hook.match
    if sample(match) is None:
        message = f"no agent has the event `{match.event}`, so it is never asked"
        yield broken("hook", one.hook.name, message, f"name a known event in {one.hook.source}")


def _prompt(context: CheckContext, one: ApprovedHook) -> Iterator[CheckResult]:
    if not isinstance(one.hook.action, Prompt):
        return
    if one.hook.match.event == EventKind.MODEL_BEFORE:
        message = "asks a model before every call of a model: each costs time and money"
        yield attention("hook", one.hook.name, message, "declare it for `prompt` or `turn_end`")
    if context.static and confirmed_llm(context.paths, context.stores) is None:
        yield broken("hook", one.hook.name, "no llm configured", remedies.LLM)


def _withheld(context: CheckContext, one: ApprovedHook) -> Iterator[CheckResult]:
    """Variables that the script names and does not get."""
    if not isinstance(one.hook.action, Command):
        return
    names = clean(context.environment, wanted=one.hook.env, extra={}).withheld
    mentioned = mentioned_in(_texts(context, one), names)
    secrets = [name for name in mentioned if not is_injection(name)]
    if secrets:
        message = f"its script names variables that are withheld: {', '.join(secrets)}"
        yield attention("hook", one.hook.name, message, f"if it shall have them: `env: [{', '.join(secrets)}]`")
    if injecting := [name for name in mentioned if is_injection(name)]:
        message = f"its script names variables that no hook gets: {', '.join(injecting)}"
        yield attention("hook", one.hook.name, message, "have the script set them itself")


def _texts(context: CheckContext, one: ApprovedHook) -> bytes:
    try:
        files = context.stores.copies.check(one.digest).files
        return b"\n".join(context.stores.copies.path(one.digest, path).read_bytes() for path in files)
    except (HooktrayError, OSError):
        return b""


def _trial(context: CheckContext, one: ApprovedHook) -> CheckResult:
    """Run its approved copy on a test event; the hook can see that by HOOKTRAY_TEST=1."""
    name, listener = one.hook.name, trial.NullListener()
    engine = build_engine(
        context.stores, listener, listener.spawn, None, llm=lambda: confirmed_llm(context.paths, context.stores),
        records=listener,
    )  # fmt: skip
    sent = sample_event(one, environment=context.environment, cwd=context.cwd)
    if sent is None:
        return ok("hook", name, "its approved copy is whole; not tried, as no test event meets its matchers")
    agent, event = sent.agent, sent.name
    try:
        tried = trial.run(engine, one, sent)
    except HooktrayError as error:
        return broken("hook", name, error.message, error.hint)
    outcome, command = tried.outcome, f"hooktray test {event} --agent {agent} --hook {shlex.quote(name)}"
    if tried.result == "skipped":
        why = f"not tried: {outcome.cause or outcome.gate}"
        return attention("hook", name, why, "`hooktray on` switches hooks on")
    if tried.result == "failed":
        cause = remedies.with_user_paths(outcome.cause, one, context.stores.copies)
        return broken("hook", name, cause, remedies.remedy(cause, one.hook) or f"`{command}` shows all of it")
    if outcome.output.warning:
        return attention("hook", name, outcome.output.warning, remedies.OUTPUT_REMEDY)
    kind = "a rule" if isinstance(one.hook.action, Rule) else f"{outcome.ms:.0f} ms"
    return ok("hook", name, f"{tried.result} on {agent}'s {event}, {kind}")
