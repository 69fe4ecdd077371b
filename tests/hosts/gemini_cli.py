"""A stand-in of Gemini CLI's hook loop, after its code (version 0.61.0) and what the real one did.

It ignores what it does not know; an answer of ours that has such a part is a warning here.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from hosts.process import Exit, Hook, Report, parsed, run_all

USUAL = 60_000  # milliseconds
ANSWERED = {"AfterAgent", "AfterModel", "AfterTool", "BeforeAgent", "BeforeModel", "BeforeTool"}
INFORMED = {"AfterTool", "BeforeAgent", "SessionStart"}
COMMON = {"continue", "stopReason", "suppressOutput", "systemMessage", "decision", "reason", "hookSpecificOutput"}
OWN = {  # what else counts in hookSpecificOutput
    "AfterAgent": {"clearContext"},
    "AfterModel": {"llm_response"},
    "AfterTool": {"tailToolCallRequest"},
    "BeforeModel": {"llm_request", "llm_response"},
}
SUBJECTS = {"PreCompress": "trigger", "SessionEnd": "reason", "SessionStart": "source"}


def run(config: str, event: str, body: bytes) -> Report:
    payload = parsed(body)
    return run_all(event, body, configured(Path(config), event, payload), judge, cwd=payload.get("cwd", ""))


def configured(path: Path, event: str, payload: Mapping[str, Any]) -> Iterator[Hook]:
    settings = json.loads(path.read_text(encoding="utf-8"))
    switches = settings.get("hooksConfig", {})
    for group in settings.get("hooks", {}).get(event, []) if switches.get("enabled", True) else []:
        if not _matches(group.get("matcher", "").strip(), event, payload):
            continue
        for each in group["hooks"]:
            if each.get("name", each["command"]) not in switches.get("disabled", []):
                yield Hook(command=each["command"], timeout=each.get("timeout", USUAL) / 1000)


def _matches(matcher: str, event: str, payload: Mapping[str, Any]) -> bool:
    """A pattern for a tool's name, a word elsewhere."""
    if matcher in ("", "*"):
        return True
    if "tool_name" not in payload:
        return event not in SUBJECTS or matcher == payload[SUBJECTS[event]]
    try:
        return re.search(matcher, payload["tool_name"]) is not None
    except re.error:
        return bool(matcher == payload["tool_name"])


def judge(event: str, body: bytes, ended: Exit) -> Report:
    if ended.code is None:
        return Report(warnings=["timed out" if ended.timed_out else "killed"])
    text = ended.stdout.decode("utf-8", "replace").strip() or ended.stderr.decode("utf-8", "replace").strip()
    if not text:
        return Report()
    try:
        answer = json.loads(text)
        answer = json.loads(answer) if isinstance(answer, str) else answer
    except ValueError:
        if ended.code >= 2:
            return _report(event, {"decision": "deny", "reason": text})
        return Report(changes={"note": text if ended.code == 0 else f"Warning: {text}"})
    return _report(event, answer) if isinstance(answer, dict) else Report()


def _report(event: str, answer: Mapping[str, Any]) -> Report:
    inner = answer.get("hookSpecificOutput", {})
    report = Report(warnings=[f"unknown key {key}" for key in answer if key not in COMMON])
    if "systemMessage" in answer:
        report.changes["note"] = answer["systemMessage"]
    reason = answer.get("stopReason") or answer.get("reason") or "No reason provided"
    stops = answer.get("continue") is False
    said = {"deny": "deny", "block": "deny", "ask": "ask"}.get(answer.get("decision", ""), "")
    if event in ANSWERED and stops:
        report.stop, report.reason = True, reason
    elif event in ANSWERED and (said == "deny" or (said == "ask" and event == "BeforeTool")):
        report.verdict, report.reason = said, reason
    elif said or stops:
        report.warnings.append(f"{event} ignores a decision")
    _changes(event, inner, report)
    return report


def _changes(event: str, inner: Mapping[str, Any], report: Report) -> None:
    for key, value in inner.items():
        if key == "hookEventName" or key in OWN.get(event, ()):
            continue
        if key == "tool_input" and event == "BeforeTool":
            report.changes["input"] = value  # in the place of the whole input
        elif key == "additionalContext" and event in INFORMED:
            report.changes["context"] = value
        else:
            report.warnings.append(f"{event} ignores {key}")
