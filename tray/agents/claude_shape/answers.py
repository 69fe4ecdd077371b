"""Reads what a hook of a Claude-shaped agent answered: JSON, exit 2 or plain text, with current or older keys."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping
from typing import Any

from msgspec.structs import replace

from tray.agents import lenient, outputs, tools, wire
from tray.agents.claude_shape.shape import (
    BEHAVIORS,
    FORM_ACTIONS,
    FORMS,
    STOPS,
    WORDS,
    ClaudeShape,
    Exit2,
    RefusalStyle,
    Types,
)
from tray.model.decision import HookOutput, Result, Rewrite, Target, Verdict
from tray.model.event import Capability, Event, EventKind, Tool

REQUEST_KEYS: Mapping[str, Types] = {  # by behavior; the keys of the other behavior are unknown keys
    "allow": {"updatedInput": (dict,), "updatedPermissions": (list,)},
    "deny": {"interrupt": (bool,), "message": (str,)},
}
NO_TYPES: Types = {}


def read(shape: ClaudeShape, event: Event, result: Result, hook_event: str) -> HookOutput:
    """`hook_event` is the event's name in the hook's input, which `hookEventName` must repeat."""
    if problem := wire.exit_problem(result):
        return HookOutput(problem=problem)
    start_problem = wire.start_problem(result)
    kind = shape.kinds.get(hook_event)
    if kind is EventKind.WORKTREE_CREATE and result.code != 0:  # every other exit code is a refusal
        return HookOutput(problem=start_problem) if start_problem else _refused(result)
    output, note, answer = lenient.text(result.stdout), "", None
    refusal = _blocked(shape, result, kind) if result.code == 2 else None
    is_read = shape.json_on_any_exit or result.code == 0
    try:
        answer = lenient.mapping(output, shape.known_keys) if output.startswith("{") and is_read else None
    except lenient.TooDeepError as error:
        return refusal or HookOutput(problem=f"output is {error}")
    except ValueError as error:
        note = "" if hook_event in shape.text_context else f"The hook's output is {error}; taken as plain text."
    if answer is None:
        if start_problem:
            return HookOutput(problem=start_problem)
        if result.code != 0:
            return refusal or HookOutput(problem=f"exit {result.code}")
        if kind is EventKind.WORKTREE_CREATE:
            return _path(output)
        return HookOutput(context=output if hook_event in shape.text_context else "", warning=note)
    if problem := _problem(shape, answer, hook_event):
        return refusal or HookOutput(problem=f"output {problem}")
    hook_output = _hook_output(shape, event, answer, hook_event)
    if result.code != 2 or kind is EventKind.PERMISSION_REQUEST or shape.json_beats_exit_2:
        return hook_output
    return _exited_2(shape, result, hook_event, hook_output)


def _exited_2(shape: ClaudeShape, result: Result, hook_event: str, hook_output: HookOutput) -> HookOutput:
    """Exit 2 refuses whatever the JSON has. The reason comes from the JSON if that refuses too, else from stderr."""
    own_reason = hook_output.reason if hook_output.verdict is Verdict.DENY else ""
    rewrite = hook_output.rewrite if hook_event in shape.events and shape.events[hook_event].after_the_fact else None
    return replace(hook_output, verdict=Verdict.DENY, reason=own_reason or wire.stderr(result), rewrite=rewrite)


def _blocked(shape: ClaudeShape, result: Result, kind: EventKind | None) -> HookOutput:
    """What exit 2 means without JSON."""
    if kind is EventKind.PERMISSION_REQUEST:
        return HookOutput(problem="exit 2 without a decision, which a permission request does not heed")
    if shape.exit_2 is Exit2.WITH_STDERR and not wire.stderr(result):
        return HookOutput(problem="exit 2 without a reason on stderr, which the agent does not heed")
    if shape.exit_2 is Exit2.WITH_OUTPUT and not (wire.stderr(result) or lenient.text(result.stdout)):
        return HookOutput(problem="exit 2 without any output, which the agent does not heed")
    return _refused(result)


def _refused(result: Result) -> HookOutput:
    return HookOutput(verdict=Verdict.DENY, reason=wire.stderr(result))


def _path(output: str) -> HookOutput:
    """The last line that is not blank is the path of the worktree that the hook made."""
    lines = [line.strip() for line in output.splitlines() if line.strip()]
    if not lines:
        return HookOutput(problem="printed no path")
    return HookOutput(rewrite=Rewrite(target=Target.ANSWER, value=lines[-1]), plain=True)


def _problem(shape: ClaudeShape, answer: Mapping[str, Any], hook_event: str) -> str:
    """What makes the agent reject the whole answer; "" when nothing does."""
    specific = wire.nested(answer, "hookSpecificOutput")
    is_request = shape.kinds.get(hook_event) is EventKind.PERMISSION_REQUEST
    request = wire.nested(specific, "decision") if is_request else {}
    inner = shape.answer_fields.get(hook_event, NO_TYPES)
    behavior = request.get("behavior", "deny")
    if not isinstance(behavior, str) or behavior not in BEHAVIORS:
        return "has a behavior that is none of allow, deny"
    for fields, types in ((answer, shape.top), (specific, inner), (request, REQUEST_KEYS[behavior])):
        if problem := _type_problem(fields, types):
            return problem
    words = (*shape.refusal_words, *shape.verdict_words, *WORDS)
    if answer.get("decision", words[0]) not in words:
        return f"has a decision that is none of {', '.join(sorted(words))}"
    if "permissionDecision" in inner and specific.get("permissionDecision", "deny") not in shape.permissions:
        return f"has a permissionDecision that is none of {', '.join(sorted(shape.permissions))}"
    if "action" in inner and specific.get("action", "decline") not in FORM_ACTIONS:
        return "has an action that is none of accept, cancel, decline"
    is_named = specific.get("hookEventName") == hook_event or not shape.checks_event_name
    if "hookSpecificOutput" in answer and not is_named:
        return f"has a hookSpecificOutput whose hookEventName is not {hook_event}"
    return _unknown_key(answer, shape.top) or _unknown_key(specific, inner) if shape.rejects_unknown_keys else ""


def _type_problem(fields: Mapping[str, Any], types: Types) -> str:
    for key, wanted in types.items():
        is_nothing = wanted == (list,) and fields.get(key) == {}  # documents have it as an example
        if key in fields and not isinstance(fields[key], wanted) and not is_nothing:
            words = (wire.JSON_TYPES.get(each, "object") for each in wanted)
            return f"has a {key} that is not {' or '.join(map(wire.with_article, words))}"
    return ""


def _unknown_key(fields: Mapping[str, Any], known: Collection[str]) -> str:
    unknown = next((key for key in fields if key not in known and key != "hookEventName"), "")
    return f"has a key that the agent does not know: {unknown[: wire.NAME_LIMIT]}" if unknown else ""


def _hook_output(shape: ClaudeShape, event: Event, answer: Mapping[str, Any], hook_event: str) -> HookOutput:
    specific = wire.nested(answer, "hookSpecificOutput")
    kind = shape.kinds.get(hook_event)
    if kind is EventKind.WORKTREE_CREATE:
        return _path(wire.text(specific, "worktreePath"))
    request: Mapping[str, Any] = {}
    if kind is EventKind.PERMISSION_REQUEST:
        request = wire.nested(specific, "decision")
        verdict = BEHAVIORS.get(wire.text(request, "behavior"), Verdict.ABSTAIN)
        reason = wire.text(request, "message") if verdict is Verdict.DENY else ""
    else:
        verdict, reason = strictest_verdict(shape, answer, specific, hook_event)
    context = wire.text(specific, "additionalContext") or wire.text(answer, "additionalContext")
    # In the agent itself, context at an end may make it continue without a word to its user.
    is_reminded = event.agent == shape.agent and Capability.CONTEXT in event.spec.can
    if kind in STOPS and context and not is_reminded:  # only a refusal makes it continue
        verdict, reason, context = max(verdict, Verdict.DENY), reason or context, ""
    stop = _stop(shape, answer, request, hook_event)
    # Agents show `stopReason` where they stop only; documents have it beside a refusal, as a word to the user.
    aside = wire.text(answer, "stopReason") if verdict is Verdict.DENY and stop is None else ""
    notes = (wire.text(answer, "systemMessage"), aside if aside != reason else "")
    return HookOutput(
        verdict=verdict,
        reason=reason,
        rewrite=_rewrite(shape, event, answer, specific, hook_event),
        context=context,
        notes=tuple(dict.fromkeys(filter(None, notes))),
        stop=stop,
        retry=specific.get("retry") is True,
        extra=_extra(shape, (answer, specific, request), hook_event),
    )


def strictest_verdict(
    shape: ClaudeShape, answer: Mapping[str, Any], specific: Mapping[str, Any], hook_event: str
) -> tuple[Verdict, str]:
    """The strictest of all the verdicts in an answer, with its reason."""
    answers = [(_decision(shape, answer, hook_event), wire.text(answer, "reason"))]
    if shape.styles.get(hook_event) is RefusalStyle.PERMISSION:
        for fields in (specific, answer):
            word = shape.permissions.get(wire.text(fields, "permissionDecision"), Verdict.ABSTAIN)
            answers.append((word, wire.text(fields, "permissionDecisionReason") or wire.text(answer, "reason")))
    if wire.text(specific, "action") == "decline" and shape.kinds.get(hook_event) in FORMS:
        answers.append((Verdict.DENY, ""))
    if answer.get("continue") is False and hook_event in shape.stop_refuses:
        answers.insert(0, (Verdict.DENY, wire.text(answer, "stopReason")))
    verdict = max(each for each, _ in answers)
    reasons = (reason for each, reason in answers if each is verdict and reason)
    return verdict, next(reasons, "") if verdict is not Verdict.ABSTAIN else ""


def _decision(shape: ClaudeShape, answer: Mapping[str, Any], hook_event: str) -> Verdict:
    word, kind = wire.text(answer, "decision"), shape.kinds.get(hook_event)
    if word in shape.refusal_words or (word == "continue" and kind in STOPS):  # keep working
        return Verdict.DENY
    if kind is not EventKind.TOOL_BEFORE:
        return Verdict.ABSTAIN
    return shape.verdict_words.get(word, Verdict.ALLOW if word == "approve" else Verdict.ABSTAIN)


def _stop(shape: ClaudeShape, answer: Mapping[str, Any], decision: Mapping[str, Any], hook_event: str) -> str | None:
    if decision.get("interrupt") is True and decision.get("behavior") == "deny":
        return wire.text(decision, "message")
    if hook_event in shape.stop_ignored or hook_event in shape.stop_refuses:
        return None
    if answer.get("continue") is False:
        return wire.text(answer, "stopReason")
    if wire.text(answer, "decision") == "stop" and shape.kinds.get(hook_event) not in STOPS:  # at a stop: let it stop
        return wire.text(answer, "reason")
    return None


def _extra(shape: ClaudeShape, parts: Iterable[Mapping[str, Any]], hook_event: str) -> tuple[tuple[str, Any], ...]:
    """The extras of the answer without values of a wrong type, which would make our own answer invalid."""
    inner = shape.answer_fields.get(hook_event, NO_TYPES)
    types = {**shape.top, **inner, **REQUEST_KEYS["allow"], **REQUEST_KEYS["deny"]}
    fields = {name: value for part in parts for name, value in part.items() if isinstance(value, types.get(name, ()))}
    extras = shape.events[hook_event].extras if hook_event in shape.events else ()
    return tuple((name, fields[name]) for name in extras if fields.get(name) not in (None, ""))


def _rewrite(
    shape: ClaudeShape, event: Event, answer: Mapping[str, Any], specific: Mapping[str, Any], hook_event: str
) -> Rewrite | None:
    kind = shape.kinds.get(hook_event)
    if kind in FORMS:
        return _form_answers(specific)
    if kind is EventKind.MESSAGE_DISPLAY:
        text = specific.get(shape.rewrite_keys[Target.MESSAGE])
        return None if text is None else Rewrite(target=Target.MESSAGE, value=text)
    if event.tool is None:
        return None
    if kind is EventKind.TOOL_BEFORE:
        return _new_input(shape, event, event.tool, answer, specific)
    if kind is EventKind.PERMISSION_REQUEST:
        return _new_input(shape, event, event.tool, {}, wire.nested(specific, "decision"))
    return _new_output(shape, event, event.tool, answer, specific) if kind is EventKind.TOOL_AFTER else None


def _new_input(
    shape: ClaudeShape, event: Event, tool: Tool, answer: Mapping[str, Any], specific: Mapping[str, Any]
) -> Rewrite | None:
    """A new input replaces the tool's, or is merged where the agent does so. The older key at the top is merged."""
    given, is_merged = specific.get(shape.rewrite_keys[Target.INPUT]), shape.merges_input
    if given is None:
        given, is_merged = answer.get("updatedInput"), True
    if not isinstance(given, dict):
        return None
    native_input = tools.translate_back(event.agent, shape.agent, tool.name, tool.input, given)
    return Rewrite(target=Target.INPUT, value=dict(tool.input) | native_input if is_merged else native_input)


def _new_output(
    shape: ClaudeShape, event: Event, tool: Tool, answer: Mapping[str, Any], specific: Mapping[str, Any]
) -> Rewrite | None:
    """The older `updatedMCPToolOutput` counts for MCP tools only. Older hooks write it at the top."""
    given = specific.get(shape.rewrite_keys[Target.OUTPUT])
    if given is None and tool.name.startswith("mcp__"):
        given = specific.get("updatedMCPToolOutput", answer.get("updatedMCPToolOutput"))
        if isinstance(given, str) and isinstance(tool.output, list):  # the agent takes content blocks only
            given = outputs.blocks(given)
    if given is None:
        return None
    # Another agent's output was text, which the hook may have got as an object.
    plain = event.agent != shape.agent and isinstance(tool.output, str)
    if event.agent != shape.agent and isinstance(given, str):
        given = outputs.with_text(tool.output, given) or given
    return Rewrite(target=Target.OUTPUT, value=outputs.as_text(given) if plain else given)


def _form_answers(specific: Mapping[str, Any]) -> Rewrite | None:
    if wire.text(specific, "action") not in ("accept", "cancel"):
        return None
    answers = {key: specific[key] for key in ("action", "content") if key in specific}
    return Rewrite(target=Target.ANSWER, value=answers)
