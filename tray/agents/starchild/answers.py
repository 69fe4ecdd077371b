"""The answer of a hook in Starchild's dialect; answers in Claude's form are translated as the agent itself does."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from tray.agents import lenient, tools, wire
from tray.agents.starchild.hook_input import AGENT, hook_event_name
from tray.model.decision import HookOutput, Result, Rewrite, Target, Verdict
from tray.model.event import Event, EventKind

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


def read(event: Event, result: Result) -> HookOutput:
    if problem := wire.run_problem(result):
        return HookOutput(problem=problem)
    output = lenient.text(result.stdout, lenient.PYTHON)
    if result.code == 2 and not output and wire.stderr(result):
        return HookOutput(verdict=Verdict.DENY, reason=wire.stderr(result))
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
        for keys, kind, word in ((TEXTS, str, "text"), (OBJECTS, dict, "object")):
            invalid = [key for key in keys if fields.get(key) is not None and not isinstance(fields[key], kind)]
            if invalid:
                return f"has a {invalid[0]} that is no {word}"
        if wire.text(fields, "permissionDecision") not in PERMISSIONS:
            return "has a permissionDecision that is none of allow, ask, deny"
    if wire.text(answer, "decision") not in DECISIONS:
        return "has a decision that is not block"
    return ""


def _text_problem(event: Event, answer: Mapping[str, Any]) -> str:
    key, _ = REWRITE_KEYS.get(hook_event_name(event), ("", Target.MESSAGE))
    return f"has a {key} that is no text" if not isinstance(answer.get(key) or "", str) else ""


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
