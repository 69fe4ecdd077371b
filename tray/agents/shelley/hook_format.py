"""Hooks written for Shelley: their input and their output, whichever agent's event they are asked about."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from tray.agents import lenient, outputs, tools, wire
from tray.agents.agent import AnswerWords
from tray.model.decision import HookOutput, Result, Rewrite, Target
from tray.model.event import Event, EventKind

AGENT = "shelley"
EXTRAS = ("cwd", "model", "slug")  # of a new conversation, besides its prompt
ANSWERS = AnswerWords(keys=frozenset(("message", "prompt", *EXTRAS)))  # a hook refuses by failing
TYPES = {EventKind.TURN_END: "end_of_turn"}
START_KINDS = (EventKind.CONVERSATION_NEW, EventKind.SESSION_START)
COMMAND_KINDS = (EventKind.PROMPT_EXPANSION, EventKind.SLASH_COMMAND)
SECRET_HEADERS = ("authorization", "cookie", "proxy-authorization", "set-cookie")
NAMES_BY_KIND: Mapping[EventKind, str] = {
    EventKind.CONVERSATION_NEW: "new-conversation",
    EventKind.PROMPT: "chat-message",
    EventKind.PROMPT_EXPANSION: "slash/<command>",
    EventKind.SESSION_START: "new-conversation",
    EventKind.SLASH_COMMAND: "slash/<command>",
    EventKind.SYSTEM_PROMPT: "system-prompt",
    EventKind.TURN_END: "end-of-turn",
}


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
    fields = {"type": TYPES.get(event.kind, event.kind.value), "conversation_id": event.session}
    fields |= wire.non_empty(
        cwd=event.cwd,
        model=event.model,
        slug=event.title or event.project,
        conversation_url=event.url,
        final_response=event.message,
        prompt=event.prompt,
        path=event.path,
    )
    return fields | _tool(event)


def _tool(event: Event) -> dict[str, Any]:
    """Shelley has no tool events: its hooks get the canonical names."""
    if event.tool is None:
        return {}
    call = {
        "tool_name": tools.title(event.agent, event.tool),
        "tool_input": tools.translate_input(event.agent, AGENT, event.tool.name, event.tool.input),
    }
    return call | ({} if event.tool.output is None else {"tool_result": outputs.as_text(event.tool.output)})


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
    reader = READERS.get(event.kind)
    return reader(event, result.stdout) if reader else HookOutput()  # elsewhere stdout is ignored


def _prompt(event: Event, stdout: bytes) -> HookOutput:
    return _replacement(event, stdout) if stdout.strip() else HookOutput(problem="printed no system prompt")


def _replacement(event: Event, stdout: bytes) -> HookOutput:
    """The bare text, not trimmed, in the place of what it was."""
    try:
        text = stdout.decode()
    except UnicodeDecodeError:
        return HookOutput(problem="output is not UTF-8")
    return HookOutput(rewrite=_rewrite(event, text), plain=True)


def _message(event: Event, stdout: bytes) -> HookOutput:
    fields, problem = _fields(stdout, ("message",))
    return HookOutput(problem=problem) if problem else HookOutput(rewrite=_rewrite(event, fields.get("message", "")))


def _conversation(event: Event, stdout: bytes) -> HookOutput:
    fields, problem = _fields(stdout, ("prompt", *EXTRAS))
    if problem:
        return HookOutput(problem=problem)
    current = {"cwd": event.cwd, "model": event.model}
    extra = tuple((name, fields[name]) for name in EXTRAS if fields.get(name, "") not in ("", current.get(name)))
    return HookOutput(rewrite=_rewrite(event, fields.get("prompt", "")), extra=extra)


def _rewrite(event: Event, text: str) -> Rewrite | None:
    return None if text in ("", event.prompt) else Rewrite(target=Target.PROMPT, value=text)


def _fields(stdout: bytes, names: tuple[str, ...]) -> tuple[dict[str, str], str]:
    """The texts of a JSON object, in any case of their names as Go reads them, and what was wrong with it."""
    output = lenient.text(stdout, lenient.GO)
    if not output:
        return {}, ""
    try:
        value = lenient.loads(output)
    except ValueError as error:
        return {}, f"output is {error}"
    if value is None:
        return {}, ""
    if not isinstance(value, dict):
        return {}, f"output is a JSON {wire.JSON_TYPES[type(value)]}, not an object"
    fields = {key.lower(): each for key, each in value.items() if each is not None}
    invalid = [name for name in names if not isinstance(fields.get(name, ""), str)]
    return fields, f"output has a {invalid[0]} that is not a string" if invalid else ""


READERS: Mapping[EventKind, Callable[[Event, bytes], HookOutput]] = {
    EventKind.CONVERSATION_NEW: _conversation,
    EventKind.PROMPT: _message,
    EventKind.PROMPT_EXPANSION: _replacement,
    EventKind.SESSION_START: _conversation,
    EventKind.SLASH_COMMAND: _replacement,
    EventKind.SYSTEM_PROMPT: _prompt,
}
