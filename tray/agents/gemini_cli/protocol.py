"""Gemini CLI: what it sends and takes.

In:  {"session_id":…,"transcript_path":"….gemini/tmp/…/chats/session-….jsonl","cwd":…,"hook_event_name":"BeforeTool",
      "timestamp":"2026-…","tool_name":"run_shell_command","tool_input":{"command":"ls"}}
Out: {"decision":"deny","reason":"no"}; {"hookSpecificOutput":{"hookEventName":"BeforeTool","tool_input":{…}}}
     Measured with 0.61.0. https://geminicli.com/docs/hooks/reference/
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from msgspec.structs import replace

from tray.agents import lenient, wire
from tray.agents.claude_shape.protocol import ShapedProtocol
from tray.agents.claude_shape.settings import SettingsFile
from tray.agents.claude_shape.shape import REWRITE_KEYS, ClaudeShape, Exit2, RefusalStyle, Types, twice
from tray.model.decision import HookOutput, Result, Target, Verdict
from tray.model.event import Capability, Event, EventKind, EventSpec, Tool

ID = "gemini-cli"
NAME = "Gemini CLI"
SHORT = 60.0  # seconds, where the user cannot be asked
CAN_ANSWER = Capability.DENY | Capability.STOP | Capability.NOTE
# Gemini CLI itself knows no limit: it waits as long as the entry's limit.
# Before a tool, `ask` is a question in a terminal; a session without one then waits for ever. So it is not sent.
EVENTS: Mapping[str, EventSpec] = {
    "AfterAgent": EventSpec(kind=EventKind.TURN_END, can=CAN_ANSWER, extras=("clearContext",)),
    "AfterModel": EventSpec(kind=EventKind.MODEL_AFTER, can=CAN_ANSWER, timeout=SHORT, extras=("llm_response",)),
    "AfterTool": EventSpec(
        kind=EventKind.TOOL_AFTER,
        can=CAN_ANSWER | Capability.CONTEXT,
        subject="tool_name",
        after_the_fact=True,
        extras=("tailToolCallRequest",),
    ),
    "BeforeAgent": EventSpec(kind=EventKind.PROMPT, can=CAN_ANSWER | Capability.CONTEXT),
    "BeforeModel": EventSpec(
        kind=EventKind.MODEL_BEFORE, can=CAN_ANSWER, timeout=SHORT, extras=("llm_request", "llm_response")
    ),
    "BeforeTool": EventSpec(
        kind=EventKind.TOOL_BEFORE, can=CAN_ANSWER | Capability.REWRITE_INPUT, subject="tool_name"
    ),
    "Notification": EventSpec(kind=EventKind.NOTIFICATION, timeout=SHORT),
    "PreCompress": EventSpec(kind=EventKind.COMPACT_BEFORE, timeout=SHORT, subject="trigger"),
    "SessionEnd": EventSpec(kind=EventKind.SESSION_END, timeout=SHORT, subject="reason"),
    "SessionStart": EventSpec(
        kind=EventKind.SESSION_START, can=Capability.CONTEXT | Capability.NOTE, timeout=SHORT, subject="source"
    ),
}
UNCONNECTED_EVENTS: Mapping[str, str] = {
    "AfterModel": "comes for each piece of the model's answer",
    "BeforeModel": "comes with the whole conversation before each request to the model",
    "PreCompress": "comes before each request to the model, whether or not anything is compressed",
}
# Before a tool `allow` has no effect: Gemini CLI asks its own question all the same.
DECISIONS = {"allow": Verdict.ABSTAIN, "approve": Verdict.ABSTAIN, "ask": Verdict.ASK}
FIELDS: Mapping[str, Types] = {
    "AfterAgent": {"clearContext": (bool,)},
    "AfterModel": {"llm_response": (dict,)},
    "AfterTool": {"tailToolCallRequest": (dict,)},
    "BeforeModel": {"llm_request": (dict,), "llm_response": (dict,)},
}

SESSION = "7301d4fb-4c65-4f3b-a194-ec0d3e87b6a7"
CALL = {"tool_name": "run_shell_command", "tool_input": {"command": "ls -la", "description": "List the files."}}
REQUEST = {"model": "gemini-3-pro", "messages": [{"role": "user", "content": "Fix the parser."}], "config": {}}
ANSWERED = {"text": "Done.", "candidates": [{"content": {"role": "model", "parts": ["Done."]}, "index": 0}]}
SAMPLES: Mapping[str, Mapping[str, Any]] = {
    "AfterAgent": {"prompt": "Fix the parser.", "prompt_response": "All tests pass.", "stop_hook_active": False},
    "AfterModel": {"llm_request": REQUEST, "llm_response": ANSWERED},
    "AfterTool": {**CALL, "tool_response": {"llmContent": "README.md", "returnDisplay": "README.md"}},
    "BeforeModel": {"llm_request": REQUEST},
    "BeforeTool": CALL,
    "Notification": {
        "notification_type": "ToolPermission",
        "message": "Tool Confirm Shell Command requires execution",
        "details": {"type": "exec", "title": "Confirm Shell Command", "command": "ls -la", "rootCommand": "ls"},
    },
    "SessionEnd": {"reason": "exit"},
}

SHAPE = ClaudeShape(
    agent=ID,
    events=EVENTS,
    topics={"Notification": "notification_type"},
    messages={"AfterAgent": ("prompt_response",)},
    refusals={"BeforeTool": RefusalStyle.BLOCK},
    refusal_words=("deny", "block"),
    verdict_words=DECISIONS,
    rewrite_keys={**REWRITE_KEYS, Target.INPUT: "tool_input"},
    fields=FIELDS,
    checks_event_name=False,
    json_beats_exit_2=True,
    exit_2=Exit2.WITH_OUTPUT,
    stop_ignored=frozenset(name for name, spec in EVENTS.items() if Capability.STOP not in spec.can),
    topic_words={
        EventKind.SESSION_END: ("other", "clear", "exit", "logout", "prompt_input_exit"),
        EventKind.SESSION_START: ("startup", "resume", "clear"),
    },
    shows_stop_only=True,
    output_from_text=twice,
    ends_with_newline=False,
    project_variables=("GEMINI_PROJECT_DIR", "GEMINI_CWD", "CLAUDE_PROJECT_DIR"),
    session_variables=("GEMINI_SESSION_ID",),
    samples=SAMPLES,
    sample_common={
        "session_id": SESSION,
        "transcript_path": "/home/dev/.gemini/tmp/project/chats/session-2026-11-20T21-30-7301d4fb.jsonl",
        "cwd": "/home/dev/project",
        "timestamp": "2026-11-20T21:30:32.580Z",
    },
)
SETTINGS = SettingsFile(
    folder=".gemini",
    off_switch="hooksConfig.enabled",
    off_value=False,
    takes_comments=True,
    timeout=60.0,
    milliseconds_from=0,
    # What its user sees while our entry runs, and the name by which `/hooks` knows it.
    handler_fields={"name": "hooktray"},
    unconnected_events=UNCONNECTED_EVENTS,
)


class GeminiProtocol(ShapedProtocol, frozen=True):
    """A failed tool is reported as any other. Of a hook's output it reads stdout, or stderr when there is none."""

    def tool(self, name: str, payload: Mapping[str, Any]) -> Tool | None:
        tool = super().tool(name, payload)
        is_failed = tool is not None and isinstance(tool.output, dict) and bool(tool.output.get("error"))
        return replace(tool, failed=True) if tool and is_failed else tool

    def read(self, event: Event, result: Result) -> HookOutput:
        """JSON counts whatever the exit code is. Plain text is a note at exit 0, and a refusal from 2 on."""
        if wire.exit_problem(result):
            return super().read(event, result)
        text = lenient.text(result.stdout) or lenient.text(result.stderr)
        if text.startswith('"') and lenient.is_value(text):
            text = lenient.text(str(lenient.loads(text)).encode("utf-8", "replace"))  # JSON in a JSON text
        if lenient.is_object(text):
            return super().read(event, replace(result, stdout=text.encode("utf-8", "replace"), stderr=b"", code=0))
        if not text or lenient.is_value(text):  # any other value has no meaning
            return super().read(event, replace(result, stdout=b"", stderr=b""))
        if result.code == 0:
            return HookOutput(notes=(text,))
        if wire.start_problem(result) or result.code == 1:
            return super().read(event, replace(result, stdout=b""))
        return super().read(event, replace(result, stdout=b"", stderr=text.encode("utf-8", "replace"), code=2))


PROTOCOL = GeminiProtocol(SHAPE)
