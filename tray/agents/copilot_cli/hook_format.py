"""Hooks written for Copilot CLI: their input and their output, whichever agent's event they are asked about.

A hook finds the keys of the form that it was registered for: its input has those of both forms.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from operator import itemgetter
from typing import Any

from tray.agents import lenient, outputs, tools, wire
from tray.agents.agent import AnswerWords
from tray.agents.copilot_cli.events import AGENT, EVENTS, TRANSFORMED
from tray.model.decision import HookOutput, Result, Rewrite, Target, Verdict
from tray.model.event import Event, EventKind

OWN_NAMES: Mapping[EventKind, str] = {spec.kind: name for name, spec in EVENTS.items()}
# Other agents' events under the name whose answers have the nearest meaning; the rest have their canonical name.
NAMES_BY_KIND: Mapping[EventKind, str] = {
    **OWN_NAMES,
    EventKind.COMPLETION_CLAIM: "Stop",
    EventKind.CONVERSATION_NEW: "UserPromptSubmit",
    EventKind.PROMPT_EXPANSION: "UserPromptSubmit",
    EventKind.SLASH_COMMAND: "UserPromptSubmit",
    EventKind.TOOL_RESULT: "PostToolUse",
}
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
VERDICTS = {"allow": Verdict.ALLOW, "ask": Verdict.ASK, "deny": Verdict.DENY}
BEHAVIORS = {"allow": Verdict.ALLOW, "deny": Verdict.DENY}
KNOWN_KEYS = frozenset(
    {
        *("additionalContext", "behavior", "decision", "hookSpecificOutput", "interrupt", "message", "modifiedArgs"),
        *("modifiedPrompt", "modifiedResponse", "modifiedResult", "modifiedTransformedPrompt", "permissionDecision"),
        *("permissionDecisionReason", "reason", "updatedInput"),
    }
)
ANSWERS = AnswerWords(
    keys=KNOWN_KEYS,
    verdicts={"behavior": BEHAVIORS, "decision": {"block": Verdict.DENY}, "permissionDecision": VERDICTS},
)
IGNORED = "The hook's output {}; ignored."


def hook_event_name(event: Event) -> str:
    """The event's name for a hook of this format."""
    return event.name if event.agent == AGENT else NAMES_BY_KIND.get(event.kind, event.kind.value)


def stdin(event: Event) -> bytes:
    if event.agent == AGENT:
        return _with_other_form(event)
    fields: dict[str, Any] = {
        "hook_event_name": hook_event_name(event),
        "session_id": event.session,
        "cwd": event.cwd,
    }
    fields |= _extras(event)
    return wire.dumps(fields | _other_form(event, fields))


def _with_other_form(event: Event) -> bytes:
    """The agent's own bytes, and behind them the keys of the form that it was not asked for."""
    added = {key: value for key, value in _other_form(event, event.payload).items() if key not in event.payload}
    end = event.body.rstrip()
    if not added or not end.endswith(b"}") or not event.payload:
        return event.body
    return end[:-1] + b"," + wire.dumps(added)[1:]


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
    if not output or name not in READERS:
        return HookOutput()
    try:
        answer = lenient.mapping(output, KNOWN_KEYS)
    except lenient.TooDeepError as error:
        return HookOutput(problem=f"output is {error}")
    except ValueError as error:
        return HookOutput(warning=IGNORED.format(f"is {error}"))
    return READERS[name](event, answer)


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
        (VERDICTS.get(wire.text(fields, "permissionDecision"), Verdict.ABSTAIN), fields) for fields in (answer, inner)
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


def _permission_request(event: Event, answer: Mapping[str, Any]) -> HookOutput:
    verdict = BEHAVIORS.get(wire.text(answer, "behavior"), Verdict.ABSTAIN)
    if verdict is not Verdict.DENY:
        return HookOutput(verdict=verdict)
    message = wire.text(answer, "message")
    return HookOutput(verdict=verdict, reason=message, stop=message if answer.get("interrupt") is True else None)


def _post_tool_use(event: Event, answer: Mapping[str, Any]) -> HookOutput:
    text = wire.nested(answer, "modifiedResult").get("textResultForLlm")
    rewrite = None
    if event.tool is not None and isinstance(text, str):
        value = outputs.with_text(event.tool.output, text)
        rewrite = Rewrite(target=Target.OUTPUT, value=text if value is None else value)
    return _blocked(answer, rewrite)


def _prompt(event: Event, answer: Mapping[str, Any]) -> HookOutput:
    return _blocked(answer, _text_rewrite(answer, "modifiedPrompt", Target.PROMPT))


def _transformed(event: Event, answer: Mapping[str, Any]) -> HookOutput:
    return HookOutput(rewrite=_text_rewrite(answer, "modifiedTransformedPrompt", Target.PROMPT))


def _end(event: Event, answer: Mapping[str, Any]) -> HookOutput:
    response = _text_rewrite(answer, "modifiedResponse", Target.MESSAGE)
    return _blocked(answer, response if hook_event_name(event) == "SubagentStop" else None, context=False)


def _inform(event: Event, answer: Mapping[str, Any]) -> HookOutput:
    return HookOutput(context=wire.text(answer, "additionalContext"))


def _blocked(answer: Mapping[str, Any], rewrite: Rewrite | None, *, context: bool = True) -> HookOutput:
    denied = answer.get("decision") == "block"
    return HookOutput(
        verdict=Verdict.DENY if denied else Verdict.ABSTAIN,
        reason=wire.text(answer, "reason") if denied else "",
        rewrite=rewrite,
        context=wire.text(answer, "additionalContext") if context else "",
    )


def _text_rewrite(answer: Mapping[str, Any], key: str, target: Target) -> Rewrite | None:
    text = wire.text(answer, key)
    return Rewrite(target=target, value=text) if text else None


READERS: Mapping[str, Callable[[Event, Mapping[str, Any]], HookOutput]] = {
    "Notification": _inform,
    "PermissionRequest": _permission_request,
    "PostToolUse": _post_tool_use,
    "PostToolUseFailure": _inform,
    "PreToolUse": _pre_tool_use,
    "SessionStart": _inform,
    "Stop": _end,
    "SubagentStart": _inform,
    "SubagentStop": _end,
    "UserPromptSubmit": _prompt,
    TRANSFORMED: _transformed,
}
