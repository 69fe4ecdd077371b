"""Kimi Code: Claude-shaped events, of which three can be refused, and settings in TOML.

In:  {"hook_event_name":"PreToolUse","session_id":"session_…","cwd":…,"client_type":"kimi_code_cli",
      "tool_name":"Bash","tool_input":{"command":"ls"},"tool_call_id":"call_0"}
Out: {"hookSpecificOutput":{"hookEventName":"PreToolUse","permissionDecision":"deny","permissionDecisionReason":"no"}}
     {"message":"…"} adds context to a prompt. Measured with 2.1.0. https://moonshotai.github.io/kimi-code/
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from msgspec.structs import replace

from tray.agents import lenient, wire
from tray.agents.agent import AnswerWords
from tray.agents.claude_shape.protocol import ShapedProtocol
from tray.agents.claude_shape.settings import SettingsFile
from tray.agents.claude_shape.shape import ClaudeShape, PayloadKeys, RefusalStyle
from tray.model.decision import Answer, Decision, HookOutput, Result, Verdict
from tray.model.event import Capability, Event, EventKind, EventSpec, RelayRequest

ID = "kimi-code"
NAME = "Kimi Code"
SHORT = 30.0
CLIENT = "client_type"
CLIENTS = ("kimi_code_cli",)
PROMPT = "UserPromptSubmit"
KNOWN_KEYS = ("hookSpecificOutput", "message", "permissionDecision", "permissionDecisionReason")
ANSWERS = AnswerWords(
    keys=frozenset(KNOWN_KEYS),
    verdicts={"permissionDecision": {"allow": Verdict.ABSTAIN, "ask": Verdict.ABSTAIN, "deny": Verdict.DENY}},
)
REFUSABLE = ("PreToolUse", "Stop", PROMPT)

# It waits for the answers of three events only.
EVENTS: Mapping[str, EventSpec] = {
    "Interrupt": EventSpec(kind=EventKind.TURN_INTERRUPTED, timeout=SHORT),
    "Notification": EventSpec(kind=EventKind.NOTIFICATION, timeout=SHORT, subject="notification_type"),
    "PermissionRequest": EventSpec(
        kind=EventKind.PERMISSION_REQUEST, timeout=SHORT, subject="tool_name", needs_you=True
    ),
    "PostCompact": EventSpec(kind=EventKind.COMPACT_AFTER, timeout=SHORT, subject="trigger"),
    "PostToolUse": EventSpec(kind=EventKind.TOOL_AFTER, timeout=SHORT, subject="tool_name", after_the_fact=True),
    "PostToolUseFailure": EventSpec(
        kind=EventKind.TOOL_FAILED, timeout=SHORT, subject="tool_name", after_the_fact=True
    ),
    "PreCompact": EventSpec(kind=EventKind.COMPACT_BEFORE, timeout=SHORT, subject="trigger"),
    "PreToolUse": EventSpec(kind=EventKind.TOOL_BEFORE, can=Capability.DENY, subject="tool_name"),
    "SessionEnd": EventSpec(kind=EventKind.SESSION_END, timeout=SHORT, subject="reason"),
    "SessionStart": EventSpec(kind=EventKind.SESSION_START, timeout=SHORT, subject="source"),
    "Stop": EventSpec(kind=EventKind.TURN_END, can=Capability.DENY),
    "StopFailure": EventSpec(kind=EventKind.TURN_FAILED, timeout=SHORT, subject="error_type"),
    "SubagentStart": EventSpec(kind=EventKind.SUBAGENT_START, timeout=SHORT, subject="agent_name"),
    "SubagentStop": EventSpec(kind=EventKind.SUBAGENT_END, timeout=SHORT, subject="agent_name"),
    PROMPT: EventSpec(kind=EventKind.PROMPT, can=Capability.DENY | Capability.CONTEXT),
}

SESSION = "session_90603055-c424-4e4b-9dd9-2da8313e8dad"
CALL = {"tool_name": "Bash", "tool_input": {"command": "ls -la", "description": "List the files."}}
SAMPLES: Mapping[str, Mapping[str, Any]] = {
    "Interrupt": {"turn_id": 0, "reason": "cancelled"},
    "Notification": {"notification_type": "task.completed", "title": "Task completed", "body": "The build is done."},
    "PermissionRequest": {"turn_id": 0, **CALL, "tool_call_id": "call_0", "action": "execute"},
    "PostToolUse": {**CALL, "tool_call_id": "call_0", "tool_output": "README.md"},
    "PostToolUseFailure": {
        **CALL,
        "tool_call_id": "call_0",
        "error": {"code": "internal", "message": "Exit code 3", "retryable": False},
    },
    "SessionEnd": {"reason": "exit"},
    "SessionStart": {"source": "startup", "model": "kimi-k3", "profile": "agent"},
    "Stop": {"stop_hook_active": False},
    "StopFailure": {"error_type": "ProviderError", "error_message": "The provider is overloaded."},
    "SubagentStart": {"agent_name": "coder", "prompt": "Fix the parser."},
    "SubagentStop": {"agent_name": "coder", "response": "All tests pass."},
    PROMPT: {"prompt": [{"type": "text", "text": "Fix the parser."}], "is_steer": False},
}

SHAPE = ClaudeShape(
    agent=ID,
    events=EVENTS,
    ends_with_newline=False,
    keys=PayloadKeys(call="tool_call_id", output="tool_output"),
    titles={"Notification": ("title",)},
    messages={
        "Notification": ("body",),
        "StopFailure": ("error_message",),
        "SubagentStop": ("response",),
    },
    refusals=dict.fromkeys(REFUSABLE, RefusalStyle.PERMISSION),
    text_context=frozenset({PROMPT}),
    stop_ignored=frozenset(EVENTS),
    topic_words={
        EventKind.SESSION_END: ("exit", "archive"),
        EventKind.SESSION_START: ("startup", "resume"),
    },
    samples=SAMPLES,
    sample_common={"session_id": SESSION, "cwd": "/home/dev/project", CLIENT: CLIENTS[0]},
)
SETTINGS = SettingsFile(
    folder=".kimi-code",
    name="config.toml",
    variable="KIMI_CODE_HOME",
    timeout=SHORT,
    restart_hint="Kimi Code takes it up in new sessions.",
)


class KimiProtocol(ShapedProtocol, frozen=True):
    """Its prompts are lists of parts. What a hook prints is added to a prompt: of JSON the `message`, if any."""

    def parse(self, request: RelayRequest, name: str, payload: Mapping[str, Any]) -> Event:
        event = super().parse(request, name, payload)
        agent = wire.text(payload, "agent_name")
        texts = [wire.text(part, "text") for part in wire.objects(payload, "prompt")]
        changes: dict[str, Any] = wire.non_empty(prompt=" ".join(filter(None, texts)), subagent=agent)
        return replace(event, **changes) if changes else event

    def render(self, event: Event, decision: Decision) -> Answer:
        """Nothing but a refusal and context is written: it would add any other JSON to the prompt."""
        if decision.verdict is not Verdict.DENY and event.name == PROMPT:
            return Answer(stdout=wire.dumps_line({"message": decision.context}) if decision.context else b"")
        return super().render(event, replace(decision, notes=(), context="", extra=()))

    def read(self, event: Event, result: Result) -> HookOutput:
        """Exit 2 refuses, whatever was printed. Else only `permissionDecision: deny` and a `message` count."""
        if problem := wire.exit_problem(result):
            return HookOutput(problem=problem)
        if result.code == 2:
            return HookOutput(verdict=Verdict.DENY, reason=wire.stderr(result))
        if result.code != 0:
            return HookOutput(problem=wire.start_problem(result) or f"exit {result.code}")
        text, is_prompt = lenient.text(result.stdout), self.hook_event_name(event) == PROMPT
        try:
            answer = lenient.mapping(text, KNOWN_KEYS) if text.startswith("{") else None
        except lenient.TooDeepError as error:
            return HookOutput(problem=f"output is {error}")
        except ValueError:
            answer = None
        if answer is None:
            return HookOutput(context=text if is_prompt else "")
        specific, message = wire.nested(answer, "hookSpecificOutput"), wire.text(answer, "message")
        if specific.get("permissionDecision") == "deny":
            reason = wire.text(specific, "permissionDecisionReason") or message
            return HookOutput(verdict=Verdict.DENY, reason=reason)
        return HookOutput(context=(message or text) if is_prompt and answer else "")


PROTOCOL = KimiProtocol(SHAPE)
