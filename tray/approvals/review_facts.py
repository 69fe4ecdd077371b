"""What a person should know of a hook, in one line each: when it runs, for whom, what it may do, what it covers."""

from __future__ import annotations

import math
from collections.abc import Mapping
from pathlib import Path

from tray.agents.protocol import spec
from tray.agents.registry import AGENTS, BUILT_IN
from tray.approvals.catalog import HookState
from tray.approvals.shell_hooks import uncovered_words, unseen_words
from tray.language import count, phrase, say
from tray.model.decision import Verdict
from tray.model.event import Capability, EventKind
from tray.model.hook import AsyncMode, Command, Failure, Hook, Http, Match, Prompt, Rule
from tray.text import first_line

SHOWN_NAMES = 3  # of what is not covered; the details name all of it
MOMENTS: Mapping[str, str] = {
    EventKind.SESSION_START: phrase("when a session starts"),
    EventKind.SESSION_END: phrase("when a session ends"),
    EventKind.PROMPT: phrase("when you send a prompt"),
    EventKind.PERMISSION_REQUEST: phrase("when the agent asks for a permission"),
    EventKind.NOTIFICATION: phrase("when the agent notifies you"),
    EventKind.TOOL_BEFORE: phrase("before each tool call"),
    EventKind.TOOL_AFTER: phrase("after each tool call"),
    EventKind.TOOL_FAILED: phrase("after a tool call that failed"),
    EventKind.TOOL_RESULT: phrase("when a tool's result comes"),
    EventKind.TURN_END: phrase("when a turn ends"),
    EventKind.TURN_FAILED: phrase("when a turn failed"),
    EventKind.SUBAGENT_START: phrase("when a subagent starts"),
    EventKind.SUBAGENT_END: phrase("when a subagent ends"),
    EventKind.COMPACT_BEFORE: phrase("before the conversation is compacted"),
    EventKind.COMPACT_AFTER: phrase("after the conversation was compacted"),
    EventKind.MODEL_BEFORE: phrase("before each request to the model"),
    EventKind.MODEL_AFTER: phrase("after each answer of the model"),
}
ABILITIES: Mapping[Capability, str] = {
    Capability.DENY: phrase("refuse"),
    Capability.ASK: phrase("have you asked"),
    Capability.ALLOW: phrase("allow without a question"),
    Capability.STOP: phrase("stop the agent"),
    Capability.REWRITE_INPUT: phrase("change a tool's input"),
    Capability.REWRITE_OUTPUT: phrase("change a tool's output"),
    Capability.REWRITE_PROMPT: phrase("change the prompt"),
    Capability.REWRITE_MESSAGE: phrase("change the message"),
    Capability.REWRITE_ANSWER: phrase("give the answer"),
    Capability.CONTEXT: phrase("tell the agent more"),
}
VERDICTS: Mapping[Verdict, str] = {
    Verdict.ALLOW: phrase("allows it without a question; starts no program"),
    Verdict.ASK: phrase("asks you; starts no program"),
    Verdict.DENY: phrase("refuses it; starts no program"),
}
FAILURES: Mapping[str, str] = {
    Failure.DEFAULT: phrase("the agent asks you, or goes on where it cannot ask"),
    Failure.ALLOW: phrase("the agent goes on"),
    Failure.ASK: phrase("the agent asks you, or refuses where it cannot ask"),
    Failure.BLOCK: phrase("the call is refused"),
}


def facts(one: HookState) -> tuple[tuple[str, str], ...]:
    """Each with its label."""
    hook = one.hook
    covered = say("what is written above; no file belongs to it")
    if one.covered:
        covered = count("{n} file, as shown above", "{n} files, as shown above", len(one.covered))
    rows = (
        (say("When"), moment(hook.match)),
        (say("Agents"), ", ".join(hook.match.agents) or say("every agent")),
        (say("May do"), _abilities(hook)),
        (say("Variables"), _variables(one)),
        (say("If it fails"), _failure(hook)),
        (say("Covered"), covered),
        (say("Not covered"), _not_covered(one)),
        (say("Afterwards"), _trial(hook)),
    )
    return tuple((label, text) for label, text in rows if text)


def unseen(hook: Hook) -> tuple[str, ...]:
    """Returns what the line runs and no approval can cover, one line each. A review begins with these."""
    if not isinstance(hook.action, Command):
        return ()
    words = unseen_words(hook, hook.action)
    return tuple(say("runs something that Hooktray cannot see: {word}", word=first_line(word, 200)) for word in words)


def moment(match: Match) -> str:
    """When it is asked, with every condition."""
    kinds = {match.event, *(spec(agent, match.event).kind.value for agent in match.agents)}
    text = next((say(words) for kind, words in MOMENTS.items() if kind in kinds), "")
    conditions = (
        (phrase("tool `{what}`"), "" if match.tool == "*" else match.tool),
        (phrase("where a text of it matches `{what}`"), match.pattern),
        (phrase("where it meets `{what}`"), match.condition),
        (phrase("below {what}"), match.project),
        (phrase("while the skill {what} is in force"), ", ".join(match.skill)),
        (phrase("inside the subagent {what}"), match.subagent),
    )
    parts = [text or say("on {event}", event=match.native or match.event)]
    return " · ".join([*parts, *(say(words, what=what) for words, what in conditions if what)])


def _abilities(hook: Hook) -> str:
    action = hook.action
    if isinstance(action, Rule):
        return say(VERDICTS[action.verdict])
    if isinstance(action, Command):
        does = say("runs as you, with your files and network")
    elif isinstance(action, Http):
        does = say("sends the event to {url}", url=action.url)
    elif action.agent:
        does = say("sends its text and the event to the model, which may read files of the project")
    else:
        does = say("sends its text and the event to the model")
    can = Capability.NOTHING
    for agent in hook.match.agents or BUILT_IN:
        for name, event in AGENTS[agent].events.items():
            if hook.match.event in (name, event.kind):
                can |= event.can
    words = [say(text) for ability, text in ABILITIES.items() if ability in can]
    if hook.async_mode is not AsyncMode.NO or not words:
        return f"{does}; " + say("nobody waits for its answer")
    return f"{does}; " + say("its answer may: {what}", what=", ".join(words))


def _variables(one: HookState) -> str:
    """The withheld ones that it gets."""
    texts = []
    if one.hook.env:
        texts.append(say("gets {names}, as it declares", names=", ".join(one.hook.env)))
    if one.granted:
        texts.append(say("you let through {names}", names=", ".join(one.granted)))
    return "; ".join(texts)


def _failure(hook: Hook) -> str:
    if isinstance(hook.action, Rule):
        return ""
    specs = [(name, one) for agent in hook.match.agents or AGENTS for name, one in AGENTS[agent].events.items()]
    asking = [one for name, one in specs if hook.match.event in (one.kind, name)]
    # The most seconds that an agent waits for it. No agent waits for a hook that only observes.
    longest = max((math.inf if one.observe_only else one.deadline for one in asking), default=math.inf)
    seconds = min(hook.timeout, longest)
    return f"{say(FAILURES[hook.failure])} · " + say("time limit {seconds:g} s", seconds=seconds)


def _not_covered(one: HookState) -> str:
    action = one.hook.action
    if isinstance(action, Rule):
        return ""
    if isinstance(action, Http):
        return say("what is answered there")
    if isinstance(action, Prompt):
        return say("what the model answers")
    names = uncovered(one)
    system = say("programs of the system, and what they load")
    shown = ", ".join(first_line(name, 60) for name in names[:SHOWN_NAMES])
    if more := len(names) - SHOWN_NAMES:
        shown = count("{names} and {n} more", "{names} and {n} more", more, names=shown) if more > 0 else shown
    return f"{shown}; {system}" if shown else system


def _below_home(name: str) -> str:
    """Returns the path with `~` for the home."""
    home = str(Path.home())
    return f"~{name.removeprefix(home)}" if name.startswith(f"{home}/") else name


def uncovered(one: HookState) -> tuple[str, ...]:
    """Returns what the hook runs, loads or names and an approval does not cover.

    A review begins with these lines: words of the line first, then files and folders.
    """
    action, inspection = one.hook.action, one.inspection
    words = uncovered_words(one.hook, action) if isinstance(action, Command) and action.shell else ()
    if inspection is None:
        found: tuple[str, ...] = words
    else:
        unseen = (word for word in words if word not in inspection.bundle.pinned)
        found = (*unseen, *inspection.uncovered, *inspection.found.outside)
    return tuple(dict.fromkeys(map(_below_home, found)))


def _trial(hook: Hook) -> str:
    """What an approval starts by itself."""
    if isinstance(hook.action, Command):
        return say("runs once on a test event, with HOOKTRAY_TEST=1; a failure is shown with Undo")
    return "" if isinstance(hook.action, Rule) else say("nothing is sent for a test")
