"""Starchild's agent hooks, https://github.com/Starchild-ai-agent/official-skills (agent-hooks): JSON both ways.

In:  {"event":"pre_tool_call","session_id":"sess-1","agent_id":"agent-1","cwd":"/data/workspace",
      "tool_name":"bash","tool_input":{"command":"rm -rf /"}}
Out: {"decision":"block","reason":"refusing destructive command"}
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from tray.agents import lenient, outputs, tools, wire
from tray.agents.agent import AnswerWords
from tray.model.decision import EMPTY_ANSWER, Answer, Decision, HookOutput, Result, Rewrite, Target, Verdict
from tray.model.event import Capability, Event, EventKind, EventSpec, RelayRequest, Tool

AGENT = "starchild"
CAN_REFUSE = Capability.DENY | Capability.NOTE
# `connect` writes these. 20 s is the agent's default for a hook. Where it waits for the answer it is the most that it
# allows, so that a hook of ours may have any time-out that it could have there.
EVENTS: Mapping[str, EventSpec] = {
    "on_completion_claim": EventSpec(kind=EventKind.COMPLETION_CLAIM, can=CAN_REFUSE, timeout=120),
    "on_outbound_message": EventSpec(
        kind=EventKind.OUTBOUND_MESSAGE, can=CAN_REFUSE | Capability.REWRITE_MESSAGE, timeout=120
    ),
    # The response is written already: it may be masked, and the agent cannot be made to write it again.
    "on_response_end": EventSpec(
        kind=EventKind.RESPONSE_END, can=Capability.REWRITE_MESSAGE | Capability.NOTE, timeout=120
    ),
    "on_session_end": EventSpec(kind=EventKind.SESSION_END, timeout=20),
    "on_session_start": EventSpec(kind=EventKind.SESSION_START, can=Capability.CONTEXT, timeout=120),
    "on_stop": EventSpec(kind=EventKind.TURN_END, can=CAN_REFUSE, timeout=120),
    "on_user_message": EventSpec(kind=EventKind.PROMPT, can=CAN_REFUSE | Capability.REWRITE_PROMPT, timeout=120),
    "post_llm_call": EventSpec(kind=EventKind.MODEL_AFTER, timeout=20),
    "post_tool_call": EventSpec(kind=EventKind.TOOL_AFTER, timeout=20),
    "pre_llm_call": EventSpec(kind=EventKind.MODEL_BEFORE, can=CAN_REFUSE | Capability.CONTEXT, timeout=120),
    "pre_tool_call": EventSpec(kind=EventKind.TOOL_BEFORE, can=CAN_REFUSE | Capability.REWRITE_INPUT, timeout=120),
    # The note behind a result is all that it takes.
    "transform_tool_result": EventSpec(kind=EventKind.TOOL_RESULT, can=Capability.NOTE, timeout=120),
}
# Other agents' events under the name whose answers are taken there; the rest have their canonical name.
NAMES_BY_KIND: Mapping[EventKind, str] = {
    **{spec.kind: name for name, spec in EVENTS.items()},
    EventKind.CONVERSATION_NEW: "on_user_message",
    EventKind.MESSAGE_DISPLAY: "on_response_end",
    EventKind.PROMPT_EXPANSION: "on_user_message",
    EventKind.SLASH_COMMAND: "on_user_message",
    EventKind.TOOL_FAILED: "post_tool_call",
}
END_EVENTS = (EventKind.TURN_END, EventKind.SUBAGENT_END, EventKind.ROUND_END)

IGNORED = "The hook's output is {}; ignored."
# `approve` and `allow` say no more than nothing here; Claude's own permissionDecision does (it is explicit).
DECISIONS = {"": Verdict.ABSTAIN, "allow": Verdict.ABSTAIN, "approve": Verdict.ABSTAIN, "block": Verdict.DENY}
PERMISSIONS = {
    "": Verdict.ABSTAIN,
    "allow": Verdict.ALLOW,
    "ask": Verdict.ASK,
    "defer": Verdict.ASK,
    "deny": Verdict.DENY,
}
TEXTS = (
    "add_warning",
    "additionalContext",
    "context",
    "decision",
    "permissionDecision",
    "permissionDecisionReason",
    "reason",
    "stopReason",
    "systemMessage",
)
# What an answer may put in the place of a text, by the event's name for the hook.
REWRITE_KEYS: Mapping[str, tuple[str, Target]] = {
    "on_outbound_message": ("notification", Target.MESSAGE),
    "on_response_end": ("response", Target.MESSAGE),
    "on_user_message": ("message", Target.PROMPT),
}
OBJECTS = ("hookSpecificOutput", "tool_input", "updatedInput")
KNOWN_KEYS = frozenset((*TEXTS, *OBJECTS, *(key for key, _ in REWRITE_KEYS.values()), "continue"))
ANSWERS = AnswerWords(
    keys=KNOWN_KEYS,
    verdicts={
        "continue": {False: Verdict.DENY, True: Verdict.ABSTAIN},
        "decision": DECISIONS,
        "permissionDecision": PERMISSIONS,
    },
)


def event_name(payload: Mapping[str, Any]) -> str:
    return wire.event_name(payload, "event")


def tool(name: str, payload: Mapping[str, Any]) -> Tool | None:
    return wire.tool(payload, name="tool_name", input="tool_input", call="", output="tool_result")


def parse(request: RelayRequest, name: str, payload: Mapping[str, Any]) -> Event:
    system = wire.text(payload, "system") if name == "pre_llm_call" else ""
    return Event(
        **wire.request_fields(request, payload),
        name=name,
        kind=wire.spec(EVENTS, name).kind,
        session=wire.text(payload, "session_id"),
        cwd=wire.text(payload, "cwd") or request.cwd,
        model=wire.text(payload, "model"),
        topic=wire.text(payload, "status", "channel", "type"),
        title=wire.text(payload, "goal"),
        tool=tool(name, payload),
        prompt=wire.text(payload, "message", "last_user_message") or system,
        message=wire.text(payload, "summary", "response", "notification"),
        repeated=payload.get("stop_hook_active") is True,
        tools=wire.text_list(payload, "tool_names"),
    )


def neutral(name: str, body: bytes) -> Answer:
    return EMPTY_ANSWER


def rewrite_problem(event: Event, decision: Decision) -> str:
    """Of a tool's input the agent replaces values of keys that are there; it neither adds nor removes any."""
    if decision.rewrite is None:
        return ""
    value = decision.rewrite.value
    if decision.rewrite.target is not Target.INPUT:
        return wire.text_problem(value, blank=False)
    if not isinstance(value, Mapping):
        return "is not a JSON object"
    current = event.tool.input if event.tool else {}
    if value.keys() - current.keys():
        return "adds a key"
    return "removes a key" if current.keys() - value.keys() else wire.json_problem(value)


def render(event: Event, decision: Decision) -> Answer:
    if decision.verdict is Verdict.DENY:
        return Answer(stdout=wire.dumps_line({"decision": "block", "reason": decision.reason or wire.DEFAULT_REASON}))
    answer: dict[str, Any] = {}
    if decision.rewrite is not None and decision.rewrite.target is Target.INPUT:
        answer["tool_input"] = decision.rewrite.value
    elif decision.rewrite is not None:
        answer[REWRITE_KEYS[event.name][0]] = decision.rewrite.value
    answer |= wire.non_empty(context=decision.context)
    if Capability.NOTE in event.spec.can:
        answer |= wire.non_empty(systemMessage=wire.join_notes(decision.notes))
    return Answer(stdout=wire.dumps_line(answer)) if answer else EMPTY_ANSWER


def sample(name: str) -> bytes:
    """A payload as it comes over the wire. Raises KeyError for an event without one."""
    common = {"event": name, "session_id": "sess-1", "agent_id": "agent-1", "cwd": "/data/workspace"}
    return wire.dumps({**common, **SAMPLES[name]})


MODEL = {"model": "claude-sonnet-5-5"}
TOOL_RESULT = {"tool_name": "bash", "tool_result": "README.md"}
SAMPLES: Mapping[str, Mapping[str, Any]] = {
    "on_completion_claim": {
        "goal": "publish the page",
        "summary": "The page is published.",
        "response": "I published the page.",
        "tool_names": ["write_file"],
    },
    "on_outbound_message": {"notification": "The build is finished.", "type": "telegram"},
    "on_response_end": {
        "response": "All tests pass.",
        **MODEL,
        "tokens": {"input": 1200, "output": 80, "cache_read": 0, "cache_creation": 0},
        "turn_cost_usd": 0.0123,
        "tool_names": ["bash"],
    },
    "on_session_end": {"status": "ended"},
    "on_session_start": {"status": "started"},
    "on_stop": {"response": "All tests pass.", "tool_names": ["bash"], "stop_hook_active": False, **MODEL},
    "on_user_message": {"message": "Fix the parser.", "channel": "web"},
    "post_llm_call": MODEL,
    "post_tool_call": TOOL_RESULT,
    "pre_llm_call": {"system": "You are a careful agent.", "last_user_message": "Fix the parser.", **MODEL},
    "pre_tool_call": {"tool_name": "bash", "tool_input": {"command": "ls -la"}},
    "transform_tool_result": TOOL_RESULT,
}


# ---- hooks that were written for Starchild, on any agent's event ----


def hook_event_name(event: Event) -> str:
    """The event's name for a hook of this dialect."""
    return event.name if event.agent == AGENT else NAMES_BY_KIND.get(event.kind, event.kind.value)


def stdin(event: Event) -> bytes:
    if event.agent == AGENT:
        return event.body
    name = NAMES_BY_KIND.get(event.kind, event.kind.value)
    fields: dict[str, Any] = {"event": name, "session_id": event.session, "agent_id": event.agent, "cwd": event.cwd}
    # A field that the agent does not send with every event has our own name, and is left out if empty.
    fields |= wire.non_empty(
        model=event.model,
        topic=event.topic,
        title=event.title,
        prompt=event.prompt,
        message=event.message,
        url=event.url,
        path=event.path,
        subagent=event.subagent,
    )
    return wire.dumps(fields | _extras(event, name))


def environment(event: Event) -> Mapping[str, str]:
    return {}


def _extras(event: Event, name: str) -> dict[str, Any]:
    used = [tools.native(AGENT, tools.canonical(event.agent, each)) for each in event.tools] if event.tools else []
    if event.kind in END_EVENTS:
        state = {"stop_hook_active": event.repeated, "model": event.model}
        return {"response": event.message, "tool_names": used} | state
    match name:
        case "on_completion_claim":
            return {"goal": "", "summary": event.message, "response": event.message, "tool_names": used}
        case "on_outbound_message":
            return {"notification": event.message, "type": event.topic}
        case "on_response_end":
            return {"response": event.message, "model": event.model, "tool_names": used}
        case "on_session_start":
            return {"status": "started"}
        case "on_session_end":
            return {"status": "ended"}
        case "on_user_message":
            return {"message": event.prompt, "channel": event.agent}
        case "pre_llm_call":
            return {"system": "", "last_user_message": event.prompt, "model": event.model}
    fields: dict[str, Any] = {}
    if event.tool is not None:
        fields["tool_name"], fields["tool_input"] = tools.hook_call(event.agent, AGENT, event.tool)
        if name in ("post_tool_call", "transform_tool_result"):
            fields["tool_result"] = outputs.as_text(event.tool.output)
    if used:
        fields["tool_names"] = used
    return fields


def read(event: Event, result: Result) -> HookOutput:
    if problem := wire.run_problem(result):
        return HookOutput(problem=problem)
    output = lenient.text(result.stdout, lenient.PYTHON) if result.stdout else ""
    if result.code == 2 and not output and (reason := wire.stderr(result)):
        return HookOutput(verdict=Verdict.DENY, reason=reason)
    if result.code not in (0, 2):
        return HookOutput(problem=f"exit {result.code}")
    hook_output = _parsed_output(event, output)
    if result.code == 2 and hook_output.verdict is not Verdict.DENY:
        return HookOutput(problem="exit 2 without a refusal on either stream")
    return hook_output


def _parsed_output(event: Event, output: str) -> HookOutput:
    if not output:
        return HookOutput()
    try:
        answer = lenient.mapping(output, KNOWN_KEYS, python=True)
    except lenient.TooDeepError as error:
        return HookOutput(problem=f"output is {error}")
    except ValueError as error:
        return HookOutput(warning=IGNORED.format(error))
    if problem := _problem(event, answer):
        return HookOutput(problem=f"output {problem}")
    return _hook_output(event, answer)


def _problem(event: Event, answer: Mapping[str, Any]) -> str:
    for fields in (answer, wire.nested(answer, "hookSpecificOutput")):
        for keys, kind, word in ((TEXTS, str, "text"), (OBJECTS, dict, "an object")):
            invalid = [key for key in keys if fields.get(key) is not None and not isinstance(fields[key], kind)]
            if invalid:
                return f"has a {invalid[0]} that is not {word}"
        if wire.text(fields, "permissionDecision") not in PERMISSIONS:
            return "has a permissionDecision that is none of allow, ask, deny"
    if wire.text(answer, "decision") not in DECISIONS:
        return "has a decision that is not block"
    key, _ = REWRITE_KEYS.get(hook_event_name(event), ("", Target.MESSAGE))
    return f"has a {key} that is not text" if not isinstance(answer.get(key) or "", str) else ""


def _hook_output(event: Event, answer: Mapping[str, Any]) -> HookOutput:
    # Older Claude hooks write at the top what is inside hookSpecificOutput today.
    specific = {**answer, **wire.nested(answer, "hookSpecificOutput")}
    verdict, reason = _verdict(event, answer, specific)
    rewrite, dropped = _rewrite(event, answer, specific)
    return HookOutput(
        verdict=verdict,
        reason=reason,
        rewrite=rewrite,
        adjustment=f"new keys of the tool's input were dropped: {', '.join(dropped)}" if dropped else "",
        context=wire.text(answer, "context") or wire.text(specific, "additionalContext"),
        notes=tuple(note for key in ("systemMessage", "add_warning") if (note := wire.text(answer, key))),
    )


def _verdict(event: Event, answer: Mapping[str, Any], specific: Mapping[str, Any]) -> tuple[Verdict, str]:
    reason = wire.text(answer, "reason")
    answers = [(DECISIONS[wire.text(answer, "decision")], reason)]
    if answer.get("continue") is False:
        answers.append((Verdict.DENY, wire.text(answer, "stopReason") or reason))
    permission_reason = wire.text(specific, "permissionDecisionReason") or reason
    for fields in (specific, answer):
        word = PERMISSIONS[wire.text(fields, "permissionDecision")]
        if word is Verdict.DENY or event.kind is EventKind.TOOL_BEFORE:  # only a tool call can be asked about
            answers.append((word, permission_reason))
    verdict = max(each for each, _ in answers)
    reasons = (text for each, text in answers if each is verdict and text)
    return verdict, next(reasons, "") if verdict is not Verdict.ABSTAIN else ""


def _rewrite(
    event: Event, answer: Mapping[str, Any], specific: Mapping[str, Any]
) -> tuple[Rewrite | None, tuple[str, ...]]:
    """What the hook rewrites, and which keys of its new input were dropped.

    The given keys are put over the tool's input, in the agent's own spelling. Starchild itself adds no keys.
    """
    if hook_event_name(event) in REWRITE_KEYS:
        key, target = REWRITE_KEYS[hook_event_name(event)]
        text, current = wire.text(answer, key), event.prompt if target is Target.PROMPT else event.message
        return None if text in ("", current) else Rewrite(target=target, value=text), ()
    given = answer.get("tool_input") or specific.get("updatedInput")
    if event.kind is not EventKind.TOOL_BEFORE or event.tool is None or not given:
        return None, ()
    input = event.tool.input
    native_input = tools.translate_back(event.agent, AGENT, event.tool.name, input, given)
    dropped = tuple(key for key in native_input if key not in input) if event.agent == AGENT else ()
    value = {key: value for key, value in {**input, **native_input}.items() if key not in dropped}
    return None if value == input else Rewrite(target=Target.INPUT, value=value), dropped
