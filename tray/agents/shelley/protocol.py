"""Shelley's hooks, https://github.com/boldsoftware/shelley/blob/main/HOOKS.md: one executable per name, 30 s each.

In:  {"message":"follow-up","readonly":{"conversation_id":"cH3","model":"predictable","queued":false}}  (chat-message)
Out: {"message":"what the model reads instead"}; nothing = as it was
system-prompt and slash/<command> are answered with the bare text; end-of-turn with nothing. A refusal cannot have
a reason: failing is the only veto, it aborts what the hook was asked about.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from tray.agents import lenient, outputs, tools, wire
from tray.agents.agent import AnswerWords
from tray.model.decision import EMPTY_ANSWER, Answer, Decision, HookOutput, Result, Rewrite, Target, Verdict
from tray.model.event import Capability, Event, EventKind, EventSpec, RelayRequest, Tool

AGENT = "shelley"
EXTRAS = ("cwd", "model", "slug")  # of a new conversation, besides its prompt
CAN_REWRITE = Capability.DENY | Capability.REWRITE_PROMPT | Capability.CONTEXT  # context becomes part of the text
EVENTS: Mapping[str, EventSpec] = {
    "chat-message": EventSpec(kind=EventKind.PROMPT, can=CAN_REWRITE, timeout=30),
    "end-of-turn": EventSpec(kind=EventKind.TURN_END, timeout=30),
    "new-conversation": EventSpec(kind=EventKind.CONVERSATION_NEW, can=CAN_REWRITE, timeout=30, extras=EXTRAS),
    "slash/<command>": EventSpec(kind=EventKind.SLASH_COMMAND, can=CAN_REWRITE, timeout=30, subject="command"),
    "system-prompt": EventSpec(kind=EventKind.SYSTEM_PROMPT, can=CAN_REWRITE, timeout=30, plain=True),
}
ANSWERS = AnswerWords(keys=frozenset(("message", "prompt", *EXTRAS)))  # a hook refuses by failing
END_TYPE = "end_of_turn"  # the only payload that names its event
START_KINDS = (EventKind.CONVERSATION_NEW, EventKind.SESSION_START)
COMMAND_KINDS = (EventKind.PROMPT_EXPANSION, EventKind.SLASH_COMMAND)
TEXT_KINDS = (*COMMAND_KINDS, EventKind.SYSTEM_PROMPT)  # whose hooks print the bare text
SECRET_HEADERS = ("authorization", "cookie", "proxy-authorization", "set-cookie")
NAMES_BY_KIND: Mapping[EventKind, str] = {
    **{spec.kind: name for name, spec in EVENTS.items()},
    EventKind.PROMPT_EXPANSION: "slash/<command>",
    EventKind.SESSION_START: "new-conversation",
}


def event_name(payload: Mapping[str, Any]) -> str:
    return "end-of-turn" if payload.get("type") == END_TYPE else ""


def tool(name: str, payload: Mapping[str, Any]) -> Tool | None:
    return None  # Shelley has no tool events


def parse(request: RelayRequest, name: str, payload: Mapping[str, Any]) -> Event:
    readonly = wire.nested(payload, "readonly")
    return Event(
        **wire.request_fields(request, payload),
        name=name,
        kind=wire.spec(EVENTS, name).kind,
        session=wire.text(payload, "conversation_id") or wire.text(readonly, "conversation_id"),
        cwd=wire.text(payload, "cwd"),
        hook_folder=request.cwd,  # the relay runs in the folder of Shelley's server, which is not a project
        model=wire.text(payload, "model") or wire.text(readonly, "model"),
        topic=wire.text(payload, "command") or ("queued" if readonly.get("queued") is True else ""),
        title=wire.text(payload, "slug", "vm_name"),
        prompt=wire.text(payload, "prompt", "message", "raw_message"),
        message=wire.text(payload, "final_response"),
        url=wire.text(payload, "conversation_url"),
        subagent="subagent" if readonly.get("is_subagent") is True else "",
    )


def neutral(name: str, body: bytes) -> Answer:
    if not wire.spec(EVENTS, name).plain:
        return EMPTY_ANSWER
    return Answer(stdout=body or b"\n")  # an empty answer would abort the conversation


def rewrite_problem(event: Event, decision: Decision) -> str:
    if decision.rewrite is None:
        return ""
    problem = wire.text_problem(decision.rewrite.value, blank=not event.spec.plain)
    return problem or ("" if decision.rewrite.value else "is empty")


def render(event: Event, decision: Decision) -> Answer:
    if decision.verdict is Verdict.DENY:
        reason = decision.reason or wire.DEFAULT_REASON
        return Answer(stderr=reason.encode("utf-8", "replace") + b"\n", code=1)
    prompt = str(decision.rewrite.value) if decision.rewrite else event.prompt
    text = "\n\n".join(filter(None, (prompt, decision.context)))  # in this order, so that a slash command stays one
    if event.kind is EventKind.CONVERSATION_NEW:
        answer = {"prompt": text} if text != event.prompt else {}
        answer |= {name: value for name, value in decision.extra if isinstance(value, str) and value}
        return Answer(stdout=wire.dumps_line(answer)) if answer else EMPTY_ANSWER
    if text == event.prompt:
        return neutral(event.name, event.body)
    if event.kind is EventKind.PROMPT:
        return Answer(stdout=wire.dumps_line({"message": text}))
    return Answer(stdout=text.encode("utf-8", "replace"))


def sample(name: str) -> bytes:
    """A payload as it comes over the wire. Raises KeyError for an event without one."""
    if name in SAMPLES:
        return SAMPLES[name]
    if wire.event_family(name) not in SAMPLES:
        raise KeyError(name)
    command = name.partition("/")[2]
    # Without arguments, which every command takes: only its author knows which ones it understands.
    return wire.dumps(SLASH | {"command": command, "args": "", "raw_message": f"/{command}"})


SLASH = {
    "command": "files",
    "args": "src/main.go please summarize",
    "raw_message": "/files src/main.go please summarize",
    "conversation_id": "cMT7MTV",
    "is_new_conversation": False,
    "cwd": "/home/dev/project",
    "model": "claude-sonnet-5-5",
    "user_email": "dev@example.com",
}
HEADERS = [["User-Agent", "curl/8.5.0"], ["X-Exedev-Email", "dev@example.com"]]
SAMPLES: Mapping[str, bytes] = {
    "chat-message": wire.dumps(
        {
            "message": "Fix the parser.",
            "readonly": {
                "conversation_id": "cMT7MTV",
                "model": "claude-sonnet-5-5",
                "reasoning_level": "high",
                "queued": False,
                "headers": HEADERS,
            },
        }
    ),
    "end-of-turn": wire.dumps(
        {
            "type": "end_of_turn",
            "conversation_id": "cMT7MTV",
            "timestamp": "2026-05-27T00:34:31.961478145Z",
            "hostname": "vm.exe.xyz",
            "model": "claude-sonnet-5-5",
            "slug": "fix-the-parser",
            "conversation_url": "https://vm.exe.xyz/c/fix-the-parser",
            "vm_name": "vm",
            "final_response": "Done: the parser keeps empty lines.",
        }
    ),
    "new-conversation": wire.dumps(
        {
            "prompt": "Fix the parser.",
            "model": "claude-sonnet-5-5",
            "cwd": "/home/dev/project",
            "readonly": {"conversation_id": "cMT7MTV", "is_subagent": False, "headers": HEADERS},
        }
    ),
    "slash/<command>": wire.dumps(SLASH),
    "system-prompt": b"You are Shelley, a coding agent.\nWork in small steps.",
}


# ---- hooks that were written for Shelley, on any agent's event ----


def hook_event_name(event: Event) -> str:
    """The hook whose form the event has for a hook of this dialect; its canonical name when there is none."""
    return event.name if event.agent == AGENT else NAMES_BY_KIND.get(event.kind, event.kind.value)


def stdin(event: Event) -> bytes:
    if event.agent == AGENT:
        return _native(event)
    if event.kind is EventKind.SYSTEM_PROMPT:
        return event.prompt.encode("utf-8", "replace")
    if event.kind is EventKind.PROMPT:
        readonly = {"conversation_id": event.session, "model": event.model, "reasoning_level": "", "queued": False}
        return wire.dumps({"message": event.prompt, "readonly": readonly})
    if event.kind in START_KINDS:
        readonly = {"conversation_id": event.session, "is_subagent": bool(event.subagent)}
        return wire.dumps({"prompt": event.prompt, "model": event.model, "cwd": event.cwd, "readonly": readonly})
    return wire.dumps(_command(event) if event.kind in COMMAND_KINDS else _canonical(event))


def _native(event: Event) -> bytes:
    """The agent's exact bytes, unless they hold headers that hooks must not see."""
    readonly = wire.nested(event.payload, "readonly")
    headers = readonly.get("headers")
    if not isinstance(headers, list) or not any(map(_secret, headers)):
        return event.body
    visible = [pair for pair in headers if not _secret(pair)]
    return wire.dumps({**event.payload, "readonly": {**readonly, "headers": visible}})


def _secret(pair: Any) -> bool:
    return isinstance(pair, list) and bool(pair) and str(pair[0]).strip().lower() in SECRET_HEADERS


def _command(event: Event) -> dict[str, Any]:
    command = {"command": event.topic, "args": _args(event), "raw_message": event.prompt}
    conversation = {"conversation_id": event.session, "is_new_conversation": False}
    return command | conversation | wire.non_empty(cwd=event.cwd, model=event.model)


def _args(event: Event) -> str:
    """What follows the command, from the agent itself."""
    given = wire.text(event.payload, "args", "command_args")
    return given or event.prompt.removeprefix(f"/{event.topic}").lstrip(" \t\n")


def _canonical(event: Event) -> dict[str, Any]:
    kind = END_TYPE if event.kind is EventKind.TURN_END else event.kind.value
    fields: dict[str, Any] = {"type": kind, "conversation_id": event.session}
    fields |= wire.non_empty(
        cwd=event.cwd,
        model=event.model,
        slug=event.title or event.project,
        conversation_url=event.url,
        final_response=event.message,
        prompt=event.prompt,
        path=event.path,
    )
    if event.tool:  # Shelley has no tool events: its hooks get the canonical names
        fields["tool_name"] = tools.title(event.agent, event.tool)
        fields["tool_input"] = tools.translate_input(event.agent, AGENT, event.tool.name, event.tool.input)
    if event.tool and event.tool.output is not None:
        fields["tool_result"] = outputs.as_text(event.tool.output)
    return fields


def environment(event: Event) -> Mapping[str, str]:
    """The six variables of a slash command are always there, if need be empty."""
    if event.kind not in COMMAND_KINDS:
        return {}
    values = {
        "SHELLEY_SLASH_COMMAND": event.topic,
        "SHELLEY_SLASH_ARGS": _args(event),
        "SHELLEY_CONVERSATION_ID": event.session,
        "SHELLEY_CWD": event.cwd,
        "SHELLEY_MODEL": event.model,
        "SHELLEY_USER_EMAIL": wire.text(event.payload, "user_email"),
    }
    return dict.fromkeys(values, "") | wire.variables(**values)


def read(event: Event, result: Result) -> HookOutput:
    """Failing is the veto: the failure policy of a Shelley source makes it a refusal."""
    if problem := wire.run_problem(result):
        return HookOutput(problem=problem)
    if result.code != 0:
        return HookOutput(problem=f"exit {result.code}")
    if event.kind in TEXT_KINDS:
        return _text_output(event, result.stdout)
    if event.kind is EventKind.PROMPT:
        return _fields_output(event, result.stdout, "message")
    if event.kind in START_KINDS:
        return _fields_output(event, result.stdout, "prompt", EXTRAS)
    return HookOutput()  # elsewhere stdout is ignored


def _text_output(event: Event, stdout: bytes) -> HookOutput:
    """The bare text, not trimmed, in the place of what it was."""
    if event.kind is EventKind.SYSTEM_PROMPT and not stdout.strip():
        return HookOutput(problem="printed no system prompt")
    try:
        return HookOutput(rewrite=_rewrite(event, stdout.decode()), plain=True)
    except UnicodeDecodeError:
        return HookOutput(problem="output is not UTF-8")


def _fields_output(event: Event, stdout: bytes, key: str, extras: tuple[str, ...] = ()) -> HookOutput:
    """Reads the texts of a JSON object; like Go, it ignores the case of their names."""
    output = lenient.text(stdout, lenient.GO)
    try:
        value = lenient.loads(output) if output else None
        if not isinstance(value, dict | None):
            raise wire.not_object(value)
    except ValueError as error:
        return HookOutput(problem=f"output is {error}")
    fields = {name.lower(): each for name, each in (value or {}).items() if each is not None}
    for name in (key, *extras):
        if not isinstance(fields.get(name, ""), str):
            return HookOutput(problem=f"output has a {name} that is not a string")
    current = {"cwd": event.cwd, "model": event.model}
    extra = tuple((name, fields[name]) for name in extras if fields.get(name, "") not in ("", current.get(name)))
    return HookOutput(rewrite=_rewrite(event, fields.get(key, "")), extra=extra)


def _rewrite(event: Event, text: str) -> Rewrite | None:
    return None if text in ("", event.prompt) else Rewrite(target=Target.PROMPT, value=text)
