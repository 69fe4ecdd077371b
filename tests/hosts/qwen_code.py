"""A stand-in of Qwen Code's hook loop, after the code of its package (0.24.4, 0.15.10) and what the real one did.

It ignores what it does not know; an answer of ours that has such a part is a warning here.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from hosts.process import Exit, Hook, Report, parsed, run_all

LONGEST = 60.0  # seconds, whatever the entry says
BLOCKABLE = {
    *("PostToolBatch", "Stop", "SubagentStop", "TodoCompleted", "TodoCreated", "UserPromptExpansion"),
    "UserPromptSubmit",
}
GOES_ON = ("Stop", "SubagentStop")  # whatever refuses there means: work on
STOPS_ONE = ("PostToolUse", "PreToolUse")  # `continue: false` refuses just this
HALTS = ("PostToolBatch", "UserPromptExpansion", "UserPromptSubmit")
HEARS = ("SessionStart", "UserPromptExpansion", "UserPromptSubmit")  # plain text there is context
INFORMED = {
    *HEARS,
    *("PostToolBatch", "PostToolUse", "PostToolUseFailure", "PreCompact", "SubagentStart"),
}
COMMON = {"continue", "stopReason", "suppressOutput", "systemMessage", "decision", "reason", "hookSpecificOutput"}
SUBJECTS = {
    **dict.fromkeys(("PermissionDenied", "PermissionRequest", "PostToolUse", "PreToolUse"), "tool_name"),
    "PostToolUseFailure": "tool_name",
    "SessionEnd": "reason",
    "SessionStart": "source",
}


def run(config: str, event: str, body: bytes) -> Report:
    payload = parsed(body)
    return run_all(event, body, configured(Path(config), event, payload), judge, cwd=payload.get("cwd", ""))


def configured(path: Path, event: str, payload: Mapping[str, Any]) -> Iterator[Hook]:
    """The command hooks of the settings for this event. A time-out below 1000 is seconds, as from 0.24 on."""
    settings = json.loads(path.read_text(encoding="utf-8"))
    for group in [] if settings.get("disableAllHooks") else settings.get("hooks", {}).get(event, []):
        subject = str(payload.get(SUBJECTS[event], "")) if event in SUBJECTS else ""
        if subject and group.get("matcher", "*") not in ("", "*") and not re.search(group["matcher"], subject):
            continue
        for each in group["hooks"]:
            limit = each.get("timeout", LONGEST)
            yield Hook(command=each["command"], timeout=min(limit / 1000 if limit >= 1000 else limit, LONGEST))


def judge(event: str, body: bytes, ended: Exit) -> Report:
    stdout, stderr = (each.decode("utf-8", "replace").strip() for each in (ended.stdout, ended.stderr))
    text = stderr if ended.code == 2 else stdout or stderr
    if not text:
        return Report()
    try:
        answer = json.loads(text)
    except ValueError:
        if ended.code == 2:
            return _report(event, {"decision": "deny", "reason": text})
        if text.startswith("{"):
            return Report(warnings=["Hook output is not valid JSON"])
        context = {"context": text} if ended.code == 0 and stdout and event in HEARS else {}
        return Report(changes=context, warnings=[] if ended.code == 0 else [f"exit {ended.code}"])
    return _report(event, answer)


def _report(event: str, answer: Mapping[str, Any]) -> Report:
    inner = answer.get("hookSpecificOutput", {})
    report = Report(warnings=[f"unknown key {key}" for key in answer if key not in COMMON])
    said = inner.get("permissionDecision") or answer.get("decision")
    reason = answer.get("stopReason") or answer.get("reason") or "No reason provided"
    if event == "PreToolUse" and said in ("ask", "block", "deny"):
        report.verdict = "ask" if said == "ask" else "deny"
        report.reason = inner.get("permissionDecisionReason") or reason
    elif said in ("block", "deny"):
        if event in BLOCKABLE:
            report.verdict, report.reason = "deny", reason
        else:
            report.warnings.append(f"{event} ignores a decision")
    if request := inner.get("decision"):
        report.verdict, report.reason = request["behavior"], request.get("message", "")
        report.changes |= {"input": request["updatedInput"]} if "updatedInput" in request else {}
    if answer.get("continue") is False:
        _stop(event, report, reason)
    if "additionalContext" in inner:
        if event in INFORMED:
            report.changes["context"] = inner["additionalContext"]
        else:
            report.warnings.append(f"{event} ignores additionalContext")
    if "systemMessage" in answer:
        report.changes["note"] = answer["systemMessage"]
    return report


def _stop(event: str, report: Report, reason: str) -> None:
    if event in (*GOES_ON, *STOPS_ONE):
        report.verdict, report.reason = "deny", reason
    elif event in HALTS:
        report.stop, report.reason = True, report.reason or reason
    else:
        report.warnings.append(f"{event} ignores continue")
