"""Antigravity's events, and hooks written for it: their input and their output, on any agent's event."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from tray.agents import lenient, tools, wire
from tray.agents.agent import AnswerWords
from tray.model.decision import HookOutput, Result, Verdict
from tray.model.event import Capability, Event, EventKind, EventSpec

ID = "antigravity"
NAME = "Antigravity"
TIMEOUT = 30.0  # seconds; its own default
EVENTS: Mapping[str, EventSpec] = {
    "PostInvocation": EventSpec(kind=EventKind.MODEL_AFTER, timeout=TIMEOUT),
    "PostToolUse": EventSpec(kind=EventKind.TOOL_AFTER, timeout=TIMEOUT, subject="toolCall.name"),
    "PreInvocation": EventSpec(kind=EventKind.MODEL_BEFORE, can=Capability.CONTEXT, timeout=TIMEOUT),
    "PreToolUse": EventSpec(
        kind=EventKind.TOOL_BEFORE, can=Capability.ASK | Capability.DENY, timeout=TIMEOUT, subject="toolCall.name"
    ),
    "Stop": EventSpec(kind=EventKind.TURN_END, can=Capability.DENY, timeout=TIMEOUT),
}
TOOL_EVENTS = ("PostToolUse", "PreToolUse")  # their hooks are in groups with a matcher
UNCONNECTED_EVENTS: Mapping[str, str] = {"PostInvocation": "comes after each call of the model"}
CWD = "/home/dev/project"
COMMON: Mapping[str, Any] = {
    "conversationId": "5d0c1f8e-63a2-4a0e-8a57-3f1d2c9b7e40",
    "transcriptPath": "/home/dev/.gemini/antigravity-cli/transcript.jsonl",
    "workspacePaths": [CWD],
    "artifactDirectoryPath": "/home/dev/.gemini/antigravity-cli/artifacts",
    "modelName": "gemini-3-pro",
}
CALL = {"toolCall": {"name": "run_command", "args": {"CommandLine": "ls -la", "Cwd": CWD}}, "stepIdx": 7}
STOPPED = {"terminationReason": "completed", "executionNum": 1, "fullyIdle": True, "error": ""}
SAMPLES: Mapping[str, Mapping[str, Any]] = {
    "PostInvocation": {},
    "PostToolUse": CALL,
    "PreInvocation": {},
    "PreToolUse": CALL,
    "Stop": STOPPED,
}
# Other agents' events under the name whose answers have the nearest meaning; the rest have their canonical name.
NAMES_BY_KIND: Mapping[EventKind, str] = {
    **{spec.kind: name for name, spec in EVENTS.items()},
    EventKind.COMPLETION_CLAIM: "Stop",
    EventKind.CONVERSATION_NEW: "PreInvocation",
    EventKind.PERMISSION_REQUEST: "PreToolUse",
    EventKind.PROMPT: "PreInvocation",
    EventKind.SUBAGENT_END: "Stop",
    EventKind.TOOL_FAILED: "PostToolUse",
    EventKind.TOOL_RESULT: "PostToolUse",
}
# Its `ask` is its own policy, and its allow would skip a question: neither is an opinion.
VERDICTS = {"deny": Verdict.DENY, "force_ask": Verdict.ASK}
OPINIONS = frozenset({*VERDICTS, "allow", "ask"})
KNOWN_KEYS = frozenset({"decision", "injectSteps", "reason"})
ANSWERS = AnswerWords(
    keys=KNOWN_KEYS,
    verdicts={"decision": dict.fromkeys(("", "allow", "ask", "continue"), Verdict.ABSTAIN) | VERDICTS},
)


def hook_event_name(event: Event) -> str:
    """The event's name for a hook of this format, which finds it in its own command only."""
    return event.name if event.agent == ID else NAMES_BY_KIND.get(event.kind, event.kind.value)


def stdin(event: Event) -> bytes:
    if event.agent == ID:
        return event.body
    fields: dict[str, Any] = {
        "conversationId": event.session,
        "transcriptPath": "",
        "workspacePaths": [event.cwd],
        "artifactDirectoryPath": "",
        "modelName": event.model,
    }
    if event.tool is not None:
        args = tools.translate_input(event.agent, ID, event.tool.name, event.tool.input)
        title = tools.title(event.agent, event.tool)
        fields |= {"toolCall": {"name": tools.native(ID, title), "args": args}, "stepIdx": 0}
    elif hook_event_name(event) == "Stop":
        fields |= STOPPED
    else:
        fields |= wire.non_empty(prompt=event.prompt, message=event.message, topic=event.topic, path=event.path)
    return wire.dumps(fields)


def read(event: Event, result: Result) -> HookOutput:
    """What Antigravity takes for a refusal although the hook did not say so is a failure: its policy decides."""
    if problem := wire.run_problem(result):
        return HookOutput(problem=problem)
    if result.code != 0:
        return HookOutput(problem=f"exit {result.code}")
    output, name = lenient.text(result.stdout), hook_event_name(event)
    if not output:
        return HookOutput()
    try:
        answer = lenient.mapping(output, KNOWN_KEYS)
    except ValueError as error:
        return HookOutput(problem=f"output is {error}")
    word, reason = wire.text(answer, "decision"), wire.text(answer, "reason")
    if name == "PreToolUse" and word not in OPINIONS:
        return HookOutput(problem="output has no decision that Antigravity knows")
    if name == "Stop":
        denied = word == "continue"
        return HookOutput(verdict=Verdict.DENY, reason=reason) if denied else HookOutput()
    if name == "PreInvocation":
        return HookOutput(context=_context(answer))
    verdict = VERDICTS.get(word, Verdict.ABSTAIN) if name == "PreToolUse" or name not in EVENTS else Verdict.ABSTAIN
    return HookOutput(verdict=verdict, reason=reason if verdict is not Verdict.ABSTAIN else "")


def _context(answer: Mapping[str, Any]) -> str:
    steps = answer.get("injectSteps")
    texts = (
        [wire.text(step, "ephemeralMessage") for step in steps if isinstance(step, dict)]
        if isinstance(steps, list)
        else []
    )
    return "\n\n".join(filter(None, texts))
