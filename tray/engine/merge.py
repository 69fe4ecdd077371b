"""Makes one outcome of a hook's answer, and one decision of many outcomes: the strictest verdict wins.

What counts is the declared order, never who finished first.
"""

from __future__ import annotations

from collections.abc import Sequence

from tray.agents.registry import hook_rules
from tray.engine.own_answers import OWN_NAME
from tray.model.decision import NO_OUTPUT, Decision, Gate, HookOutput, Outcome, Status, Verdict
from tray.model.event import Capability, Event
from tray.model.hook import GATING_KINDS, Failure, Hook

REASON_LIMIT = 2000  # characters of what a hook wrote to stderr, taken from its end


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
