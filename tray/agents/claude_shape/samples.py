"""A synthetic payload for each event of a Claude-shaped agent, as the relay gets it."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from tray.agents import tools, wire
from tray.agents.claude_shape.shape import ClaudeShape
from tray.model.event import EventKind

HOME = "/home/dev/project"
SESSION = "3f0c2a51-7d1e-4b7a-9c52-5d0d0f6f2b11"
SUBAGENT = {"agent_id": "a43263d655169d4b4", "agent_type": "general-purpose"}
STOPPED = {"stop_hook_active": False, "last_assistant_message": "All tests pass."}
BY_KIND: Mapping[EventKind, Mapping[str, Any]] = {
    EventKind.COMPACT_AFTER: {"trigger": "auto"},
    EventKind.COMPACT_BEFORE: {"trigger": "auto"},
    EventKind.NOTIFICATION: {"message": "The agent waits for you.", "notification_type": "idle_prompt"},
    EventKind.PROMPT: {"prompt": "Fix the parser."},
    EventKind.SESSION_END: {"reason": "other"},
    EventKind.SESSION_START: {"source": "startup"},
    EventKind.SUBAGENT_END: SUBAGENT | STOPPED,
    EventKind.SUBAGENT_START: SUBAGENT,
    EventKind.TURN_END: STOPPED,
    EventKind.TURN_FAILED: {"error": "rate_limit"},
}
CALLS = (
    *(EventKind.PERMISSION_DENIED, EventKind.PERMISSION_REQUEST, EventKind.TOOL_AFTER, EventKind.TOOL_BEFORE),
    EventKind.TOOL_FAILED,
)


def sample(shape: ClaudeShape, name: str) -> bytes:
    """Raises KeyError for an event without one."""
    fields = shape.samples[name] if name in shape.samples else _by_kind(shape, shape.events[name].kind)
    common = shape.sample_common or {
        shape.keys.session: SESSION,
        "transcript_path": f"/home/dev/.{shape.agent}/sessions/{SESSION}.jsonl",
        shape.keys.cwd: HOME,
    }
    return wire.dumps_line({**common, shape.keys.event: name, **fields})


def _by_kind(shape: ClaudeShape, kind: EventKind) -> Mapping[str, Any]:
    return _call(shape, kind) if kind in CALLS else BY_KIND.get(kind, {})


def _call(shape: ClaudeShape, kind: EventKind) -> Mapping[str, Any]:
    keys = shape.keys
    shell, input = tools.native(shape.agent, "Bash"), tools.native_input(shape.agent, "Bash", {"command": "ls -la"})
    call = {keys.tool: shell, keys.input: input, keys.call: "call_01"}
    if kind is EventKind.TOOL_AFTER:
        return call | {keys.output: shape.output_from_text("Bash", input, "README.md")}
    return call | {keys.error: "Exit code 3"} if kind is EventKind.TOOL_FAILED else call
