"""OpenCode, as Hooktray's own plugin speaks for it: Claude-shaped JSON, sent and read by `plugin.js`.

In:  {"hook_event_name":"PreToolUse","opencode_plugin":1,"session_id":"ses_df95…","cwd":"/p","tool_name":"bash",
      "tool_input":{"command":"ls"},"tool_use_id":"call_0"}
Out: {"hookSpecificOutput":{"hookEventName":"PreToolUse","permissionDecision":"deny","permissionDecisionReason":"no"}}

What OpenCode makes of an answer is in `plugin.js`; measured with OpenCode 1.18.33. https://opencode.ai/docs/plugins
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from msgspec.structs import replace

from tray.agents.claude_shape.protocol import ShapedProtocol
from tray.agents.claude_shape.shape import ClaudeShape, Types
from tray.model.decision import HookOutput, Result, Verdict
from tray.model.event import Capability, Event, EventKind, EventSpec

ID = "opencode"
NAME = "OpenCode"
MARK = "opencode_plugin"  # the version of the payload's shape; no other agent sends this key
# OpenCode waits for its plugins without a limit, so the limits are the plugin's own. LONG is for what a person may be
# asked about; GOODBYE is how long the plugin holds up the end of OpenCode.
LONG, SHORT, GOODBYE = 600.0, 30.0, 5.0
DECIDES = Capability.ALLOW | Capability.ASK | Capability.DENY

EVENTS: Mapping[str, EventSpec] = {
    # The questions of the tool `question`. ASK needs no output: without an answer, the user answers.
    "Elicitation": EventSpec(
        kind=EventKind.ELICITATION,
        can=Capability.ASK | Capability.DENY | Capability.REWRITE_ANSWER,
        timeout=LONG,
        needs_you=True,
    ),
    "Interrupt": EventSpec(kind=EventKind.TURN_INTERRUPTED, timeout=SHORT),
    # ASK needs no output: without an answer, OpenCode asks the user.
    "PermissionRequest": EventSpec(
        kind=EventKind.PERMISSION_REQUEST, can=DECIDES, timeout=LONG, subject="tool_name", needs_you=True
    ),
    "PostCompact": EventSpec(kind=EventKind.COMPACT_AFTER, timeout=SHORT),
    # A refusal withholds the output from the model.
    "PostToolUse": EventSpec(
        kind=EventKind.TOOL_AFTER,
        can=Capability.DENY | Capability.REWRITE_OUTPUT | Capability.CONTEXT,
        timeout=LONG,
        subject="tool_name",
    ),
    "PostToolUseFailure": EventSpec(kind=EventKind.TOOL_FAILED, timeout=SHORT, subject="tool_name"),
    "PreCompact": EventSpec(kind=EventKind.COMPACT_BEFORE, can=Capability.CONTEXT, timeout=SHORT),
    # OpenCode's own question comes later and nothing in a plugin can make it ask, or not ask.
    "PreToolUse": EventSpec(
        kind=EventKind.TOOL_BEFORE,
        can=Capability.DENY | Capability.REWRITE_INPUT,
        timeout=LONG,
        subject="tool_name",
    ),
    # The end of a turn of `opencode run`, which quits then.
    "RunStop": EventSpec(kind=EventKind.TURN_END, timeout=SHORT),
    "SessionEnd": EventSpec(kind=EventKind.SESSION_END, timeout=GOODBYE, subject="reason"),
    "SessionStart": EventSpec(kind=EventKind.SESSION_START, can=Capability.CONTEXT, timeout=SHORT, subject="source"),
    "Stop": EventSpec(kind=EventKind.TURN_END, can=Capability.DENY, timeout=LONG),
    "StopFailure": EventSpec(kind=EventKind.TURN_FAILED, timeout=SHORT, subject="error"),
    "SubagentStart": EventSpec(
        kind=EventKind.SUBAGENT_START, can=Capability.CONTEXT, timeout=SHORT, subject="agent_type"
    ),
    "SubagentStop": EventSpec(kind=EventKind.SUBAGENT_END, timeout=SHORT, subject="agent_type"),
    "UserPromptSubmit": EventSpec(kind=EventKind.PROMPT, can=Capability.DENY | Capability.CONTEXT, timeout=LONG),
}

SUBAGENT = {
    "agent_id": "ses_df95001a2ffeP0fKq2mXw3Yd1Z",
    "agent_type": "general",
    "parent_session_id": "ses_df9505bb9ffeNn2miItCt29dw1",
}
QUESTION = {
    "question": "Which colour?",
    "header": "Colour",
    "options": [{"label": "Red", "description": "warm"}, {"label": "Blue", "description": "cold"}],
}
STOPPED = {"stop_hook_active": False, "last_assistant_message": "All tests pass."}
CALL = {
    "tool_name": "bash",
    "tool_input": {"command": "ls -la", "description": "List the files"},
    "tool_use_id": "call_0",
}
SAMPLES: Mapping[str, Mapping[str, Any]] = {
    "Elicitation": {"message": QUESTION["question"], "questions": [QUESTION]},
    "PermissionRequest": {**CALL, "message": "bash: ls -la", "permission": "bash"},
    "PostCompact": {},
    "PostToolUse": {**CALL, "tool_response": "README.md\n"},
    "PostToolUseFailure": {**CALL, "error": "The command timed out."},
    "PreCompact": {},
    "PreToolUse": CALL,
    "RunStop": STOPPED,
    "StopFailure": {"error": "APIError", "message": "The service is busy."},
    "SubagentStart": SUBAGENT,
    "SubagentStop": SUBAGENT | STOPPED,
    "UserPromptSubmit": {"prompt": "Fix the parser.", "model": "mock-model"},
}
ANY: tuple[type, ...] = (dict, list, str, bool, int, float, type(None))
FIELDS: Mapping[str, Types] = {"PostToolUse": {"updatedToolOutput": ANY}}

SHAPE = ClaudeShape(
    agent=ID,
    events=EVENTS,
    ends_with_newline=False,
    fields=FIELDS,
    json_on_any_exit=False,
    topic_words={EventKind.SESSION_END: ("other", "deleted"), EventKind.SESSION_START: ("startup", "resume")},
    takes_notes=False,
    samples=SAMPLES,
    sample_common={MARK: 1, "session_id": "ses_df9505bb9ffeNn2miItCt29dw1", "cwd": "/home/dev/project"},
)


class OpenCodeProtocol(ShapedProtocol, frozen=True):
    """A hook can allow only a permission. The plugin shows no notes: Hooktray's own alerts show them."""

    def read(self, event: Event, result: Result) -> HookOutput:
        output = super().read(event, result)
        is_permission = self.shape.kinds.get(self.hook_event_name(event)) is EventKind.PERMISSION_REQUEST
        if output.verdict is not Verdict.ALLOW or is_permission:
            return output
        return replace(output, verdict=Verdict.ABSTAIN)


PROTOCOL = OpenCodeProtocol(SHAPE)
