"""Claude Code's hooks, https://code.claude.com/docs/en/hooks: a JSON object on stdin, another (or text) on stdout.

In:  {"session_id":"8599…","transcript_path":"/home/dev/….jsonl","cwd":"/home/dev/project",
      "hook_event_name":"PreToolUse","tool_name":"Bash","tool_input":{"command":"rm -rf build"},…}
Out: {"hookSpecificOutput":{"hookEventName":"PreToolUse","permissionDecision":"deny","permissionDecisionReason":"no"}}
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from tray.dialects import claude_answers, claude_events, claude_hooks, claude_samples, outputs, wire
from tray.dialects.claude_events import AGENT, MESSAGES, PATHS, SEQUENCE, TEXTS, TITLES, TOPICS
from tray.model.decision import SILENCE, Answer, Decision, Reading, Result, Target, Verdict
from tray.model.event import Can, Event, EventSpec, Knock, Tool

EVENTS: Mapping[str, EventSpec] = claude_events.EVENTS
UNHEARD = Can.DENY | Can.STOP | Can.NOTE
SUBAGENT_EVENTS = ("SubagentStart", "SubagentStop")
WORDS = {Verdict.ALLOW: "allow", Verdict.ASK: "ask", Verdict.DENY: "deny"}
FORMS = ("Elicitation", "ElicitationResult")
PERMITS = ("PreModelSwitch", "PreToolUse")
BLOCKS = (
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
EXITS = ("TaskCompleted", "TeammateIdle")  # refused by exit 2 alone
GOES_ON = ("Stop", "SubagentStop", *EXITS)  # a refusal means: go on; so a stop beats it


def title(payload: Mapping[str, Any]) -> str:
    return wire.name(payload, "hook_event_name")


def session(knock: Knock, payload: Mapping[str, Any]) -> str:
    return wire.text(payload, "session_id")


def tool(name: str, payload: Mapping[str, Any]) -> Tool | None:
    failed = name == "PostToolUseFailure"
    output = "error" if failed else "tool_response"
    return wire.tool(payload, name="tool_name", input="tool_input", call="tool_use_id", output=output, failed=failed)


def parse(knock: Knock, name: str, payload: Mapping[str, Any]) -> Event:
    said = wire.texts(payload, TEXTS)
    get = said.get
    kind = EVENTS[name].kind if name in EVENTS else wire.UNKNOWN.kind
    # With `--agent` a whole session has an agent_type; only an agent_id means a subagent.
    inside = "agent_id" in said or name in SUBAGENT_EVENTS
    return Event(
        id=knock.id,
        agent=knock.agent,
        payload=payload,
        body=knock.body,
        environment=knock.environment,
        pid=knock.pid,
        name=name,
        kind=kind,
        session=session(knock, payload),
        cwd=get("cwd") or knock.cwd,
        model=get("model") or get("to_model", ""),
        topic=get(TOPICS[name], "") if name in TOPICS else "",
        title=_first(said, TITLES[name]) if name in TITLES else get("title") or get("session_title", ""),
        tool=tool(name, payload) if "tool_name" in said else None,
        prompt=get("prompt") or get("custom_instructions", ""),
        message=_first(said, MESSAGES.get(name, ("last_assistant_message", "message"))),
        url=get("url", ""),
        path=_first(said, PATHS),
        subagent=get("agent_type" if inside else "teammate_name", ""),
        repeated=payload.get("stop_hook_active") is True,
        tools=tuple(wire.text(call, "tool_name") for call in _calls(payload)) if "tool_calls" in payload else (),
    )


def _first(said: Mapping[str, str], keys: Iterable[str]) -> str:
    for key in keys:
        if key in said:
            return said[key]
    return ""


def _calls(payload: Mapping[str, Any]) -> list[Mapping[str, Any]]:
    calls = payload.get("tool_calls")
    return [call for call in calls if isinstance(call, dict)] if isinstance(calls, list) else []


def neutral(name: str, body: bytes) -> Answer:
    return SILENCE


def carries(event: Event, decision: Decision) -> str:
    rewrite = decision.rewrite
    if rewrite is None:
        return ""
    if rewrite.target is Target.ANSWER:
        return _answers(event, rewrite.value)
    if rewrite.target is Target.OUTPUT:
        now = event.tool.output if event.tool else None
        same = outputs.same_shape(now, rewrite.value)
        return wire.unwritable(rewrite.value) if same else "is not of the output's own shape"
    if rewrite.target is not Target.INPUT:
        return wire.unsayable(rewrite.value)
    if not isinstance(rewrite.value, Mapping):
        return "is no JSON object"
    if event.name == "PermissionRequest" and decision.verdict is not Verdict.ALLOW:
        return "comes without an allow"
    return wire.unwritable(rewrite.value)


def _answers(event: Event, value: Any) -> str:
    if event.name == "WorktreeCreate":
        fault = wire.unsayable(value, blank=False)
        return fault or ("is more than one line" if len(value.splitlines()) > 1 else "")
    if not isinstance(value, Mapping) or value.get("action") not in claude_answers.ACTIONS:
        return "is no form's answer"
    return wire.unwritable(value)


def render(event: Event, decision: Decision) -> Answer:
    if event.name == "WorktreeCreate":
        return _worktree(decision)
    denied = decision.verdict is Verdict.DENY
    halted = decision.stop is not None
    answer: dict[str, Any] = {}
    if halted and event.name != "PermissionRequest":
        answer |= {"continue": False} | wire.filled(stopReason=decision.stop)
    if denied and event.name in BLOCKS and not (halted and event.name in GOES_ON):
        answer |= {"decision": "block", "reason": decision.reason or wire.BLOCKED}
    if said := _specific(event, decision):
        answer["hookSpecificOutput"] = {"hookEventName": event.name} | said
    answer |= wire.filled(systemMessage=wire.joined(decision.notes))
    answer |= {name: value for name, value in decision.extra if name == SEQUENCE}
    stdout = wire.line(answer) if answer else b""
    if denied and event.name in EXITS and not halted:
        return Answer(stdout=stdout, stderr=_told(decision), code=2)
    return Answer(stdout=stdout)


def _worktree(decision: Decision) -> Answer:
    if decision.verdict is Verdict.DENY:
        return Answer(stderr=_told(decision), code=1)
    return Answer(stdout=f"{decision.rewrite.value}\n".encode()) if decision.rewrite else Answer()


def _told(decision: Decision) -> bytes:
    return (decision.reason or wire.BLOCKED).encode("utf-8", "replace") + b"\n"


def _specific(event: Event, decision: Decision) -> dict[str, Any]:
    """What stands inside hookSpecificOutput."""
    extra = {name: value for name, value in decision.extra if name not in (SEQUENCE, "updatedPermissions")}
    if event.name == "PermissionRequest":
        return _permission(decision)
    if event.name == "PermissionDenied":
        return {"retry": True} if decision.retry else {}
    if event.name in FORMS:
        return _form(decision)
    said = _permit(decision) if event.name in PERMITS else {}
    return said | _rewritten(decision) | wire.filled(additionalContext=decision.context) | extra


def _permit(decision: Decision) -> dict[str, Any]:
    if decision.verdict not in WORDS:
        return {}
    reason = decision.reason or (wire.BLOCKED if decision.verdict is Verdict.DENY else "")
    return {"permissionDecision": WORDS[decision.verdict]} | wire.filled(permissionDecisionReason=reason)


REWRITTEN = {
    Target.INPUT: "updatedInput",
    Target.MESSAGE: "displayContent",
    Target.OUTPUT: "updatedToolOutput",
}


def _rewritten(decision: Decision) -> dict[str, Any]:
    rewrite = decision.rewrite
    return {REWRITTEN[rewrite.target]: rewrite.value} if rewrite and rewrite.target in REWRITTEN else {}


def _permission(decision: Decision) -> dict[str, Any]:
    """An ask, like no opinion, is silence: the agent is about to ask the user anyway."""
    if decision.stop is not None or decision.verdict is Verdict.DENY:
        reason = decision.reason or decision.stop or wire.BLOCKED
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


def told(event: Event) -> str:
    return claude_events.told(event)


def stdin(event: Event) -> bytes:
    return claude_hooks.stdin(event)


def environment(event: Event) -> Mapping[str, str]:
    own = event.environment.get("CLAUDE_PROJECT_DIR", "") if event.agent == AGENT else ""
    return wire.variables(CLAUDE_PROJECT_DIR=own or event.cwd, CLAUDE_CODE_SESSION_ID=event.session)


def read(event: Event, result: Result) -> Reading:
    return claude_answers.read(event, result, told(event))


def sample(name: str) -> bytes:
    """A payload as it comes over the wire. Raises KeyError for an event without one."""
    return claude_samples.sample(name)
