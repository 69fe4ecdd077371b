"""A stand-in of Kimi Code's hook loop, after its code (version 2.1.0) and what the real one did.

It ignores what it does not know, and adds any output to a prompt: an answer of ours with such a part is a warning.
"""

from __future__ import annotations

import json
import re
import tomllib
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from hosts.process import Exit, Hook, Report, parsed, run_all

USUAL = 30  # seconds
PROMPT = "UserPromptSubmit"
ANSWERED = {"PreToolUse", "Stop", PROMPT}
FIELDS = {"event", "matcher", "command", "timeout"}
SUBJECTS = {
    **dict.fromkeys(("PermissionRequest", "PostToolUse", "PostToolUseFailure", "PreToolUse"), "tool_name"),
    **dict.fromkeys(("PostCompact", "PreCompact"), "trigger"),
    **dict.fromkeys(("SubagentStart", "SubagentStop"), "agent_name"),
    "SessionEnd": "reason",
    "SessionStart": "source",
}


def run(config: str, event: str, body: bytes) -> Report:
    payload = parsed(body)
    return run_all(event, body, configured(Path(config), event, payload), judge, cwd=payload.get("cwd", ""))


def configured(path: Path, event: str, payload: Mapping[str, Any]) -> Iterator[Hook]:
    """One hook with a key that it does not know switches all of them off."""
    hooks = tomllib.loads(path.read_text(encoding="utf-8")).get("hooks", [])
    for each in hooks if all(hook.keys() <= FIELDS for hook in hooks) else []:
        subject = str(payload.get(SUBJECTS.get(event, ""), ""))
        if each["event"] == event and re.search(each.get("matcher", ""), subject):
            yield Hook(command=each["command"], timeout=each.get("timeout", USUAL))


def judge(event: str, body: bytes, ended: Exit) -> Report:
    """Of events that are only observed, no answer counts."""
    stdout, stderr = (each.decode("utf-8", "replace").strip() for each in (ended.stdout, ended.stderr))
    if event not in ANSWERED:
        return Report(warnings=[f"{event} ignores any answer"] if stdout or ended.code == 2 else [])
    if ended.code == 2:
        return Report(verdict="deny", reason=stderr or f"Blocked by {event} hook")
    if ended.code != 0 or not stdout:
        return Report()
    try:
        answer = json.loads(stdout)
    except ValueError:
        answer = None
    if not isinstance(answer, dict):
        return Report(changes={"context": stdout} if event == PROMPT else {})
    inner = answer.get("hookSpecificOutput")
    inner = inner if isinstance(inner, dict) else {}
    message = answer.get("message") or inner.get("message") or ""
    if inner.get("permissionDecision") == "deny":
        reason = inner.get("permissionDecisionReason") or message
        return Report(verdict="deny", reason=reason or f"Blocked by {event} hook")
    if event == PROMPT:
        return Report(changes={"context": message or stdout}, warnings=[] if message else ["adds JSON to the prompt"])
    return Report(warnings=[f"{event} ignores {key}" for key in answer])
