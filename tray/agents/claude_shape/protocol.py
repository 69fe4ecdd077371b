"""The protocol of a Claude-shaped agent: a JSON object on stdin, another (or text) on stdout. Pure.

In:  {"session_id":"8599…","transcript_path":"/home/dev/….jsonl","cwd":"/home/dev/project",
      "hook_event_name":"PreToolUse","tool_name":"Bash","tool_input":{"command":"rm -rf build"},…}
Out: {"hookSpecificOutput":{"hookEventName":"PreToolUse","permissionDecision":"deny","permissionDecisionReason":"no"}}
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

import msgspec

from tray.agents import outputs, tools, wire
from tray.agents.claude_shape import answers, hook_input
from tray.agents.claude_shape.shape import CONTINUED, FORM_ACTIONS, FORMS, SUBAGENTS, ClaudeShape, RefusalStyle
from tray.model.decision import EMPTY_ANSWER, Answer, Decision, HookOutput, Result, Target, Verdict
from tray.model.event import Event, EventKind, RelayRequest, Tool

RULES = "updatedPermissions"  # the extra that is beside an allow
SESSION = "3f0c2a51-7d1e-4b7a-9c52-5d0d0f6f2b11"
SUBAGENT = {"agent_id": "a43263d655169d4b4", "agent_type": "general-purpose"}
STOPPED = {"stop_hook_active": False, "last_assistant_message": "All tests pass."}
SAMPLES: Mapping[EventKind, Mapping[str, Any]] = {
    EventKind.COMPACT_AFTER: {"trigger": "auto"},
    EventKind.COMPACT_BEFORE: {"trigger": "auto"},
    EventKind.NOTIFICATION: {"message": "The agent waits for you.", "notification_type": "idle_prompt"},
    EventKind.PROMPT: {"prompt": "Fix the parser."},
    EventKind.SESSION_END: {"reason": "other"},
    EventKind.SESSION_START: {"source": "startup"},
    EventKind.SUBAGENT_END: SUBAGENT | STOPPED,
    EventKind.SUBAGENT_START: SUBAGENT,
    EventKind.TURN_END: STOPPED,
    EventKind.TURN_FAILED: {"error": "rate_limit"},
}
CALLS = (
    *(EventKind.PERMISSION_DENIED, EventKind.PERMISSION_REQUEST, EventKind.TOOL_AFTER, EventKind.TOOL_BEFORE),
    EventKind.TOOL_FAILED,
)


class ShapedProtocol(msgspec.Struct, frozen=True):
    """An AgentProtocol. An agent that differs in one function overrides it."""

    shape: ClaudeShape

    def event_name(self, payload: Mapping[str, Any]) -> str:
        return wire.event_name(payload, self.shape.keys.event)

    def tool(self, name: str, payload: Mapping[str, Any]) -> Tool | None:
        keys = self.shape.keys
        failed = self.shape.kinds.get(name) is EventKind.TOOL_FAILED
        output = keys.error if failed else keys.output
        return wire.tool(payload, name=keys.tool, input=keys.input, call=keys.call, output=output, failed=failed)

    def parse(self, request: RelayRequest, name: str, payload: Mapping[str, Any]) -> Event:
        shape = self.shape
        keys, topics, titles, messages = shape.keys, shape.topic_keys, shape.titles, shape.messages
        texts = wire.texts(payload, shape.texts)
        get, project = texts.get, ""  # the folder of the project stays while the session changes its own
        for variable in shape.project_variables:
            project = project or request.environment.get(variable, "")
        kind = shape.kinds.get(name, EventKind.OTHER)
        message = get("last_assistant_message") or get("message", "")
        # A whole session may have an agent_type; only an agent_id means a subagent.
        inside = "agent_id" in texts or kind in SUBAGENTS
        calls = payload.get("tool_calls")
        calls = calls if isinstance(calls, list) else ()
        return Event(
            id=request.id,
            agent=request.agent,
            payload=payload,
            body=request.body,
            environment=request.environment,
            pid=request.pid,
            name=name,
            kind=kind,
            session=get(keys.session, ""),
            cwd=get(keys.cwd) or project or request.cwd,
            project_folder=project,
            model=get("model") or get("to_model", ""),
            topic=get(topics[name], "") if name in topics else "",
            title=_first(texts, titles[name]) if name in titles else get("title") or get("session_title", ""),
            tool=self.tool(name, payload) if keys.tool in texts else None,
            prompt=get("prompt") or get("custom_instructions", ""),
            message=_first(texts, messages[name]) if name in messages else message,
            url=get("url", ""),
            path=get("file_path") or get("new_cwd") or get("directory") or get("worktree_path", ""),
            subagent=get("agent_type" if inside else "teammate_name", ""),
            repeated=payload.get("stop_hook_active") is True,
            tools=tuple(wire.text(one, keys.tool) for one in calls if isinstance(one, dict)),
        )

    def neutral(self, name: str, body: bytes) -> Answer:
        return EMPTY_ANSWER

    def rewrite_problem(self, event: Event, decision: Decision) -> str:
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
            return "is not a JSON object"
        if event.kind is EventKind.PERMISSION_REQUEST and decision.verdict is not Verdict.ALLOW:
            return "comes without an allow"
        return wire.json_problem(rewrite.value)

    def render(self, event: Event, decision: Decision) -> Answer:
        if event.kind is EventKind.WORKTREE_CREATE:
            return _worktree(decision)
        shape, name = self.shape, event.name
        kind, style = shape.kinds.get(name), shape.styles.get(name)
        denied = decision.verdict is Verdict.DENY
        halted = decision.stop is not None
        is_beaten = halted and kind in CONTINUED  # a refusal would make the agent continue
        answer: dict[str, Any] = {}
        if halted and kind is not EventKind.PERMISSION_REQUEST and name not in shape.stop_refuses:
            reasons = (decision.reason, decision.stop) if denied and shape.shows_stop_only else (decision.stop,)
            answer |= {"continue": False} | wire.non_empty(stopReason="\n".join(dict.fromkeys(filter(None, reasons))))
        if denied and style is RefusalStyle.BLOCK and not is_beaten:
            answer |= {"decision": shape.refusal_words[0], "reason": decision.reason or wire.DEFAULT_REASON}
        if denied and style is RefusalStyle.STOP:
            answer |= {"continue": False, "stopReason": decision.reason or wire.DEFAULT_REASON}
        if specific := self._specific(event, decision):
            answer["hookSpecificOutput"] = {"hookEventName": name} | specific
        if shape.takes_notes and decision.notes:
            answer |= wire.non_empty(systemMessage=wire.join_notes(decision.notes))
        for key, value in decision.extra:
            if key in shape.top_extras:
                answer[key] = value
        stdout = wire.dumps(answer) + b"\n" if answer else b""
        if denied and style is RefusalStyle.EXIT_2 and not is_beaten:
            return Answer(stdout=stdout, stderr=_stderr(decision), code=2)
        return Answer(stdout=stdout)

    def _specific(self, event: Event, decision: Decision) -> dict[str, Any]:
        """The fields of hookSpecificOutput."""
        if event.kind is EventKind.PERMISSION_REQUEST:
            return self._permission_request(decision)
        if event.kind is EventKind.PERMISSION_DENIED:
            return {"retry": True} if decision.retry else {}
        if event.kind in FORMS:
            return _form(decision)
        fields: dict[str, Any] = {}
        verdict = decision.verdict
        if verdict is Verdict.ABSTAIN and self.shape.rewrite_needs_allow and decision.rewrite:
            verdict = Verdict.ALLOW
        if self.shape.styles.get(event.name) is RefusalStyle.PERMISSION and verdict is not Verdict.ABSTAIN:
            fields["permissionDecision"] = verdict.word
            if reason := decision.reason or (wire.DEFAULT_REASON if verdict is Verdict.DENY else ""):
                fields["permissionDecisionReason"] = reason
        if decision.rewrite:
            fields |= self._rewritten(decision)
        if decision.context:
            fields["additionalContext"] = decision.context
        for key, value in decision.extra:
            if key not in self.shape.top_extras and key != RULES:
                fields[key] = value
        return fields

    def _rewritten(self, decision: Decision) -> dict[str, Any]:
        rewrite, keys = decision.rewrite, self.shape.rewrite_keys
        return {keys[rewrite.target]: rewrite.value} if rewrite and rewrite.target in keys else {}

    def _permission_request(self, decision: Decision) -> dict[str, Any]:
        """Silence for an ask and for no opinion, because the agent then asks the user itself."""
        if decision.stop is not None or decision.verdict is Verdict.DENY:
            reason = decision.reason or decision.stop or wire.DEFAULT_REASON
            halt = {"interrupt": True} if decision.stop is not None else {}
            return {"decision": {"behavior": "deny", "message": reason} | halt}
        if decision.verdict is not Verdict.ALLOW:
            return {}
        rules = {key: value for key, value in decision.extra if key == RULES}
        return {"decision": {"behavior": "allow"} | self._rewritten(decision) | rules}

    # What follows is for command hooks, which few events have.

    def hook_event_name(self, event: Event) -> str:
        return hook_input.event_name(self.shape, event)

    def stdin(self, event: Event) -> bytes:
        return self._ended(hook_input.stdin(self.shape, event))

    def environment(self, event: Event) -> Mapping[str, str]:
        return hook_input.environment(self.shape, event)

    def read(self, event: Event, result: Result) -> HookOutput:
        return answers.read(self.shape, event, result, hook_input.event_name(self.shape, event))

    def sample(self, name: str) -> bytes:
        """Returns a synthetic payload, as the relay gets it. Raises KeyError for an event without one."""
        shape = self.shape
        fields = shape.samples[name] if name in shape.samples else _sample(shape, shape.events[name].kind)
        common = shape.sample_common or {
            shape.keys.session: SESSION,
            "transcript_path": f"/home/dev/.{shape.agent}/sessions/{SESSION}.jsonl",
            shape.keys.cwd: "/home/dev/project",
        }
        return self._ended(wire.dumps_line({**common, shape.keys.event: name, **fields}))

    def _ended(self, line: bytes) -> bytes:
        return line if self.shape.ends_with_newline else line.removesuffix(b"\n")


def _sample(shape: ClaudeShape, kind: EventKind) -> Mapping[str, Any]:
    if kind not in CALLS:
        return SAMPLES.get(kind, {})
    keys = shape.keys
    shell, input = tools.native(shape.agent, "Bash"), tools.native_input(shape.agent, "Bash", {"command": "ls -la"})
    call = {keys.tool: shell, keys.input: input, keys.call: "call_01"}
    if kind is EventKind.TOOL_AFTER:
        return call | {keys.output: shape.output_from_text("Bash", input, "README.md")}
    return call | {keys.error: "Exit code 3"} if kind is EventKind.TOOL_FAILED else call


def _first(texts: Mapping[str, str], keys: Iterable[str]) -> str:
    for key in keys:
        if key in texts:
            return texts[key]
    return ""


def _answer_problem(event: Event, value: Any) -> str:
    if event.kind is EventKind.WORKTREE_CREATE:
        problem = wire.text_problem(value, blank=False)
        return problem or ("is more than one line" if len(value.splitlines()) > 1 else "")
    if not isinstance(value, Mapping) or value.get("action") not in FORM_ACTIONS:
        return "is not a form's answer"
    return wire.json_problem(value)


def _worktree(decision: Decision) -> Answer:
    if decision.verdict is Verdict.DENY:
        return Answer(stderr=_stderr(decision), code=1)
    return Answer(stdout=f"{decision.rewrite.value}\n".encode()) if decision.rewrite else Answer()


def _stderr(decision: Decision) -> bytes:
    return (decision.reason or wire.DEFAULT_REASON).encode("utf-8", "replace") + b"\n"


def _form(decision: Decision) -> dict[str, Any]:
    if decision.verdict is Verdict.DENY:
        return {"action": "decline"}
    value = decision.rewrite.value if decision.rewrite else {}
    return {key: value[key] for key in ("action", "content") if key in value} if isinstance(value, Mapping) else {}
