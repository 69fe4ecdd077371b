"""GitHub Copilot CLI's hooks: one JSON object each way, in one of three forms of payload and two forms of answer.

In, for hooks registered as `PreToolUse`: {"hook_event_name":"PreToolUse","session_id":"00e7…","cwd":"/p",
      "timestamp":"2026-11-20T21:43:43.757Z","tool_name":"Bash","tool_input":{"command":"rm -rf build"}}
In, for those registered as `preToolUse`, which does not name its event:
      {"sessionId":"8e57…","timestamp":1795211022915,"cwd":"/p","toolName":"bash","toolArgs":{"command":"ls"}}
Out:  {"permissionDecision":"deny","permissionDecisionReason":"no"} in both cases
In, from the Local harness of VS Code, which reads the same files: {"hookEventName":"PreToolUse","sessionId":"s",
      "timestamp":"2026-…","cwd":"/p","tool_name":"editFiles","tool_input":{"files":["a"]},"tool_use_id":"tool-1"}
Out:  {"hookSpecificOutput":{"hookEventName":"PreToolUse","permissionDecision":"deny",…}}

Any exit code but 0 before a tool is a refusal, so an answer never has one.
https://docs.github.com/en/copilot/reference/hooks-reference and https://code.visualstudio.com/docs/agents/reference.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from tray.agents import outputs, wire
from tray.agents.claude_shape import hook_input
from tray.agents.copilot_cli.events import BLOCKED, EVENTS, NAMES, REWRITES, SHAPE, TRANSFORMED
from tray.agents.copilot_cli.hook_format import hook_event_name as hook_event_name
from tray.agents.copilot_cli.hook_format import read as read
from tray.agents.copilot_cli.hook_format import stdin as stdin
from tray.model.decision import EMPTY_ANSWER, Answer, Decision, Target, Verdict
from tray.model.event import Event, RelayRequest, Tool

PROMPT_KEYS = ("prompt", "initial_prompt", "initialPrompt", "custom_instructions", "customInstructions")
LOCAL_KEY = "hookEventName"  # only VS Code's Local harness sends it
EVENTS_BY_KEY = (  # for a payload without a name: the first key in it decides
    ("toolResult", "PostToolUse"),
    ("errorContext", "ErrorOccurred"),
    ("error", "PostToolUseFailure"),
    ("toolName", "PreToolUse"),
    ("transformedPrompt", TRANSFORMED),
    ("prompt", "UserPromptSubmit"),
    ("response", "SubagentStop"),
    ("stopReason", "Stop"),
    ("agentName", "SubagentStart"),
    ("source", "SessionStart"),
    ("trigger", "PreCompact"),
    ("reason", "SessionEnd"),
)

SESSION = "00e79b32-68c4-4096-904e-65ac961c0a63"
CWD = "/home/dev/project"
TRANSCRIPT = f"/home/dev/.copilot/session-state/{SESSION}/events.jsonl"
SNAKE = {"session_id": SESSION, "timestamp": "2026-11-20T21:43:43.757Z", "cwd": CWD}
CAMEL = {"sessionId": SESSION, "timestamp": 1795211022964, "cwd": CWD}
CALL = {"tool_name": "Bash", "tool_input": {"command": "ls -la", "description": "List the files"}}
STOPPED = {"transcript_path": TRANSCRIPT, "stop_reason": "end_turn", "stop_hook_active": False}
SUBAGENT = {"agent_id": "fe1cc22b-6cf1-4cd0-a47d-e3c165df5f5e", "agent_type": "general-purpose"}
FAILURE = {"message": "The service is busy.", "name": "Error"}
SAMPLES: Mapping[str, Mapping[str, Any]] = {
    "ErrorOccurred": {"error": FAILURE, "error_context": "model_call", "recoverable": False},
    "Notification": {
        "message": "Copilot needs your permission",
        "title": "Permission",
        "notification_type": "permission_prompt",
    },
    "PostToolUse": CALL | {"tool_result": {"result_type": "success", "text_result_for_llm": "README.md"}},
    "PostToolUseFailure": CALL | {"error": "Exit code 3"},
    "PreCompact": {"transcript_path": TRANSCRIPT, "trigger": "auto", "custom_instructions": ""},
    "PreToolUse": CALL,
    "SessionEnd": {"reason": "complete"},
    "SessionStart": {"source": "new", "initial_prompt": "Fix the parser."},
    "Stop": STOPPED,
    "SubagentStop": SUBAGENT
    | {"agent_name": "general-purpose", "last_assistant_message": "All tests pass."}
    | STOPPED,
    "UserPromptSubmit": {"prompt": "Fix the parser."},
}
OTHER_FORM: Mapping[str, Mapping[str, Any]] = {  # events with one form of payload, whatever the name
    "PermissionRequest": {
        "hookName": "permissionRequest",
        **CAMEL,
        "toolName": "bash",
        "toolInput": {"command": "ls -la"},
        "permissionSuggestions": [],
    },
    "SubagentStart": {**CAMEL, "transcriptPath": TRANSCRIPT, "agentName": "general-purpose", **SUBAGENT},
    "userPromptTransformed": {
        **CAMEL,
        "prompt": "Fix the parser.",
        "transformedPrompt": "<current_datetime>2026-11-20T21:43:42.713+00:00</current_datetime>\n\nFix the parser.",
    },
}


def event_name(payload: Mapping[str, Any]) -> str:
    keys = ("hook_event_name", LOCAL_KEY, "hookName")
    name = next(filter(None, (wire.event_name(payload, key) for key in keys)), "")
    if name or not (wire.text(payload, "sessionId") and "timestamp" in payload):
        return NAMES.get(name, name)
    return next((event for key, event in EVENTS_BY_KEY if key in payload), "")


def tool(name: str, payload: Mapping[str, Any]) -> Tool | None:
    title = wire.text(payload, "tool_name", "toolName")
    if not title:
        return None
    failed = NAMES.get(name, name) == "PostToolUseFailure"
    return Tool(
        name=title,
        input=_input(payload),
        call=wire.text(payload, "tool_use_id"),
        output=_error(payload) if failed else _output(payload),
        failed=failed,
    )


def _input(payload: Mapping[str, Any]) -> Mapping[str, Any]:
    """The arguments; older versions send them as the text of a JSON object."""
    key = next((key for key in ("tool_input", "toolArgs", "toolInput") if key in payload), "")
    value = payload.get(key)
    if not isinstance(value, str):
        return wire.nested(payload, key)
    try:
        return wire.mapping(value.encode("utf-8", "replace"))
    except ValueError:
        return {}


def _output(payload: Mapping[str, Any]) -> Any:
    for key, inner in (("tool_result", "text_result_for_llm"), ("toolResult", "textResultForLlm")):
        if key in payload:
            result = wire.nested(payload, key)
            return result[inner] if isinstance(result.get(inner), str) else payload[key]
    return payload.get("tool_response")


def _error(payload: Mapping[str, Any]) -> Any:
    error = payload.get("error")
    return wire.text(error, "message") or error if isinstance(error, dict) else error


def parse(request: RelayRequest, name: str, payload: Mapping[str, Any]) -> Event:
    name = NAMES.get(name, name)
    failure = wire.nested(payload, "error")
    return Event(
        **wire.request_fields(request, payload),
        name=name,
        kind=wire.spec(EVENTS, name).kind,
        session=wire.text(payload, "session_id", "sessionId"),
        cwd=wire.text(payload, "cwd") or request.cwd,
        project_folder=request.environment.get("COPILOT_PROJECT_DIR", ""),
        hook_folder=request.environment.get("COPILOT_PROJECT_DIR", ""),
        topic=wire.text(payload, "notification_type", "notificationType", "source", "reason", "trigger")
        or wire.text(payload, "error_context", "errorContext"),
        title=wire.text(payload, "title", "agent_display_name", "agentDisplayName"),
        tool=tool(name, payload),
        prompt=wire.text(payload, *(("transformedPrompt",) if name == TRANSFORMED else PROMPT_KEYS)),
        message=wire.text(payload, "last_assistant_message", "response", "message") or wire.text(failure, "message"),
        subagent=wire.text(payload, "agent_type", "agent_name", "agentName"),
        repeated=payload.get("stop_hook_active") is True,
    )


def neutral(name: str, body: bytes) -> Answer:
    return EMPTY_ANSWER


def rewrite_problem(event: Event, decision: Decision) -> str:
    rewrite = decision.rewrite
    if rewrite is None:
        return ""
    if LOCAL_KEY in event.payload and rewrite.target is not Target.INPUT:
        return "the Local harness of VS Code does not take"
    if rewrite.target is Target.INPUT:
        return wire.json_problem(rewrite.value) if isinstance(rewrite.value, Mapping) else "is not a JSON object"
    if rewrite.target is Target.OUTPUT:
        return wire.json_problem(rewrite.value)
    return wire.text_problem(rewrite.value, blank=False)


def render(event: Event, decision: Decision) -> Answer:
    answer = _local(event, decision) if LOCAL_KEY in event.payload else _fields(event, decision)
    return Answer(stdout=wire.dumps_line(answer)) if answer else Answer()


def _fields(event: Event, decision: Decision) -> dict[str, Any]:
    if event.name == "PermissionRequest":
        return _permission_request(decision)
    context = wire.non_empty(additionalContext=decision.context)
    if event.name == "PreToolUse":
        return _permission(decision) | _rewritten(event, decision) | context
    return _block(event, decision) | _rewritten(event, decision) | context


def _permission(decision: Decision) -> dict[str, Any]:
    if decision.verdict is Verdict.ABSTAIN:
        return {}
    reason = decision.reason or (wire.DEFAULT_REASON if decision.verdict is Verdict.DENY else "")
    return {"permissionDecision": decision.verdict.word} | wire.non_empty(permissionDecisionReason=reason)


def _permission_request(decision: Decision) -> dict[str, Any]:
    """Silence for an ask and for no opinion, because the agent then asks the user itself."""
    if decision.stop is not None or decision.verdict is Verdict.DENY:
        message = decision.reason or decision.stop or wire.DEFAULT_REASON
        interrupt = {"interrupt": True} if decision.stop is not None else {}
        return {"behavior": "deny", "message": message} | interrupt
    return {"behavior": "allow"} if decision.verdict is Verdict.ALLOW else {}


def _block(event: Event, decision: Decision) -> dict[str, Any]:
    if decision.verdict is not Verdict.DENY or event.name not in BLOCKED:
        return {}
    return {"decision": "block", "reason": decision.reason or wire.DEFAULT_REASON}


def _rewritten(event: Event, decision: Decision) -> dict[str, Any]:
    rewrite = decision.rewrite
    if rewrite is None:
        return {}
    if event.name == "PostToolUse" and rewrite.target is Target.OUTPUT:
        result = wire.nested(event.payload, "tool_result") or wire.nested(event.payload, "toolResult")
        kind = wire.text(result, "result_type", "resultType") or "success"
        return {"modifiedResult": {"resultType": kind, "textResultForLlm": outputs.as_text(rewrite.value)}}
    target, key = REWRITES.get(event.name, (None, ""))
    return {key: rewrite.value} if rewrite.target is target else {}


def _local(event: Event, decision: Decision) -> dict[str, Any]:
    """The answer for VS Code's Local harness, which reads most fields inside hookSpecificOutput."""
    if event.name == "UserPromptSubmit":  # it has nothing else there
        denied = decision.verdict is Verdict.DENY
        return {"continue": False, "stopReason": decision.reason or wire.DEFAULT_REASON} if denied else {}
    block = _block(event, decision)
    inner = wire.non_empty(additionalContext=decision.context)
    if event.name == "PreToolUse":
        inner = _permission(decision) | inner
        inner |= {"updatedInput": decision.rewrite.value} if decision.rewrite else {}
    elif event.name == "Stop":
        inner, block = block, {}
    return block | ({"hookSpecificOutput": {"hookEventName": event.name} | inner} if inner else {})


def environment(event: Event) -> Mapping[str, str]:
    """The folder of the project, under both of the names that the agent gives it."""
    return hook_input.environment(SHAPE, event)


def sample(name: str) -> bytes:
    """A synthetic payload. Raises KeyError for an event without one."""
    if name in OTHER_FORM:
        return wire.dumps(OTHER_FORM[name])
    return wire.dumps({"hook_event_name": name, **SNAKE, **SAMPLES[name]})
