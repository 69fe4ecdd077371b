"""How each agent reads an answer. Its stand-in in tests/hosts is the oracle for these tests."""

from __future__ import annotations

from collections.abc import Callable

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

from tray.model.decision import Answer, Decision, Verdict
from tray.model.event import Event

Taken = tuple[Verdict, bool]  # the verdict that arrives, and whether the agent stops altogether
PERMISSIONS = {"none": Verdict.ABSTAIN, "allow": Verdict.ALLOW, "ask": Verdict.ASK, "deny": Verdict.DENY}
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
KEEP_WORKING = {"Stop", "SubagentStop", "TaskCompleted", "TeammateIdle"}  # a stop beats the refusal there
ASKS_ANYWAY = {"Elicitation", "PermissionRequest"}  # silence lets the user be asked
# What Droid makes of a refusal that also stops: it ends a call before it looks at the exit code, but not a prompt.
DROID_REFUSES = {
    "PostToolUse": (Verdict.ABSTAIN, True),
    "PreToolUse": (Verdict.ABSTAIN, True),
    "UserPromptSubmit": (Verdict.DENY, False),
}


def meant(event: Event, decision: Decision) -> Taken:
    """What a fitted decision has to arrive as."""
    stop = decision.stop is not None
    if stop and event.name in KEEP_WORKING:
        return Verdict.ABSTAIN, event.agent != "qwen-code"  # which ends when nobody refuses
    if stop and event.agent == "gemini-cli":
        return Verdict.ABSTAIN, True  # a stop beats a refusal, and gives its reason
    if stop and event.agent == "droid" and decision.verdict is Verdict.DENY and event.name in DROID_REFUSES:
        return DROID_REFUSES[event.name]
    if stop and event.name == "PermissionRequest":
        return Verdict.DENY, True
    if decision.verdict is Verdict.ASK and event.name in ASKS_ANYWAY:
        return Verdict.ABSTAIN, stop
    return decision.verdict, stop


def heard(event: Event, answer: Answer) -> Report:
    ended = Exit(code=answer.code, stdout=answer.stdout, stderr=answer.stderr)
    return JUDGES[event.agent](event.name, event.body, ended)


def taken(event: Event, answer: Answer) -> Taken:
    """Returns what the agent reads; fails if it ignores a part of the answer."""
    if event.name == "WorktreeCreate" and answer == Answer():
        return Verdict.ABSTAIN, False  # without a path the agent makes no worktree, as without Hooktray
    report = heard(event, answer)
    assert report.warnings == []
    if event.agent == "claude-code" and event.name in ("Stop", "SubagentStop") and b'"decision"' not in answer.stdout:
        return Verdict.ABSTAIN, report.stop  # a context makes the agent continue and is not a refusal
    return PERMISSIONS[report.verdict], report.stop
