"""What a hook in Claude's dialect said: JSON on any exit code, exit 2, plain text, today's and older spellings."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import replace
from typing import Any

from tray.dialects import claude_rewrites, lenient, wire
from tray.dialects.claude_events import EVENTS
from tray.model.decision import Reading, Result, Rewrite, Target, Verdict
from tray.model.event import Event

STOPS = ("Stop", "SubagentStop")
HEARS_TEXT = ("SessionStart", "UserPromptExpansion", "UserPromptSubmit")  # plain text becomes context
PERMITS = ("PreModelSwitch", "PreToolUse")
# There `continue: false` means nothing; nor does exit 2, or anything outside `decision`, on a PermissionRequest.
GOES_ON = ("SessionStart", "TaskCreated")
REQUEST = "PermissionRequest"
# `defer` pauses the call for a program to decide later: a question, in our words.
PERMISSIONS = {"allow": Verdict.ALLOW, "ask": Verdict.ASK, "defer": Verdict.ASK, "deny": Verdict.DENY}
DECISIONS = ("approve", "block", "continue", "stop")
BEHAVIORS = {"allow": Verdict.ALLOW, "deny": Verdict.DENY}
ACTIONS = ("accept", "cancel", "decline")
EXTRAS = {name: spec.extras for name, spec in EVENTS.items()}
Types = dict[str, tuple[type, ...]]
TOP: Types = {
    "continue": (bool,),
    "decision": (str,),
    "hookSpecificOutput": (dict,),
    "reason": (str,),
    "stopReason": (str,),
    "suppressOutput": (bool,),
    "systemMessage": (str,),
    "terminalSequence": (str,),
}
# Said at the top by older hooks. The agent has no such keys there, so what is wrong with one makes nothing invalid.
OLDER = (
    "additionalContext",
    "permissionDecision",
    "permissionDecisionReason",
    "updatedInput",
    "updatedMCPToolOutput",
)
CONTEXT: Types = {"additionalContext": (str,)}
PERMIT: Types = {"permissionDecision": (str,), "permissionDecisionReason": (str,)}
FORM: Types = {"action": (str,), "content": (dict,)}
WATCH: Types = {"watchPaths": (list,)}
# What an event has inside hookSpecificOutput; whatever else stands there is an unknown key.
INNER: Mapping[str, Types] = {
    "CwdChanged": WATCH,
    "Elicitation": FORM,
    "ElicitationResult": FORM,
    "FileChanged": WATCH,
    "MessageDisplay": {"displayContent": (str,)},
    "Notification": CONTEXT,
    "PermissionDenied": {"retry": (bool,)},
    "PermissionRequest": {"decision": (dict,)},
    "PostModelSwitch": CONTEXT,
    "PostToolBatch": CONTEXT,
    "PostToolUse": CONTEXT | {"classifierContext": (str,)},
    "PostToolUseFailure": CONTEXT,
    "PreModelSwitch": PERMIT,
    "PreToolUse": CONTEXT | PERMIT | {"updatedInput": (dict,)},
    "SessionStart": CONTEXT | WATCH | {"initialUserMessage": (str,), "reloadSkills": (bool,), "sessionTitle": (str,)},
    "Setup": CONTEXT,
    "Stop": CONTEXT,
    "SubagentStart": CONTEXT,
    "SubagentStop": CONTEXT,
    "UserPromptExpansion": CONTEXT | {"suppressOriginalPrompt": (bool,)},
    "UserPromptSubmit": CONTEXT | {"sessionTitle": (str,), "suppressOriginalPrompt": (bool,)},
    "WorktreeCreate": {"worktreePath": (str,)},
}
REQUESTED: Mapping[str, Types] = {  # by behavior; a key of the other one is a stranger's
    "allow": {"updatedInput": (dict,), "updatedPermissions": (list,)},
    "deny": {"interrupt": (bool,), "message": (str,)},
}


WANTED = frozenset(
    (*TOP, *OLDER, *(key for types in INNER.values() for key in types), "hookEventName", "updatedToolOutput")
)


def read(event: Event, result: Result, told: str) -> Reading:
    """`told` is the event's name as the hook heard it: `hookEventName` has to repeat it."""
    if problem := wire.cut_off(result):
        return Reading(problem=problem)
    unstarted = wire.unstarted(result)  # a JSON answer counts whatever the exit code
    if told == "WorktreeCreate" and result.code != 0:  # whatever the exit, it is a refusal
        return Reading(problem=unstarted) if unstarted else _blocked(result, told)
    said = lenient.text(result.stdout)
    note, answer = "", None
    try:
        answer = lenient.mapping(said, WANTED) if said.startswith("{") else None
    except lenient.UnreadError as error:
        return _invalid(result, told, f"is {error}")
    except ValueError as error:
        note = "" if told in HEARS_TEXT else f"The hook's output is {error}; taken as plain text."
    if answer is None:
        return Reading(problem=unstarted) if unstarted else _plain(result, told, said, note)
    if fault := _fault(answer, told):
        return _invalid(result, told, fault)
    reading = _reading(event, answer, told)
    return _exited_2(result, told, reading) if result.code == 2 and told != REQUEST else reading


def _invalid(result: Result, told: str, fault: str) -> Reading:
    return _blocked(result, told) if result.code == 2 else Reading(problem=f"output {fault}")


def _exited_2(result: Result, told: str, reading: Reading) -> Reading:
    """A refusal, whatever else was said; the reason is that of the answer when it refuses too."""
    own = reading.reason if reading.verdict is Verdict.DENY else ""
    kept = reading.rewrite if told in EVENTS and EVENTS[told].late else None
    return replace(reading, verdict=Verdict.DENY, reason=own or wire.stderr(result), rewrite=kept)


def _plain(result: Result, told: str, said: str, warning: str) -> Reading:
    if result.code == 2:
        return _blocked(result, told)
    if result.code != 0:
        return Reading(problem=f"exit {result.code}")
    if told == "WorktreeCreate":
        return _path(said)
    return Reading(context=said if told in HEARS_TEXT else "", warning=warning)


def _blocked(result: Result, told: str) -> Reading:
    if told == REQUEST:
        return Reading(problem="exit 2 without a decision, which a permission request does not heed")
    return Reading(verdict=Verdict.DENY, reason=wire.stderr(result))


def _path(said: str) -> Reading:
    """The last line that says something is the path of the worktree that the hook made."""
    lines = [line.strip() for line in said.splitlines() if line.strip()]
    if not lines:
        return Reading(problem="printed no path")
    return Reading(rewrite=Rewrite(target=Target.ANSWER, value=lines[-1]), plain=True)


def _fault(answer: Mapping[str, Any], told: str) -> str:
    """What makes the whole answer invalid, as the agent itself judges; unknown keys do not."""
    specific = wire.inner(answer, "hookSpecificOutput")
    asked = wire.inner(specific, "decision") if told == REQUEST else {}
    inner = INNER.get(told, {})
    behavior = asked.get("behavior", "deny")
    if not isinstance(behavior, str) or behavior not in BEHAVIORS:
        return "has a behavior that is none of allow, deny"
    for fields, types in ((answer, TOP), (specific, inner), (asked, REQUESTED[behavior])):
        if fault := _type_fault(fields, types):
            return fault
    if answer.get("decision", "block") not in DECISIONS:
        return "has a decision that is none of approve, block, continue, stop"
    if "permissionDecision" in inner and specific.get("permissionDecision", "ask") not in PERMISSIONS:
        return "has a permissionDecision that is none of allow, ask, defer, deny"
    if "action" in inner and specific.get("action", "decline") not in ACTIONS:
        return "has an action that is none of accept, cancel, decline"
    if "hookSpecificOutput" in answer and specific.get("hookEventName") != told:
        return f"has a hookSpecificOutput whose hookEventName is not {told}"
    return ""


def _type_fault(fields: Mapping[str, Any], types: Types) -> str:
    for key, wanted in types.items():
        if key in fields and not isinstance(fields[key], wanted):
            return f"has a {key} that is no {'/'.join(wire.KINDS.get(each, 'object') for each in wanted)}"
    return ""


def _reading(event: Event, answer: Mapping[str, Any], told: str) -> Reading:
    specific = wire.inner(answer, "hookSpecificOutput")
    if told == "WorktreeCreate":
        return _path(wire.text(specific, "worktreePath"))
    asked = wire.inner(specific, "decision") if told == REQUEST else {}
    verdict, reason = _requested(asked) if told == REQUEST else strictest(answer, specific, told)
    context = wire.text(specific, "additionalContext") or wire.text(answer, "additionalContext")
    if told in STOPS and context:  # context at a stop makes the agent go on
        verdict, reason, context = max(verdict, Verdict.DENY), reason or context, ""
    return Reading(
        verdict=verdict,
        reason=reason,
        rewrite=claude_rewrites.rewrite(event, answer, specific, told),
        context=context,
        notes=tuple(wire.filled(note=wire.text(answer, "systemMessage")).values()),
        stop=_stop(answer, asked, told),
        retry=specific.get("retry") is True,
        extra=_extra((answer, specific, asked), told),
    )


def _requested(asked: Mapping[str, Any]) -> tuple[Verdict, str]:
    verdict = BEHAVIORS.get(wire.text(asked, "behavior"), Verdict.ABSTAIN)
    return verdict, wire.text(asked, "message") if verdict is Verdict.DENY else ""


def strictest(answer: Mapping[str, Any], specific: Mapping[str, Any], told: str) -> tuple[Verdict, str]:
    """The strictest verdict among all the places where an answer may say one, with its reason."""
    found = [(_decision(answer, told), wire.text(answer, "reason"))]
    if told in PERMITS:
        for fields in (specific, answer):
            word = PERMISSIONS.get(wire.text(fields, "permissionDecision"), Verdict.ABSTAIN)
            found.append((word, wire.text(fields, "permissionDecisionReason") or wire.text(answer, "reason")))
    if wire.text(specific, "action") == "decline" and told in claude_rewrites.FORMS:
        found.append((Verdict.DENY, ""))
    verdict = max(each for each, _ in found)
    reasons = (reason for each, reason in found if each is verdict and reason)
    return verdict, next(reasons, "") if verdict is not Verdict.ABSTAIN else ""


def _decision(answer: Mapping[str, Any], told: str) -> Verdict:
    word = wire.text(answer, "decision")
    if word == "block" or (word == "continue" and told in STOPS):  # older hooks: keep working
        return Verdict.DENY
    return Verdict.ALLOW if word == "approve" and told == "PreToolUse" else Verdict.ABSTAIN


def _stop(answer: Mapping[str, Any], asked: Mapping[str, Any], told: str) -> str | None:
    if asked.get("interrupt") is True and asked.get("behavior") == "deny":
        return wire.text(asked, "message")
    if told in GOES_ON:
        return None
    if answer.get("continue") is False:
        return wire.text(answer, "stopReason")
    if wire.text(answer, "decision") == "stop" and told not in STOPS:  # at a stop: let it stop
        return wire.text(answer, "reason")
    return None


def _extra(parts: Iterable[Mapping[str, Any]], told: str) -> tuple[tuple[str, Any], ...]:
    """An unknown key may bear such a name, too: one of another type would make our own answer invalid."""
    types = TOP | INNER.get(told, {}) | REQUESTED["allow"] | REQUESTED["deny"]
    said = {name: value for part in parts for name, value in part.items() if isinstance(value, types.get(name, ()))}
    return tuple((name, said[name]) for name in EXTRAS.get(told, ()) if said.get(name) not in (None, ""))
