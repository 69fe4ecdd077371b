"""A stand-in of Claude Code's hook loop: it runs the hooks that a settings file, or a plugin's hooks.json, has."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping
from pathlib import Path, PurePath
from typing import Any

from hosts.claude_judge import judge
from hosts.process import Hook, Report, parsed, run_all

SUBJECTS: Mapping[str, str] = {
    **dict.fromkeys(
        ("PermissionDenied", "PermissionRequest", "PostToolUse", "PostToolUseFailure", "PreToolUse"), "tool_name"
    ),
    **dict.fromkeys(("ConfigChange", "DirectoryAdded", "SessionStart"), "source"),
    **dict.fromkeys(("PostCompact", "PreCompact", "Setup"), "trigger"),
    **dict.fromkeys(("SubagentStart", "SubagentStop"), "agent_type"),
    **dict.fromkeys(("Elicitation", "ElicitationResult"), "mcp_server_name"),
    "FileChanged": "file_path",
    "InstructionsLoaded": "load_reason",
    "Notification": "notification_type",
    "SessionEnd": "reason",
    "StopFailure": "error",
    "UserPromptExpansion": "command_name",
}
TIMEOUTS = {"MessageDisplay": 10.0, "SessionEnd": 1.5, "UserPromptSubmit": 30.0}


def run(config: str, event: str, body: bytes) -> Report:
    payload = parsed(body)
    cwd = payload.get("cwd", "")
    env = {"CLAUDE_PROJECT_DIR": cwd, "CLAUDE_CODE_SESSION_ID": payload.get("session_id", ""), "CLAUDECODE": "1"}
    wire = body if body.endswith(b"\n") else body + b"\n"
    return run_all(event, wire, configured(Path(config), event, payload), judge, cwd=cwd, env=env)


def configured(path: Path, event: str, payload: Mapping[str, Any]) -> Iterator[Hook]:
    """The command hooks of a settings file for this event. A malformed handler takes its whole group with it."""
    settings = json.loads(path.read_text(encoding="utf-8"))
    if settings.get("disableAllHooks") is True:
        return
    subject = str(payload.get(SUBJECTS.get(event, ""), ""))
    subject = PurePath(subject).name if event == "FileChanged" else subject
    for group in settings.get("hooks", {}).get(event, []):
        handlers = group["hooks"]
        if any(each.get("type") not in HANDLERS or each.get("timeout", 1) <= 0 for each in handlers):
            continue
        if event in SUBJECTS and not matches(group.get("matcher", ""), subject):
            continue
        for each in handlers:
            if each["type"] == "command":
                args = each.get("args")
                command = each["command"] if args is None else [each["command"], *args]
                yield Hook(command=command, timeout=each.get("timeout", TIMEOUTS.get(event, 600.0)))


HANDLERS = ("agent", "command", "http", "mcp_tool", "prompt")


def matches(matcher: str, subject: str) -> bool:
    """An exact list where only letters of names stand in it, else a pattern anywhere."""
    if matcher in ("", "*"):
        return True
    if re.fullmatch(r"[A-Za-z0-9_\-, |]+", matcher):
        return subject in [name.strip() for name in re.split(r"[|,]", matcher)]
    try:
        return re.search(matcher, subject) is not None
    except re.error:
        return False
