"""Cline's hooks: one JSON object each way. Its names of events in payloads are not those of its hook files.

In:  {"clineVersion":"","hookName":"tool_call","taskId":"t1","workspaceRoots":["/p"],"tool_call":{"id":"c1",
      "name":"run_commands","input":{"commands":["rm -rf build"]}},"preToolUse":{…},…}
Out: {"cancel":true,"errorMessage":"no"}; silence, text that is not JSON and every exit code mean no opinion.
"""

from __future__ import annotations

import json
import shlex
from collections.abc import Mapping
from typing import Any

from tray.agents import lenient, outputs, tools, wire
from tray.agents.agent import AnswerWords
from tray.model.decision import EMPTY_ANSWER, Answer, Decision, HookOutput, Result, Rewrite, Target, Verdict
from tray.model.event import Capability, Event, EventKind, EventSpec, RelayRequest, Tool

ID = "cline"
NAME = "Cline"
TIMEOUT = 120.0  # seconds, fixed
EVENTS: Mapping[str, EventSpec] = {  # by the names of its hook files
    # A refusal ends the turn: the model reads neither the output nor the reason.
    "PostToolUse": EventSpec(
        kind=EventKind.TOOL_AFTER,
        can=Capability.DENY | Capability.CONTEXT,
        timeout=TIMEOUT,
        subject="tool_result.name",
    ),
    "PreToolUse": EventSpec(
        kind=EventKind.TOOL_BEFORE,
        can=Capability.DENY | Capability.REWRITE_INPUT | Capability.CONTEXT,
        timeout=TIMEOUT,
        subject="tool_call.name",
    ),
    # After a turn that was cancelled, by its user or by a hook.
    "SessionShutdown": EventSpec(kind=EventKind.TURN_INTERRUPTED, timeout=TIMEOUT),
    "TaskComplete": EventSpec(kind=EventKind.TURN_END, timeout=TIMEOUT),
    "TaskError": EventSpec(kind=EventKind.TURN_FAILED, timeout=TIMEOUT),
    "TaskStart": EventSpec(kind=EventKind.SESSION_START, timeout=TIMEOUT),
}
HOOK_NAMES: Mapping[str, str] = {  # in payloads
    "agent_end": "TaskComplete",
    "agent_error": "TaskError",
    "agent_start": "TaskStart",
    "session_shutdown": "SessionShutdown",
    "tool_call": "PreToolUse",
    "tool_result": "PostToolUse",
}
NAMES_BY_KIND: Mapping[EventKind, str] = {
    **{spec.kind: name for name, spec in EVENTS.items()},
    EventKind.COMPLETION_CLAIM: "TaskComplete",
    EventKind.CONVERSATION_NEW: "TaskStart",
    EventKind.PERMISSION_REQUEST: "PreToolUse",
    EventKind.TOOL_FAILED: "PostToolUse",
    EventKind.TOOL_RESULT: "PostToolUse",
}
SHELL = "run_commands"
COMMAND_KEYS = ("commands", "command", "args", "cmd")  # of its input
CONTROL = "HOOK_CONTROL\t"  # before the answer, where a hook prints other lines as well
CONTEXT_KEYS = ("context", "contextModification")
KNOWN_KEYS = frozenset({"cancel", "errorMessage", "overrideInput", "review", *CONTEXT_KEYS})
ANSWERS = AnswerWords(
    keys=KNOWN_KEYS,
    verdicts={
        "cancel": {False: Verdict.ABSTAIN, True: Verdict.DENY},
        "review": {False: Verdict.ABSTAIN, True: Verdict.ASK},
    },
)


def event_name(payload: Mapping[str, Any]) -> str:
    """ "" for a name that is not known: then the event is that of our file."""
    return HOOK_NAMES.get(wire.text(payload, "hookName"), "")


def tool(name: str, payload: Mapping[str, Any]) -> Tool | None:
    call = wire.nested(payload, "tool_result" if name == "PostToolUse" else "tool_call")
    title = wire.text(call, "name")
    if not title:
        return None
    input = call.get("input")
    lines = _lines(input) if title == SHELL else []
    return Tool(
        name=title,
        input=_flat(title, input),
        lines=tuple(lines) if len(lines) > 1 else (),
        call=wire.text(call, "id"),
        output=call.get("output"),
        failed=bool(call.get("error")),
    )


def _flat(title: str, input: Any) -> dict[str, Any]:
    """The input with one command."""
    fields = dict(input) if isinstance(input, Mapping) else {}
    if title != SHELL:
        return fields or wire.non_empty(input=input)
    others = {key: value for key, value in fields.items() if key not in COMMAND_KEYS}
    return {**others, "command": "\n".join(_lines(input))}


def _lines(input: Any) -> list[str]:
    """The commands, in whichever form they were sent; each runs by itself.

    Cline tries one form after the other and runs the first that fits. Which one that is may change, so all count.
    """
    if isinstance(input, list):
        return [line for entry in input for line in _entry(entry)]
    if not isinstance(input, Mapping):
        return _entry(input)
    given = {key: input[key] for key in COMMAND_KEYS if input.get(key) is not None}
    lines = _lines(given["commands"]) if isinstance(given.get("commands"), list) else _entry(given.get("commands"))
    return [*lines, *(_entry(given) if "command" in given else ()), *_entry(given.get("cmd"))]


def _entry(entry: Any) -> list[str]:
    """One command as a shell line: a program with its arguments runs without a shell, everything else in one."""
    if entry is None or isinstance(entry, str):
        return [entry] if entry else []
    if not isinstance(entry, Mapping) or not isinstance(entry.get("command"), str):
        return [json.dumps(entry)]
    command, args = entry["command"], entry.get("args")
    if not isinstance(args, list):
        return [command]
    line = shlex.join([command, *map(str, args)])
    return [line] if all(isinstance(one, str) for one in args) else [command, line]


def parse(request: RelayRequest, name: str, payload: Mapping[str, Any]) -> Event:
    kind = wire.spec(EVENTS, name).kind
    call = tool(name, payload)
    roots = wire.text_list(payload, "workspaceRoots")
    if kind is EventKind.TOOL_AFTER and call and call.failed:
        kind = EventKind.TOOL_FAILED
    return Event(
        **wire.request_fields(request, payload),
        name=name,
        kind=kind,
        session=wire.text(wire.nested(payload, "sessionContext"), "rootSessionId") or wire.text(payload, "taskId"),
        cwd=next(filter(None, roots), "") or request.cwd,
        project_folder=next(filter(None, roots), ""),
        topic=wire.text(payload, "reason"),
        tool=call,
        message=wire.text(wire.nested(payload, "turn"), "outputText")
        or wire.text(wire.nested(payload, "error"), "message"),
        subagent=wire.text(payload, "agent_id") if wire.text(payload, "parent_agent_id") else "",
    )


def neutral(name: str, body: bytes) -> Answer:
    return EMPTY_ANSWER


def rewrite_problem(event: Event, decision: Decision) -> str:
    return wire.object_problem(decision.rewrite.value) if decision.rewrite else ""


def render(event: Event, decision: Decision) -> Answer:
    answer: dict[str, Any] = {}
    if decision.verdict is Verdict.DENY:
        answer = {"cancel": True, "errorMessage": decision.reason or wire.DEFAULT_REASON}
    elif decision.rewrite and event.tool:
        answer = {"overrideInput": _native(event.tool.name, decision.rewrite.value)}
    answer |= wire.non_empty(contextModification=decision.context)
    return Answer(stdout=wire.dumps_line(answer)) if answer else EMPTY_ANSWER


def _native(title: str, input: object) -> dict[str, Any]:
    if not isinstance(input, Mapping):
        raise TypeError(f"the input of {title} is not an object")
    if title != SHELL or "command" not in input:
        return dict(input)
    return {**{key: value for key, value in input.items() if key != "command"}, "commands": [input["command"]]}


def hook_event_name(event: Event) -> str:
    """The name of the hook file; the canonical name where there is none."""
    return event.name if event.agent == ID else NAMES_BY_KIND.get(event.kind, event.kind.value)


def stdin(event: Event) -> bytes:
    if event.agent == ID:
        return event.body
    name = hook_event_name(event)
    hook_names = {file: word for word, file in HOOK_NAMES.items()}
    fields: dict[str, Any] = {
        "clineVersion": "",
        "hookName": hook_names.get(name, name),
        "taskId": event.session,
        "sessionContext": {"rootSessionId": event.session},
        "workspaceRoots": [event.cwd],
        "userId": "",
    }
    if event.tool is None:
        return wire.dumps(fields | wire.non_empty(prompt=event.prompt, message=event.message, topic=event.topic))
    title, given = tools.hook_call(event.agent, ID, event.tool)
    input = _native(title, given)
    call = {"id": event.tool.call, "name": title, "input": input}
    texts = {key: value if isinstance(value, str) else json.dumps(value) for key, value in input.items()}
    if name == "PostToolUse":
        output = outputs.as_text(event.tool.output)
        done = {"toolName": title, "parameters": texts, "result": output, "success": not event.tool.failed}
        return wire.dumps(fields | {"tool_result": call | {"output": output}, "postToolUse": done})
    return wire.dumps(fields | {"tool_call": call, "preToolUse": {"toolName": title, "parameters": texts}})


def environment(event: Event) -> Mapping[str, str]:
    return {}


def read(event: Event, result: Result) -> HookOutput:
    """Cline looks at no exit code, and goes on where the output is no JSON: both are failures here.

    A refusal counts whatever the exit code is.
    """
    if problem := wire.run_problem(result):
        return HookOutput(problem=problem)
    output = lenient.text(result.stdout)
    marked = [line.strip()[len(CONTROL) :] for line in output.splitlines() if line.strip().startswith(CONTROL)]
    output = marked[-1] if marked else output
    if not output:
        return HookOutput(problem=f"exit {result.code}") if result.code else HookOutput()
    try:
        answer = lenient.mapping(output, KNOWN_KEYS)
    except ValueError as error:
        return HookOutput(problem=f"output is {error}")
    if answer.get("cancel") is True:
        return HookOutput(verdict=Verdict.DENY, reason=wire.text(answer, "errorMessage", *CONTEXT_KEYS))
    if result.code:
        return HookOutput(problem=f"exit {result.code}")
    return HookOutput(
        verdict=Verdict.ASK if answer.get("review") is True else Verdict.ABSTAIN,
        context=wire.text(answer, *CONTEXT_KEYS, "errorMessage"),
        rewrite=_rewrite(event, answer.get("overrideInput")),
    )


def _rewrite(event: Event, override: Any) -> Rewrite | None:
    if event.tool is None or override is None or hook_event_name(event) != "PreToolUse":
        return None
    title = tools.native(ID, tools.canonical(event.agent, event.tool.name))
    value = _flat(title, override)
    if event.agent != ID:
        value = tools.translate_back(event.agent, ID, event.tool.name, event.tool.input, value)
    return Rewrite(target=Target.INPUT, value=value)


COMMON: Mapping[str, Any] = {
    "clineVersion": "",
    "timestamp": "2026-11-23T18:37:33.000Z",
    "taskId": "1795459053983_immp9",
    "sessionContext": {"rootSessionId": "1795459053983_immp9"},
    "workspaceRoots": ["/home/dev/project"],
    "userId": "dev",
    "agent_id": "agent_1",
    "parent_agent_id": None,
}
CALL = {"id": "call_1", "name": SHELL, "input": {"commands": ["ls -la"]}}
PARAMETERS = {"toolName": SHELL, "parameters": {"commands": '["ls -la"]'}}
SAMPLES: Mapping[str, Mapping[str, Any]] = {
    "PostToolUse": {
        "hookName": "tool_result",
        "tool_result": CALL | {"output": "README.md\n"},
        "postToolUse": PARAMETERS | {"result": "README.md\n", "success": True, "executionTimeMs": 12},
    },
    "PreToolUse": {"hookName": "tool_call", "tool_call": CALL, "preToolUse": PARAMETERS},
    "SessionShutdown": {"hookName": "session_shutdown"},
    "TaskComplete": {"hookName": "agent_end", "turn": {"outputText": "All tests pass.", "status": "completed"}},
    "TaskError": {"hookName": "agent_error", "error": {"name": "Error", "message": "the model is overloaded"}},
    "TaskStart": {"hookName": "agent_start", "taskStart": {"taskMetadata": {}}},
}


def sample(name: str) -> bytes:
    """A synthetic payload. Raises KeyError for an event without one."""
    return wire.dumps({**COMMON, **SAMPLES[name]})
