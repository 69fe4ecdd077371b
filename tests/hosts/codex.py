"""A stand-in of Codex's hook loop, after the schemas in its binary (0.169.0) and what the real one did.

An answer with one key that its event does not have counts for nothing: that is a warning here. Trust is left out: it
runs every hook of the file.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from hosts.claude_code import matches
from hosts.process import Exit, Hook, Report, kind, parsed, run_all

COMMON = {"continue": "boolean", "stopReason": "string", "suppressOutput": "boolean", "systemMessage": "string"}
BLOCK = {"decision": "string", "reason": "string"}
SPECIFIC = {"hookSpecificOutput": "object"}
TOP: Mapping[str, Mapping[str, str]] = {
    "Interrupt": {"systemMessage": "string"},
    "PermissionRequest": COMMON | SPECIFIC,
    "PostCompact": COMMON,
    "PostToolUse": COMMON | BLOCK | SPECIFIC,
    "PreCompact": COMMON,
    "PreToolUse": COMMON | BLOCK | SPECIFIC,
    "SessionEnd": {},
    "SessionStart": COMMON | SPECIFIC,
    "Stop": COMMON | BLOCK,
    "SubagentStart": COMMON | SPECIFIC,
    "SubagentStop": COMMON | BLOCK,
    "UserPromptSubmit": COMMON | BLOCK | SPECIFIC,
}
CONTEXT = {"hookEventName": "string", "additionalContext": "string"}
INNER: Mapping[str, Mapping[str, str]] = {
    "PermissionRequest": {"hookEventName": "string", "decision": "object"},
    "PostToolUse": CONTEXT | {"updatedMCPToolOutput": ""},
    "PreToolUse": CONTEXT
    | {"permissionDecision": "string", "permissionDecisionReason": "string", "updatedInput": "object"},
    "SessionStart": CONTEXT,
    "SubagentStart": CONTEXT,
    "UserPromptSubmit": CONTEXT,
}
DECISION = {"behavior": "string", "message": "string"}  # a key besides these two is reserved: it refuses
BLOCKABLE = ("PostToolUse", "PreToolUse", "Stop", "SubagentStop", "UserPromptSubmit")
HALTS = ("PostCompact", "PreCompact", "SessionStart", "Stop", "SubagentStop", "UserPromptSubmit")
GOES_ON = ("Stop", "SubagentStop")  # a refusal there means: work on
HEARS = ("SessionStart", "UserPromptSubmit")  # plain text there is context
SUBJECTS = {
    **dict.fromkeys(("PermissionRequest", "PostToolUse", "PreToolUse"), "tool_name"),
    **dict.fromkeys(("PostCompact", "PreCompact"), "trigger"),
    **dict.fromkeys(("SubagentStart", "SubagentStop"), "agent_type"),
    "SessionEnd": "reason",
    "SessionStart": "source",
}
SHORT = {"Interrupt": 1.0, "SessionEnd": 1.0}


def run(config: str, event: str, body: bytes) -> Report:
    payload = parsed(body)
    wire = body.rstrip(b"\n")
    return run_all(event, wire, configured(Path(config), event, payload), judge, cwd=payload.get("cwd", ""))


def configured(path: Path, event: str, payload: Mapping[str, Any]) -> Iterator[Hook]:
    """The command hooks of hooks.json for this event."""
    for group in json.loads(path.read_text(encoding="utf-8")).get("hooks", {}).get(event, []):
        if event in SUBJECTS and not matches(group.get("matcher", ""), str(payload.get(SUBJECTS[event], ""))):
            continue
        for each in group["hooks"]:
            limit = each.get("timeout", SHORT.get(event, 600.0))
            yield Hook(command=each["command"], timeout=min(limit, 3.0) if event in SHORT else limit)


def judge(event: str, body: bytes, ended: Exit) -> Report:
    stderr = ended.stderr.decode("utf-8", "replace").strip()
    if ended.code == 2 and stderr and event in BLOCKABLE:
        return Report(verdict="deny", reason=stderr)
    if ended.code != 0:
        return Report(warnings=[f"{event} Failed: exit {ended.code}"])
    text = ended.stdout.decode("utf-8", "replace").strip()
    if not text:
        return Report()
    if not text.startswith("{"):
        warnings = [f"{event} Failed: no JSON"] if event in GOES_ON else []
        return Report(changes={"context": text} if event in HEARS else {}, warnings=warnings)
    try:
        answer = parsed(text.encode())
    except ValueError:
        return Report(warnings=[f"{event} Failed: invalid JSON"])
    problem = _problem(event, answer)
    return Report(warnings=[f"{event} Failed: {problem}"]) if problem else _report(event, answer)


def _problem(event: str, answer: Mapping[str, Any]) -> str:
    """Why the whole answer counts for nothing."""
    inner = answer.get("hookSpecificOutput", {})
    request = inner.get("decision", {}) if event == "PermissionRequest" else {}
    for fields, known in ((answer, TOP[event]), (inner, INNER.get(event, {}))):
        for key, value in fields.items():
            if key not in known:
                return f"unknown key {key}"
            if known[key] and kind(value) != known[key]:
                return f"{key} is of the wrong type"
    if inner and inner.get("hookEventName") != event:
        return "another hookEventName"
    if request and request.get("behavior") not in ("allow", "deny"):
        return "no behavior"
    if answer.get("decision", "block") != "block" or (answer.get("decision") and not answer.get("reason")):
        return "a decision without its reason, or an unknown one"
    return _call_problem(answer, inner) if event == "PreToolUse" else ""


def _call_problem(answer: Mapping[str, Any], inner: Mapping[str, Any]) -> str:
    said = inner.get("permissionDecision")
    if answer.get("continue") is False or answer.get("suppressOutput") is True:
        return "not supported before a tool"
    if said == "deny" and not inner.get("permissionDecisionReason", "").strip():
        return "deny without a reason"
    if said not in (None, "allow", "deny"):
        return f"unsupported {said}"
    return "allow and updatedInput come together" if (said == "allow") is not ("updatedInput" in inner) else ""


def _report(event: str, answer: Mapping[str, Any]) -> Report:
    inner = answer.get("hookSpecificOutput", {})
    report = Report()
    if answer.get("decision") == "block":
        report.verdict, report.reason = "deny", answer["reason"]
    if inner.get("permissionDecision") == "deny":
        report.verdict, report.reason = "deny", inner["permissionDecisionReason"]
    if request := inner.get("decision"):
        reserved = request.keys() - DECISION.keys()
        report.verdict = "deny" if reserved else request["behavior"]
        report.reason = "reserved keys" if reserved else request.get("message", "")
    if answer.get("continue") is False:
        if event == "PostToolUse":  # the model reads the reason instead of the result, and goes on
            report.verdict, report.reason = "deny", answer.get("stopReason", "")
        elif event in HALTS:
            report.stop, report.reason = True, report.reason or answer.get("stopReason", "")
            report.verdict = "none" if event in GOES_ON else report.verdict
    if "updatedInput" in inner and report.verdict != "deny":
        report.changes["input"] = inner["updatedInput"]
    if "additionalContext" in inner:
        report.changes["context"] = inner["additionalContext"]
    if "systemMessage" in answer:
        report.changes["note"] = answer["systemMessage"]
    return report
