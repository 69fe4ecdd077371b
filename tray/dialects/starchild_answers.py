"""What a hook in Starchild's dialect said; answers in Claude's form are translated as the agent itself does."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from tray.dialects import lenient, tools, wire
from tray.dialects.starchild_hooks import AGENT, hook_event_name
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
# What an answer may put in the place of a text, by the event's name as the hook heard it.
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
    said = lenient.text(result.stdout, lenient.PYTHON)
    if result.code == 2 and not said and wire.stderr(result):
        return HookOutput(verdict=Verdict.DENY, reason=wire.stderr(result))
    if result.code not in (0, 2):
        return HookOutput(problem=f"exit {result.code}")
    reading = _output(event, said)
    if result.code == 2 and reading.verdict is not Verdict.DENY:
        return HookOutput(problem="exit 2 without a refusal on either stream")
    return reading


def _output(event: Event, said: str) -> HookOutput:
    if not said:
        return HookOutput()
    try:
        answer = lenient.mapping(said, KNOWN_KEYS, python=True)
    except lenient.TooDeepError as error:
        return HookOutput(problem=f"output is {error}")
    except ValueError as error:
        return HookOutput(warning=IGNORED.format(error))
    if fault := _problem(answer) or _text_problem(event, answer):
        return HookOutput(problem=f"output {fault}")
    return _reading(event, answer)


def _problem(answer: Mapping[str, Any]) -> str:
    for fields in (answer, wire.nested(answer, "hookSpecificOutput")):
        for keys, kind, word in ((TEXTS, str, "text"), (OBJECTS, dict, "object")):
            wrong = [key for key in keys if fields.get(key) is not None and not isinstance(fields[key], kind)]
            if wrong:
                return f"has a {wrong[0]} that is no {word}"
        if wire.text(fields, "permissionDecision") not in PERMISSIONS:
            return "has a permissionDecision that is none of allow, ask, deny"
    if wire.text(answer, "decision") not in DECISIONS:
        return "has a decision that is not block"
    return ""


def _text_problem(event: Event, answer: Mapping[str, Any]) -> str:
    key, _ = REWRITE_KEYS.get(hook_event_name(event), ("", Target.MESSAGE))
    return f"has a {key} that is no text" if not isinstance(answer.get(key) or "", str) else ""


def _reading(event: Event, answer: Mapping[str, Any]) -> HookOutput:
    # Older Claude hooks say at the top what today stands inside hookSpecificOutput.
    specific = {**answer, **wire.nested(answer, "hookSpecificOutput")}
    verdict, reason = _verdict(event, answer, specific)
    notes = wire.non_empty(told=wire.text(answer, "systemMessage"), warned=wire.text(answer, "add_warning"))
    return HookOutput(
        verdict=verdict,
        reason=reason,
        rewrite=_rewrite(event, answer, specific),
        context=wire.text(answer, "context") or wire.text(specific, "additionalContext"),
        notes=tuple(notes.values()),
    )


def _verdict(event: Event, answer: Mapping[str, Any], specific: Mapping[str, Any]) -> tuple[Verdict, str]:
    reason = wire.text(answer, "reason")
    found = [(DECISIONS[wire.text(answer, "decision")], reason)]
    if answer.get("continue") is False:
        found.append((Verdict.DENY, wire.text(answer, "stopReason") or reason))
    said = wire.text(specific, "permissionDecisionReason") or reason
    for fields in (specific, answer):
        word = PERMISSIONS[wire.text(fields, "permissionDecision")]
        if word is Verdict.DENY or event.kind is EventKind.TOOL_BEFORE:  # only a tool call can be asked about
            found.append((word, said))
    verdict = max(each for each, _ in found)
    reasons = (text for each, text in found if each is verdict and text)
    return verdict, next(reasons, "") if verdict is not Verdict.ABSTAIN else ""


def _rewrite(event: Event, answer: Mapping[str, Any], specific: Mapping[str, Any]) -> Rewrite | None:
    """The given keys are put over the tool's input, in the agent's own spelling; a text replaces the whole one."""
    if hook_event_name(event) in REWRITE_KEYS:
        return _text(event, answer)
    given = answer.get("tool_input") or specific.get("updatedInput")
    if event.kind is not EventKind.TOOL_BEFORE or event.tool is None or not given:
        return None
    own = tools.translate_back(event.agent, AGENT, event.tool.name, event.tool.input, given)
    value = dict(event.tool.input) | own
    return None if value == event.tool.input else Rewrite(target=Target.INPUT, value=value)


def _text(event: Event, answer: Mapping[str, Any]) -> Rewrite | None:
    key, target = REWRITE_KEYS[hook_event_name(event)]
    value = wire.text(answer, key)
    now = event.prompt if target is Target.PROMPT else event.message
    return None if value in ("", now) else Rewrite(target=target, value=value)
