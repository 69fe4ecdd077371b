"""X-Code CLI's plugin hooks, https://github.com/woai3c/x-code-cli (docs/plugin-hooks.md): one JSON line each way.

In:  {"event":"PreToolUse","session":{"cwd":"/abs/project","modelId":"anthropic:claude-sonnet-4-6"},
      "plugin":{"id":"linear@market","dir":"/abs/…"},
      "tool":{"name":"shell","args":{"command":"rm -rf build"},"callId":"c1"}}
Out: {"decision":"deny","reason":"Editing prod config is forbidden"}
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from tray.agents import lenient, outputs, tools, wire
from tray.agents.agent import AnswerWords
from tray.model.decision import EMPTY_ANSWER, Answer, Decision, HookOutput, Result, Rewrite, Target, Verdict
from tray.model.event import Capability, Event, EventKind, EventSpec, RelayRequest, Tool

AGENT = "x-code"
# 30 s is the most the agent allows (it refuses a plugin's hooks altogether above that): connect writes it.
EVENTS: Mapping[str, EventSpec] = {
    "PostCompact": EventSpec(kind=EventKind.COMPACT_AFTER, timeout=30),
    # A deny comes too late there: the agent heeds nothing but another output.
    "PostToolUse": EventSpec(
        kind=EventKind.TOOL_AFTER, can=Capability.REWRITE_OUTPUT, timeout=30, subject="tool.name", after_the_fact=True
    ),
    "PreCompact": EventSpec(kind=EventKind.COMPACT_BEFORE, timeout=30),
    "PreToolUse": EventSpec(
        kind=EventKind.TOOL_BEFORE, can=Capability.DENY | Capability.REWRITE_INPUT, timeout=30, subject="tool.name"
    ),
    "SessionEnd": EventSpec(kind=EventKind.SESSION_END, timeout=30),
    "SessionStart": EventSpec(kind=EventKind.SESSION_START, timeout=30),
    "SubagentStart": EventSpec(kind=EventKind.SUBAGENT_START, timeout=30),
    "SubagentStop": EventSpec(kind=EventKind.SUBAGENT_END, timeout=30),
    "TurnComplete": EventSpec(kind=EventKind.ROUND_END, timeout=30),  # after every model round
    "UserPromptSubmit": EventSpec(kind=EventKind.PROMPT, can=Capability.DENY | Capability.CONTEXT, timeout=30),
}
# Every agent's events under the name whose answers are taken there; the rest have their canonical name.
NAMES_BY_KIND: Mapping[EventKind, str] = {
    **{spec.kind: name for name, spec in EVENTS.items()},
    **dict.fromkeys((EventKind.CONVERSATION_NEW, EventKind.MODEL_BEFORE), "UserPromptSubmit"),
    **dict.fromkeys((EventKind.PROMPT_EXPANSION, EventKind.SLASH_COMMAND), "UserPromptSubmit"),
    **dict.fromkeys((EventKind.TOOL_FAILED, EventKind.TOOL_RESULT), "PostToolUse"),
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


def event_name(payload: Mapping[str, Any]) -> str:
    return wire.event_name(payload, "event")


def tool(name: str, payload: Mapping[str, Any]) -> Tool | None:
    call = wire.nested(payload, "tool")
    failed = call.get("isError") is True
    return wire.tool(call, name="name", input="args", call="callId", output="output", failed=failed)


def parse(request: RelayRequest, name: str, payload: Mapping[str, Any]) -> Event:
    fields = wire.nested(payload, "session")
    agent = wire.nested(payload, "agent")
    cwd = wire.text(fields, "cwd") or request.cwd
    return Event(
        **wire.request_fields(request, payload),
        name=name,
        kind=wire.spec(EVENTS, name).kind,
        session=wire.text(fields, "sessionId") or f"{request.parent}:{cwd}",  # it sends no id, its types have one
        cwd=cwd,
        model=wire.text(fields, "modelId"),
        topic=wire.text(payload, "trigger", "outcome"),
        title=wire.text(agent, "description"),
        tool=tool(name, payload),
        prompt=wire.text(payload, "prompt") or wire.text(agent, "prompt"),
        message=wire.text(payload, "summary"),
        subagent=wire.text(agent, "name"),
    )


def neutral(name: str, body: bytes) -> Answer:
    return EMPTY_ANSWER


def rewrite_problem(event: Event, decision: Decision) -> str:
    if decision.rewrite is None:
        return ""
    is_output = decision.rewrite.target is Target.OUTPUT
    return (wire.json_problem if is_output else wire.object_problem)(decision.rewrite.value)


def render(event: Event, decision: Decision) -> Answer:
    answer: dict[str, Any] = {}
    if decision.verdict is Verdict.DENY:
        answer = {"decision": "deny", "reason": decision.reason or wire.DEFAULT_REASON}
    elif decision.rewrite is not None and decision.rewrite.target is Target.INPUT:
        answer = {"decision": "modify", "args": decision.rewrite.value}
    elif decision.rewrite is not None:
        answer = {"decision": "modify", "output": outputs.as_text(decision.rewrite.value)}
    elif decision.context:
        answer = {"decision": "allow", "context": decision.context}
    return Answer(stdout=wire.dumps_line(answer)) if answer else EMPTY_ANSWER


def environment(event: Event) -> Mapping[str, str]:
    return {}


def sample(name: str) -> bytes:
    """A payload as it comes over the wire. Raises KeyError for an event without one."""
    common = {
        "event": name,
        "session": {"cwd": "/home/dev/project", "modelId": "anthropic:claude-sonnet-4-6"},
        "plugin": {"id": "hooktray@local", "dir": "/home/dev/.x-code/plugins/cache/local/hooktray/1.0.0"},
    }
    return wire.dumps_line({**common, **SAMPLES[name]})


USED = {"inputTokens": 4321, "outputTokens": 567, "totalTokens": 4888}
CALL = {"name": "shell", "args": {"command": "ls -la"}, "callId": "call_abc124"}
REVIEWER = {"name": "code-reviewer", "description": "review the diff"}
SAMPLES: Mapping[str, Mapping[str, Any]] = {
    "PostCompact": {"trigger": "proactive", "messageCount": 12, "summary": "The parser was fixed."},
    "PostToolUse": {"tool": {**CALL, "output": "README.md", "isError": False}},
    "PreCompact": {"trigger": "proactive", "messageCount": 87, "tokenEstimate": 184000},
    "PreToolUse": {"tool": CALL},
    "SessionEnd": {},
    "SessionStart": {},
    "SubagentStart": {"agent": {**REVIEWER, "prompt": "Review the diff of the last commit."}},
    "SubagentStop": {"agent": REVIEWER, "durationMs": 12345, "outcome": "completed", "tokenUsage": USED},
    "TurnComplete": {"turn": 3, "tokenUsage": USED},
    "UserPromptSubmit": {"prompt": "Fix the parser."},
}


# ---- hooks that were written for X-Code, on any agent's event ----


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
    name = hook_event_name(event)
    agent = {"name": event.subagent, "description": event.title}
    compaction = {"trigger": event.topic if event.topic in TRIGGERS else "proactive", "messageCount": 0}
    match name:
        case "TurnComplete":
            return {"turn": 0} | USAGE
        case "UserPromptSubmit":
            return {"prompt": event.prompt}
        case "PreCompact":
            return compaction | {"tokenEstimate": 0}
        case "PostCompact":
            return compaction | {"summary": event.message}
        case "SubagentStart":
            return {"agent": agent | {"prompt": event.prompt}}
        case "SubagentStop":
            outcome = event.topic if event.topic in OUTCOMES else "completed"
            return {"agent": agent, "durationMs": 0, "outcome": outcome} | USAGE
    if event.tool is None:
        return {}
    title, args = tools.hook_call(event.agent, AGENT, event.tool)
    call: dict[str, Any] = {"name": title, "args": args, "callId": event.tool.call}
    if name == "PostToolUse":
        call |= {"output": outputs.as_text(event.tool.output), "isError": event.tool.failed}
    return {"tool": call}


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
    """Returns the new text in the shape of the tool's own output, if that has a place for a text."""
    text, args = answer.get("output"), answer.get("args")
    if hook_event_name(event) == "PostToolUse":
        if event.tool is None or not isinstance(text, str):
            return HookOutput(warning=IGNORED.format("modifies nothing: its output is not text"))
        value = outputs.with_text(event.tool.output, text)
        return HookOutput(rewrite=Rewrite(target=Target.OUTPUT, value=text if value is None else value))
    if event.tool is None or not isinstance(args, dict):
        return HookOutput(warning=IGNORED.format("modifies nothing: its args are no object"))
    value = tools.translate_back(event.agent, AGENT, event.tool.name, event.tool.input, args)
    return HookOutput(rewrite=Rewrite(target=Target.INPUT, value=value))
