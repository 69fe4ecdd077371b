"""Many outcomes, one decision: the strictest verdict wins, by declared order and never by who finished first."""

from __future__ import annotations

from collections.abc import Sequence

from tray.model.decision import NO_OUTPUT, Decision, Gate, HookOutput, Outcome, Status, Verdict
from tray.model.hook import Failure, Hook


def make_outcome(hook: Hook, output: HookOutput, *, timed_out: bool, ms: float, stderr: str = "") -> Outcome:
    """One hook's Outcome. A hook that failed said nothing; its failure policy may speak for it (law 4)."""
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
    return failed(hook, output.problem, timed_out=timed_out, ms=ms, stderr=stderr)


def failed(hook: Hook, cause: str, *, timed_out: bool = False, ms: float = 0.0, stderr: str = "") -> Outcome:
    verdict = Verdict.DENY if hook.failure is Failure.BLOCK else Verdict.ABSTAIN
    reason = f"the hook {hook.name} failed: {cause}" if verdict is Verdict.DENY else ""
    return Outcome(
        hook=hook.name,
        status=Status.TIMED_OUT if timed_out else Status.FAILED,
        output=HookOutput(verdict=verdict, reason=reason, problem=cause),
        cause=cause,
        ms=ms,
        stderr=stderr,
    )


def skipped(hook: Hook, gate: Gate, cause: str = "") -> Outcome:
    return Outcome(hook=hook.name, status=Status.SKIPPED, gate=gate, cause=cause or gate.value)


def merge(outcomes: Sequence[Outcome]) -> Decision:
    outputs = [outcome.output for outcome in outcomes]
    if all(output is NO_OUTPUT for output in outputs):
        return Decision(outcomes=tuple(outcomes))
    verdict = max((output.verdict for output in outputs), default=Verdict.ABSTAIN)
    reasons = [output.reason for output in outputs if output.verdict is verdict and output.reason]
    rewriting = [outcome for outcome in outcomes if outcome.output.rewrite is not None]
    stops = [output.stop for output in outputs if output.stop is not None]
    return Decision(
        verdict=verdict,
        reason="\n".join(reasons) if verdict is not Verdict.ABSTAIN else "",
        rewrite=rewriting[-1].output.rewrite if rewriting else None,
        context="\n\n".join(output.context for output in outputs if output.context),
        notes=tuple(note for output in outputs for note in output.notes),
        stop="\n".join(filter(None, stops)) if stops else None,
        retry=any(output.retry for output in outputs),
        extra=tuple({name: value for output in outputs for name, value in output.extra}.items()),
        outcomes=tuple(outcomes),
        adjustments=(*_conflict(rewriting), *_adjustments(outcomes)),
    )


def _adjustments(outcomes: Sequence[Outcome]) -> tuple[str, ...]:
    return tuple(f"{outcome.hook}: {outcome.output.adjustment}" for outcome in outcomes if outcome.output.adjustment)


def _conflict(rewriting: Sequence[Outcome]) -> tuple[str, ...]:
    if len(rewriting) < 2:
        return ()
    names = ", ".join(outcome.hook for outcome in rewriting)
    return (f"several rewrites ({names}): the last declared, {rewriting[-1].hook}, counts",)
