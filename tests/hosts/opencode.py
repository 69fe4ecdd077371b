"""What Hooktray's plugin for OpenCode (tray/agents/opencode/plugin.js) makes of an answer, in Python.

OpenCode has no hooks but what runs inside it, so there is no configuration to read. The plugin itself is tested with
the real OpenCode in tests/clients.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from hosts.process import Exit, Report, parsed

BLOCKABLE = ("PostToolUse", "Stop", "UserPromptSubmit")
CONTEXT = {"hookEventName", "additionalContext"}
INNER: Mapping[str, set[str]] = {
    "Elicitation": {"hookEventName", "action", "content"},
    "PermissionRequest": {"hookEventName", "decision"},
    "PostToolUse": CONTEXT | {"updatedToolOutput"},
    "PreCompact": CONTEXT,
    "PreToolUse": {"hookEventName", "permissionDecision", "permissionDecisionReason", "updatedInput"},
    "SessionStart": CONTEXT,
    "SubagentStart": CONTEXT,
    "UserPromptSubmit": CONTEXT,
}


def judge(event: str, body: bytes, ended: Exit) -> Report:
    """The plugin looks at neither the exit code nor stderr; exit 2 is for hooks in the plugin's format."""
    stderr = ended.stderr.decode("utf-8", "replace").strip()
    if ended.code == 2 and event in (*BLOCKABLE, "PreToolUse"):
        return Report(verdict="deny", reason=stderr)
    if ended.code or stderr:
        return Report(warnings=[f"exit {ended.code} and stderr count for nothing"])
    text = ended.stdout.strip()
    if not text:
        return Report()
    try:
        answer = parsed(text)
    except ValueError:
        return Report(warnings=["no JSON"])
    inner = answer.get("hookSpecificOutput", {})
    known = {"decision", "reason", "hookSpecificOutput"} if event in BLOCKABLE else {"hookSpecificOutput"}
    unread = sorted({*answer} - known | {*inner} - INNER.get(event, set()))
    if unread:
        return Report(warnings=[f"nothing reads {', '.join(unread)}"])
    return _report(event, answer, inner)


def _report(event: str, answer: Mapping[str, Any], inner: Mapping[str, Any]) -> Report:
    report = Report()
    if answer.get("decision") == "block":
        report.verdict, report.reason = "deny", answer["reason"]
    if inner.get("permissionDecision") == "deny":
        report.verdict, report.reason = "deny", inner["permissionDecisionReason"]
    if decision := inner.get("decision"):
        report.verdict, report.reason = decision["behavior"], decision.get("message", "")
    if inner.get("action") in ("cancel", "decline"):
        report.verdict = "deny"
    if inner.get("action") == "accept":
        report.changes["answer"] = {key: inner[key] for key in ("action", "content") if key in inner}
    names = {"updatedInput": "input", "updatedToolOutput": "output", "additionalContext": "context"}
    report.changes |= {names[key]: value for key, value in inner.items() if key in names}
    return report
