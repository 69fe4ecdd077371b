"""Hooks written for Cursor: their input and their output, whichever agent's event they are asked about.

A hook finds the keys of the event that it was declared for: its input has those of a tool call in each of its forms.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from tray.agents import lenient, outputs, tools, wire
from tray.agents.agent import AnswerWords
from tray.agents.claude_shape.hook_input import with_fields
from tray.agents.cursor.events import EVENTS, ID, PERMISSION_EVENTS, SHELL, UNCONNECTED_EVENTS
from tray.model.decision import HookOutput, Result, Rewrite, Target, Verdict
from tray.model.event import Capability, Event, EventKind, Tool

OWN_NAMES: Mapping[EventKind, str] = {
    spec.kind: name for name, spec in EVENTS.items() if name not in UNCONNECTED_EVENTS
}
# Other agents' events under the name whose answers have the nearest meaning; the rest have their canonical name.
NAMES_BY_KIND: Mapping[EventKind, str] = {
    **{spec.kind: name for name, spec in EVENTS.items()},
    **OWN_NAMES,
    EventKind.COMPLETION_CLAIM: "stop",
    EventKind.CONVERSATION_NEW: "beforeSubmitPrompt",
    EventKind.PERMISSION_REQUEST: "beforeShellExecution",
    EventKind.PROMPT_EXPANSION: "beforeSubmitPrompt",
    EventKind.SLASH_COMMAND: "beforeSubmitPrompt",
    EventKind.TOOL_RESULT: "postToolUse",
}
SUBMITTED = "beforeSubmitPrompt"
INFORMED = frozenset({"preToolUse", *(name for name, spec in EVENTS.items() if Capability.CONTEXT in spec.can)})
ENDS = frozenset({"stop", "subagentStop"})
REASONS = ("completed", "aborted", "error", "window_close", "user_close")
AGENT_MESSAGE = ("agent_message", "agentMessage")  # older versions read the second one
USER_MESSAGE = ("user_message", "userMessage")
# Cursor's own words; its allow grants nothing, so it counts as no opinion.
VERDICTS = {"ask": Verdict.ASK, "deny": Verdict.DENY}
KNOWN_KEYS = frozenset(
    {
        *("additionalContext", "additional_context", "continue", "followup_message", "hookSpecificOutput"),
        *("permission", "updated_input", "updated_mcp_tool_output", *AGENT_MESSAGE, *USER_MESSAGE),
    }
)
ANSWERS = AnswerWords(
    keys=KNOWN_KEYS,
    verdicts={
        "continue": {False: Verdict.DENY, True: Verdict.ABSTAIN},
        "permission": {"allow": Verdict.ABSTAIN, **VERDICTS},
    },
)


def hook_event_name(event: Event) -> str:
    """The event's name for a hook of this format."""
    return event.name if event.agent == ID else NAMES_BY_KIND.get(event.kind, event.kind.value)


def stdin(event: Event) -> bytes:
    if event.agent == ID:
        return with_fields(event, _call(event))
    fields: dict[str, Any] = {
        "conversation_id": event.session,
        "generation_id": event.id,
        "model": event.model,
        "cursor_version": "",
        "workspace_roots": [event.cwd],
        "user_email": None,
        "transcript_path": None,
        "session_id": event.session,
        "hook_event_name": hook_event_name(event),
    }
    return wire.dumps(fields | _extras(event) | _call(event))


def _call(event: Event) -> dict[str, Any]:
    """The call as `preToolUse` has it, and as `beforeShellExecution` or `beforeReadFile` do."""
    tool = event.tool
    if tool is None:
        return {}
    title = tools.title(event.agent, tool)
    input = tools.translate_input(event.agent, ID, tool.name, tool.input)
    native = tool.name if event.agent == ID else tools.native(ID, title)
    fields: dict[str, Any] = {"tool_name": native, "tool_input": input, "tool_use_id": tool.call, "cwd": event.cwd}
    if native == SHELL:
        fields |= wire.non_empty(command=wire.text(input, "command"))
    fields |= wire.non_empty(file_path=wire.text(input, "file_path"))
    return fields | _output(event, tool)


def _output(event: Event, tool: Tool) -> dict[str, Any]:
    if tool.output is None:
        return {}
    text = outputs.as_text(tool.output)
    if tool.failed or event.kind is EventKind.TOOL_FAILED:
        return {"error_message": text, "failure_type": "error", "is_interrupt": False}
    return {"tool_output": text, "output": text}


def _extras(event: Event) -> dict[str, Any]:
    subagent = {"subagent_type": event.subagent}
    match hook_event_name(event):
        case "beforeSubmitPrompt":
            return {"prompt": event.prompt, "attachments": []}
        case "preCompact":
            return {"trigger": event.topic or "auto"}
        case "sessionEnd":
            return {"reason": event.topic if event.topic in REASONS else "completed"}
        case "stop":
            return {"status": "completed", "loop_count": int(event.repeated)}
        case "subagentStart":
            return subagent
        case "subagentStop":
            return subagent | {"status": "completed", "summary": event.message}
    common = {"prompt": event.prompt, "text": event.message, "topic": event.topic, "file_path": event.path}
    return wire.non_empty(**common) if event.tool is None else {}


def read(event: Event, result: Result) -> HookOutput:
    """Exit 2 refuses where something can be refused; any other code but 0 is a failure."""
    if problem := wire.run_problem(result):
        return HookOutput(problem=problem)
    output, name = lenient.text(result.stdout), hook_event_name(event)
    if result.code == 2 and (name not in EVENTS or Capability.DENY in EVENTS[name].can):
        return HookOutput(verdict=Verdict.DENY, reason=wire.stderr(result) or output)
    if result.code != 0:
        return HookOutput(problem=f"exit {result.code}")
    if not output:
        return HookOutput()
    try:
        answer = lenient.mapping(output, KNOWN_KEYS)
    except ValueError as error:
        return HookOutput(problem=f"output is {error}")
    return _answer(event, name, answer)


def _answer(event: Event, name: str, answer: Mapping[str, Any]) -> HookOutput:
    verdict, reason = _refusal(name, answer)
    if name in PERMISSION_EVENTS or name not in EVENTS:
        verdict = VERDICTS.get(wire.text(answer, "permission"), Verdict.ABSTAIN)
        reason = wire.text(answer, *AGENT_MESSAGE, *USER_MESSAGE) if verdict is not Verdict.ABSTAIN else ""
    note = wire.text(answer, *USER_MESSAGE) if name == "preCompact" else ""
    inner = wire.nested(answer, "hookSpecificOutput")
    context = wire.text(answer, "additional_context", "additionalContext") or wire.text(inner, "additionalContext")
    return HookOutput(
        verdict=verdict,
        reason=reason,
        rewrite=_rewrite(event, name, answer),
        context=context if name in INFORMED else "",
        notes=(note,) if note else (),
    )


def _refusal(name: str, answer: Mapping[str, Any]) -> tuple[Verdict, str]:
    """Outside of permission events."""
    if name == SUBMITTED and answer.get("continue") is False:
        return Verdict.DENY, wire.text(answer, *USER_MESSAGE)
    followup = wire.text(answer, "followup_message") if name in ENDS else ""
    return (Verdict.DENY, followup) if followup else (Verdict.ABSTAIN, "")


def _rewrite(event: Event, name: str, answer: Mapping[str, Any]) -> Rewrite | None:
    tool, given = event.tool, answer.get("updated_input")
    if tool is None:
        return None
    if name in PERMISSION_EVENTS and isinstance(given, dict):
        value = tools.translate_back(event.agent, ID, tool.name, tool.input, given)
        return Rewrite(target=Target.INPUT, value=value)
    if name == "postToolUse" and "updated_mcp_tool_output" in answer:
        return Rewrite(target=Target.OUTPUT, value=answer["updated_mcp_tool_output"])
    return None
