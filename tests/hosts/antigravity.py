"""A stand-in of Antigravity's hook loop, after others' live probes of version 1.2.3; not run against the real binary.

Before a tool a wrong byte refuses the call: an empty object, text, an exit code without an answer.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from hosts.process import Exit, Hook, Report, parsed, run_all
from hosts.session import Moments, Payload

KNOWN = {"PreInvocation": {"injectSteps"}, "PreToolUse": {"decision", "reason"}, "Stop": {"decision", "reason"}}
TOOL_EVENTS = ("PostToolUse", "PreToolUse")


def run(config: str, event: str, body: bytes) -> Report:
    return run_all(event, body, configured(Path(config), event, parsed(body)), judge)


def configured(path: Path, event: str, payload: Mapping[str, Any]) -> Iterator[Hook]:
    for named in json.loads(path.read_text(encoding="utf-8")).values():
        for entry in named.get(event, []) if named.get("enabled", True) else []:
            if event not in TOOL_EVENTS:
                yield Hook(command=entry["command"], timeout=entry.get("timeout", 30))
            elif entry["matcher"] in ("", "*") or re.search(entry["matcher"], payload["toolCall"]["name"]):
                for each in entry["hooks"]:
                    yield Hook(command=each["command"], timeout=each.get("timeout", 30))


def judge(event: str, body: bytes, ended: Exit) -> Report:
    if not ended.stdout and ended.code == 0:
        return Report()
    try:
        answer = json.loads(ended.stdout)
    except ValueError:
        answer = None
    wrong = not isinstance(answer, dict) or (event == "PreToolUse" and not answer.get("decision"))
    if wrong or not isinstance(answer, dict):
        return Report(verdict="deny" if event == "PreToolUse" else "none", warnings=["hook output is invalid"])
    report = Report(warnings=[f"unknown field {key}" for key in answer if key not in KNOWN.get(event, ())])
    word = answer.get("decision", "")
    if event == "PreToolUse":
        words = {"allow": "allow", "ask": "none", "deny": "deny", "force_ask": "ask"}
        report.verdict = words.get(word, "deny")
        report.warnings += [] if word in words else ["unknown decision"]
    elif event == "Stop":
        report.verdict = "deny" if word == "continue" else "none"
    report.reason = answer.get("reason", "")
    if steps := answer.get("injectSteps"):
        report.changes["context"] = "\n\n".join(step["ephemeralMessage"] for step in steps)
    return report


def _sent(project: Path, event: str, **fields: Any) -> Payload:
    common = {"conversationId": "c-1", "transcriptPath": "/t", "workspacePaths": [str(project)]}
    return event, {**common, "artifactDirectoryPath": "/a", "modelName": "m", **fields}


def _call(project: Path, name: str, input: Mapping[str, str]) -> dict[str, Any]:
    if name == "Bash":
        call = {"name": "run_command", "args": {"CommandLine": input["command"], "Cwd": str(project)}}
    else:
        call = {"name": "write_to_file", "args": {"TargetFile": input["file_path"], "CodeContent": ""}}
    return {"toolCall": call, "stepIdx": 7}


MOMENTS = Moments(
    start=lambda project: [],
    prompt=lambda project, text: [_sent(project, "PreInvocation")],
    before=lambda project, name, input: [_sent(project, "PreToolUse", **_call(project, name, input))],
    after=lambda project, name, input: [_sent(project, "PostToolUse", **_call(project, name, input))],
    end=lambda project, count: [
        _sent(project, "Stop", terminationReason="completed", executionNum=count + 1, fullyIdle=True, error="")
    ],
    close=lambda project: [],
)
