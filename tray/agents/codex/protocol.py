"""Codex: Claude-shaped hooks with a closed answer format. An answer with one unknown key counts for nothing.

In:  {"session_id":…,"turn_id":…,"transcript_path":"….codex/sessions/…/rollout-….jsonl","cwd":…,
      "hook_event_name":"PreToolUse","model":…,"permission_mode":"default","tool_name":"Bash",
      "tool_input":{"command":"ls"},"tool_use_id":"call_1"}
Out: {"hookSpecificOutput":{"hookEventName":"PreToolUse","permissionDecision":"deny","permissionDecisionReason":"no"}}
     To allow is to print nothing. https://learn.chatgpt.com/docs/hooks; measured with Codex 0.169.0.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from msgspec.structs import replace

from tray.agents.claude_shape.protocol import ShapedProtocol
from tray.agents.claude_shape.settings import SettingsFile
from tray.agents.claude_shape.shape import ClaudeShape, Exit2, Types
from tray.model.decision import HookOutput, Result, Verdict
from tray.model.event import Capability, Event, EventKind, EventSpec

ID = "codex"
NAME = "Codex"
SHORT = 3.0  # seconds: the longest that a session's end or an interrupt waits, whatever the entry's limit is
CAN_REFUSE = Capability.DENY | Capability.NOTE
CAN_INFORM = Capability.CONTEXT | Capability.NOTE
CAN_HALT = Capability.STOP | Capability.NOTE

EVENTS: Mapping[str, EventSpec] = {
    "Interrupt": EventSpec(kind=EventKind.TURN_INTERRUPTED, timeout=SHORT),
    # ASK needs no output: without an answer, the agent asks the user.
    "PermissionRequest": EventSpec(
        kind=EventKind.PERMISSION_REQUEST,
        can=CAN_REFUSE | Capability.ALLOW | Capability.ASK,
        subject="tool_name",
        needs_you=True,
    ),
    "PostCompact": EventSpec(kind=EventKind.COMPACT_AFTER, can=CAN_HALT, subject="trigger"),
    # `continue: false` does what `decision: block` does there: the model reads the reason, and goes on.
    "PostToolUse": EventSpec(
        kind=EventKind.TOOL_AFTER,
        can=CAN_REFUSE | CAN_INFORM,
        subject="tool_name",
        after_the_fact=True,
    ),
    "PreCompact": EventSpec(kind=EventKind.COMPACT_BEFORE, can=CAN_HALT, subject="trigger"),
    # An `ask` is an error there, and the tool runs. So is `continue: false`.
    "PreToolUse": EventSpec(
        kind=EventKind.TOOL_BEFORE, can=CAN_REFUSE | CAN_INFORM | Capability.REWRITE_INPUT, subject="tool_name"
    ),
    "SessionEnd": EventSpec(kind=EventKind.SESSION_END, timeout=SHORT, subject="reason"),
    "SessionStart": EventSpec(kind=EventKind.SESSION_START, can=CAN_INFORM | CAN_HALT, subject="source"),
    "Stop": EventSpec(kind=EventKind.TURN_END, can=CAN_REFUSE | CAN_HALT),
    "SubagentStart": EventSpec(kind=EventKind.SUBAGENT_START, can=CAN_INFORM, subject="agent_type"),
    "SubagentStop": EventSpec(kind=EventKind.SUBAGENT_END, can=CAN_REFUSE | CAN_HALT, subject="agent_type"),
    "UserPromptSubmit": EventSpec(kind=EventKind.PROMPT, can=CAN_REFUSE | CAN_INFORM | CAN_HALT),
}

SESSION = "01a1fac0-9dd1-7c51-8899-950df7c4abbd"
TURN = {"turn_id": "01a1fac0-9e35-7ce1-b988-addf943ff003", "model": "gpt-5", "permission_mode": "default"}
CALL = {**TURN, "tool_name": "Bash", "tool_input": {"command": "ls -la"}}
STOPPED = {**TURN, "stop_hook_active": False, "last_assistant_message": "All tests pass."}
SUBAGENT = {"agent_id": "01a1fac0-aaaa-7ce1-b988-addf943ff003", "agent_type": "explorer"}
SAMPLES: Mapping[str, Mapping[str, Any]] = {
    "Interrupt": TURN,
    "PermissionRequest": CALL,
    "PostCompact": {"turn_id": TURN["turn_id"], "model": TURN["model"], "trigger": "auto"},
    "PostToolUse": {**CALL, "tool_response": "README.md\n", "tool_use_id": "call_1"},
    "PreCompact": {"turn_id": TURN["turn_id"], "model": TURN["model"], "trigger": "auto"},
    "PreToolUse": {**CALL, "tool_use_id": "call_1"},
    "SessionStart": {"model": TURN["model"], "permission_mode": "default", "source": "startup"},
    "Stop": STOPPED,
    "SubagentStart": {**TURN, **SUBAGENT},
    "SubagentStop": {**STOPPED, **SUBAGENT, "agent_transcript_path": None},
    "UserPromptSubmit": {**TURN, "prompt": "Fix the parser."},
}
ANY: tuple[type, ...] = (dict, list, str, bool, int, float, type(None))
FIELDS: Mapping[str, Types] = {"PostToolUse": {"updatedMCPToolOutput": ANY}}

SHAPE = ClaudeShape(
    agent=ID,
    events=EVENTS,
    rewrite_needs_allow=True,
    fields=FIELDS,
    rejects_unknown_keys=True,
    json_on_any_exit=False,
    exit_2=Exit2.WITH_STDERR,
    text_context=frozenset({"SessionStart", "UserPromptSubmit"}),
    # On these events only the end of the session or what a person does can be reported.
    topic_words={
        EventKind.SESSION_END: ("other",),
        EventKind.SESSION_START: ("startup", "resume", "clear", "compact", "fork"),
    },
    ends_with_newline=False,
    samples=SAMPLES,
    sample_common={
        "session_id": SESSION,
        "transcript_path": f"/home/dev/.codex/sessions/2026/11/20/rollout-2026-11-20T20-58-09-{SESSION}.jsonl",
        "cwd": "/home/dev/project",
    },
)
SETTINGS = SettingsFile(
    folder=".codex",
    name="hooks.json",
    variable="CODEX_HOME",
    timeouts={"Interrupt": 1.0, "SessionEnd": 1.0},
    handler_types=("command", "agent", "mcp_tool", "prompt"),
    restart_hint=(
        "Codex runs no entry that you have not trusted: start Codex, type `/hooks` and trust those of Hooktray. It "
        "asks again only when an entry changes."
    ),
)


class CodexProtocol(ShapedProtocol, frozen=True):
    """Codex rejects such an answer as a whole, so the hook gave none."""

    def read(self, event: Event, result: Result) -> HookOutput:
        output = super().read(event, result)
        if output.problem or self.hook_event_name(event) != "PreToolUse":
            return output
        if output.stop is not None:
            return HookOutput(problem="output stops the session, which the agent rejects before a tool")
        if (output.verdict is Verdict.ALLOW) is not (output.rewrite is not None):
            return output if output.verdict is Verdict.DENY else _half(output)
        return replace(output, verdict=Verdict.ABSTAIN) if output.rewrite else output


def _half(output: HookOutput) -> HookOutput:
    """A new input counts only with an allow, and an allow only with a new input."""
    missing = "an allow" if output.rewrite else "a new input"
    return HookOutput(problem=f"output lacks {missing}, without which the agent rejects it")


PROTOCOL = CodexProtocol(SHAPE)
