"""Hooks written for X-Code: their input and their output, whichever agent's event they are asked about."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from tray.agents import lenient, outputs, tools, wire
from tray.agents.agent import AnswerWords
from tray.model.decision import HookOutput, Result, Rewrite, Target, Verdict
from tray.model.event import Event, EventKind, Tool

AGENT = "x-code"
# Every agent's events under the name whose answers are taken there; the rest have their canonical name.
NAMES_BY_KIND: Mapping[EventKind, str] = {
    EventKind.COMPACT_AFTER: "PostCompact",
    EventKind.COMPACT_BEFORE: "PreCompact",
    EventKind.CONVERSATION_NEW: "UserPromptSubmit",
    EventKind.MODEL_BEFORE: "UserPromptSubmit",
    EventKind.PROMPT: "UserPromptSubmit",
    EventKind.PROMPT_EXPANSION: "UserPromptSubmit",
    EventKind.ROUND_END: "TurnComplete",
    EventKind.SESSION_END: "SessionEnd",
    EventKind.SESSION_START: "SessionStart",
    EventKind.SLASH_COMMAND: "UserPromptSubmit",
    EventKind.SUBAGENT_END: "SubagentStop",
    EventKind.SUBAGENT_START: "SubagentStart",
    EventKind.TOOL_AFTER: "PostToolUse",
    EventKind.TOOL_BEFORE: "PreToolUse",
    EventKind.TOOL_FAILED: "PostToolUse",
    EventKind.TOOL_RESULT: "PostToolUse",
    EventKind.TURN_END: "TurnComplete",
}
DECIDING_EVENTS = ("PostToolUse", "PreToolUse", "UserPromptSubmit")
KNOWN_KEYS = frozenset({"args", "context", "decision", "output", "reason"})
DECISIONS = {"allow": Verdict.ABSTAIN, "deny": Verdict.DENY, "modify": Verdict.ABSTAIN}
ANSWERS = AnswerWords(keys=KNOWN_KEYS, verdicts={"decision": DECISIONS})
IGNORED = "The hook's output {}; ignored."
# Hooks read these fields without asking whether they are there.
USAGE = {"tokenUsage": {"inputTokens": 0, "outputTokens": 0, "totalTokens": 0}}
OUTCOMES = ("aborted", "completed", "failed")
TRIGGERS = ("proactive", "reactive")


def hook_event_name(event: Event) -> str:
    """The event's name for a hook of this dialect."""
    return event.name if event.agent == AGENT else NAMES_BY_KIND.get(event.kind, event.kind.value)


def stdin(event: Event) -> bytes:
    if event.agent == AGENT:
        body = _native(event)
        return body if body.endswith(b"\n") else body + b"\n"
    fields: dict[str, Any] = {
        "event": hook_event_name(event),
        "session": {"cwd": event.cwd, "modelId": event.model},
        "plugin": {"id": "hooktray", "dir": ""},
    }
    common = wire.non_empty(
        topic=event.topic, title=event.title, prompt=event.prompt, message=event.message, path=event.path
    )
    return wire.dumps_line(fields | common | _extras(event))


def _native(event: Event) -> bytes:
    """The agent's exact bytes, with the path under its documented name too where the agent calls it `filePath`."""
    args = event.tool.input if event.tool else {}
    if "filePath" not in args or "path" in args:
        return event.body
    call = {**wire.nested(event.payload, "tool"), "args": {**args, "path": args["filePath"]}}
    return wire.dumps_line({**event.payload, "tool": call})


def with_plugin(stdin: bytes, id: str, folder: str) -> bytes:
    """The same input as the hook of this plugin gets it: the agent's own names the plugin that brought the event."""
    try:
        fields = wire.mapping(stdin)
    except ValueError:
        return stdin
    return wire.dumps_line(fields | {"plugin": {"id": id, "dir": folder}})


def _extras(event: Event) -> dict[str, Any]:
    agent = {"name": event.subagent, "description": event.title}
    match hook_event_name(event):
        case "TurnComplete":
            return {"turn": 0} | USAGE
        case "UserPromptSubmit":
            return {"prompt": event.prompt}
        case "PreCompact":
            return _compact(event) | {"tokenEstimate": 0}
        case "PostCompact":
            return _compact(event) | {"summary": event.message}
        case "SubagentStart":
            return {"agent": agent | {"prompt": event.prompt}}
        case "SubagentStop":
            outcome = event.topic if event.topic in OUTCOMES else "completed"
            return {"agent": agent, "durationMs": 0, "outcome": outcome} | USAGE
    return _tool(event, event.tool) if event.tool else {}


def _compact(event: Event) -> dict[str, Any]:
    return {"trigger": event.topic if event.topic in TRIGGERS else "proactive", "messageCount": 0}


def _tool(event: Event, tool: Tool) -> dict[str, Any]:
    name, args = tools.hook_call(event.agent, AGENT, tool)
    call = {"name": name, "args": args, "callId": tool.call}
    result = {"output": outputs.as_text(tool.output), "isError": tool.failed}
    return {"tool": call | (result if hook_event_name(event) == "PostToolUse" else {})}


def read(event: Event, result: Result) -> HookOutput:
    if problem := wire.run_problem(result):
        return HookOutput(problem=problem)
    if result.code != 0:
        return HookOutput(problem=f"exit {result.code}")
    output = lenient.text(result.stdout)
    if hook_event_name(event) not in DECIDING_EVENTS or not output:
        return HookOutput()
    try:
        answer = lenient.mapping(output, KNOWN_KEYS)
    except lenient.TooDeepError as error:
        return HookOutput(problem=f"output is {error}")
    except ValueError as error:
        return HookOutput(warning=IGNORED.format(f"is {error}"))
    return _hook_output(event, answer)


def _hook_output(event: Event, answer: Mapping[str, Any]) -> HookOutput:
    """An allow only goes on: it does not skip the agent's own question."""
    decision = answer.get("decision")
    if decision == "deny":
        return HookOutput(verdict=Verdict.DENY, reason=wire.text(answer, "reason"))
    if not isinstance(decision, str) or decision not in DECISIONS:
        return HookOutput(warning=IGNORED.format("has a decision that is none of allow, deny, modify"))
    if hook_event_name(event) == "UserPromptSubmit":
        return HookOutput(context=wire.text(answer, "context"))
    return HookOutput() if decision == "allow" else _modified(event, answer)


def _modified(event: Event, answer: Mapping[str, Any]) -> HookOutput:
    if hook_event_name(event) == "PostToolUse":
        return _output(event, answer.get("output"))
    args = answer.get("args")
    if event.tool is None or not isinstance(args, dict):
        return HookOutput(warning=IGNORED.format("modifies nothing: its args are no object"))
    value = tools.translate_back(event.agent, AGENT, event.tool.name, event.tool.input, args)
    return HookOutput(rewrite=Rewrite(target=Target.INPUT, value=value))


def _output(event: Event, text: Any) -> HookOutput:
    """The text in the shape of the tool's own output, where that has a place for one."""
    if event.tool is None or not isinstance(text, str):
        return HookOutput(warning=IGNORED.format("modifies nothing: its output is not text"))
    value = outputs.with_text(event.tool.output, text)
    return HookOutput(rewrite=Rewrite(target=Target.OUTPUT, value=text if value is None else value))
