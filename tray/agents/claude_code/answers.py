"""What a hook in Claude's dialect said: JSON on any exit code, exit 2, plain text, today's and older spellings."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import replace
from typing import Any

from tray.agents import lenient, wire
from tray.agents.claude_code import rewrites
from tray.agents.claude_code.events import EVENTS
from tray.model.decision import HookOutput, Result, Rewrite, Target, Verdict
from tray.model.event import Event

STOP_EVENTS = ("Stop", "SubagentStop")
TEXT_CONTEXT_EVENTS = ("SessionStart", "UserPromptExpansion", "UserPromptSubmit")  # plain text becomes context
PERMISSION_EVENTS = ("PreModelSwitch", "PreToolUse")
# There `continue: false` means nothing; nor does exit 2, or anything outside `decision`, on a PermissionRequest.
STOP_IGNORED = ("SessionStart", "TaskCreated")
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
# Older hooks write these at the top. The agent has no such keys there, so a wrong one makes nothing invalid.
LEGACY_KEYS = (
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
# The fields of hookSpecificOutput by event; any other key there is unknown.
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
REQUEST_KEYS: Mapping[str, Types] = {  # by behavior; a key of the other one is a stranger's
    "allow": {"updatedInput": (dict,), "updatedPermissions": (list,)},
    "deny": {"interrupt": (bool,), "message": (str,)},
}


KNOWN_KEYS = frozenset(
    (*TOP, *LEGACY_KEYS, *(key for types in INNER.values() for key in types), "hookEventName", "updatedToolOutput")
)


def read(event: Event, result: Result, hook_event: str) -> HookOutput:
    """`hook_event` is the event's name in the hook's input: `hookEventName` has to repeat it."""
    if problem := wire.exit_problem(result):
        return HookOutput(problem=problem)
    start_problem = wire.start_problem(result)  # a JSON answer counts whatever the exit code
    if hook_event == "WorktreeCreate" and result.code != 0:  # whatever the exit, it is a refusal
        return HookOutput(problem=start_problem) if start_problem else _blocked(result, hook_event)
    output = lenient.text(result.stdout)
    note, answer = "", None
    try:
        answer = lenient.mapping(output, KNOWN_KEYS) if output.startswith("{") else None
    except lenient.TooDeepError as error:
        return _invalid(result, hook_event, f"is {error}")
    except ValueError as error:
        note = "" if hook_event in TEXT_CONTEXT_EVENTS else f"The hook's output is {error}; taken as plain text."
    if answer is None:
        return HookOutput(problem=start_problem) if start_problem else _plain(result, hook_event, output, note)
    if problem := _problem(answer, hook_event):
        return _invalid(result, hook_event, problem)
    hook_output = _hook_output(event, answer, hook_event)
    return _exited_2(result, hook_event, hook_output) if result.code == 2 and hook_event != REQUEST else hook_output


def _invalid(result: Result, hook_event: str, problem: str) -> HookOutput:
    return _blocked(result, hook_event) if result.code == 2 else HookOutput(problem=f"output {problem}")


def _exited_2(result: Result, hook_event: str, hook_output: HookOutput) -> HookOutput:
    """A refusal, whatever else was said; the reason is that of the answer when it refuses too."""
    own_reason = hook_output.reason if hook_output.verdict is Verdict.DENY else ""
    rewrite = hook_output.rewrite if hook_event in EVENTS and EVENTS[hook_event].after_the_fact else None
    return replace(hook_output, verdict=Verdict.DENY, reason=own_reason or wire.stderr(result), rewrite=rewrite)


def _plain(result: Result, hook_event: str, output: str, warning: str) -> HookOutput:
    if result.code == 2:
        return _blocked(result, hook_event)
    if result.code != 0:
        return HookOutput(problem=f"exit {result.code}")
    if hook_event == "WorktreeCreate":
        return _path(output)
    return HookOutput(context=output if hook_event in TEXT_CONTEXT_EVENTS else "", warning=warning)


def _blocked(result: Result, hook_event: str) -> HookOutput:
    if hook_event == REQUEST:
        return HookOutput(problem="exit 2 without a decision, which a permission request does not heed")
    return HookOutput(verdict=Verdict.DENY, reason=wire.stderr(result))


def _path(output: str) -> HookOutput:
    """The last line that says something is the path of the worktree that the hook made."""
    lines = [line.strip() for line in output.splitlines() if line.strip()]
    if not lines:
        return HookOutput(problem="printed no path")
    return HookOutput(rewrite=Rewrite(target=Target.ANSWER, value=lines[-1]), plain=True)


def _problem(answer: Mapping[str, Any], hook_event: str) -> str:
    """What makes the whole answer invalid, as the agent itself judges; unknown keys do not."""
    specific = wire.nested(answer, "hookSpecificOutput")
    request = wire.nested(specific, "decision") if hook_event == REQUEST else {}
    inner = INNER.get(hook_event, {})
    behavior = request.get("behavior", "deny")
    if not isinstance(behavior, str) or behavior not in BEHAVIORS:
        return "has a behavior that is none of allow, deny"
    for fields, types in ((answer, TOP), (specific, inner), (request, REQUEST_KEYS[behavior])):
        if problem := _type_problem(fields, types):
            return problem
    if answer.get("decision", "block") not in DECISIONS:
        return "has a decision that is none of approve, block, continue, stop"
    if "permissionDecision" in inner and specific.get("permissionDecision", "ask") not in PERMISSIONS:
        return "has a permissionDecision that is none of allow, ask, defer, deny"
    if "action" in inner and specific.get("action", "decline") not in ACTIONS:
        return "has an action that is none of accept, cancel, decline"
    if "hookSpecificOutput" in answer and specific.get("hookEventName") != hook_event:
        return f"has a hookSpecificOutput whose hookEventName is not {hook_event}"
    return ""


def _type_problem(fields: Mapping[str, Any], types: Types) -> str:
    for key, wanted in types.items():
        if key in fields and not isinstance(fields[key], wanted):
            return f"has a {key} that is no {'/'.join(wire.JSON_TYPES.get(each, 'object') for each in wanted)}"
    return ""


def _hook_output(event: Event, answer: Mapping[str, Any], hook_event: str) -> HookOutput:
    specific = wire.nested(answer, "hookSpecificOutput")
    if hook_event == "WorktreeCreate":
        return _path(wire.text(specific, "worktreePath"))
    request = wire.nested(specific, "decision") if hook_event == REQUEST else {}
    if hook_event == REQUEST:
        verdict, reason = _request_verdict(request)
    else:
        verdict, reason = strictest_verdict(answer, specific, hook_event)
    context = wire.text(specific, "additionalContext") or wire.text(answer, "additionalContext")
    if hook_event in STOP_EVENTS and context:  # context at a stop makes the agent go on
        verdict, reason, context = max(verdict, Verdict.DENY), reason or context, ""
    return HookOutput(
        verdict=verdict,
        reason=reason,
        rewrite=rewrites.rewrite(event, answer, specific, hook_event),
        context=context,
        notes=tuple(wire.non_empty(note=wire.text(answer, "systemMessage")).values()),
        stop=_stop(answer, request, hook_event),
        retry=specific.get("retry") is True,
        extra=_extra((answer, specific, request), hook_event),
    )


def _request_verdict(decision: Mapping[str, Any]) -> tuple[Verdict, str]:
    verdict = BEHAVIORS.get(wire.text(decision, "behavior"), Verdict.ABSTAIN)
    return verdict, wire.text(decision, "message") if verdict is Verdict.DENY else ""


def strictest_verdict(answer: Mapping[str, Any], specific: Mapping[str, Any], hook_event: str) -> tuple[Verdict, str]:
    """The strictest verdict among all the places where an answer may say one, with its reason."""
    answers = [(_decision(answer, hook_event), wire.text(answer, "reason"))]
    if hook_event in PERMISSION_EVENTS:
        for fields in (specific, answer):
            word = PERMISSIONS.get(wire.text(fields, "permissionDecision"), Verdict.ABSTAIN)
            answers.append((word, wire.text(fields, "permissionDecisionReason") or wire.text(answer, "reason")))
    if wire.text(specific, "action") == "decline" and hook_event in rewrites.FORM_EVENTS:
        answers.append((Verdict.DENY, ""))
    verdict = max(each for each, _ in answers)
    reasons = (reason for each, reason in answers if each is verdict and reason)
    return verdict, next(reasons, "") if verdict is not Verdict.ABSTAIN else ""


def _decision(answer: Mapping[str, Any], hook_event: str) -> Verdict:
    word = wire.text(answer, "decision")
    if word == "block" or (word == "continue" and hook_event in STOP_EVENTS):  # older hooks: keep working
        return Verdict.DENY
    return Verdict.ALLOW if word == "approve" and hook_event == "PreToolUse" else Verdict.ABSTAIN


def _stop(answer: Mapping[str, Any], decision: Mapping[str, Any], hook_event: str) -> str | None:
    if decision.get("interrupt") is True and decision.get("behavior") == "deny":
        return wire.text(decision, "message")
    if hook_event in STOP_IGNORED:
        return None
    if answer.get("continue") is False:
        return wire.text(answer, "stopReason")
    if wire.text(answer, "decision") == "stop" and hook_event not in STOP_EVENTS:  # at a stop: let it stop
        return wire.text(answer, "reason")
    return None


def _extra(parts: Iterable[Mapping[str, Any]], hook_event: str) -> tuple[tuple[str, Any], ...]:
    """An unknown key may bear such a name, too: one of another type would make our own answer invalid."""
    types = TOP | INNER.get(hook_event, {}) | REQUEST_KEYS["allow"] | REQUEST_KEYS["deny"]
    fields = {name: value for part in parts for name, value in part.items() if isinstance(value, types.get(name, ()))}
    return tuple((name, fields[name]) for name in EXTRAS.get(hook_event, ()) if fields.get(name) not in (None, ""))
