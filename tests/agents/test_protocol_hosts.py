"""Every answer as the agent's own loop reads it (tests/hosts): taken whole, without a complaint, and never looser."""

from __future__ import annotations

import json
from collections.abc import Callable

from agents.recordings import sampled
from agents.test_protocol_fit import DECISIONS
from every import every
from hosts import (
    antigravity,
    claude_judge,
    cline,
    codex,
    copilot_cli,
    cursor,
    documented,
    gemini_cli,
    kimi_code,
    opencode,
    qwen_code,
    shelley,
    starchild,
    x_code,
)
from hosts.process import Exit, Report
from hypothesis import given, settings
from hypothesis import strategies as st
from msgspec.structs import replace

from tray.agents import outputs, wire
from tray.agents.protocol import fit, neutral, render, spec
from tray.agents.registry import AGENTS
from tray.model.decision import Answer, Decision, Rewrite, Target, Verdict
from tray.model.event import Capability, Event

JUDGES: dict[str, Callable[[str, bytes, Exit], Report]] = {
    "antigravity": antigravity.judge,
    "claude-code": claude_judge.judge,
    "cline": cline.judge,
    "codex": codex.judge,
    "copilot-cli": copilot_cli.judge,
    "cursor": cursor.judge,
    "devin": documented.DEVIN.judge,
    "droid": documented.DROID.judge,
    "gemini-cli": gemini_cli.judge,
    "grok": documented.GROK.judge,
    "kiro": documented.KIRO.judge,
    "kimi-code": kimi_code.judge,
    "opencode": opencode.judge,
    "qwen-code": qwen_code.judge,
    "shelley": shelley.judge,
    "starchild": starchild.judge,
    "x-code": x_code.judge,
}
EVENTS = [sampled(agent, name) for agent, known in AGENTS.items() for name in known.events]
IDS = [f"{event.agent}-{event.name}" for event in EVENTS]
ASKS_ANYWAY = ("Elicitation", "PermissionRequest")  # silence lets the user be asked
TARGETS = {
    Target.ANSWER: "answer",
    Target.INPUT: "input",
    Target.MESSAGE: "message",
    Target.OUTPUT: "output",
    Target.PROMPT: "prompt",
}


# Fields of an agent's own, as a hook's output has let them through: with a value of the type that the agent wants.
EXTRAS = st.sampled_from(
    [
        ("terminalSequence", "\a"),
        ("sessionTitle", "t"),
        ("watchPaths", ["/a"]),
        ("suppressOriginalPrompt", True),
        ("updatedPermissions", []),
        ("cwd", "/tmp"),
        ("slug", "s"),
        ("no-such-field", 1),
    ]
)
TYPED = st.builds(lambda decision, extra: replace(decision, extra=(extra,)), DECISIONS, EXTRAS) | DECISIONS.map(
    lambda decision: replace(decision, extra=())
)


def heard(event: Event, answer: Answer) -> Report:
    return JUDGES[event.agent](
        event.name, event.body, Exit(code=answer.code, stdout=answer.stdout, stderr=answer.stderr)
    )


@every("event", EVENTS, ids=IDS)
def test_the_neutral_answer_changes_nothing_and_is_no_cause_for_complaint(event: Event) -> None:
    expected = Report(warnings=["printed no path"]) if event.name == "WorktreeCreate" else Report()

    assert heard(event, neutral(event.sender, event.name, event.body)) == expected


@settings(max_examples=300)
@given(st.sampled_from(EVENTS), TYPED)
def test_whatever_is_decided_the_agent_has_nothing_to_complain_of(event: Event, decision: Decision) -> None:
    answer = render(event, decision)

    if event.name == "WorktreeCreate" and answer == Answer():
        return  # nobody named a path: the agent makes no worktree, as without us
    assert heard(event, answer).warnings == []


@settings(max_examples=300)
@given(st.sampled_from(EVENTS), TYPED)
def test_what_the_agent_reads_is_never_looser_than_what_was_decided(event: Event, decision: Decision) -> None:
    what, report = spec(event.agent, event.name), heard(event, render(event, decision))
    can = what.can

    if decision.stop is not None and event.agent == "qwen-code" and event.name in qwen_code.GOES_ON:
        assert (report.verdict, report.stop) == ("none", False)  # it ends when nobody refuses
        return
    refused = report.verdict == "deny" or report.stop
    if decision.verdict is Verdict.DENY and Capability.DENY in can:
        assert refused
    if decision.verdict is Verdict.ASK and Capability.DENY in can:
        assert refused or report.verdict == "ask" or event.name in ASKS_ANYWAY
    if decision.stop is not None and (Capability.STOP | Capability.DENY) & can:
        assert refused
    if decision.rewrite and Capability.DENY in can and not what.feedback_only:  # there a refusal withholds nothing
        assert refused or arrived(event, decision.rewrite, report)
    assert report.verdict != "allow" or decision.verdict is Verdict.ALLOW


def arrived(event: Event, rewrite: Rewrite, report: Report) -> bool:
    """Whether the agent uses this value; one that changes nothing need not be told."""
    found = report.changes.get(TARGETS[rewrite.target])
    if rewrite.target is Target.PROMPT and found is None:
        return str(rewrite.value) == event.prompt
    if event.agent in ("copilot-cli", "x-code") and rewrite.target is Target.OUTPUT:
        return found is not None and str(found) == outputs.as_text(rewrite.value)
    if rewrite.target is Target.PROMPT:
        return str(found).startswith(str(rewrite.value).encode("utf-8", "replace").decode())  # context may follow it
    value = json.loads(wire.dumps(rewrite.value))  # as it travels
    same: bool = found == value or str(found) == str(value).strip()
    return same


@settings(max_examples=300)
@given(st.sampled_from(EVENTS), TYPED)
def test_what_fits_arrives_with_its_reason_and_context(event: Event, decision: Decision) -> None:
    fitted, report = fit(event, decision), heard(event, render(event, decision))

    if report.verdict == "deny" and fitted.reason.isascii() and fitted.reason and event.name[:4] != "Elic":
        assert fitted.reason in report.reason
    if fitted.context.isascii() and fitted.context and report.verdict != "deny" and not report.stop:
        assert fitted.context in str(report.changes)
