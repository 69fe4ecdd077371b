"""What a hook in Claude's dialect said: JSON on any exit code, exit 2, plain text, today's and older spellings."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from tray.dialects import tools, wire
from tray.model.decision import Reading, Result, Rewrite, Target, Verdict
from tray.model.event import Event, EventKind

CLAUDE = "claude-code"
STOPS = (EventKind.TURN_END, EventKind.SUBAGENT_END)
HEARS_TEXT = (EventKind.SESSION_START, EventKind.PROMPT, EventKind.PROMPT_EXPANSION)  # plain text becomes context
# `defer` pauses the call for a program to decide later: a question, in our words.
PERMISSIONS = {"allow": Verdict.ALLOW, "ask": Verdict.ASK, "defer": Verdict.ASK, "deny": Verdict.DENY}
DECISIONS = ("approve", "block", "continue", "stop")
TYPES: Mapping[str, tuple[type, ...]] = {
    "additionalContext": (str,),
    "continue": (bool,),
    "decision": (str,),
    "hookSpecificOutput": (dict,),
    "permissionDecision": (str,),
    "permissionDecisionReason": (str,),
    "reason": (str,),
    "stopReason": (str,),
    "suppressOutput": (bool,),
    "systemMessage": (str,),
    "updatedInput": (dict,),
}


def read(event: Event, result: Result, told: str) -> Reading:
    """`told` is the event's name as the hook heard it: `hookEventName` has to repeat it."""
    if problem := wire.not_run(result):
        return Reading(problem=problem)
    said = result.stdout.strip()
    try:
        answer = wire.mapping(said) if said.startswith((b"{", b"\xef\xbb\xbf{")) else None
    except ValueError as error:
        note = "" if event.kind in HEARS_TEXT else f"The hook's output is {error}; taken as plain text."
        return _plain(event, result, note)
    if answer is None:
        return _plain(event, result, "")
    if fault := _fault(answer, told):
        return _blocked(result) if result.code == 2 else Reading(problem=f"output {fault}")
    reading = _reading(event, answer)
    if result.code != 2:
        return reading
    own = reading.reason if reading.verdict is Verdict.DENY else ""
    return replace(reading, verdict=Verdict.DENY, reason=own or wire.stderr(result), rewrite=None)


def _plain(event: Event, result: Result, warning: str) -> Reading:
    if result.code == 2:
        return _blocked(result)
    if result.code != 0:
        return Reading(problem=f"exit {result.code}")
    if event.kind not in HEARS_TEXT:
        return Reading(warning=warning)
    return Reading(context=result.stdout.decode("utf-8", "replace").strip(), warning=warning)


def _blocked(result: Result) -> Reading:
    return Reading(verdict=Verdict.DENY, reason=wire.stderr(result))


def _fault(answer: Mapping[str, Any], told: str) -> str:
    """What makes the whole answer invalid, as the agent itself judges; unknown keys do not."""
    specific = answer.get("hookSpecificOutput", {})
    for fields in (answer, specific):
        for key, types in TYPES.items():
            if isinstance(fields, Mapping) and key in fields and not isinstance(fields[key], types):
                return f"has a {key} that is no {'/'.join(wire.KINDS.get(each, 'object') for each in types)}"
    if answer.get("decision", "block") not in DECISIONS:
        return "has a decision that is none of approve, block, continue, stop"
    if any(fields.get("permissionDecision", "ask") not in PERMISSIONS for fields in (answer, specific)):
        return "has a permissionDecision that is none of allow, ask, defer, deny"
    if "hookSpecificOutput" in answer and specific.get("hookEventName") != told:
        return f"has a hookSpecificOutput whose hookEventName is not {told}"
    return ""


def _reading(event: Event, answer: Mapping[str, Any]) -> Reading:
    specific = wire.inner(answer, "hookSpecificOutput")
    verdict, reason = strictest(event, answer, specific)
    context = wire.text(specific, "additionalContext") or wire.text(answer, "additionalContext")
    if event.kind in STOPS and context:  # context at a stop makes the agent go on
        verdict, reason, context = max(verdict, Verdict.DENY), reason or context, ""
    return Reading(
        verdict=verdict,
        reason=reason,
        rewrite=rewrite(event, answer, specific),
        context=context,
        notes=tuple(wire.filled(note=wire.text(answer, "systemMessage")).values()),
        stop=_stop(event, answer),
    )


def strictest(event: Event, answer: Mapping[str, Any], specific: Mapping[str, Any]) -> tuple[Verdict, str]:
    """The strictest verdict among all the places where an answer may say one, with its reason."""
    found = [(_decision(event, answer), wire.text(answer, "reason"))]
    if event.kind is EventKind.TOOL_BEFORE:
        for fields in (specific, answer):
            word = PERMISSIONS.get(wire.text(fields, "permissionDecision"), Verdict.ABSTAIN)
            found.append((word, wire.text(fields, "permissionDecisionReason") or wire.text(answer, "reason")))
    verdict = max(each for each, _ in found)
    reasons = (reason for each, reason in found if each is verdict and reason)
    return verdict, next(reasons, "") if verdict is not Verdict.ABSTAIN else ""


def _decision(event: Event, answer: Mapping[str, Any]) -> Verdict:
    word = wire.text(answer, "decision")
    if word == "block" or (word == "continue" and event.kind in STOPS):  # older hooks: keep working
        return Verdict.DENY
    approved = word == "approve" and event.kind is EventKind.TOOL_BEFORE
    return Verdict.ALLOW if approved else Verdict.ABSTAIN


def _stop(event: Event, answer: Mapping[str, Any]) -> str | None:
    if answer.get("continue") is False:
        return wire.text(answer, "stopReason")
    if wire.text(answer, "decision") == "stop" and event.kind not in STOPS:  # at a stop: let it stop
        return wire.text(answer, "reason")
    return None


def rewrite(event: Event, answer: Mapping[str, Any], specific: Mapping[str, Any]) -> Rewrite | None:
    """The inner updatedInput replaces the tool's input; the older one at the top is merged into it."""
    if event.kind is not EventKind.TOOL_BEFORE or event.tool is None:
        return None
    given, kept = specific.get("updatedInput"), {}
    if given is None:
        given, kept = answer.get("updatedInput"), dict(event.tool.input)
    if not isinstance(given, dict):
        return None
    own = tools.translate_back(event.agent, CLAUDE, event.tool.name, event.tool.input, given)
    return Rewrite(target=Target.INPUT, value=kept | own)
