"""A stand-in of Copilot CLI 1.0.102: it reads the end of one hook as the real program does.

A payload with `hookEventName` is from the local harness of VS Code, whose documentation defines how it reads answers.
"""

from __future__ import annotations

from typing import Any

from hosts.process import Exit, Report, parsed

CONTEXT = ("Notification", "PostToolUse", "PostToolUseFailure", "PreToolUse", "SessionStart", "SubagentStart")
BLOCKS = ("PostToolUse", "Stop", "SubagentStop", "UserPromptSubmit")
TEXTS = {  # the key of a new text, and what it replaces
    "SubagentStop": ("modifiedResponse", "message"),
    "UserPromptSubmit": ("modifiedPrompt", "prompt"),
    "userPromptTransformed": ("modifiedTransformedPrompt", "prompt"),
}
KNOWN = {
    "Notification": {"additionalContext"},
    "PermissionRequest": {"behavior", "interrupt", "message"},
    "PostToolUse": {"additionalContext", "decision", "modifiedResult", "reason"},
    "PostToolUseFailure": {"additionalContext"},
    "PreToolUse": {"additionalContext", "modifiedArgs", "permissionDecision", "permissionDecisionReason"},
    "SessionStart": {"additionalContext"},
    "Stop": {"decision", "reason"},
    "SubagentStart": {"additionalContext"},
    "SubagentStop": {"decision", "modifiedResponse", "reason"},
    "UserPromptSubmit": {"additionalContext", "decision", "modifiedPrompt", "reason"},
    "userPromptTransformed": {"modifiedTransformedPrompt"},
}
LOCAL = {
    "PostToolUse": ("decision", "reason"),
    "SubagentStop": ("decision", "reason"),
    "UserPromptSubmit": ("continue", "stopReason"),
}


def judge(event: str, body: bytes, ended: Exit) -> Report:
    """What one hook's end means. Before a tool, each failure but a time-out is a refusal."""
    if ended.timed_out or ended.code is None:
        return Report(warnings=["hook timed out"])
    if ended.code:
        return _failed(event, ended)
    text = ended.stdout.strip()
    if not text:
        return Report()
    try:
        answer = parsed(text)
    except ValueError:
        answer = None
    if not isinstance(answer, dict):
        return Report(warnings=["no JSON object: taken as no output"])
    if "hookEventName" in parsed(body):
        return _local(event, answer)
    return _answered(event, answer, is_pascal="hook_event_name" in parsed(body))


def _failed(event: str, ended: Exit) -> Report:
    why = f"hook exited with code {ended.code}"
    if event == "PreToolUse" or (event == "PermissionRequest" and ended.code == 2):
        return Report(verdict="deny", reason=why)
    if event == "PostToolUseFailure" and ended.code == 2 and ended.stdout.strip():
        return Report(changes={"context": ended.stdout.decode().strip()})
    return Report(warnings=[why])


def _answered(event: str, answer: dict[str, Any], *, is_pascal: bool) -> Report:
    report = Report()
    inner = answer.pop("hookSpecificOutput", None)
    if inner is not None and event == "PreToolUse" and is_pascal:
        nested = {"updatedInput": "modifiedArgs"}
        answer |= {nested.get(key, key): value for key, value in inner.items() if key != "hookEventName"}
    elif inner is not None:
        report.warnings.append("hookSpecificOutput is ignored")
    known = KNOWN.get(event, set())
    report.warnings += [f"{key} is ignored" for key in answer if key not in known]
    answer = {key: value for key, value in answer.items() if key in known}
    if event == "PreToolUse":
        _permission(report, answer)
    elif event == "PermissionRequest":
        _permission_request(report, answer)
    elif event in BLOCKS:
        _block(report, answer)
    if report.verdict != "deny":
        _changes(report, event, answer)
    return report


def _permission(report: Report, answer: dict[str, Any]) -> None:
    word = answer.get("permissionDecision", "none")
    if word not in ("allow", "ask", "deny", "none"):
        report.warnings.append("unknown permissionDecision")
        return
    report.verdict = word
    report.reason = str(answer.get("permissionDecisionReason", ""))
    if word == "deny" and not report.reason:
        report.warnings.append("a refusal without a reason")
    if "modifiedArgs" in answer and not isinstance(answer["modifiedArgs"], dict):
        report.warnings.append("modifiedArgs is of the wrong type")
    elif "modifiedArgs" in answer and word != "deny":
        report.changes["input"] = answer["modifiedArgs"]


def _permission_request(report: Report, answer: dict[str, Any]) -> None:
    behavior = answer.get("behavior", "none")
    if behavior not in ("allow", "deny", "none"):
        report.warnings.append("unknown behavior")
        return
    report.verdict, report.reason = behavior, str(answer.get("message", ""))
    report.stop = behavior == "deny" and answer.get("interrupt") is True


def _block(report: Report, answer: dict[str, Any]) -> None:
    if answer.get("decision") == "block":
        report.verdict, report.reason = "deny", str(answer.get("reason", ""))
        report.warnings += [] if report.reason else ["a refusal without a reason"]
    elif "decision" in answer:
        report.warnings.append("unknown decision")


def _changes(report: Report, event: str, answer: dict[str, Any]) -> None:
    context = answer.get("additionalContext")
    if isinstance(context, str) and context and (event in CONTEXT or event == "UserPromptSubmit"):
        report.changes["context"] = context
    key, target = TEXTS.get(event, ("", ""))
    if key in answer:
        if isinstance(answer[key], str) and answer[key]:
            report.changes[target] = answer[key]
        else:
            report.warnings.append(f"{key} is not text")
    if "modifiedResult" in answer:
        result = answer["modifiedResult"]
        if isinstance(result, dict) and isinstance(result.get("textResultForLlm"), str) and "resultType" in result:
            report.changes["output"] = result["textResultForLlm"]
        else:
            report.warnings.append("modifiedResult has another structure")


def _local(event: str, answer: dict[str, Any]) -> Report:
    """VS Code's Local harness, from its documentation."""
    inner = answer.pop("hookSpecificOutput", {})
    report = Report(warnings=[f"{key} is ignored" for key in answer if key not in LOCAL.get(event, ())])
    if inner and inner.pop("hookEventName", "") != event:
        report.warnings.append("hookSpecificOutput of another event")
    if answer.get("continue") is False:
        report.verdict, report.reason = "deny", str(answer.get("stopReason", ""))
    if event == "PreToolUse":
        _permission(report, {"modifiedArgs" if key == "updatedInput" else key: inner[key] for key in inner})
    else:
        _block(report, inner if event == "Stop" else answer)
    if report.verdict != "deny" and inner.get("additionalContext"):
        report.changes["context"] = inner["additionalContext"]
    return report
