"""What each agent makes of an answer, as its own loop would: the oracle that answers are judged by."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

from hosts import antigravity as antigravity_host
from hosts import cline as cline_host
from hosts import codex as codex_host
from hosts import cursor as cursor_host
from hosts import gemini_cli as gemini_host
from hosts import kimi_code as kimi_host
from hosts import opencode as opencode_host
from hosts import qwen_code as qwen_host
from hosts.documented import DEVIN, DROID, GROK, KIRO, Documented
from hosts.process import Exit

from tray.model.decision import Answer, Decision, Verdict
from tray.model.event import Event

Taken = tuple[Verdict, bool]  # the verdict that arrives, and whether the agent stops altogether
NOTHING = (Verdict.ABSTAIN, False)
PERMISSIONS = {"allow": Verdict.ALLOW, "ask": Verdict.ASK, "deny": Verdict.DENY}
BLOCKABLE = {
    *("PreToolUse", "PostToolUse", "PostToolUseFailure", "PostToolBatch", "UserPromptSubmit", "UserPromptExpansion"),
    *("Stop", "SubagentStop", "TaskCreated", "ConfigChange", "PreCompact"),
}
STOPPABLE = {
    *("PreToolUse", "PostToolUse", "PostToolUseFailure", "PostToolBatch", "UserPromptSubmit", "UserPromptExpansion"),
    *("Stop", "SubagentStop", "TaskCompleted", "TeammateIdle"),
}
EXITS = {"TaskCompleted", "TeammateIdle", *BLOCKABLE}
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


def taken(event: Event, answer: Answer) -> Taken:
    return HOSTS[event.agent](event, answer)


def antigravity(event: Event, answer: Answer) -> Taken:
    """By the stand-in; none of our answers has a part that it ignores."""
    ended = Exit(code=answer.code, stdout=answer.stdout, stderr=answer.stderr)
    report = antigravity_host.judge(event.name, event.body, ended)
    assert report.warnings == []
    return PERMISSIONS.get(report.verdict, Verdict.ABSTAIN), report.stop


def claude(event: Event, answer: Answer) -> Taken:
    name = event.name
    if name == "WorktreeCreate":
        return (Verdict.DENY, False) if answer.code else NOTHING
    said = _object(answer)
    specific = said.get("hookSpecificOutput", {})
    assert specific == {} or specific["hookEventName"] == name
    stop = said.get("continue") is False
    assert name in STOPPABLE or not stop
    found = [PERMISSIONS[specific["permissionDecision"]]] if "permissionDecision" in specific else []
    if "decision" in said:
        assert (said["decision"], bool(said["reason"]), name in BLOCKABLE) == ("block", True, True)
        found.append(Verdict.DENY)
    if asked := specific.get("decision"):
        assert name == "PermissionRequest"
        found.append({"allow": Verdict.ALLOW, "deny": Verdict.DENY}[asked["behavior"]])
        stop = asked.get("interrupt", False)
    if specific.get("action") == "decline":
        found.append(Verdict.DENY)
    if answer.code == 2:
        assert name in EXITS
        assert answer.stderr.strip()
        found.append(Verdict.DENY)
    return max(found, default=Verdict.ABSTAIN), stop


def cline(event: Event, answer: Answer) -> Taken:
    """By the stand-in; none of our answers has a part that it ignores."""
    ended = Exit(code=answer.code, stdout=answer.stdout, stderr=answer.stderr)
    report = cline_host.judge(event.name, event.body, ended)
    assert report.warnings == []
    return PERMISSIONS.get(report.verdict, Verdict.ABSTAIN), report.stop


def codex(event: Event, answer: Answer) -> Taken:
    """By the stand-in, which complains of nothing."""
    ended = Exit(code=answer.code, stdout=answer.stdout, stderr=answer.stderr)
    report = codex_host.judge(event.name, event.body, ended)
    assert report.warnings == []
    verdict = {"none": Verdict.ABSTAIN, "allow": Verdict.ALLOW, "deny": Verdict.DENY}[report.verdict]
    return verdict, report.stop


def copilot_cli(event: Event, answer: Answer) -> Taken:
    said = _object(answer)
    assert answer.code == 0
    if event.name == "PermissionRequest":
        return PERMISSIONS.get(said.get("behavior", ""), Verdict.ABSTAIN), said.get("interrupt", False)
    found = [PERMISSIONS[said["permissionDecision"]]] if "permissionDecision" in said else []
    found += [Verdict.DENY] if said.get("decision") == "block" and said["reason"] else []
    return max(found, default=Verdict.ABSTAIN), False


def cursor(event: Event, answer: Answer) -> Taken:
    """By the stand-in; none of our answers has a part that it ignores."""
    ended = Exit(code=answer.code, stdout=answer.stdout, stderr=answer.stderr)
    report = cursor_host.judge(event.name, event.body, ended)
    assert report.warnings == []
    return PERMISSIONS.get(report.verdict, Verdict.ABSTAIN), report.stop


def gemini_cli(event: Event, answer: Answer) -> Taken:
    """By the stand-in; none of our answers has a part that it ignores."""
    report = gemini_host.judge(
        event.name, event.body, Exit(code=answer.code, stdout=answer.stdout, stderr=answer.stderr)
    )
    assert report.warnings == []
    return PERMISSIONS.get(report.verdict, Verdict.ABSTAIN), report.stop


def by_documentation(agent: Documented) -> Callable[[Event, Answer], Taken]:
    """By the stand-in, which complains of nothing."""

    def judged(event: Event, answer: Answer) -> Taken:
        ended = Exit(code=answer.code, stdout=answer.stdout, stderr=answer.stderr)
        report = agent.judge(event.name, event.body, ended)
        assert report.warnings == []
        return PERMISSIONS.get(report.verdict, Verdict.ABSTAIN), report.stop

    return judged


def kimi_code(event: Event, answer: Answer) -> Taken:
    """By the stand-in; none of our answers has a part that it ignores."""
    ended = Exit(code=answer.code, stdout=answer.stdout, stderr=answer.stderr)
    report = kimi_host.judge(event.name, event.body, ended)
    assert report.warnings == []
    return PERMISSIONS.get(report.verdict, Verdict.ABSTAIN), report.stop


def opencode(event: Event, answer: Answer) -> Taken:
    """By the stand-in of our plugin, which complains of nothing."""
    ended = Exit(code=answer.code, stdout=answer.stdout, stderr=answer.stderr)
    report = opencode_host.judge(event.name, event.body, ended)
    assert report.warnings == []
    verdict = {"none": Verdict.ABSTAIN, "allow": Verdict.ALLOW, "deny": Verdict.DENY}[report.verdict]
    return verdict, report.stop


def qwen_code(event: Event, answer: Answer) -> Taken:
    """By the stand-in; none of our answers has a part that it ignores."""
    report = qwen_host.judge(
        event.name, event.body, Exit(code=answer.code, stdout=answer.stdout, stderr=answer.stderr)
    )
    assert report.warnings == []
    return PERMISSIONS.get(report.verdict, Verdict.ABSTAIN), report.stop


def shelley(event: Event, answer: Answer) -> Taken:
    if answer.code:
        assert answer.stderr.strip()
        return Verdict.DENY, False
    assert event.name != "system-prompt" or answer.stdout
    return NOTHING


def starchild(event: Event, answer: Answer) -> Taken:
    said = _object(answer)
    assert answer.code == 0
    assert said.get("decision", "block") == "block"
    return (Verdict.DENY, False) if "decision" in said else NOTHING


def x_code(event: Event, answer: Answer) -> Taken:
    said = _object(answer)
    assert answer.code == 0
    assert said.get("decision", "allow") in ("allow", "deny", "modify")
    return (Verdict.DENY, False) if said.get("decision") == "deny" else NOTHING


HOSTS = {
    "antigravity": antigravity,
    "claude-code": claude,
    "cline": cline,
    "codex": codex,
    "copilot-cli": copilot_cli,
    "cursor": cursor,
    "devin": by_documentation(DEVIN),
    "droid": by_documentation(DROID),
    "gemini-cli": gemini_cli,
    "grok": by_documentation(GROK),
    "kiro": by_documentation(KIRO),
    "kimi-code": kimi_code,
    "opencode": opencode,
    "qwen-code": qwen_code,
    "shelley": shelley,
    "starchild": starchild,
    "x-code": x_code,
}


def _object(answer: Answer) -> dict[str, Any]:
    assert answer.stdout[-1:] in (b"", b"\n")
    said = json.loads(answer.stdout or b"{}")
    assert isinstance(said, dict)
    return said
