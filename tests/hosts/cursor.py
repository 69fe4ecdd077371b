"""A stand-in of Cursor's hook loop, after its documentation and what others found; not run against the real binary.

It is as strict as the newest versions are said to be: a permission hook that prints no JSON object refuses.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from hosts.process import Exit, Hook, Report, merged, parsed, spawn
from hosts.session import Moments, Payload

PERMISSION = {
    *("beforeMCPExecution", "beforeReadFile", "beforeShellExecution", "beforeTabFileRead", "preToolUse"),
    "subagentStart",
}
ASKS = ("beforeMCPExecution", "beforeShellExecution")  # elsewhere an ask is accepted, and nobody is asked
ENDS = ("stop", "subagentStop")
SAID = {"permission", "user_message", "agent_message"}
KNOWN: dict[str, set[str]] = {
    **dict.fromkeys(PERMISSION, SAID),
    **{event: {"followup_message"} for event in ENDS},
    "beforeSubmitPrompt": {"continue", "user_message", "additional_context"},
    "postToolUse": {"additional_context", "updated_mcp_tool_output"},
    "postToolUseFailure": {"additionalContext"},
    "preCompact": {"user_message"},
    "preToolUse": SAID | {"updated_input"},
    "sessionStart": {"additional_context", "continue", "env", "user_message"},
}
SUBJECTS = {
    **dict.fromkeys(("beforeMCPExecution", "preToolUse", "postToolUse", "postToolUseFailure"), "tool_name"),
    "beforeShellExecution": "command",
    "subagentStart": "subagent_type",
    "subagentStop": "subagent_type",
}


def run(config: str, event: str, body: bytes) -> Report:
    """Each matching hook; a refusal wins. A user's hooks start in the folder of their file."""
    payload = parsed(body)
    roots = payload.get("workspace_roots") or [""]
    environment = {"CURSOR_VERSION": "3.19.10", "CURSOR_PROJECT_DIR": roots[0], "CLAUDE_PROJECT_DIR": roots[0]}
    folder = str(Path(config).parent)
    found = list(configured(Path(config), event, payload))
    ends = [(spawn(each, body, cwd=folder, env=environment), closed) for each, closed in found]
    return merged(judge(event, body, ended, fails_closed=closed) for ended, closed in ends)


def configured(path: Path, event: str, payload: Mapping[str, Any]) -> Iterator[tuple[Hook, bool]]:
    """The entries for this event, and whether each one's failure refuses."""
    settings = json.loads(path.read_text(encoding="utf-8"))
    assert settings["version"] == 1
    for entry in settings.get("hooks", {}).get(event, []):
        subject = str(payload.get(SUBJECTS.get(event, ""), ""))
        if entry.get("type", "command") != "command" or not re.search(entry.get("matcher", ""), subject):
            continue
        yield Hook(command=entry["command"], timeout=entry.get("timeout", 60)), entry.get("failClosed", False)


def judge(event: str, body: bytes, ended: Exit, *, fails_closed: bool = False) -> Report:
    stdout, stderr = (each.decode("utf-8", "replace").strip() for each in (ended.stdout, ended.stderr))
    if ended.code == 2:
        if event in PERMISSION or event in ENDS or event == "beforeSubmitPrompt":
            return Report(verdict="deny", reason=stderr or stdout)
        return Report(warnings=["exit 2 is ignored"])
    problem = "hook timed out" if ended.timed_out else f"exit {ended.code}" if ended.code != 0 else ""
    answer: Any = {}
    if not problem and (stdout or event in PERMISSION):
        try:
            answer = json.loads(stdout)
        except ValueError:
            answer = None
        problem = "" if isinstance(answer, dict) else "no JSON object"
        fails_closed |= event in PERMISSION
    if problem:
        return Report(verdict="deny" if fails_closed else "none", warnings=[problem])
    return _answered(event, body, answer)


def _answered(event: str, body: bytes, answer: dict[str, Any]) -> Report:
    inner = answer.pop("hookSpecificOutput", {})
    report = Report(warnings=[f"{event} ignores {key}" for key in answer if key not in KNOWN.get(event, ())])
    reason = answer.get("agent_message") or answer.get("user_message") or ""
    if event in PERMISSION:
        _permission(event, answer.get("permission"), reason, report)
    elif event == "beforeSubmitPrompt" and answer.get("continue") is False:
        report.verdict, report.reason = "deny", reason
    elif event in ENDS and answer.get("followup_message"):
        report.verdict, report.reason = "deny", answer["followup_message"]
    if "updated_input" in answer and report.verdict != "deny" and event == "preToolUse":
        report.changes["input"] = answer["updated_input"]
    if (
        context := answer.get("additional_context")
        or answer.get("additionalContext")
        or inner.get("additionalContext")
    ):
        report.changes["context"] = context
    if event == "preCompact" and reason:
        report.changes["note"] = reason
    if "updated_mcp_tool_output" in answer and event == "postToolUse":
        if parsed(body)["tool_name"].startswith("MCP:"):
            report.changes["output"] = answer["updated_mcp_tool_output"]
        else:
            report.warnings.append("only the output of an MCP tool can be updated")
    return report


def _permission(event: str, word: Any, reason: str, report: Report) -> None:
    """An allow is no grant: cursor-agent asks its user all the same."""
    if word == "deny" or (word == "ask" and event in ASKS):
        report.verdict, report.reason = word, reason
    elif word != "allow":
        report.warnings.append(f"{event} does not heed the permission {word}")


SESSION = {"conversation_id": "c-1", "generation_id": "g-1", "model": "m", "cursor_version": "3.19.10"}
NAMES = {"Bash": "Shell"}


def _sent(project: Path, event: str, **fields: Any) -> Payload:
    common = {**SESSION, "workspace_roots": [str(project)], "user_email": None, "transcript_path": None}
    return event, {**common, "hook_event_name": event, **fields}


def _call(project: Path, name: str, input: Mapping[str, str]) -> dict[str, Any]:
    call = f"{name}-{next(iter(input.values()))}"
    return {"tool_name": NAMES.get(name, name), "tool_input": dict(input), "tool_use_id": call, "cwd": str(project)}


def _before(project: Path, name: str, input: Mapping[str, str]) -> list[Payload]:
    """A command is reported twice: as every tool, and once more by itself."""
    sent = [_sent(project, "preToolUse", **_call(project, name, input), agent_message="")]
    if name == "Bash":
        sent.append(_sent(project, "beforeShellExecution", command=input["command"], cwd="", sandbox=False))
    return sent


MOMENTS = Moments(
    start=lambda project: [_sent(project, "sessionStart", session_id="c-1", is_background_agent=False)],
    prompt=lambda project, text: [_sent(project, "beforeSubmitPrompt", prompt=text, attachments=[])],
    before=_before,
    after=lambda project, name, input: [
        _sent(project, "postToolUse", **_call(project, name, input), tool_output="{}", duration=1)
    ],
    end=lambda project, count: [_sent(project, "stop", status="completed", loop_count=count)],
    close=lambda project: [_sent(project, "sessionEnd", session_id="c-1", reason="completed", duration_ms=1)],
)
