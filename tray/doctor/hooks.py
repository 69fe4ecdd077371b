"""Each hook: its state by the ledger, whether its approved copy runs, and whether its matcher ever found anything."""

from __future__ import annotations

import errno
import os
import shlex
import shutil
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from itertools import repeat
from pathlib import Path

from tray.approvals import remedies
from tray.approvals.catalog import HookState
from tray.approvals.checks import problems
from tray.approvals.command_resolver import CommandResolver
from tray.approvals.variables import grant_command
from tray.doctor.agent_sites import working_folder
from tray.doctor.finding import Cause, CheckContext, Finding, failing_names, found
from tray.engine import trial
from tray.engine.catalogs import ConfirmedSettings, confirmed_llm
from tray.engine.ports import EngineOptions
from tray.engine.samples import sample, sample_event
from tray.errors import HooktrayError
from tray.execution import script
from tray.execution.environment import clean, is_injection, mentioned_in
from tray.files import file_head
from tray.language import say
from tray.model.decision import Record
from tray.model.event import EventKind
from tray.model.hook import ApprovalState, Command, Match, Prompt, Rule
from tray.store.copies import Copies
from tray.store.ledger import ApprovedHook

PARALLEL = 4  # hooks that are tried at the same time
ROW_LIMIT = 1000  # events that are searched for what matchers found
HEAD = 256  # bytes; the kernel reads no more of an interpreter line
MIN_EVENTS = 20  # events of its kind, below which a matcher that found nothing means nothing


def broken_hooks(context: CheckContext) -> frozenset[str]:
    """Which hooks are broken; with a static context as far as that shows without running them."""
    return failing_names(check(context))


def check(context: CheckContext) -> Iterator[Finding]:
    """First what waits or does not count, then every hook in force, in its order."""
    for one in context.catalog.states:
        yield from _state(one)
    approved = context.stores.ledger.in_order()
    if context.static:  # it runs no hook, and a pool would wait without end for a thread that gets no memory
        for each in approved:
            yield from _approved(context, each)
        return
    with ThreadPoolExecutor(PARALLEL, "doctor") as pool:
        for findings in pool.map(_approved, repeat(context), approved):
            yield from findings


def _state(one: HookState) -> Iterator[Finding]:
    name = one.hook.name
    if one.state is ApprovalState.PENDING and not one.digest:
        yield found(Cause.HOOK_BROKEN, name, problem=one.health, remedy=_remedy(one))
    elif one.state is ApprovalState.PENDING:
        yield found(Cause.HOOK_WAITS, name)
        # Only what the files show: the hook has not run yet.
        for problem in problems(one.inspection) if one.inspection else ():
            yield found(Cause.HOOK_LACKS, name, problem=problem.message, remedy=problem.remedy)
    elif one.state is ApprovalState.CHANGED:
        remedy = "" if one.digest else _remedy(one)
        text = one.health or "changed since approval; the approved copy runs"
        yield found(Cause.HOOK_CHANGED, name, problem=text, remedy=remedy)
    elif one.state is ApprovalState.INACTIVE:
        # The agent's own switch is in the file, not in the line of the hook.
        source = one.hook.source.path if one.approved or one.hook.agent_switch else one.hook.source
        yield found(Cause.HOOK_INACTIVE, name, problem=one.health, source=source)


def _remedy(one: HookState) -> str:
    """For a hook that cannot be approved as it is."""
    return f"{one.remedy}: {one.hook.source}" if one.remedy else f"correct it in {one.hook.source}"


def _approved(context: CheckContext, one: ApprovedHook) -> list[Finding]:
    """At least one line for each hook in force."""
    hook, name = one.hook, one.hook.name
    findings = [*_prompt(context, one), *_withheld(context, one)]
    is_known = sample(hook.match) is not None
    if not is_known:  # for example after the update of a package
        event = found(Cause.HOOK_UNKNOWN_EVENT, name, event=hook.match.event, source=hook.source)
        findings.insert(0, event)
    if problem := start_problem(context.stores.copies, one):
        remedy = remedies.remedy(problem, name, hook.source)
        findings.append(found(Cause.HOOK_BROKEN, name, problem=problem, remedy=remedy))
    elif not hook.enabled:
        findings.append(found(Cause.HOOK_DISABLED, name, source=hook.source))
    elif not context.static and is_known:
        findings.append(_trial(context, one))
    return findings or [found(Cause.HOOK_OK, name, text="its approved copy is intact")]


def _prompt(context: CheckContext, one: ApprovedHook) -> Iterator[Finding]:
    if not isinstance(one.hook.action, Prompt):
        return
    if one.hook.match.event == EventKind.MODEL_BEFORE:
        yield found(Cause.HOOK_MODEL_CALLS, one.hook.name)
    if context.static and confirmed_llm(context.paths, context.stores) is None:
        yield found(Cause.HOOK_NO_MODEL, one.hook.name)


def _withheld(context: CheckContext, one: ApprovedHook) -> Iterator[Finding]:
    """Variables that the script names and does not get."""
    if not isinstance(one.hook.action, Command):
        return
    names = clean(context.environment, wanted=one.env, extra={}).withheld
    mentioned = mentioned_in(_texts(context, one), names)
    secrets = [name for name in mentioned if not is_injection(name)]
    if secrets:
        command = grant_command(secrets, one.hook.name)
        yield found(Cause.HOOK_WITHHELD, one.hook.name, names=", ".join(secrets), command=command)
    if injecting := [name for name in mentioned if is_injection(name)]:
        yield found(Cause.HOOK_INJECTION, one.hook.name, names=", ".join(injecting))


def _texts(context: CheckContext, one: ApprovedHook) -> bytes:
    try:
        files = context.stores.copies.check(one.digest).files
        return b"\n".join(context.stores.copies.path(one.digest, path).read_bytes() for path in files)
    except (HooktrayError, OSError):
        return b""


def _trial(context: CheckContext, one: ApprovedHook) -> Finding:
    """Run its approved copy on a test event; the hook can see that by HOOKTRAY_TEST=1."""
    name, settings = one.hook.name, ConfirmedSettings(context.paths, context.stores)
    engine = trial.silent_engine(context.stores, EngineOptions(settings=settings))
    sent = sample_event(one, environment=context.environment, cwd=str(working_folder()))
    if sent is None:
        text = "its approved copy is intact; not tried, as no test event meets its matchers"
        return found(Cause.HOOK_OK, name, text=text)
    agent, event = sent.agent, sent.name
    try:
        tried = trial.run(engine, one, sent)
    except HooktrayError as error:
        return found(Cause.HOOK_BROKEN, name, problem=error.message, remedy=error.hint)
    outcome, command = tried.outcome, f"hooktray test {event} --agent {agent} --hook {shlex.quote(name)}"
    if tried.result == "skipped":
        return found(Cause.HOOK_NOT_TRIED, name, problem=outcome.cause or outcome.gate)
    if tried.result == "failed":
        cause = context.stores.copies.with_originals(one.digest, outcome.cause)
        remedy = remedies.remedy(cause, name, one.hook.source)
        return found(Cause.HOOK_FAILED, name, problem=cause, remedy=remedy, command=command)
    done = trial.describe(tried, one.hook, sent)
    if warning := outcome.output.warning:
        problem = f"{done}; {warning}" if done else warning
        remedy = remedies.remedy(warning, name, one.hook.source) or say(remedies.OUTPUT_REMEDY)
        cause_of = Cause.HOOK_BROKEN if tried.result == "deny" else Cause.HOOK_UNREADABLE_OUTPUT
        return found(cause_of, name, problem=problem, remedy=remedy)
    if advised := trial.advice(tried, one.hook):
        problem = f"{done}; {outcome.output.adjustment}"
        return found(Cause.HOOK_UNREADABLE_OUTPUT, name, problem=problem, remedy=advised)
    kind = "a rule" if isinstance(one.hook.action, Rule) else f"{outcome.ms:.0f} ms"
    text = f"{tried.result} on {agent}'s {event}, {kind}"
    return found(Cause.HOOK_OK, name, text=f"{text}. {done}" if done else text)


def start_problem(copies: Copies, one: ApprovedHook) -> str:
    """Returns what keeps an approved command from starting; "" if nothing, or not a command. Starts nothing."""
    if not isinstance(one.hook.action, Command):
        return ""
    cwd = str(Path.home())
    try:
        argv = CommandResolver(copies).argv(one.hook, one.digest)
    except HooktrayError as error:
        return error.message
    except (OSError, ValueError) as error:
        return str(error)
    if missing := script.missing_program(argv, cwd):
        return missing
    originals = {str(copies.path(one.digest, path)): path for path in copies.check(one.digest).files}
    return _program_problem(argv, cwd, originals)


def _program_problem(argv: tuple[str, ...], cwd: str, originals: dict[str, str]) -> str:
    program, named = argv[0], originals.get(argv[0], argv[0])
    if "/" not in program and "\\" not in program:
        return "" if shutil.which(program) else f"not found: {program}"
    if os.name == "nt":
        return ""
    if not os.access(program, os.X_OK):
        return f"{script.NOT_EXECUTABLE}{named}"
    interpreter = _interpreter(Path(program))
    if interpreter and not Path(interpreter).exists():
        missing = OSError(errno.ENOENT, os.strerror(errno.ENOENT), program)
        return script.start_error(argv, cwd, missing).replace(program, named)
    return ""


def _interpreter(program: Path) -> str:
    try:
        head = file_head(program, HEAD)
    except OSError:
        return ""
    words = head[2:].split(b"\n")[0].lstrip(b" \t").split(b" ") if head.startswith(b"#!") else [b""]
    return words[0].decode(errors="replace")


def check_matchers(context: CheckContext) -> Iterator[Finding]:
    """A rare thing may be what a guard waits for; a slip in the pattern looks the same, so it is worth a look."""
    wanted = [one for one in context.stores.ledger.in_order() if one.hook.match.tool or one.hook.match.pattern]
    rows = [row for row in context.stores.journal.recent(ROW_LIMIT) if not row.test] if wanted else []
    for one in wanted:
        since = [row for row in rows if row.at >= one.at and _matches(one.hook.match, row)]
        ran = any(hook.get("name") == one.hook.name for row in since for hook in row.hooks)
        if len(since) < MIN_EVENTS or ran:
            continue
        keys = " and ".join(
            f"`{key}: {value}`"
            for key, value in (("tool", one.hook.match.tool), ("matcher", one.hook.match.pattern))
            if value
        )
        yield found(Cause.MATCHER_NEVER, one.hook.name, keys=keys, n=len(since), source=one.hook.source)


def _matches(match: Match, row: Record) -> bool:
    if match.agents and row.agent not in match.agents:
        return False
    return match.event in (row.kind, row.event)
