"""Turns a hook's output into its outcome, and many outcomes into one decision: the strictest verdict wins.

What counts is the declared order, never who finished first.
"""

from __future__ import annotations

from collections.abc import Sequence

from msgspec.structs import replace

from tray.agents import lenient, refusals
from tray.agents.agent import Agent
from tray.agents.registry import AGENTS, hook_rules
from tray.engine.own_answers import OWN_NAME
from tray.engine.prompt_text import parse_reply
from tray.execution.script import UNOPENED, interpreter_error, is_unopened_script
from tray.model.decision import NO_OUTPUT, Decision, Gate, HookOutput, Outcome, Result, Status, Verdict
from tray.model.event import STOP_KINDS, Capability, Event
from tray.model.hook import GATING_KINDS, OWN_SOURCE, Command, Failure, Hook, Prompt
from tray.text import redact, sanitise

REASON_LIMIT = 2000  # characters of what a hook wrote to stderr, taken from its end
QUOTED = 60  # characters of the output that a reason quotes
REDACTED_LENGTH = 2000  # characters from which they are taken: a secret at their end is known by what follows
BROKEN_PROGRAM = "it refuses by the exit 2 of a broken program: {}"
REPLIED = (0, 2)  # exit codes with which a hook may have answered
DROPPED = "the call goes on, because {1} does not read its answer: {0}"
MISPLACED = "it wrote a refusal to stderr and ended with 0: print it to stdout, or end with 2"
IGNORED = "its answer is the last line of its output; the lines before it were ignored"


def parse_output(event: Event, hook: Hook, result: Result) -> HookOutput:
    """The hook's answer in its dialect; a refusal or question on the last line counts after any other text.

    An allow or a rewrite there does not count: some other program may have printed it. CPython that has not found its
    script has failed, although it ends with 2.
    """
    if isinstance(hook.action, Prompt):
        return parse_reply(event, hook, hook.action, result)
    if result.code == 2 and isinstance(hook.action, Command):
        return _exited_2(event, hook, hook.action, result)
    return _parse(event, hook, result)


def _exited_2(event: Event, hook: Hook, command: Command, result: Result) -> HookOutput:
    """Returns the refusal of exit 2, which also notifies the user if the program is broken."""
    error = ""
    if b":" in result.stderr or b" line " in result.stderr:  # every error of a program contains one of these
        stderr = result.stderr.decode("utf-8", "replace").strip()
        if not result.stdout and UNOPENED in result.stderr and is_unopened_script(command.line, stderr):
            return HookOutput(problem=stderr)
        error = interpreter_error(stderr)
    output = _parse(event, hook, result)
    if output.verdict is not Verdict.DENY:
        return output
    if not output.reason and result.stdout and not result.stdout.lstrip().startswith(b"{"):
        output = replace(output, reason=result.stdout.decode("utf-8", "replace").strip()[-REASON_LIMIT:])
    return replace(output, warning=BROKEN_PROGRAM.format(error)) if error and not output.warning else output


def _parse(event: Event, hook: Hook, result: Result) -> HookOutput:
    known = AGENTS.find(hook.dialect)
    assert known is not None  # it was when the hook was started
    output = known.protocol.read(event, result)
    if output.context and event.kind in STOP_KINDS and not hook_rules(hook.dialect).context_at_stop:
        # The format does not know context at a stop: an agent would go on because of it.
        output = replace(output, context="", adjustment=output.adjustment or "its context at a stop was dropped")
    if output.verdict is Verdict.DENY or result.cause or result.code is None:
        return output
    if last := lenient.last_object(result.stdout):
        answer = known.protocol.read(event, replace(result, stdout=last.encode()))
        if answer.verdict > max(output.verdict, Verdict.ALLOW) or answer.stop is not None:
            return _refusal(answer)
    if Capability.DENY not in event.spec.can:  # the event cannot be refused
        return output
    output = _with_refusal(event, hook, known, result, output)
    if hook.failure is Failure.BLOCK and result.code == 0 and not output.problem and output.verdict < Verdict.ASK:
        return _require_answer(hook, result, output)
    return output


def _with_refusal(event: Event, hook: Hook, known: Agent, result: Result, output: HookOutput) -> HookOutput:
    """Adds a refusal that the hook's format does not read: it counts for hooktray.yaml, others only report it.

    If a hooktray.yaml hook prints an object that is not an answer in its format, it fails, whatever `failure:` is.
    """
    if result.code not in REPLIED or output.plain or output.stop is not None:
        return output
    if not result.stdout.strip():
        return _with_misplaced_refusal(event, hook, known, result, output)
    is_ours, is_unused = hook.source.kind == OWN_SOURCE, replace(output, warning="", notes=()) == NO_OUTPUT
    found = refusals.find(event, known, result.stdout, is_unused=is_unused)
    if found is not None and not is_ours:
        if output.problem or output.verdict >= max(found.verdict, Verdict.ASK):
            return output
        return replace(output, warning=DROPPED.format(found.problem or found.adjustment, known.id))
    if found is not None and (found.problem or found.verdict > output.verdict):
        return found if not (found.problem and output.problem) else output
    if not is_ours or not is_unused or output.notes:
        return output
    problem = refusals.unknown_keys(event, known, result.stdout)
    return HookOutput(problem=problem) if problem else output


def _with_misplaced_refusal(event: Event, hook: Hook, known: Agent, result: Result, output: HookOutput) -> HookOutput:
    """Adds the problem of a refusal in the hook's own format that is all of stderr, which counts for nothing at 0."""
    stderr = result.stderr.strip()
    if result.code != 0 or output.problem or not stderr.startswith(b"{"):
        return output
    try:
        keys = lenient.loads(lenient.text(stderr), python=True).keys()
    except ValueError:
        return output
    answer = known.protocol.read(event, replace(result, stdout=stderr, stderr=b""))
    if answer.verdict <= Verdict.ALLOW or not keys <= (known.answers.keys or frozenset()):  # keys of a log's line
        return output
    return HookOutput(problem=MISPLACED) if hook.source.kind == OWN_SOURCE else replace(output, warning=MISPLACED)


def _refusal(answer: HookOutput) -> HookOutput:
    """Only its ask, deny or stop."""
    verdict = answer.verdict if answer.verdict > Verdict.ALLOW else Verdict.ABSTAIN
    return HookOutput(verdict=verdict, reason=answer.reason, stop=answer.stop, notes=answer.notes, adjustment=IGNORED)


def _require_answer(hook: Hook, result: Result, output: HookOutput) -> HookOutput:
    """With `failure: block` text is a failure, unless it is what the event or the hook's own format asks for."""
    text = lenient.text(result.stdout, lenient.PYTHON)
    is_ours, is_object = hook.source.kind == OWN_SOURCE, lenient.is_object(text)
    if not text or output.plain or (is_object and not (is_ours and output.warning)):
        return output
    if not is_ours and (hook_rules(hook.dialect).text_counts or not output.warning):
        return output
    quoted = sanitise(redact(sanitise(text[:REDACTED_LENGTH], REDACTED_LENGTH)).text, QUOTED)
    return HookOutput(
        problem=f'it printed "{quoted}" and no answer: have it print one JSON object, or nothing for no opinion,'
        " and everything else to stderr"
    )


def make_outcome(
    event: Event, hook: Hook, output: HookOutput, *, timed_out: bool, ms: float, stderr: str = ""
) -> Outcome:
    """One hook's outcome. A hook that failed has no verdict; its failure policy decides (law 4)."""
    if not output.problem:
        return Outcome(
            hook=hook.name,
            status=Status.OK,
            output=output,
            cause=output.warning,
            ms=ms,
            limit=hook.timeout,
            stderr=stderr,
        )
    return failed(event, hook, output.problem, timed_out=timed_out, ms=ms, stderr=stderr)


def failed(
    event: Event, hook: Hook, cause: str, *, timed_out: bool = False, ms: float = 0.0, stderr: str = ""
) -> Outcome:
    """The outcome of a hook that failed: its policy's verdict, which `fit` later fits to the event."""
    verdict, let_through = _failure_verdict(event, hook.failure)
    if hook_rules(hook.dialect).fails_to_refuse and stderr.strip():
        cause = f"{cause}: {stderr.strip()[-REASON_LIMIT:]}"
    reason = f"it failed: {cause}" if verdict is not Verdict.ABSTAIN else ""
    adjustment = f"it failed, and {event.name} of {event.agent} cannot ask: it refused nothing" if let_through else ""
    return Outcome(
        hook=hook.name,
        status=Status.TIMED_OUT if timed_out else Status.FAILED,
        output=HookOutput(verdict=verdict, reason=reason, problem=cause, adjustment=adjustment),
        cause=cause,
        ms=ms,
        stderr=stderr,
        let_through=let_through,
    )


def _failure_verdict(event: Event, failure: Failure) -> tuple[Verdict, bool]:
    """The policy's verdict, and whether it abstains only because the event cannot ask.

    The default does not become a denial there: no hook refused, and the user gets a critical notification.
    """
    if failure is Failure.BLOCK:
        return Verdict.DENY, False
    if failure is Failure.ASK:
        return Verdict.ASK, False
    if failure is Failure.ALLOW or event.kind not in GATING_KINDS or event.answered:
        return Verdict.ABSTAIN, False
    can_ask = Capability.ASK in event.spec.can
    return (Verdict.ASK, False) if can_ask else (Verdict.ABSTAIN, True)


def skipped(hook: Hook, gate: Gate, cause: str = "") -> Outcome:
    return Outcome(hook=hook.name, status=Status.SKIPPED, gate=gate, cause=cause or gate.value)


def merge(outcomes: Sequence[Outcome], hook_times: tuple[float, float] | None = None) -> Decision:
    """The decision of these outcomes; a reason counts if its verdict wins."""
    verdict, retry = Verdict.ABSTAIN, False
    reasons: list[str] = []
    contexts: list[str] = []
    notes: list[str] = []
    stops: list[str] = []
    adjustments: list[str] = []
    rewriting: list[Outcome] = []
    extra: dict[str, object] = {}
    for outcome in outcomes:
        output = outcome.output
        if output is NO_OUTPUT:
            continue
        if output.verdict > verdict:
            verdict, reasons = output.verdict, []
        # The agent's user reads which hook gave the reason, and through which program.
        signature = "" if outcome.hook == OWN_NAME else f"{outcome.hook} (Hooktray): "
        if output.verdict is verdict and output.reason:
            reasons.append(signature + output.reason)
        if output.rewrite is not None:
            rewriting.append(outcome)
        if output.context:
            contexts.append(output.context)
        if output.stop is not None:
            stops.append(signature + output.stop if output.stop else "")
        if output.adjustment:
            adjustments.append(f"{outcome.hook}: {output.adjustment}")
        notes += output.notes
        extra |= output.extra
        retry = retry or output.retry
    return Decision(
        verdict=verdict,
        reason="\n".join(reasons) if verdict is not Verdict.ABSTAIN else "",
        rewrite=rewriting[-1].output.rewrite if rewriting else None,
        context="\n\n".join(contexts),
        notes=tuple(notes),
        stop="\n".join(filter(None, stops)) if stops else None,
        retry=retry,
        extra=tuple(extra.items()),
        outcomes=tuple(outcomes),
        adjustments=(*_conflict(rewriting), *adjustments) if rewriting else tuple(adjustments),
        hook_times=hook_times,
    )


def _conflict(rewriting: Sequence[Outcome]) -> tuple[str, ...]:
    if len(rewriting) < 2:
        return ()
    names = ", ".join(outcome.hook for outcome in rewriting)
    return (f"several rewrites ({names}): the last declared, {rewriting[-1].hook}, counts",)
