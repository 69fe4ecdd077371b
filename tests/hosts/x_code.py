"""A stand-in of X-Code CLI's hook loop: it runs the hooks that a plugin declares for an event.

Hooks of deciding events run one after another until one refuses. Each gets the original event; the last
modification counts.
"""

from __future__ import annotations

import json
import os
import re
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from hosts.process import Exit, Hook, Report, parsed, spawn

DECIDES = ("PostToolUse", "PreToolUse", "UserPromptSubmit")
EVENTS = (
    *(*DECIDES, "PostCompact", "PreCompact", "SessionEnd", "SessionStart", "SubagentStart", "SubagentStop"),
    "TurnComplete",
)
MANIFESTS = (".x-code-plugin/plugin.json", ".claude-plugin/plugin.json", "plugin.json")
TIMEOUT, LONGEST = 5000, 30000  # milliseconds; a longer one rejects all hooks of the plugin
HONOURED = {
    ("PostToolUse", "modify"): ("output",),
    ("PreToolUse", "modify"): ("args",),
    ("PreToolUse", "deny"): ("reason",),
    ("UserPromptSubmit", "allow"): ("context",),
    ("UserPromptSubmit", "deny"): ("reason",),
    ("UserPromptSubmit", "modify"): ("context",),
}


@dataclass(frozen=True, kw_only=True)
class Declared(Hook):
    """A hook with what its failure means."""

    blocks: bool = False


def judge(event: str, body: bytes, ended: Exit, *, blocks: bool = False) -> Report:
    """What one hook's end means for its event. A child that a signal killed counts as one that ended well."""
    if ended.timed_out or ended.code:
        why = "hook timed out" if ended.timed_out else f"hook exited {ended.code}"
        refused = blocks and event in DECIDES
        return Report(verdict="deny" if refused else "none", reason=why if refused else "", warnings=[why])
    text = ended.stdout.strip()
    if event not in DECIDES:
        return Report(warnings=["stdout is ignored"] if text else [])
    if not text:
        return Report()
    try:
        answer = parsed(text)
    except ValueError:
        answer = None
    if not isinstance(answer, dict) or answer.get("decision") not in ("allow", "deny", "modify"):
        return Report(warnings=["no decision: taken as allow"])
    return _answered(event, answer)


def _answered(event: str, answer: dict[str, Any]) -> Report:
    decision = answer["decision"]
    known = HONOURED.get((event, decision), ())
    report = Report(warnings=[f"{key} is ignored" for key in answer if key != "decision" and key not in known])
    if decision == "deny":
        if event == "PostToolUse":
            report.warnings.append("a refusal comes too late here")
            return report
        report.verdict, report.reason = "deny", str(answer.get("reason", ""))
        report.warnings += [] if report.reason else ["a refusal without a reason"]
    for key, target, wanted in (("args", "input", dict), ("output", "output", str), ("context", "context", str)):
        if key in known and key in answer:
            if isinstance(answer[key], wanted):
                report.changes[target] = answer[key]
            else:
                report.warnings.append(f"{key} is of the wrong type")
    return report


def run(config: str, event: str, body: bytes) -> Report:
    """Deciding events ask one hook after another; elsewhere the order means nothing."""
    payload = parsed(body)
    cwd = payload.get("session", {}).get("cwd", "")
    tool = payload.get("tool", {}).get("name", "")
    wire = body if body.endswith(b"\n") else body + b"\n"
    whole = Report()
    contexts = []
    for each in configured(Path(config), event, tool, cwd):
        report = judge(event, body, spawn(each, wire, cwd=cwd), blocks=each.blocks)
        whole.warnings += report.warnings
        contexts += [report.changes.pop("context")] if "context" in report.changes else []
        whole.changes |= report.changes
        if report.verdict == "deny":
            whole.verdict, whole.reason = report.verdict, report.reason
            return whole
    if contexts:
        whole.changes["context"] = "\n\n".join(contexts)
    return whole


def configured(root: Path, event: str, tool: str, cwd: str) -> Iterator[Declared]:
    """The plugin's hooks for this event. SystemExit when X-Code would reject them."""
    for entry in declared(root).get(event, []):
        matcher = entry.get("matcher", "")
        if event in ("PostToolUse", "PreToolUse") and matcher and not _matches(matcher, tool):
            continue
        system = {"darwin": "commandDarwin", "linux": "commandLinux", "win32": "commandWindows"}[sys.platform]
        yield Declared(
            command=_filled(entry.get(system) or entry["command"], root, cwd),
            timeout=entry.get("timeout", TIMEOUT) / 1000,
            blocks=entry.get("failurePolicy") == "block",
        )


def declared(root: Path) -> dict[str, Any]:
    """All hooks of the plugin, held against X-Code's schema; other keys than events are dropped silently."""
    manifest = next((root / name for name in MANIFESTS if (root / name).is_file()), None)
    said = json.loads(manifest.read_text(encoding="utf-8")).get("hooks") if manifest else None
    if not isinstance(said, dict):
        path = root / (said or "hooks/hooks.json")
        said = json.loads(path.read_text(encoding="utf-8"))
    hooks = {event: said[event] for event in EVENTS if event in said}
    for event, entries in hooks.items():
        for entry in entries:
            if not isinstance(entry.get("command"), str) or not 0 < entry.get("timeout", TIMEOUT) <= LONGEST:
                raise SystemExit(f"{event}: the plugin's hooks are rejected: {entry}")
    return hooks


def _matches(matcher: str, tool: str) -> bool:
    try:
        return re.search(matcher, tool) is not None
    except re.error:
        return True


def _filled(command: str, root: Path, cwd: str) -> str:
    places = {"pluginDir": str(root), "cwd": cwd, "homedir": str(Path.home()), "sep": os.sep}
    filled = re.sub(r"\$\{(\w+)\}", lambda found: places.get(found[1], found[0]), command)
    return re.sub(r"\$\{env:(\w+)\}", lambda found: os.environ.get(found[1], ""), filled)
