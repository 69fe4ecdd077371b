"""A decision and an open question as text for a person, in the person's language."""

from __future__ import annotations

import json
from collections.abc import Mapping

from tray.engine.user_questions import UserQuestion
from tray.language import count, phrase, say
from tray.model.decision import Record, SkipReason, Verdict
from tray.text import printable, redact

VERDICTS: Mapping[Verdict, str] = {
    Verdict.ABSTAIN: phrase("abstain"),
    Verdict.ALLOW: phrase("allow"),
    Verdict.ASK: phrase("ask"),
    Verdict.DENY: phrase("deny"),
}
SKIP_TEXTS: Mapping[SkipReason, str] = {
    SkipReason.NOT_SUPPORTED: phrase("{agent} is not supported yet: no hook was asked"),
    SkipReason.NOT_UNDERSTOOD: phrase("the payload was not understood: no hook was asked"),
}


def summary(record: Record) -> str:
    """One line on why a decision came out as it did."""
    if record.skip_reason is not None:
        return say(SKIP_TEXTS[record.skip_reason], agent=record.agent)
    skipped = [hook for hook in record.hooks if hook.get("status") == "skipped"]
    if record.reason:
        return f"{say(VERDICTS[record.verdict])}: {record.reason}"
    if record.problem:
        return record.problem
    if skipped and len(skipped) == len(record.hooks):
        cause = skipped[0].get("cause", "")
        return count("{n} hook skipped: {cause}", "{n} hooks skipped: {cause}", len(skipped), cause=cause)
    troubled = [hook for hook in record.hooks if hook.get("cause")]
    if troubled:
        return "; ".join(f"{hook['name']}: {hook['cause']}" for hook in troubled)
    if not record.hooks:
        return say("No hook was asked")
    return say("{names} had no objection", names=", ".join(str(hook["name"]) for hook in record.hooks))


def details(question: UserQuestion) -> str:
    """All that can be arguments of it, for a person who wants to see what would run; secrets are masked."""
    event, decision = question.event, question.decision
    rows = (
        (say("agent"), event.agent),
        (say("project"), event.cwd or event.project),
        (say("event"), event.name),
        (say("session"), event.session),
        *((outcome.hook, outcome.output.reason) for outcome in decision.outcomes),
    )
    lines = [f"{name:<8} {value}" for name, value in rows if value]
    if event.tool is not None:
        arguments = json.dumps(dict(event.tool.input), indent=2, ensure_ascii=False, default=str)
        lines += ["", f"{event.tool.name}:", arguments]
    return printable(redact("\n".join(lines)).text) + "\n"
