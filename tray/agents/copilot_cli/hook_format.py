"""Hooks written for Copilot CLI: their input and their output, whichever agent's event they are asked about.

A hook finds the keys of the form that it was registered for: its input has those of both forms.
"""

from __future__ import annotations

from collections.abc import Mapping
from operator import itemgetter
from typing import Any

from tray.agents import lenient, outputs, tools, wire
from tray.agents.agent import AnswerWords
from tray.agents.claude_shape import hook_input
from tray.agents.claude_shape.shape import BEHAVIORS, PERMISSIONS
from tray.agents.copilot_cli.events import AGENT, BLOCKED, EVENTS, REWRITES, SHAPE
from tray.model.decision import HookOutput, Result, Rewrite, Target, Verdict
from tray.model.event import Capability, Event, EventKind

REFUSED_BY_EXIT_2 = ("PermissionRequest", "PreToolUse")
SOURCES = ("new", "resume", "startup")
REASONS = ("complete", "abort", "error", "timeout", "user_exit")
# The keys of the one form, and of the other. A tool's name, its arguments and its result differ in more than the key.
OTHER_KEYS: Mapping[str, str] = {
    "agent_display_name": "agentDisplayName",
    "agent_id": "agentId",
    "agent_name": "agentName",
    "agent_type": "agentType",
    "custom_instructions": "customInstructions",
    "error_context": "errorContext",
    "initial_prompt": "initialPrompt",
    "last_assistant_message": "response",
    "session_id": "sessionId",
    "stop_reason": "stopReason",
    "transcript_path": "transcriptPath",
}
KNOWN_KEYS = frozenset(
    {
        *("additionalContext", "behavior", "decision", "hookSpecificOutput", "interrupt", "message", "modifiedArgs"),
        *("modifiedPrompt", "modifiedResponse", "modifiedResult", "modifiedTransformedPrompt", "permissionDecision"),
        *("permissionDecisionReason", "reason", "updatedInput"),
    }
)
ANSWERS = AnswerWords(
    keys=KNOWN_KEYS,
    verdicts={"behavior": BEHAVIORS, "decision": {"block": Verdict.DENY}, "permissionDecision": PERMISSIONS},
)
IGNORED = "The hook's output {}; ignored."


def hook_event_name(event: Event) -> str:
    """The event's name for a hook of this format."""
    return hook_input.event_name(SHAPE, event)


def stdin(event: Event) -> bytes:
    if event.agent == AGENT:
        return hook_input.with_fields(event, _other_form(event, event.payload))
    fields: dict[str, Any] = {
        "hook_event_name": hook_event_name(event),
        "session_id": event.session,
        "cwd": event.cwd,
    }
    fields |= _extras(event)
    return wire.dumps(fields | _other_form(event, fields))


def _other_form(event: Event, fields: Mapping[str, Any]) -> dict[str, Any]:
    both = [*OTHER_KEYS.items(), *((camel, snake) for snake, camel in OTHER_KEYS.items())]
    other = {there: fields[here] for here, there in both if here in fields}
    if event.agent == AGENT and event.name:
        other["hook_event_name"] = event.name
    return other | _tool(event)


def _tool(event: Event) -> dict[str, Any]:
    """The call in both forms: the one has Claude Code's names for tools, and both have this agent's arguments."""
    tool = event.tool
    if tool is None:
        return {}
    title = tools.title(event.agent, tool)
    input = tools.translate_input(event.agent, AGENT, tool.name, tool.input)
    native = tool.name if event.agent == AGENT and tool.name != title else tools.native(AGENT, title)
    fields: dict[str, Any] = {"tool_name": title, "tool_input": input, "toolName": native, "toolArgs": input}
    if hook_event_name(event) == "PermissionRequest":
        return fields | {"toolInput": input}
    if tool.output is None:
        return fields
    text = outputs.as_text(tool.output)
    if tool.failed or event.kind is EventKind.TOOL_FAILED:
        return fields | {"error": text}
    return fields | {
        "tool_result": {"result_type": "success", "text_result_for_llm": text},
        "toolResult": {"resultType": "success", "textResultForLlm": text},
    }


def _extras(event: Event) -> dict[str, Any]:
    stopped = {"transcript_path": "", "stop_reason": "end_turn", "stop_hook_active": event.repeated}
    subagent = wire.non_empty(agent_name=event.subagent, agent_type=event.subagent)
    match hook_event_name(event):
        case "ErrorOccurred":
            return {"error": {"message": event.message, "name": event.topic}, "recoverable": False}
        case "Notification":
            title = wire.non_empty(title=event.title)
            return {"message": event.message, "notification_type": event.topic} | title
        case "PreCompact":
            return {"trigger": event.topic or "auto", "custom_instructions": event.prompt}
        case "SessionEnd":
            return {"reason": event.topic if event.topic in REASONS else "complete"}
        case "SessionStart":
            return {"source": event.topic if event.topic in SOURCES else "new"}
        case "Stop":
            return stopped | wire.non_empty(last_assistant_message=event.message)
        case "SubagentStart":
            return subagent
        case "SubagentStop":
            return subagent | stopped | {"last_assistant_message": event.message}
        case "UserPromptSubmit":
            return {"prompt": event.prompt}
        case "userPromptTransformed":
            return {"prompt": event.prompt, "transformedPrompt": event.prompt}
    common = {"prompt": event.prompt, "message": event.message, "topic": event.topic, "path": event.path}
    return wire.non_empty(**common) if event.tool is None else {}


def read(event: Event, result: Result) -> HookOutput:
    if problem := wire.run_problem(result):
        return HookOutput(problem=problem)
    name = hook_event_name(event)
    if result.code == 2 and name in REFUSED_BY_EXIT_2:
        return HookOutput(verdict=Verdict.DENY, reason=wire.stderr(result))
    if result.code == 2 and name == "PostToolUseFailure":
        return HookOutput(context=lenient.text(result.stdout))
    if result.code != 0:
        return HookOutput(problem=f"exit {result.code}")
    output = _without_progress(lenient.text(result.stdout))
    if not output or name not in EVENTS or EVENTS[name].observe_only:
        return HookOutput()
    try:
        answer = lenient.mapping(output, KNOWN_KEYS)
    except lenient.TooDeepError as error:
        return HookOutput(problem=f"output is {error}")
    except ValueError as error:
        return HookOutput(warning=IGNORED.format(f"is {error}"))
    return _output(event, name, answer)


def _without_progress(output: str) -> str:
    """The output without lines such as {"type": "progress", "message": "…"}, which the agent only shows."""
    lines = output.splitlines(keepends=True) if '"progress"' in output else [output]
    return "".join(line for line in lines if not _is_progress(line)).strip()


def _is_progress(line: str) -> bool:
    try:
        value = lenient.loads(line.strip())
    except ValueError:
        return False
    return isinstance(value, dict) and value.get("type") == "progress"


def _pre_tool_use(event: Event, answer: Mapping[str, Any]) -> HookOutput:
    """The fields are at the top, or those of Claude Code's format inside hookSpecificOutput."""
    inner = wire.nested(answer, "hookSpecificOutput")
    words = [
        (PERMISSIONS.get(wire.text(fields, "permissionDecision"), Verdict.ABSTAIN), fields)
        for fields in (answer, inner)
    ]
    verdict, fields = max(words, key=itemgetter(0))
    given = answer.get("modifiedArgs", inner.get("updatedInput"))
    rewrite = None
    if event.tool is not None and isinstance(given, dict):
        value = tools.translate_back(event.agent, AGENT, event.tool.name, event.tool.input, given)
        rewrite = Rewrite(target=Target.INPUT, value=value)
    return HookOutput(
        verdict=verdict,
        reason=wire.text(fields, "permissionDecisionReason") if verdict is not Verdict.ABSTAIN else "",
        rewrite=rewrite,
        context=wire.text(answer, "additionalContext") or wire.text(inner, "additionalContext"),
    )


def _output(event: Event, name: str, answer: Mapping[str, Any]) -> HookOutput:
    if name == "PreToolUse":
        return _pre_tool_use(event, answer)
    if name == "PermissionRequest":
        verdict = BEHAVIORS.get(wire.text(answer, "behavior"), Verdict.ABSTAIN)
        message = wire.text(answer, "message") if verdict is Verdict.DENY else ""
        is_halted = verdict is Verdict.DENY and answer.get("interrupt") is True
        return HookOutput(verdict=verdict, reason=message, stop=message if is_halted else None)
    denied = name in BLOCKED and answer.get("decision") == "block"
    return HookOutput(
        verdict=Verdict.DENY if denied else Verdict.ABSTAIN,
        reason=wire.text(answer, "reason") if denied else "",
        rewrite=_rewrite(event, name, answer),
        context=wire.text(answer, "additionalContext") if Capability.CONTEXT in EVENTS[name].can else "",
    )


def _rewrite(event: Event, name: str, answer: Mapping[str, Any]) -> Rewrite | None:
    if name == "PostToolUse":
        output = wire.nested(answer, "modifiedResult").get("textResultForLlm")
        if event.tool is None or not isinstance(output, str):
            return None
        value = outputs.with_text(event.tool.output, output)
        return Rewrite(target=Target.OUTPUT, value=output if value is None else value)
    target, key = REWRITES.get(name, (Target.PROMPT, ""))
    text = wire.text(answer, key) if key else ""
    return Rewrite(target=target, value=text) if text else None
