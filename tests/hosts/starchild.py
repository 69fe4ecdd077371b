"""A stand-in of Starchild's hook loop: it runs the hooks that shell_hooks.yaml has for an event, one after another.

The agent continues after every failure.
"""

from __future__ import annotations

import re
import shlex
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import yaml
from hosts.process import Exit, Hook, Report, parsed, spawn

TIMEOUT, LONGEST = 20.0, 120.0
BLOCKS = (
    *("on_completion_claim", "on_outbound_message", "on_stop", "on_user_message", "pre_llm_call", "pre_tool_call"),
)
CONTEXT = ("on_session_start", "pre_llm_call")  # a session's start: older hosts take it
NOTES = (*BLOCKS, "on_response_end", "transform_tool_result")
CLAUDES = ("continue", "hookSpecificOutput", "stopReason", "suppressOutput")
REPLACED = {
    "on_outbound_message": ("notification", "message"),
    "on_response_end": ("response", "message"),
    "on_user_message": ("message", "prompt"),
}


def judge(event: str, body: bytes, ended: Exit) -> Report:
    """What one hook's end means for its event."""
    said = ended.stdout.strip()
    told = ended.stderr.decode(errors="replace").strip()
    if ended.code == 2 and not said and told:
        ignored = [] if event in BLOCKS else ["a refusal is ignored"]
        return Report(warnings=ignored) if ignored else Report(verdict="deny", reason=told)
    if ended.code != 0:
        return Report(warnings=["timed out" if ended.timed_out else f"exit {ended.code}"])
    if not said:
        return Report()
    try:
        answer = parsed(said)
    except ValueError:
        return Report(warnings=["not JSON"])
    if not isinstance(answer, dict):
        return Report(warnings=["no JSON object"])
    return _answered(event, parsed(body), answer)


def _answered(event: str, payload: dict[str, Any], answer: dict[str, Any]) -> Report:
    report, answer = Report(), translated(answer)
    key, target = REPLACED.get(event, ("", ""))
    for name, value in answer.items():
        if name in ("decision", "reason") and event in BLOCKS:
            continue
        if name == "tool_input" and event == "pre_tool_call" and isinstance(value, dict):
            _merge(payload.get("tool_input", {}), value, report)
        elif name == key and isinstance(value, str) and value:
            report.changes[target] = value
        elif name == "context" and event in CONTEXT and isinstance(value, str):
            report.changes["context"] = value
        elif name in ("add_warning", "systemMessage") and event in NOTES and isinstance(value, str):
            report.changes["note"] = value
        else:
            report.warnings.append(f"{name} is ignored")
    if "decision" in answer and event in BLOCKS:
        _decide(answer, report)
    return report


def translated(answer: dict[str, Any]) -> dict[str, Any]:
    """An answer in Claude's form in the words of this agent."""
    said = {name: value for name, value in answer.items() if name not in CLAUDES}
    specific = answer.get("hookSpecificOutput") or {}
    if specific.get("permissionDecision") == "deny":
        said |= {"decision": "block", "reason": specific.get("permissionDecisionReason", "")}
    if answer.get("continue") is False:
        said |= {"decision": "block", "reason": answer.get("stopReason", "")}
    if "additionalContext" in specific:
        said["context"] = specific["additionalContext"]
    if "updatedInput" in specific:
        said["tool_input"] = specific["updatedInput"]
    return said


def _merge(now: dict[str, Any], given: dict[str, Any], report: Report) -> None:
    """Values of keys that are there are replaced; no other key is taken."""
    report.warnings += [f"tool_input.{name} is ignored" for name in given if name not in now]
    report.changes["input"] = now | {name: value for name, value in given.items() if name in now}


def _decide(answer: dict[str, Any], report: Report) -> None:
    if answer["decision"] != "block":
        report.warnings.append(f"decision is {answer['decision']!r}")
        return
    report.verdict, report.reason = "deny", str(answer.get("reason", ""))
    if not report.reason:
        report.warnings.append("a refusal without a reason")


def run(config: str, event: str, body: bytes) -> Report:
    """In the file's order; the first refusal ends it."""
    whole = Report()
    for each in configured(Path(config), event, body.decode(errors="replace")):
        try:
            report = judge(event, body, spawn(each, body))
        except OSError as error:
            report = Report(warnings=[str(error)])
        whole.changes |= report.changes
        whole.warnings += report.warnings
        whole.verdict, whole.reason = report.verdict, report.reason
        if report.verdict == "deny":
            break
    return whole


def approved(path: Path, command: str) -> list[str]:
    """The events that are approved at once when its user has this command approved: all that the file has it for."""
    entries = yaml.safe_load(path.read_text(encoding="utf-8")).get("hooks") or []
    return [entry["event"] for entry in entries if entry.get("command") == command]


def configured(path: Path, event: str, text: str) -> Iterator[Hook]:
    """The command hooks of the file for this event, when the workspace has hooks switched on."""
    switch = path.parent / "agent.yaml"
    agent = yaml.safe_load(switch.read_text(encoding="utf-8")) if switch.exists() else None
    if isinstance(agent, dict) and agent.get("shell_hooks", {}).get("enabled") is not True:
        return
    for entry in yaml.safe_load(path.read_text(encoding="utf-8")).get("hooks") or []:
        if entry["event"] != event or entry.get("type", "command") != "command":
            continue
        if not entry.get("matcher") or re.search(entry["matcher"], text):
            timeout = min(float(entry.get("timeout", TIMEOUT)), LONGEST)
            yield Hook(command=shlex.split(entry["command"]), timeout=timeout)
