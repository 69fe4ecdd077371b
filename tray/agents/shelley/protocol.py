"""Shelley's hooks, https://github.com/boldsoftware/shelley/blob/main/HOOKS.md: one executable per name, 30 s each.

In:  {"message":"follow-up","readonly":{"conversation_id":"cH3","model":"predictable","queued":false}}  (chat-message)
Out: {"message":"what the model reads instead"}; nothing = as it was
system-prompt and slash/<command> are answered with the bare text; end-of-turn with nothing. A refusal cannot have
a reason: failing is the only veto, it aborts what the hook was asked about.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from tray.agents import wire
from tray.agents.shelley import hook_format
from tray.agents.shelley.hook_format import environment as environment
from tray.agents.shelley.hook_format import hook_event_name as hook_event_name
from tray.agents.shelley.hook_format import read as read
from tray.agents.shelley.hook_format import stdin as stdin
from tray.model.decision import EMPTY_ANSWER, Answer, Decision, Target, Verdict
from tray.model.event import Capability, Event, EventKind, EventSpec, RelayRequest, Tool

CAN_REWRITE = Capability.DENY | Capability.REWRITE_PROMPT | Capability.CONTEXT  # context becomes part of the text
EVENTS: Mapping[str, EventSpec] = {
    "chat-message": EventSpec(kind=EventKind.PROMPT, can=CAN_REWRITE, timeout=30),
    "end-of-turn": EventSpec(kind=EventKind.TURN_END, timeout=30),
    "new-conversation": EventSpec(
        kind=EventKind.CONVERSATION_NEW, can=CAN_REWRITE, timeout=30, extras=hook_format.EXTRAS
    ),
    "slash/<command>": EventSpec(kind=EventKind.SLASH_COMMAND, can=CAN_REWRITE, timeout=30, subject="command"),
    "system-prompt": EventSpec(kind=EventKind.SYSTEM_PROMPT, can=CAN_REWRITE, timeout=30, plain=True),
}
DEFAULT_CAN = Capability.NOTHING
NAMES_BY_TYPE = {"end_of_turn": "end-of-turn"}


def event_name(payload: Mapping[str, Any]) -> str:
    return NAMES_BY_TYPE.get(wire.text(payload, "type"), "")


def session(request: RelayRequest, payload: Mapping[str, Any]) -> str:
    return wire.text(payload, "conversation_id") or wire.text(wire.nested(payload, "readonly"), "conversation_id")


def tool(name: str, payload: Mapping[str, Any]) -> Tool | None:
    return None  # Shelley has no tool events


def parse(request: RelayRequest, name: str, payload: Mapping[str, Any]) -> Event:
    readonly = wire.nested(payload, "readonly")
    return Event(
        **wire.request_fields(request, payload),
        name=name,
        kind=wire.spec(EVENTS, name).kind,
        session=session(request, payload),
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
    plain = event.spec.plain
    problem = wire.text_problem(decision.rewrite.value, blank=not plain)
    return problem or ("" if decision.rewrite.value else "is empty")


def render(event: Event, decision: Decision) -> Answer:
    if event.spec.observe_only:
        return Answer()
    if decision.verdict is Verdict.DENY:
        reason = decision.reason or wire.DEFAULT_REASON
        return Answer(stderr=reason.encode("utf-8", "replace") + b"\n", code=1)
    text = _text(event, decision)
    if event.kind is EventKind.CONVERSATION_NEW:
        return _conversation(event, decision, text)
    if text == event.prompt:
        return neutral(event.name, event.body)
    if event.kind is EventKind.PROMPT:
        return Answer(stdout=wire.dumps_line({"message": text}))
    return Answer(stdout=text.encode("utf-8", "replace"))


def _text(event: Event, decision: Decision) -> str:
    """The prompt for the model; context follows it, so that a slash command stays one."""
    rewritten = decision.rewrite is not None and decision.rewrite.target is Target.PROMPT
    prompt = str(decision.rewrite.value) if rewritten and decision.rewrite else event.prompt
    return "\n\n".join(part for part in (prompt, decision.context) if part)


def _conversation(event: Event, decision: Decision, text: str) -> Answer:
    answer = {"prompt": text} if text != event.prompt else {}
    answer |= {name: value for name, value in decision.extra if isinstance(value, str) and value}
    return Answer(stdout=wire.dumps_line(answer)) if answer else Answer()


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
