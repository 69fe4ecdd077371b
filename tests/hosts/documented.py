"""Stand-ins of Claude-shaped agents of which only the documentation is known; none of the real programs was run."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from hosts.process import Exit, Hook, Report, parsed, run_all
from hosts.session import Moments, Payload

CALLS = ("PermissionDenied", "PermissionRequest", "PostToolUse", "PostToolUseFailure", "PreToolUse")


@dataclass(frozen=True, kw_only=True)
class Documented:
    """One agent: which events can be refused, and how; where context counts; how it calls what it sends."""

    refusable: Sequence[str]  # by exit 2
    words: Sequence[str] = ()  # of `decision` that refuse too
    by_word: Sequence[str] | None = None  # the events where they do; None = the same ones
    permitted: Sequence[str] = ()  # events with a `permissionDecision`
    stopped: Sequence[str] = ()  # events with `continue: false`
    rewrites: Mapping[str, tuple[str, str]] = field(default_factory=dict)  # by event: the key, and what it replaces
    context: Sequence[str] = ()  # events where `additionalContext` or text reaches the model
    key: str = "hooks"  # of its file
    variable: str = ""
    event: str = "hook_event_name"
    session: str = "session_id"
    tool: str = "tool_name"
    input: str = "tool_input"
    common: Mapping[str, Any] = field(default_factory=dict)
    has_folder: bool = True
    tools: Mapping[str, str] = field(default_factory=dict)
    names: Mapping[str, str] = field(default_factory=dict)  # of its events, where they are not Claude Code's
    is_flat: bool = False  # the file has hooks for each event, not groups of them
    takes_json: bool = True

    def run(self, config: str, event: str, body: bytes) -> Report:
        payload = parsed(body)
        folder = str(payload.get("cwd") or payload.get("workspaceRoot") or Path.cwd())
        environment = {self.variable: folder} if self.variable else {}
        return run_all(event, body, self.configured(Path(config), event, payload), self.judge, env=environment)

    def configured(self, path: Path, event: str, payload: Mapping[str, Any]) -> Iterator[Hook]:
        settings = json.loads(path.read_text(encoding="utf-8"))
        for group in (settings[self.key] if self.key else settings).get(event, []):
            if self.is_flat:
                yield Hook(command=group["command"], timeout=group.get("timeout_ms", 30_000) / 1000)
                continue
            subject = str(payload.get(self.tool, ""))
            if event not in CALLS or re.search(group.get("matcher", ""), subject):
                for each in group["hooks"]:
                    yield Hook(command=each["command"], timeout=each.get("timeout", 60))

    def judge(self, event: str, body: bytes, ended: Exit) -> Report:
        stdout, stderr = (each.decode("utf-8", "replace").strip() for each in (ended.stdout, ended.stderr))
        if ended.code == 2:
            if event in self.refusable:
                said = self._answered(event, json.loads(stdout)) if stdout.startswith("{") else Report()
                if said.stop and event in CALLS:  # Droid ends everything before it looks at the exit code
                    said.verdict = "none"
                    return said
                reason = said.reason if said.verdict == "deny" else stderr
                return Report(verdict="deny", reason=reason, changes=said.changes, warnings=said.warnings)
            return Report(warnings=["exit 2 is ignored"])
        if ended.code != 0:
            return Report(warnings=[f"exit {ended.code}"])
        if not (self.takes_json and stdout.startswith("{")):
            is_told = stdout and event in self.context
            return Report(changes={"context": stdout} if is_told else {})
        return self._answered(event, json.loads(stdout))

    def _answered(self, event: str, answer: dict[str, Any]) -> Report:
        inner = answer.pop("hookSpecificOutput", {})
        report = Report()
        word, reason = answer.pop("decision", ""), answer.pop("reason", "")
        if word:
            report.verdict, report.reason = ("deny", reason) if word in self.words else ("none", "")
            known = word in self.words and event in (self.refusable if self.by_word is None else self.by_word)
            report.warnings += [] if known else [f"{event} ignores the decision {word}"]
        if inner.pop("hookEventName", event) == event and event in self.context:
            report.changes |= {"context": text} if (text := inner.pop("additionalContext", "")) else {}
        if event in self.permitted and (word := inner.pop("permissionDecision", "")):
            report.verdict, report.reason = word, inner.pop("permissionDecisionReason", "")
        if event in self.stopped and answer.get("continue") is False:
            report.stop, report.reason = not answer.pop("continue"), answer.pop("stopReason", "") or report.reason
        key, place = self.rewrites.get(event, ("", ""))
        report.changes |= {place: inner.pop(key)} if key in inner else {}
        report.warnings += [f"{event} ignores {key}" for key in (*answer, *inner)]
        return report

    def moments(self, *, starts: bool = True, closes: bool = True) -> Moments:
        def sent(project: Path, event: str, **fields: Any) -> Payload:
            name = self.names.get(event, event)
            session = {self.session: "s1"} if self.session else {}
            folder = {"cwd": str(project)} if self.has_folder else {}
            return name, {**self.common, **session, **folder, self.event: name, **fields}

        def call(name: str, input: Mapping[str, str]) -> dict[str, Any]:
            return {self.tool: self.tools.get(name, name), self.input: dict(input)}

        return Moments(
            start=lambda project: [sent(project, "SessionStart", source="startup")] if starts else [],
            prompt=lambda project, text: [sent(project, "UserPromptSubmit", prompt=text)],
            before=lambda project, name, input: [sent(project, "PreToolUse", **call(name, input))],
            after=lambda project, name, input: [
                sent(project, "PostToolUse", **call(name, input), tool_response={"success": True, "output": ""})
            ],
            end=lambda project, count: [sent(project, "Stop", stop_hook_active=count > 0)],
            close=lambda project: [sent(project, "SessionEnd", reason="other")] if closes else [],
        )


# As version 0.215.0 did.
DROID = Documented(
    refusable=("PostToolUse", "PreCompact", "PreToolUse", "Stop", "UserPromptSubmit"),
    words=("block",),
    by_word=("Stop",),
    permitted=("PreToolUse",),
    stopped=("PostToolUse", "PreToolUse", "Stop", "UserPromptSubmit"),
    rewrites={"PreToolUse": ("updatedInput", "input")},
    context=("PostToolUse", "SessionStart", "UserPromptSubmit"),
    key="",
    variable="FACTORY_PROJECT_DIR",
    common={"permission_mode": "auto-high"},
    tools={"Bash": "Execute", "Write": "Create"},
)
DEVIN = Documented(
    refusable=("PreToolUse", "Stop", "UserPromptSubmit"),
    words=("block", "deny"),
    variable="DEVIN_PROJECT_DIR",
    has_folder=False,
    tools={"Bash": "exec", "Write": "write"},
)
# As version 1.0.41 did; it has each name in two spellings.
GROK = Documented(
    refusable=("PostToolUse", "PreToolUse", "Stop", "SubagentStop", "UserPromptSubmit"),
    words=("block",),
    permitted=("PreToolUse",),
    stopped=("Stop", "SubagentStop"),
    rewrites={"PostToolUse": ("updatedToolOutput", "output"), "PreToolUse": ("updatedInput", "input")},
    context=("PostToolUse", "PostToolUseFailure", "PreToolUse", "Stop", "SubagentStop"),
    variable="GROK_WORKSPACE_ROOT",
    common={"hookEventName": "…", "timestamp": "2026-11-28T22:20:12.485198704+00:00", "workspaceRoot": "/w"},
    tools={"Bash": "run_terminal_command", "Write": "write"},
)
KIRO = Documented(
    refusable=("preToolUse",),
    context=("agentSpawn", "userPromptSubmit"),
    session="",
    tools={"Bash": "execute_bash", "Write": "fs_write"},
    names={
        "PostToolUse": "postToolUse",
        "PreToolUse": "preToolUse",
        "SessionStart": "agentSpawn",
        "Stop": "stop",
        "UserPromptSubmit": "userPromptSubmit",
    },
    is_flat=True,
    takes_json=False,
)
