"""Which of an agent's events `connect` writes entries for: those that a hook, a notification or Hooktray needs."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from msgspec.structs import replace

from tray.agents.agent import Agent
from tray.agents.registry import AGENTS
from tray.engine.plan import EventSearch, matches
from tray.model.event import Event, EventKind
from tray.model.hook import Hook, Match

# Notifications, sessions, self-protection, `/hooks` and the end of skills' hooks work without any hook of the user.
OWN_KINDS = frozenset({
    EventKind.COMPLETION_CLAIM, EventKind.CONVERSATION_NEW, EventKind.ELICITATION, EventKind.ELICITATION_RESULT,
    EventKind.NOTIFICATION, EventKind.PERMISSION_DENIED, EventKind.PERMISSION_REQUEST, EventKind.PROMPT,
    EventKind.PROMPT_EXPANSION, EventKind.ROUND_END, EventKind.SESSION_END, EventKind.SESSION_START,
    EventKind.SLASH_COMMAND, EventKind.TOOL_AFTER, EventKind.TOOL_BEFORE, EventKind.TOOL_FAILED, EventKind.TURN_END,
    EventKind.TURN_FAILED, EventKind.TURN_INTERRUPTED,
})  # fmt: skip


def needed_events(hooks: Iterable[Hook]) -> Mapping[str, frozenset[str]]:
    """The needed events of each agent, by their native names."""
    matchers = [  # of the event only, as the other fields of a matcher differ from event to event
        replace(hook.match, tool="", pattern="", condition="", project="", skill=(), subagent="")
        for hook in hooks
        if hook.enabled
    ]
    return {agent: _needed(known, matchers) for agent, known in AGENTS.items()}


def _needed(agent: Agent, matchers: Iterable[Match]) -> frozenset[str]:
    """All events where the user has to trust our entries again at each change: they are written once."""
    connected = frozenset(agent.events) - agent.unconnected_events
    if agent.trusts_each_entry:
        return connected
    kinds = {spec.kind for spec in agent.events.values()}
    # Where no event has what the user typed, the call of the model has it.
    own = OWN_KINDS if EventKind.PROMPT in kinds else OWN_KINDS | {EventKind.MODEL_BEFORE}
    needed = set()
    for name in connected:
        spec = agent.events[name]
        event = Event(id="", agent=agent.id, name=name, kind=spec.kind, spec=spec, sender=agent)
        if spec.kind in own or any(matches(match, event, EventSearch(event)) for match in matchers):
            needed.add(name)
    return frozenset(needed)
