"""Law 2: what an event cannot carry becomes stricter, never looser, with an adjustment."""

from __future__ import annotations

from tray.lazy_dataclass import dataclass, replace
from tray.model.decision import Decision, Target, Verdict
from tray.model.event import Capability

TARGETS = {
    Target.INPUT: Capability.REWRITE_INPUT,
    Target.OUTPUT: Capability.REWRITE_OUTPUT,
    Target.PROMPT: Capability.REWRITE_PROMPT,
    Target.MESSAGE: Capability.REWRITE_MESSAGE,
    Target.ANSWER: Capability.REWRITE_ANSWER,
}
TARGET_WORDS = {
    Target.INPUT: "a tool's input",
    Target.OUTPUT: "a tool's output",
    Target.PROMPT: "a prompt",
    Target.MESSAGE: "a message",
    Target.ANSWER: "an answer",
}
VERDICTS = {Verdict.ALLOW: Capability.ALLOW, Verdict.ASK: Capability.ASK, Verdict.DENY: Capability.DENY}


@dataclass(frozen=True, slots=True)
class Fit:
    """What one event can carry, and why it cannot carry this rewrite; `subject` names it in a sentence."""

    subject: str  # "PreToolUse of x-code"
    can: Capability
    rewrite_problem: str = ""  # "" = the rewrite itself is fine
    after_the_fact: bool = False  # it has happened already: a refusal reaches the model and withholds nothing
    extras: tuple[str, ...] = ()

    def __call__(self, decision: Decision) -> Decision:
        """The order matters: what becomes a refusal first makes the later steps moot."""
        if decision.is_verdict:
            return self._verdict(decision)
        return self._extra(self._context(self._retry(self._verdict(self._rewrite(self._stop(decision))))))

    def _stop(self, decision: Decision) -> Decision:
        if decision.stop is None or Capability.STOP in self.can:
            return decision
        if Capability.DENY not in self.can:
            return self._adjusted(replace(decision, stop=None), "stop the agent: dropped")
        reason = decision.reason if decision.verdict is Verdict.DENY else ""
        denied = replace(decision, stop=None, verdict=Verdict.DENY, reason=reason or decision.stop)
        return self._adjusted(denied, "stop the agent: made deny")

    def _rewrite(self, decision: Decision) -> Decision:
        if decision.rewrite is None:
            return decision
        refused = decision.verdict is Verdict.DENY and Capability.DENY in self.can
        if refused and not self.after_the_fact:
            return replace(decision, rewrite=None)  # moot beside a refusal
        problem = self._rewrite_problem(decision.rewrite.target)
        if not problem:
            return decision
        without_rewrite = replace(decision, rewrite=None)
        if Capability.DENY not in self.can:
            return self._adjusted(without_rewrite, f"{problem}: dropped")
        why = f"A hook's rewrite cannot be carried: {self.subject} cannot {problem}"
        reason = f"{decision.reason}\n{why}" if refused and decision.reason else why
        return self._adjusted(replace(without_rewrite, verdict=Verdict.DENY, reason=reason), f"{problem}: made deny")

    def _rewrite_problem(self, target: Target) -> str:
        if TARGETS[target] not in self.can:
            return f"rewrite {TARGET_WORDS[target]}"
        return f"carry the rewrite, which {self.rewrite_problem}" if self.rewrite_problem else ""

    def _verdict(self, decision: Decision) -> Decision:
        verdict = decision.verdict
        if verdict is Verdict.ABSTAIN or VERDICTS[verdict] in self.can:
            return decision
        if verdict is Verdict.ASK and Capability.DENY in self.can:
            rewrite = decision.rewrite if self.after_the_fact else None
            return self._adjusted(replace(decision, verdict=Verdict.DENY, rewrite=rewrite), "ask: made deny")
        silent = replace(decision, verdict=Verdict.ABSTAIN, reason="")
        return self._adjusted(silent, f"{verdict.word}: nothing was said")

    def _retry(self, decision: Decision) -> Decision:
        if not decision.retry or Capability.RETRY in self.can:
            return decision
        return self._adjusted(replace(decision, retry=False), "ask for a retry: dropped")

    def _context(self, decision: Decision) -> Decision:
        if not decision.context or Capability.CONTEXT in self.can:
            return decision
        return self._adjusted(replace(decision, context=""), "take context: dropped")

    def _extra(self, decision: Decision) -> Decision:
        kept = tuple((name, value) for name, value in decision.extra if name in self.extras)
        dropped = [name for name, _ in decision.extra if name not in self.extras]
        if not dropped:
            return decision
        return self._adjusted(replace(decision, extra=kept), f"take {', '.join(dropped)}: dropped")

    def _adjusted(self, decision: Decision, limit: str) -> Decision:
        return replace(decision, adjustments=(*decision.adjustments, f"{self.subject} cannot {limit}"))
