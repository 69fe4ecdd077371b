"""Shelley's hooks, https://github.com/boldsoftware/shelley/blob/main/HOOKS.md: one executable per name, 30 s each.

In:  {"type":"end_of_turn","conversation_id":"cMT7MTV","timestamp":"2026-05-27T00:34:31Z","model":"predictable",
      "vm_name":"vm","final_response":"Done."}                     (end-of-turn; system-prompt gets the bare text)
Out: the system prompt to use, verbatim                            (system-prompt; end-of-turn: nothing is read)
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from tray.dialects import tools, wire
from tray.model.decision import Answer, Decision, Reading, Result, Rewrite, Target, Verdict
from tray.model.event import Can, Event, EventKind, EventSpec, Knock

AGENT = "shelley"
EVENTS: Mapping[str, EventSpec] = {
    "end-of-turn": EventSpec(kind=EventKind.TURN_END, timeout=30),
    # There is no refusal with a reason: failing is the only veto, it aborts the conversation.
    "system-prompt": EventSpec(
        kind=EventKind.SYSTEM_PROMPT, can=Can.DENY | Can.REWRITE_PROMPT, timeout=30, plain=True
    ),
}
TITLES = {"end_of_turn": "end-of-turn"}
TYPES = {EventKind.TURN_END: "end_of_turn"}


def title(payload: Mapping[str, Any]) -> str:
    return TITLES.get(wire.text(payload, "type"), "")


def parse(knock: Knock, name: str, payload: Mapping[str, Any]) -> Event:
    fixed = wire.inner(payload, "readonly")
    return Event(
        **wire.frame(knock, payload),
        name=name,
        kind=EVENTS.get(name, wire.UNKNOWN).kind,
        session=wire.text(payload, "conversation_id") or wire.text(fixed, "conversation_id"),
        cwd=wire.text(payload, "cwd"),  # the relay stands where Shelley's server does: that is no project
        model=wire.text(payload, "model") or wire.text(fixed, "model"),
        title=wire.text(payload, "slug", "vm_name"),
        prompt=wire.text(payload, "prompt", "message", "raw_message"),
        message=wire.text(payload, "final_response"),
        url=wire.text(payload, "conversation_url"),
    )


def neutral(name: str, body: bytes) -> Answer:
    if not EVENTS.get(name, wire.UNKNOWN).plain:
        return Answer()
    return Answer(stdout=body or b"\n")  # an empty answer would abort the conversation


def carries(event: Event, decision: Decision) -> str:
    value = decision.rewrite.value if decision.rewrite else "same"
    if not isinstance(value, str):
        return "is not text"
    if not value.strip():
        return "is empty"
    return "" if wire.text({"value": value}, "value") == value else "is not Unicode text"


def render(event: Event, decision: Decision) -> Answer:
    if not EVENTS.get(event.name, wire.UNKNOWN).plain:
        return Answer()
    if decision.verdict is Verdict.DENY:
        reason = decision.reason or wire.BLOCKED
        return Answer(stderr=reason.encode("utf-8", "replace") + b"\n", code=1)
    if decision.rewrite is not None and decision.rewrite.target is Target.PROMPT:
        return Answer(stdout=str(decision.rewrite.value).encode("utf-8", "replace"))
    return neutral(event.name, event.body)


def stdin(event: Event) -> bytes:
    if event.agent == AGENT:
        return event.body
    if event.kind is EventKind.SYSTEM_PROMPT:
        return event.prompt.encode("utf-8", "replace")
    fields = {"type": TYPES.get(event.kind, event.kind.value), "conversation_id": event.session}
    fields |= wire.filled(
        cwd=event.cwd,
        model=event.model,
        slug=event.title or event.project,
        conversation_url=event.url,
        final_response=event.message,
        prompt=event.prompt,
    )
    return wire.dumps(fields | _tool(event))


def _tool(event: Event) -> dict[str, Any]:
    """Shelley has no tool events: its hooks get the canonical names."""
    if event.tool is None:
        return {}
    return {
        "tool_name": tools.canonical(event.agent, event.tool.name),
        "tool_input": tools.translate_input(event.agent, AGENT, event.tool.name, event.tool.input),
    }


def environment(event: Event) -> Mapping[str, str]:
    return {}


def read(event: Event, result: Result) -> Reading:
    if problem := wire.not_run(result):
        return Reading(problem=problem)
    if result.code != 0:
        return Reading(problem=f"exit {result.code}")
    if event.kind is not EventKind.SYSTEM_PROMPT:
        return Reading()  # stdout is ignored
    return _replaced(event, result.stdout)


def _replaced(event: Event, stdout: bytes) -> Reading:
    if not stdout.strip():
        return Reading(problem="printed no system prompt")
    try:
        prompt = stdout.decode()
    except UnicodeDecodeError:
        return Reading(problem="output is not UTF-8")
    if prompt == event.prompt:
        return Reading()
    return Reading(rewrite=Rewrite(target=Target.PROMPT, value=prompt))


def sample(name: str) -> bytes:
    """A payload as it comes over the wire. Raises KeyError for an event without one."""
    return SAMPLES[name]


SAMPLES: Mapping[str, bytes] = {
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
    "system-prompt": b"You are Shelley, a coding agent.\nWork in small steps.",
}
