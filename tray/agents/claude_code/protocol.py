"""Claude Code's hooks, https://code.claude.com/docs/en/hooks: a JSON object on stdin, another (or text) on stdout.

In:  {"session_id":"8599…","transcript_path":"/home/dev/….jsonl","cwd":"/home/dev/project",
      "hook_event_name":"PreToolUse","tool_name":"Bash","tool_input":{"command":"rm -rf build"},…}
Out: {"hookSpecificOutput":{"hookEventName":"PreToolUse","permissionDecision":"deny","permissionDecisionReason":"no"}}
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from tray.agents import outputs, wire
from tray.agents.claude_code import answers, events, hook_input, samples
from tray.agents.claude_code.events import AGENT, MESSAGES, PATHS, SEQUENCE, TEXTS, TITLES, TOPICS
from tray.model.decision import EMPTY_ANSWER, Answer, Decision, HookOutput, Result, Target, Verdict
from tray.model.event import Capability, Event, RelayRequest, Tool

DEFAULT_CAN = Capability.DENY | Capability.STOP | Capability.NOTE
SUBAGENT_EVENTS = ("SubagentStart", "SubagentStop")
PERMISSION_WORDS = {Verdict.ALLOW: "allow", Verdict.ASK: "ask", Verdict.DENY: "deny"}
FORM_EVENTS = ("Elicitation", "ElicitationResult")
PERMISSION_EVENTS = ("PreModelSwitch", "PreToolUse")
BLOCK_EVENTS = (
    "ConfigChange",
    "PostToolBatch",
    "PostToolUse",
    "PostToolUseFailure",
    "PreCompact",
    "Stop",
    "SubagentStop",
    "TaskCreated",
    "UserPromptExpansion",
    "UserPromptSubmit",
)
EXIT_2_EVENTS = ("TaskCompleted", "TeammateIdle")  # refused by exit 2 alone
CONTINUE_ON_DENY = ("Stop", "SubagentStop", *EXIT_2_EVENTS)  # a refusal means: go on; so a stop beats it


def event_name(payload: Mapping[str, Any]) -> str:
    return wire.event_name(payload, "hook_event_name")


def session(request: RelayRequest, payload: Mapping[str, Any]) -> str:
    return wire.text(payload, "session_id")


def tool(name: str, payload: Mapping[str, Any]) -> Tool | None:
    failed = name == "PostToolUseFailure"
    output = "error" if failed else "tool_response"
    return wire.tool(payload, name="tool_name", input="tool_input", call="tool_use_id", output=output, failed=failed)


def parse(request: RelayRequest, name: str, payload: Mapping[str, Any]) -> Event:
    texts = wire.texts(payload, TEXTS)
    get = texts.get
    kind = events.EVENTS[name].kind if name in events.EVENTS else wire.UNKNOWN_EVENT.kind
    # With `--agent` a whole session has an agent_type; only an agent_id means a subagent.
    inside = "agent_id" in texts or name in SUBAGENT_EVENTS
    return Event(
        id=request.id,
        agent=request.agent,
        payload=payload,
        body=request.body,
        environment=request.environment,
        pid=request.pid,
        name=name,
        kind=kind,
        session=session(request, payload),
        cwd=get("cwd") or request.cwd,
        model=get("model") or get("to_model", ""),
        topic=get(TOPICS[name], "") if name in TOPICS else "",
        title=_first(texts, TITLES[name]) if name in TITLES else get("title") or get("session_title", ""),
        tool=tool(name, payload) if "tool_name" in texts else None,
        prompt=get("prompt") or get("custom_instructions", ""),
        message=_first(texts, MESSAGES.get(name, ("last_assistant_message", "message"))),
        url=get("url", ""),
        path=_first(texts, PATHS),
        subagent=get("agent_type" if inside else "teammate_name", ""),
        repeated=payload.get("stop_hook_active") is True,
        tools=tuple(wire.text(call, "tool_name") for call in _calls(payload)) if "tool_calls" in payload else (),
    )


def _first(texts: Mapping[str, str], keys: Iterable[str]) -> str:
    for key in keys:
        if key in texts:
            return texts[key]
    return ""


def _calls(payload: Mapping[str, Any]) -> list[Mapping[str, Any]]:
    calls = payload.get("tool_calls")
    return [call for call in calls if isinstance(call, dict)] if isinstance(calls, list) else []


def neutral(name: str, body: bytes) -> Answer:
    return EMPTY_ANSWER


def rewrite_problem(event: Event, decision: Decision) -> str:
    rewrite = decision.rewrite
    if rewrite is None:
        return ""
    if rewrite.target is Target.ANSWER:
        return _answer_problem(event, rewrite.value)
    if rewrite.target is Target.OUTPUT:
        output = event.tool.output if event.tool else None
        is_same = outputs.same_shape(output, rewrite.value)
        return wire.json_problem(rewrite.value) if is_same else "is not of the output's own shape"
    if rewrite.target is not Target.INPUT:
        return wire.text_problem(rewrite.value)
    if not isinstance(rewrite.value, Mapping):
        return "is no JSON object"
    if event.name == "PermissionRequest" and decision.verdict is not Verdict.ALLOW:
        return "comes without an allow"
    return wire.json_problem(rewrite.value)


def _answer_problem(event: Event, value: Any) -> str:
    if event.name == "WorktreeCreate":
        problem = wire.text_problem(value, blank=False)
        return problem or ("is more than one line" if len(value.splitlines()) > 1 else "")
    if not isinstance(value, Mapping) or value.get("action") not in answers.ACTIONS:
        return "is no form's answer"
    return wire.json_problem(value)


def render(event: Event, decision: Decision) -> Answer:
    if event.name == "WorktreeCreate":
        return _worktree(decision)
    denied = decision.verdict is Verdict.DENY
    halted = decision.stop is not None
    answer: dict[str, Any] = {}
    if halted and event.name != "PermissionRequest":
        answer |= {"continue": False} | wire.non_empty(stopReason=decision.stop)
    if denied and event.name in BLOCK_EVENTS and not (halted and event.name in CONTINUE_ON_DENY):
        answer |= {"decision": "block", "reason": decision.reason or wire.DEFAULT_REASON}
    if specific := _specific(event, decision):
        answer["hookSpecificOutput"] = {"hookEventName": event.name} | specific
    answer |= wire.non_empty(systemMessage=wire.join_notes(decision.notes))
    answer |= {name: value for name, value in decision.extra if name == SEQUENCE}
    stdout = wire.dumps_line(answer) if answer else b""
    if denied and event.name in EXIT_2_EVENTS and not halted:
        return Answer(stdout=stdout, stderr=_stderr(decision), code=2)
    return Answer(stdout=stdout)


def _worktree(decision: Decision) -> Answer:
    if decision.verdict is Verdict.DENY:
        return Answer(stderr=_stderr(decision), code=1)
    return Answer(stdout=f"{decision.rewrite.value}\n".encode()) if decision.rewrite else Answer()


def _stderr(decision: Decision) -> bytes:
    return (decision.reason or wire.DEFAULT_REASON).encode("utf-8", "replace") + b"\n"


def _specific(event: Event, decision: Decision) -> dict[str, Any]:
    """The fields of hookSpecificOutput."""
    extra = {name: value for name, value in decision.extra if name not in (SEQUENCE, "updatedPermissions")}
    if event.name == "PermissionRequest":
        return _permission_request(decision)
    if event.name == "PermissionDenied":
        return {"retry": True} if decision.retry else {}
    if event.name in FORM_EVENTS:
        return _form(decision)
    permission = _permission_decision(decision) if event.name in PERMISSION_EVENTS else {}
    return permission | _rewritten(decision) | wire.non_empty(additionalContext=decision.context) | extra


def _permission_decision(decision: Decision) -> dict[str, Any]:
    if decision.verdict not in PERMISSION_WORDS:
        return {}
    reason = decision.reason or (wire.DEFAULT_REASON if decision.verdict is Verdict.DENY else "")
    return {"permissionDecision": PERMISSION_WORDS[decision.verdict]} | wire.non_empty(
        permissionDecisionReason=reason
    )


REWRITE_KEYS = {
    Target.INPUT: "updatedInput",
    Target.MESSAGE: "displayContent",
    Target.OUTPUT: "updatedToolOutput",
}


def _rewritten(decision: Decision) -> dict[str, Any]:
    rewrite = decision.rewrite
    return {REWRITE_KEYS[rewrite.target]: rewrite.value} if rewrite and rewrite.target in REWRITE_KEYS else {}


def _permission_request(decision: Decision) -> dict[str, Any]:
    """An ask, like no opinion, is silence: the agent is about to ask the user anyway."""
    if decision.stop is not None or decision.verdict is Verdict.DENY:
        reason = decision.reason or decision.stop or wire.DEFAULT_REASON
        halt = {"interrupt": True} if decision.stop is not None else {}
        return {"decision": {"behavior": "deny", "message": reason} | halt}
    if decision.verdict is not Verdict.ALLOW:
        return {}
    rules = {name: value for name, value in decision.extra if name == "updatedPermissions"}
    return {"decision": {"behavior": "allow"} | _rewritten(decision) | rules}


def _form(decision: Decision) -> dict[str, Any]:
    if decision.verdict is Verdict.DENY:
        return {"action": "decline"}
    value = decision.rewrite.value if decision.rewrite else {}
    return {key: value[key] for key in ("action", "content") if key in value}


def hook_event_name(event: Event) -> str:
    return events.hook_event_name(event)


def stdin(event: Event) -> bytes:
    return hook_input.stdin(event)


def environment(event: Event) -> Mapping[str, str]:
    own = event.environment.get("CLAUDE_PROJECT_DIR", "") if event.agent == AGENT else ""
    return wire.variables(CLAUDE_PROJECT_DIR=own or event.cwd, CLAUDE_CODE_SESSION_ID=event.session)


def read(event: Event, result: Result) -> HookOutput:
    return answers.read(event, result, hook_event_name(event))


def sample(name: str) -> bytes:
    """A payload as it comes over the wire. Raises KeyError for an event without one."""
    return samples.sample(name)
