"""Antigravity's hooks, whose payloads name no event. From others' live probes, not tried with a real Antigravity.

In:  {"conversationId":"c-1","workspacePaths":["/p"],"modelName":"m","toolCall":{"name":"run_command",
      "args":{"CommandLine":"rm -rf build","Cwd":"/p"}},"stepIdx":7}
Out: {"decision":"deny","reason":"no"} or {"decision":"force_ask"}; before a tool, {"decision":"ask"} is neutral.

Before a tool, any other byte refuses the call: `{}`, text, an exit code. An `allow` runs it without a question.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from msgspec.structs import replace

from tray.agents import lenient, tools, wire
from tray.agents.agent import AnswerWords
from tray.model.decision import EMPTY_ANSWER, Answer, Decision, HookOutput, Result, Verdict
from tray.model.event import Capability, Event, EventKind, EventSpec, RelayRequest, Tool

ID = "antigravity"
OWN = "hooktray"  # the name of Hooktray's hook: no other tool writes below it
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
NEUTRAL: Mapping[str, bytes] = {
    "PostInvocation": b"{}",
    "PostToolUse": b"{}",
    "PreInvocation": b"{}",
    "PreToolUse": b'{"decision":"ask"}',  # its own policy applies
    "Stop": b'{"decision":""}',
}


def event_name(payload: Mapping[str, Any]) -> str:
    return ""


def tool(name: str, payload: Mapping[str, Any]) -> Tool | None:
    call, step = wire.nested(payload, "toolCall"), payload.get("stepIdx")
    found = wire.tool(call, name="name", input="args", call="", output="")
    return replace(found, call=str(step)) if found and isinstance(step, int) else found


def parse(request: RelayRequest, name: str, payload: Mapping[str, Any]) -> Event:
    kind = wire.spec(EVENTS, name).kind
    error = wire.text(payload, "error")
    if name == "Stop" and error:
        kind = EventKind.TURN_FAILED
    elif name == "Stop" and payload.get("fullyIdle") is False:  # something it has started goes on
        kind = EventKind.RESPONSE_END
    folders = wire.text_list(payload, "workspacePaths")
    call = tool(name, payload)
    return Event(
        **wire.request_fields(request, payload),
        name=name,
        kind=kind,
        session=wire.text(payload, "conversationId"),
        cwd=wire.text(call.input if call else {}, "Cwd") or next(filter(None, folders), "") or request.cwd,
        project_folder=next(filter(None, folders), ""),
        model=wire.text(payload, "modelName"),
        topic=wire.text(payload, "terminationReason"),
        tool=call,
        message=error,
    )


def neutral(name: str, body: bytes) -> Answer:
    """Nothing for an event that is not known: any byte could refuse it."""
    return Answer(stdout=NEUTRAL[name]) if name in NEUTRAL else EMPTY_ANSWER


def rewrite_problem(event: Event, decision: Decision) -> str:
    return ""  # it takes none


def render(event: Event, decision: Decision) -> Answer:
    answer = _answer(event.name, decision)
    return Answer(stdout=wire.dumps(answer)) if answer else neutral(event.name, event.body)


def _answer(name: str, decision: Decision) -> dict[str, Any]:
    reason = decision.reason or wire.DEFAULT_REASON
    if name == "PreToolUse" and decision.verdict is Verdict.DENY:
        return {"decision": "deny", "reason": reason}
    if name == "PreToolUse" and decision.verdict is Verdict.ASK:
        return {"decision": "force_ask"}
    if name == "Stop" and decision.verdict is Verdict.DENY:
        return {"decision": "continue", "reason": reason}
    if name == "PreInvocation" and decision.context:
        return {"injectSteps": [{"ephemeralMessage": decision.context}]}
    return {}


def environment(event: Event) -> Mapping[str, str]:
    return {}


def sample(name: str) -> bytes:
    """A synthetic payload. Raises KeyError for an event without one."""
    return wire.dumps({**COMMON, **SAMPLES[name]})


# ---- hooks that were written for Antigravity, on any agent's event ----


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
    if name == "PreInvocation":
        texts = (wire.text(step, "ephemeralMessage") for step in wire.objects(answer, "injectSteps"))
        return HookOutput(context="\n\n".join(filter(None, texts)))
    verdict = Verdict.ABSTAIN
    if name == "PreToolUse" or name not in EVENTS:
        verdict = VERDICTS.get(word, Verdict.ABSTAIN)
    elif name == "Stop" and word == "continue":
        verdict = Verdict.DENY
    return HookOutput(verdict=verdict, reason=reason if verdict is not Verdict.ABSTAIN else "")
