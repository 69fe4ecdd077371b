"""What Claude Code makes of one hook's answer: which fields it takes on which event, and what it leaves out."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from hosts.process import Exit, Report, kind, parsed

CONTEXT = ("additionalContext",)
WATCH = ("watchPaths",)
PERMIT = ("permissionDecision", "permissionDecisionReason")
FORM = ("action", "content")
# What stands inside hookSpecificOutput, by event; an event that is not here takes nothing there.
SPECIFIC: Mapping[str, tuple[str, ...]] = {
    "CwdChanged": WATCH,
    "Elicitation": FORM,
    "ElicitationResult": FORM,
    "FileChanged": WATCH,
    "MessageDisplay": ("displayContent",),
    "PermissionDenied": ("retry",),
    "PermissionRequest": ("decision",),
    "PostModelSwitch": CONTEXT,
    "PostToolBatch": CONTEXT,
    "PostToolUse": (*CONTEXT, "classifierContext", "updatedToolOutput", "updatedMCPToolOutput"),
    "PostToolUseFailure": CONTEXT,
    "PreModelSwitch": PERMIT,
    "PreToolUse": (*PERMIT, *CONTEXT, "updatedInput"),
    "SessionStart": (*CONTEXT, *WATCH, "initialUserMessage", "sessionTitle", "reloadSkills"),
    "Setup": CONTEXT,
    "Stop": CONTEXT,
    "SubagentStart": CONTEXT,
    "SubagentStop": CONTEXT,
    "UserPromptExpansion": (*CONTEXT, "suppressOriginalPrompt"),
    "UserPromptSubmit": (*CONTEXT, "sessionTitle", "suppressOriginalPrompt"),
}
BLOCK = (  # by `decision: block` and by exit 2
    *("ConfigChange", "PostToolBatch", "PostToolUse", "PostToolUseFailure", "PreCompact", "PreToolUse", "Stop"),
    *("SubagentStop", "TaskCreated", "UserPromptExpansion", "UserPromptSubmit"),
)
EXIT_2 = (*BLOCK, "Elicitation", "ElicitationResult", "PreModelSwitch", "TaskCompleted", "TeammateIdle")
HALTS = (
    *("PostToolBatch", "PostToolUse", "PostToolUseFailure", "PreToolUse", "Stop", "SubagentStop", "TaskCompleted"),
    *("TeammateIdle", "UserPromptExpansion", "UserPromptSubmit"),
)
GOES_ON = ("Stop", "SubagentStop", "TaskCompleted", "TeammateIdle")  # a refusal there means: work on
OBSERVES = (
    *("DirectoryAdded", "InstructionsLoaded", "Notification", "PostCompact", "SessionEnd", "StopFailure"),
    "WorktreeRemove",
)
HEARS = ("SessionStart", "UserPromptExpansion", "UserPromptSubmit")  # plain text there is context
UNIVERSAL = {
    "continue": "boolean",
    "stopReason": "string",
    "suppressOutput": "boolean",
    "systemMessage": "string",
    "terminalSequence": "string",
}
TYPES = {
    "action": "string",
    "additionalContext": "string",
    "classifierContext": "string",
    "content": "object",
    "decision": "object",
    "displayContent": "string",
    "initialUserMessage": "string",
    "permissionDecision": "string",
    "permissionDecisionReason": "string",
    "reloadSkills": "boolean",
    "retry": "boolean",
    "sessionTitle": "string",
    "suppressOriginalPrompt": "boolean",
    "updatedInput": "object",
    "watchPaths": "array",
    "worktreePath": "string",
}
WORDS = {
    "permissionDecision": ("allow", "ask", "defer", "deny"),
    "action": ("accept", "cancel", "decline"),
}
STRICTNESS = ("none", "allow", "ask", "deny")


def judge(event: str, body: bytes, ended: Exit) -> Report:
    """What one hook's end means for its event."""
    if ended.code is None:
        return Report(warnings=["timed out" if ended.timed_out else "killed by a signal"])
    if event == "WorktreeCreate":
        return _worktree(ended)
    text = ended.stdout.strip()
    try:
        answer = parsed(text) if text.startswith(b"{") else None
    except ValueError:
        answer = None
    if not isinstance(answer, dict):
        return _plain(event, ended)
    if fault := _fault(event, answer):
        return _refused(event, ended, Report()) if ended.code == 2 else Report(warnings=[fault])
    report = _answered(event, body, answer)
    return _refused(event, ended, report) if ended.code == 2 else report


def _plain(event: str, ended: Exit) -> Report:
    if ended.code == 2:
        return _refused(event, ended, Report())
    if ended.code:
        return Report(warnings=[f"hook error: exit {ended.code}"])
    text = ended.stdout.decode(errors="replace").strip()
    if text and event in HEARS:
        return Report(changes={"context": text})
    return Report(warnings=["plain text goes to the debug log"] if text else [])


def _refused(event: str, ended: Exit, report: Report) -> Report:
    if event not in EXIT_2:
        report.warnings.append("exit 2 does not block this event")
        return report
    if report.verdict != "deny" and not report.stop:
        report.reason = ended.stderr.decode(errors="replace").strip() or "No stderr output"
    report.verdict = "deny"
    return report


def _worktree(ended: Exit) -> Report:
    lines = [line.strip() for line in ended.stdout.decode(errors="replace").splitlines() if line.strip()]
    if ended.code:
        return Report(verdict="deny", reason=ended.stderr.decode(errors="replace").strip())
    if not lines:
        return Report(warnings=["printed no path"])
    return Report(changes={"answer": lines[-1]})


def _fault(event: str, answer: Mapping[str, Any]) -> str:
    """Why the whole answer is invalid: none of it counts then."""
    for fields, types in ((answer, UNIVERSAL), (answer.get("hookSpecificOutput", {}), TYPES)):
        if not isinstance(fields, dict):
            return "hookSpecificOutput is not an object"
        for key, wanted in types.items():
            if key in fields and kind(fields[key]) != wanted:
                return f"{key} is no {wanted}"
    known = ("approve", "block") if event == "PreToolUse" else ("block",)
    if answer.get("decision", "block") not in known:
        return f"decision is {answer['decision']!r}"
    specific = answer.get("hookSpecificOutput", {})
    if specific and specific.get("hookEventName") != event:
        return f"hookEventName is not {event}"
    wrong = [key for key, words in WORDS.items() if specific.get(key, words[0]) not in words]
    return f"{wrong[0]} is {specific[wrong[0]]!r}" if wrong else ""


def _answered(event: str, body: bytes, answer: Mapping[str, Any]) -> Report:
    specific = answer.get("hookSpecificOutput", {})
    report = Report(warnings=list(_ignored(event, answer, specific)))
    if event in OBSERVES:
        return report
    report.stop = answer.get("continue") is False and event in HALTS
    report.changes |= {key: specific[key] for key in SPECIFIC.get(event, ()) if key in specific and key in CHANGES}
    report.changes = {CHANGES[key]: value for key, value in report.changes.items()}
    if note := answer.get("systemMessage"):
        report.changes["note"] = note
    if sequence := answer.get("terminalSequence"):
        report.changes["terminalSequence"] = sequence
    _decide(event, answer, specific, report)
    _check_changes(event, body, report)
    if report.stop:
        report.reason = report.reason or answer.get("stopReason", "")
    return report


CHANGES = {
    "additionalContext": "context",
    "classifierContext": "classifierContext",
    "displayContent": "message",
    "initialUserMessage": "initialUserMessage",
    "reloadSkills": "reloadSkills",
    "retry": "retry",
    "sessionTitle": "sessionTitle",
    "suppressOriginalPrompt": "suppressOriginalPrompt",
    "updatedInput": "input",
    "updatedMCPToolOutput": "output",
    "updatedToolOutput": "output",
    "watchPaths": "watchPaths",
}


def _ignored(event: str, answer: Mapping[str, Any], specific: Mapping[str, Any]) -> Iterator[str]:
    """Fields that nobody reads here: an answer shall hold none."""
    for key in answer:
        if key == "decision" or key == "reason":
            if event not in BLOCK:
                yield f"{key} is ignored"
        elif key == "continue" or key == "stopReason":
            if event not in HALTS:
                yield f"{key} is ignored"
        elif event in OBSERVES or (key not in UNIVERSAL and key != "hookSpecificOutput"):
            yield f"{key} is ignored"
    for key in specific:
        if key != "hookEventName" and key not in SPECIFIC.get(event, ()):
            yield f"hookSpecificOutput.{key} is ignored"


def _decide(event: str, answer: Mapping[str, Any], specific: Mapping[str, Any], report: Report) -> None:
    said = [("none", "")]
    if answer.get("decision") == "block" and event in BLOCK:
        said.append(("deny", answer.get("reason", "")))
    if answer.get("decision") == "approve":
        said.append(("allow", answer.get("reason", "")))
    if word := specific.get("permissionDecision"):
        reason = specific.get("permissionDecisionReason", "")
        said.append(("ask" if word == "defer" else word, reason))
        if word == "deny" and not reason:
            report.warnings.append("a refusal without a reason")
    if event == "PermissionRequest" and (decision := specific.get("decision")):
        said.append(_requested(decision, report))
    if specific.get("action") == "decline":
        said.append(("deny", ""))
    elif "action" in specific:
        report.changes["answer"] = {key: specific[key] for key in FORM if key in specific}
    if event in ("Stop", "SubagentStop") and specific.get("additionalContext"):
        said.append(("deny", specific["additionalContext"]))
    report.verdict, report.reason = max(said, key=lambda each: STRICTNESS.index(each[0]))
    if report.stop and event in GOES_ON and report.verdict == "deny":
        report.verdict = "none"  # it stops, so it does not work on
    if report.verdict == "deny" and answer.get("decision") == "block" and not answer.get("reason"):
        report.warnings.append("a refusal without a reason")


def _requested(decision: Mapping[str, Any], report: Report) -> tuple[str, str]:
    behavior = decision.get("behavior")
    if behavior not in ("allow", "deny"):
        report.warnings.append(f"behavior is {behavior!r}")
        return "none", ""
    known = ("updatedInput", "updatedPermissions") if behavior == "allow" else ("message", "interrupt")
    report.warnings += [f"decision.{key} is ignored" for key in decision if key not in ("behavior", *known)]
    if behavior == "deny":
        report.stop = decision.get("interrupt") is True
        return "deny", decision.get("message", "")
    names = {"updatedInput": "input", "updatedPermissions": "updatedPermissions"}
    report.changes |= {names[key]: decision[key] for key in known if key in decision}
    return "allow", ""


def _check_changes(event: str, body: bytes, report: Report) -> None:
    if event == "PostToolUse" and "output" in report.changes:
        now = parsed(body).get("tool_response")
        if now is not None and kind(now) != kind(report.changes["output"]):
            report.warnings.append("updatedToolOutput is not of the tool's shape: ignored")
            del report.changes["output"]
