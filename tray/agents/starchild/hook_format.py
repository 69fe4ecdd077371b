"""The format of hooks written for Starchild: what they get on stdin, and what their output means."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from tray.agents import lenient, outputs, tools, wire
from tray.agents.agent import AnswerWords
from tray.model.decision import HookOutput, Result, Rewrite, Target, Verdict
from tray.model.event import Event, EventKind

AGENT = "starchild"
# Other agents' events under the name whose answers are taken there; the rest have their canonical name.
NAMES_BY_KIND: Mapping[EventKind, str] = {
    EventKind.COMPLETION_CLAIM: "on_completion_claim",
    EventKind.CONVERSATION_NEW: "on_user_message",
    EventKind.MESSAGE_DISPLAY: "on_response_end",
    EventKind.MODEL_AFTER: "post_llm_call",
    EventKind.MODEL_BEFORE: "pre_llm_call",
    EventKind.OUTBOUND_MESSAGE: "on_outbound_message",
    EventKind.PROMPT: "on_user_message",
    EventKind.PROMPT_EXPANSION: "on_user_message",
    EventKind.RESPONSE_END: "on_response_end",
    EventKind.SESSION_END: "on_session_end",
    EventKind.SESSION_START: "on_session_start",
    EventKind.SLASH_COMMAND: "on_user_message",
    EventKind.TOOL_AFTER: "post_tool_call",
    EventKind.TOOL_BEFORE: "pre_tool_call",
    EventKind.TOOL_FAILED: "post_tool_call",
    EventKind.TOOL_RESULT: "transform_tool_result",
    EventKind.TURN_END: "on_stop",
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
    if problem := _problem(answer) or _text_problem(event, answer):
        return HookOutput(problem=f"output {problem}")
    return _hook_output(event, answer)


def _problem(answer: Mapping[str, Any]) -> str:
    for fields in (answer, wire.nested(answer, "hookSpecificOutput")):
        for keys, kind, word in ((TEXTS, str, "text"), (OBJECTS, dict, "an object")):
            invalid = [key for key in keys if fields.get(key) is not None and not isinstance(fields[key], kind)]
            if invalid:
                return f"has a {invalid[0]} that is not {word}"
        if wire.text(fields, "permissionDecision") not in PERMISSIONS:
            return "has a permissionDecision that is none of allow, ask, deny"
    if wire.text(answer, "decision") not in DECISIONS:
        return "has a decision that is not block"
    return ""


def _text_problem(event: Event, answer: Mapping[str, Any]) -> str:
    key, _ = REWRITE_KEYS.get(hook_event_name(event), ("", Target.MESSAGE))
    return f"has a {key} that is not text" if not isinstance(answer.get(key) or "", str) else ""


def _hook_output(event: Event, answer: Mapping[str, Any]) -> HookOutput:
    # Older Claude hooks write at the top what is inside hookSpecificOutput today.
    specific = {**answer, **wire.nested(answer, "hookSpecificOutput")}
    verdict, reason = _verdict(event, answer, specific)
    notes = wire.non_empty(note=wire.text(answer, "systemMessage"), warning=wire.text(answer, "add_warning"))
    rewrite, dropped = _rewrite(event, answer, specific)
    return HookOutput(
        verdict=verdict,
        reason=reason,
        rewrite=rewrite,
        adjustment=f"new keys of the tool's input were dropped: {', '.join(dropped)}" if dropped else "",
        context=wire.text(answer, "context") or wire.text(specific, "additionalContext"),
        notes=tuple(notes.values()),
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
        return _text(event, answer), ()
    given = answer.get("tool_input") or specific.get("updatedInput")
    if event.kind is not EventKind.TOOL_BEFORE or event.tool is None or not given:
        return None, ()
    current = event.tool.input
    native_input = tools.translate_back(event.agent, AGENT, event.tool.name, current, given)
    dropped = tuple(key for key in native_input if key not in current) if event.agent == AGENT else ()
    value = {key: value for key, value in {**current, **native_input}.items() if key not in dropped}
    return None if value == current else Rewrite(target=Target.INPUT, value=value), dropped


def _text(event: Event, answer: Mapping[str, Any]) -> Rewrite | None:
    key, target = REWRITE_KEYS[hook_event_name(event)]
    value = wire.text(answer, key)
    current = event.prompt if target is Target.PROMPT else event.message
    return None if value in ("", current) else Rewrite(target=target, value=value)
