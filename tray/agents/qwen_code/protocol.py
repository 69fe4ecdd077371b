"""Qwen Code: what it sends and takes, in version 0.24 and in 0.15, which knows fewer events.

In:  {"session_id":…,"transcript_path":"….qwen/projects/…/chats/<session>.jsonl","cwd":…,
      "hook_event_name":"PreToolUse","timestamp":"2026-…","permission_mode":"default",
      "tool_name":"run_shell_command","tool_input":{"command":"ls"},"tool_use_id":"toolu_…"}
Out: {"hookSpecificOutput":{"hookEventName":"PreToolUse","permissionDecision":"deny","permissionDecisionReason":"no"}}
     Measured with 0.24.4 and 0.15.10. https://qwenlm.github.io/qwen-code-docs/en/users/features/hooks/
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from msgspec.structs import replace

from tray.agents.agent import timed
from tray.agents.claude_shape.protocol import ShapedProtocol
from tray.agents.claude_shape.settings import SettingsFile
from tray.agents.claude_shape.shape import ClaudeShape, Exit2, RefusalStyle, twice
from tray.model.decision import HookOutput, Result, Verdict
from tray.model.event import Capability, Event, EventKind, EventSpec, RelayRequest

ID = "qwen-code"
NAME = "Qwen Code"
LONG = 60.0  # seconds: Qwen Code goes on after it, whatever the entry's limit is
BATCH = 15.0  # the same, after a batch of tools
CAN_ANSWER = Capability.DENY | Capability.STOP
# Before a tool `allow` has no effect: Qwen Code's own question, if any, was answered already.
PERMISSIONS = {"allow": Verdict.ABSTAIN, "ask": Verdict.ASK, "deny": Verdict.DENY}
# STOP is listed where `continue: false` ends the turn, or silence does. Nowhere NOTE: no user sees a `systemMessage`.
SPECS: Mapping[str, EventSpec] = {
    "InstructionsLoaded": EventSpec(kind=EventKind.INSTRUCTIONS_LOADED),
    "MessageDisplay": EventSpec(kind=EventKind.MESSAGE_DISPLAY),
    "Notification": EventSpec(kind=EventKind.NOTIFICATION, subject="notification_type"),
    "PermissionDenied": EventSpec(kind=EventKind.PERMISSION_DENIED, subject="tool_name"),
    # ASK needs no output: without an answer, the agent asks the user.
    "PermissionRequest": EventSpec(
        kind=EventKind.PERMISSION_REQUEST,
        can=Capability.DENY | Capability.ALLOW | Capability.ASK | Capability.REWRITE_INPUT,
        subject="tool_name",
    ),
    "PostCompact": EventSpec(kind=EventKind.COMPACT_AFTER, subject="trigger"),
    "PostToolBatch": EventSpec(kind=EventKind.TOOL_BATCH, can=CAN_ANSWER | Capability.CONTEXT),
    "PostToolUse": EventSpec(
        kind=EventKind.TOOL_AFTER, can=Capability.DENY | Capability.CONTEXT, subject="tool_name", after_the_fact=True
    ),
    "PostToolUseFailure": EventSpec(
        kind=EventKind.TOOL_FAILED, can=Capability.CONTEXT, subject="tool_name", after_the_fact=True
    ),
    "PreCompact": EventSpec(kind=EventKind.COMPACT_BEFORE, can=Capability.CONTEXT, subject="trigger"),
    "PreToolUse": EventSpec(kind=EventKind.TOOL_BEFORE, can=Capability.DENY | Capability.ASK, subject="tool_name"),
    "SessionEnd": EventSpec(kind=EventKind.SESSION_END, subject="reason"),
    "SessionStart": EventSpec(kind=EventKind.SESSION_START, can=Capability.CONTEXT, subject="source"),
    "Stop": EventSpec(kind=EventKind.TURN_END, can=CAN_ANSWER),
    "StopFailure": EventSpec(kind=EventKind.TURN_FAILED, subject="error"),
    "SubagentStart": EventSpec(kind=EventKind.SUBAGENT_START, can=Capability.CONTEXT, subject="agent_type"),
    "SubagentStop": EventSpec(kind=EventKind.SUBAGENT_END, can=CAN_ANSWER, subject="agent_type"),
    "TodoCompleted": EventSpec(kind=EventKind.TASK_COMPLETED, can=Capability.DENY),
    "TodoCreated": EventSpec(kind=EventKind.TASK_CREATED, can=Capability.DENY),
    "UserPromptExpansion": EventSpec(
        kind=EventKind.PROMPT_EXPANSION, can=CAN_ANSWER | Capability.CONTEXT, subject="command_name"
    ),
    "UserPromptSubmit": EventSpec(kind=EventKind.PROMPT, can=CAN_ANSWER | Capability.CONTEXT),
}
EVENTS = timed(SPECS, LONG, {"PostToolBatch": BATCH})
UNCONNECTED_EVENTS: Mapping[str, str] = {
    "MessageDisplay": "comes several times for each message",
}
# There `continue: false` refuses one call or one end, as `decision: block` does on other events.
STOP_REFUSES = frozenset({"PostToolUse", "PreToolUse", "Stop", "SubagentStop"})
HALTING = frozenset(name for name, spec in EVENTS.items() if Capability.STOP in spec.can)

SESSION = "3b137d64-23a4-48a0-95a7-745a777a6328"
TODO = {"todo_id": "1", "todo_content": "Fix the parser.", "all_todos": [], "phase": "validation"}
CALL = {"tool_name": "run_shell_command", "tool_input": {"command": "ls -la", "is_background": False}}
SAMPLES: Mapping[str, Mapping[str, Any]] = {
    "InstructionsLoaded": {
        "file_path": "/home/dev/project/QWEN.md", "memory_type": "project", "load_reason": "session_start",
    },
    "MessageDisplay": {"message_id": "m1", "displayed_text": "All tests pass.", "is_final": True},
    "PermissionDenied": {**CALL, "tool_use_id": "toolu_1", "reason": "not in this folder"},
    "PostToolBatch": {"tool_calls": [{**CALL, "tool_use_id": "call_0", "status": "success"}]},
    "PostToolUse": {
        **CALL, "tool_response": {"llmContent": "README.md", "returnDisplay": "README.md"}, "tool_use_id": "toolu_1",
    },
    "StopFailure": {"error": "loop_detected", "last_assistant_message": "Again."},
    "TodoCompleted": TODO | {"previous_status": "in_progress"},
    "TodoCreated": TODO | {"todo_status": "pending"},
    "UserPromptExpansion": {"command_name": "review", "command_args": "main", "prompt": "Review main."},
    "UserPromptSubmit": {"prompt": "Fix the parser.", "submitted_prompt": "Fix the parser."},
}  # fmt: skip


SHAPE = ClaudeShape(
    agent=ID,
    events=EVENTS,
    messages={
        "MessageDisplay": ("displayed_text",),
        "PermissionDenied": ("reason",),
        "PostCompact": ("compact_summary",),
        "StopFailure": ("last_assistant_message", "error_details"),
        "TodoCompleted": ("todo_content",),
        "TodoCreated": ("todo_content",),
    },
    refusals={"PostToolUse": RefusalStyle.STOP},  # it ignores `decision: block` there
    refusal_words=("block", "deny"),
    permissions=PERMISSIONS,
    verdict_words={**PERMISSIONS, "approve": Verdict.ABSTAIN},
    checks_event_name=False,
    exit_2=Exit2.WITH_STDERR,
    text_context=frozenset({"SessionStart", "UserPromptExpansion", "UserPromptSubmit"}),
    stop_refuses=STOP_REFUSES,
    stop_ignored=frozenset(EVENTS) - HALTING - STOP_REFUSES,
    topic_words={
        EventKind.SESSION_END: ("other", "clear", "logout", "prompt_input_exit"),
        EventKind.SESSION_START: ("startup", "resume", "clear", "compact"),
    },
    shows_stop_only=True,
    output_from_text=twice,
    ends_with_newline=False,
    project_variables=("QWEN_PROJECT_DIR", "GEMINI_PROJECT_DIR", "CLAUDE_PROJECT_DIR"),
    session_variables=("QWEN_CODE_SESSION_ID",),
    samples=SAMPLES,
    sample_common={
        "session_id": SESSION,
        "transcript_path": f"/home/dev/.qwen/projects/-home-dev-project/chats/{SESSION}.jsonl",
        "cwd": "/home/dev/project",
        "timestamp": "2026-11-22T11:15:01.506Z",
        "permission_mode": "default",
    },
)
SETTINGS = SettingsFile(
    folder=".qwen",
    variable="QWEN_HOME",
    off_switch="disableAllHooks",
    takes_comments=True,
    timeout=LONG,
    milliseconds_from=1000,
    writes_milliseconds=True,  # 0.15 reads each number as milliseconds
    handler_types=("command", "http", "prompt"),
    unconnected_events=UNCONNECTED_EVENTS,
)


class QwenProtocol(ShapedProtocol, frozen=True):
    """After each batch of tools it sends UserPromptSubmit without a prompt. Its hooks may answer on stderr."""

    def parse(self, request: RelayRequest, name: str, payload: Mapping[str, Any]) -> Event:
        event = super().parse(request, name, payload)
        is_continued = event.kind is EventKind.PROMPT and payload.get("prompt") == ""
        return replace(event, kind=EventKind.MODEL_BEFORE) if is_continued else event

    def read(self, event: Event, result: Result) -> HookOutput:
        """It reads stderr only at exit 2, and else whenever there is nothing on stdout."""
        if result.code != 2 and result.stdout.strip():
            return super().read(event, result)
        is_answer = result.stderr.strip().startswith(b"{")
        if not is_answer:
            return super().read(event, replace(result, stdout=b""))
        code = 0 if result.code == 2 else result.code  # an answer outweighs it
        return super().read(event, replace(result, stdout=result.stderr, code=code))


PROTOCOL = QwenProtocol(SHAPE)
