"""Grok's command line: Claude-shaped hooks in files of ~/.grok/hooks. Its payloads have each name in two spellings.

In:  {"hookEventName":"pre_tool_use","hook_event_name":"PreToolUse","sessionId":"s","session_id":"s","cwd":"/p",
      "workspaceRoot":"/p","timestamp":"2026-…","toolName":"run_terminal_command","tool_name":"run_terminal_command",
      "toolInput":{"command":"rm -rf build"},"tool_input":{"command":"rm -rf build"},…}
Out: {"hookSpecificOutput":{"hookEventName":"PreToolUse","permissionDecision":"deny","permissionDecisionReason":"no"}}

Seen with version 1.0.41, whose manual has its hooks in 10-hooks.md; https://docs.x.ai/build/features/hooks.md.
With --always-approve Grok answers an ask itself, so an ask becomes a refusal. It also reads the hook files of Claude
Code and of Cursor.
"""

from __future__ import annotations

import re
from collections.abc import Mapping

from msgspec.structs import replace

from tray.agents import wire
from tray.agents.agent import ENVELOPE, Marks, NativeTool, Payload, part, protected, timed
from tray.agents.claude_shape import CAPITALISED, claude_shaped
from tray.agents.claude_shape.protocol import ShapedProtocol
from tray.agents.claude_shape.settings import SettingsFile
from tray.agents.claude_shape.shape import ClaudeShape
from tray.model.decision import Answer, Decision, HookOutput, Result, Rewrite, Target, Verdict
from tray.model.event import Capability, Event, EventKind, EventSpec, RelayRequest

TIMEOUT = 600.0  # seconds, for our entries of events that can be refused
OBSERVED = 60.0  # seconds, for the others
USUAL = 5.0  # seconds, Grok's default
STOPS = Capability.CONTEXT | Capability.DENY | Capability.STOP
SPECS: Mapping[str, EventSpec] = {
    "Notification": EventSpec(kind=EventKind.NOTIFICATION, subject="notificationType"),
    "PermissionDenied": EventSpec(kind=EventKind.PERMISSION_DENIED, subject="tool_name"),
    "PostCompact": EventSpec(kind=EventKind.COMPACT_AFTER, subject="trigger"),
    "PostToolUse": EventSpec(
        kind=EventKind.TOOL_AFTER,
        can=Capability.CONTEXT | Capability.DENY | Capability.REWRITE_OUTPUT,
        subject="tool_name",
        after_the_fact=True,
        feedback_only=True,
    ),
    "PostToolUseFailure": EventSpec(
        kind=EventKind.TOOL_FAILED, can=Capability.CONTEXT, subject="tool_name", after_the_fact=True
    ),
    "PreCompact": EventSpec(kind=EventKind.COMPACT_BEFORE, subject="trigger"),
    "PreToolUse": EventSpec(
        kind=EventKind.TOOL_BEFORE,
        can=Capability.CONTEXT | Capability.DENY | Capability.REWRITE_INPUT,
        subject="tool_name",
    ),
    "SessionEnd": EventSpec(kind=EventKind.SESSION_END, subject="reason"),
    "SessionStart": EventSpec(kind=EventKind.SESSION_START, subject="source"),
    "Stop": EventSpec(kind=EventKind.TURN_END, can=STOPS),
    "StopCancelled": EventSpec(kind=EventKind.TURN_INTERRUPTED, subject="reason"),
    "StopFailure": EventSpec(kind=EventKind.TURN_FAILED, subject="error"),
    "SubagentStart": EventSpec(kind=EventKind.SUBAGENT_START, subject="agent_type"),
    "SubagentStop": EventSpec(kind=EventKind.SUBAGENT_END, can=STOPS, subject="agent_type"),
    "UserPromptSubmit": EventSpec(kind=EventKind.PROMPT, can=Capability.DENY),
}
EVENTS = timed(
    SPECS, OBSERVED, dict.fromkeys(("PostToolUse", "PreToolUse", "Stop", "SubagentStop", "UserPromptSubmit"), TIMEOUT)
)
# When a session ends, Grok sends another Stop, after which no turn can go on. EVENTS does not contain it.
AT_SESSION_END = "Stop at the session's end"
SESSION_REASONS = ("channel_closed", "shutdown")
NAME = "hookEventName"  # Grok's own spelling: pre_tool_use
# Claude Code's spelling of a field -> Grok's own. Of the first ones it sends both, of the others only its own.
SPELLINGS = {
    "session_id": "sessionId",
    "transcript_path": "transcriptPath",
    "permission_mode": "permissionMode",
    "tool_name": "toolName",
    "tool_input": "toolInput",
    "tool_use_id": "toolUseId",
    "tool_response": "toolResult",
    "agent_type": "subagentType",
    "last_assistant_message": "lastAssistantMessage",
    "notification_type": "notificationType",
    "stop_hook_active": "stopHookActive",
}

SHAPE = ClaudeShape(
    agent="grok",
    events=EVENTS,
    permissions={
        **dict.fromkeys(("allow", "approve", "defer"), Verdict.ABSTAIN),  # Grok asks its user nevertheless
        "ask": Verdict.ASK,
        **dict.fromkeys(("block", "deny"), Verdict.DENY),
    },
    refusal_words=("block", "deny"),
    verdict_words={
        **dict.fromkeys(("allow", "approve", "defer"), Verdict.ABSTAIN),
        "ask": Verdict.ASK,
    },
    takes_notes=False,
    checks_event_name=False,
    stop_ignored=frozenset(name for name, spec in EVENTS.items() if Capability.STOP not in spec.can),
    ends_with_newline=False,
    project_variables=("GROK_WORKSPACE_ROOT",),
    samples={"StopCancelled": {"reason": "user_interrupt", "cancelledBy": "user"}},
    sample_common={
        "sessionId": "3f0c2a51-7d1e-4b7a-9c52-5d0d0f6f2b11",
        "session_id": "3f0c2a51-7d1e-4b7a-9c52-5d0d0f6f2b11",
        "cwd": "/home/dev/project",
        "workspaceRoot": "/home/dev/project",
        "timestamp": "2026-11-28T22:20:12.485198704+00:00",
    },
)


class GrokProtocol(ShapedProtocol, frozen=True):
    """Grok reads only a refusal from a hook that fails, and requires the call's description in a new input."""

    def event_name(self, payload: Payload) -> str:
        words = wire.event_name(payload, NAME).split("_")
        name = wire.hook_event_name(payload, "") or "".join(word[:1].upper() + word[1:] for word in words)
        return AT_SESSION_END if name == "Stop" and payload.get("reason") in SESSION_REASONS else name

    def parse(self, request: RelayRequest, name: str, payload: Payload) -> Event:
        more = {key: payload[own] for key, own in SPELLINGS.items() if own in payload and key not in payload}
        event = super().parse(request, name, {**payload, **more})
        subagent = wire.text(payload, "subagentType")
        return replace(event, subagent=subagent) if subagent else event

    def render(self, event: Event, decision: Decision) -> Answer:
        rewrite, given = decision.rewrite, event.tool.input if event.tool else {}
        if rewrite and isinstance(rewrite.value, Mapping) and "description" in given and event.name == "PreToolUse":
            described = {"description": given["description"], **rewrite.value}
            decision = replace(decision, rewrite=Rewrite(target=Target.INPUT, value=described))
        return super().render(event, decision)

    def read(self, event: Event, result: Result) -> HookOutput:
        output = super().read(event, result)
        return replace(output, rewrite=None, context="") if result.code else output

    def sample(self, name: str) -> bytes:
        own = re.sub(r"(?<!^)(?=[A-Z])", "_", name).lower()
        return wire.dumps({NAME: own, **wire.mapping(super().sample(name))})


def _is_sender(payload: Payload) -> bool:
    own = {NAME, SPELLINGS["tool_input"], SPELLINGS["tool_name"]}
    return "workspaceRoot" in payload and not payload.keys().isdisjoint(own)


AGENT = claude_shaped(
    name="Grok CLI",
    shape=SHAPE,
    file=SettingsFile(
        folder=".grok",
        name="hooks/hooktray.json",
        timeout=USUAL,
        timeouts={
            **dict.fromkeys(("PostToolUse", "Stop", "SubagentStop"), 600.0),
            "UserPromptSubmit": 30.0,
        },
        handler_types=("command", "http"),
    ),
    protocol=GrokProtocol(SHAPE),
    tools={
        "Bash": NativeTool("run_terminal_command"),
        "Edit": NativeTool("search_replace"),
        "Glob": NativeTool("list_dir"),
        "Grep": NativeTool("grep"),
        "Read": NativeTool("read_file", {"file_path": ("target_file",)}),
        "Task": NativeTool("spawn_subagent"),
        "WebSearch": NativeTool("web_search"),
        "Write": NativeTool("write"),
    },
    marks=Marks(
        keys=("workspaceRoot",),
        is_sender=_is_sender,
        is_alike=_is_sender,
        event_names=CAPITALISED,
        variables=("GROK_WORKSPACE_ROOT",),
    ),
    programs=frozenset({"grok"}),
    variables=frozenset({"GROK_WORKSPACE_ROOT"}),
    protected=(
        protected(
            "a hook file of Grok CLI",
            r".*/\.grok/(?:hooks(?:/.*)?|(?:config|managed_config|requirements|trusted_folders)\.toml"
            r"|disabled-hooks)",
        ),
    ),
    envelope=ENVELOPE | {*SPELLINGS.values(), NAME, "promptId", "workspaceRoot"} - {"toolInput", "toolResult"},
    guarded_members={"*/.grok/config.toml": re.compile("folder_trust|hooks", re.IGNORECASE)},
    runs_own=part("tray.agents.native_runs:in_folder"),
    importer=None,
    import_hint="name your files of ~/.grok/hooks in `sources` of hooktray.yaml, and move them to another folder",
)
