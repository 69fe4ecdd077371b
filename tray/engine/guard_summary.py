"""What approved hooks guard, as the relay can know it when nothing else can judge.

The relay compares names and nothing else. So whatever else a hook looks at (arguments, a skill, a project) counts as
met, and a pattern that is not a list of names finds every tool that is not known here.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Iterator

import msgspec
from msgspec.structs import replace

from tray.agents.agent import Agent
from tray.agents.registry import AGENTS
from tray.agents.tools import native_names, titles
from tray.engine.gates import apply_switch
from tray.engine.plan import EventSearch, exact_names, matches
from tray.model.decision import Verdict
from tray.model.event import Capability, Event, Tool
from tray.model.hook import GATING_KINDS, OWN_SOURCE, AsyncMode, Failure, Guard, Hook, Match, Rule
from tray.store.ledger import LedgerState
from tray.store.switch import Switch

_ANCHORED_LIST = re.compile(
    r"\^(?:\((?:\?:)?([\w|-]+)\)|([\w-]+))\$"
)  # a pattern that is a list of names all the same


class ToolSet(msgspec.Struct, frozen=True):
    """The tools that a matcher can match: `names`, and with `others` every tool that is not among `known`."""

    names: frozenset[str]
    others: bool
    known: frozenset[str]


class _Row(msgspec.Struct):
    names: set[str] = set()
    hooks: list[str] = []
    exceptions: frozenset[str] | None = None  # of the tools that are not known; None = those are not guarded

    def add_others(self, known: frozenset[str]) -> None:
        self.exceptions = known if self.exceptions is None else self.exceptions & known


def guards(
    ledger: LedgerState, switch: Switch, agents: Collection[str], *, after_quit: bool = False
) -> tuple[Guard, ...]:
    """The guards at these connected agents; none while hooks are switched off or paused.

    The relay does not know sessions: a pause of one takes no guard away. `after_quit`: a pause takes none away at
    all, since no tray writes them again when it ends.
    """
    state = switch.state()
    if not state.enabled:
        return ()
    pauses = () if after_quit else state.pauses
    every = [apply_switch(one, switch).hook for one in ledger.ordered]
    hooks = [hook for hook in every if hook.enabled and hook.async_mode is AsyncMode.NO]
    return tuple(
        guard
        for agent in sorted(agents)
        if agent in AGENTS and not any(pause.covers("", agent) for pause in pauses)
        for event in _events(AGENTS[agent])
        for guard in _event_guards(
            event, [one for one in hooks if one.match.project or not switch.is_run_by(agent, one)]
        )
    )


def _events(agent: Agent) -> Iterator[Event]:
    """An event of each of the agent's names for a call that a hook can refuse."""
    for name, spec in agent.events.items():
        if spec.kind in GATING_KINDS:
            yield Event(id="", agent=agent.id, name=name, kind=spec.kind, spec=spec, sender=agent)


def _event_guards(event: Event, hooks: Iterable[Hook]) -> Iterator[Guard]:
    """At most one for each failure, with the tools of all hooks."""
    rows: dict[Failure, _Row] = {}
    for hook in hooks:
        tools = _tools(hook.match, event)
        for failure, part in _parts(hook, tools, event.spec.can) if tools.names or tools.others else ():
            if not (part.names or part.others):
                continue
            row = rows.setdefault(failure, _Row())
            row.hooks.append(hook.name)
            row.names.update(part.names)
            if part.others:
                row.add_others(part.known)
    for failure, row in sorted(rows.items()):
        is_exception = row.exceptions is not None
        names = (row.exceptions or frozenset()) - row.names if is_exception else row.names
        if names or is_exception:
            yield Guard(
                agent=event.agent,
                event=event.name,
                failure=failure,
                names=tuple(sorted(names)),
                is_exception=is_exception,
                hooks=tuple(dict.fromkeys(row.hooks)),
            )


def _parts(hook: Hook, tools: ToolSet, can: Capability) -> Iterator[tuple[Failure, ToolSet]]:
    """What the relay makes of these tools: a rule's own verdict where it looks at nothing but known names."""
    policy = _policy(hook, can)
    if isinstance(hook.action, Rule):
        if hook.action.verdict <= Verdict.ALLOW:
            return
        if _looks_only_at_tools(hook):
            asks = hook.action.verdict is Verdict.ASK and Capability.ASK in can
            is_list = hook.match.tool not in ("", "*")
            yield Failure.ASK if asks else Failure.BLOCK, replace(tools, others=tools.others and not is_list)
            tools = ToolSet(frozenset(), tools.others and is_list, tools.known | tools.names)
    if policy is not None:
        yield policy, tools


def _policy(hook: Hook, can: Capability) -> Failure | None:
    """What its failure means to this event. None: the call goes on without a notification.

    `allow` in our own file is a person's word. In another format it is what a broken hook means to that agent;
    here it is Hooktray that cannot judge.
    """
    if hook.failure is Failure.BLOCK:
        return Failure.BLOCK
    if hook.failure is Failure.ALLOW and hook.source.kind == OWN_SOURCE:
        return None
    if Capability.ASK not in can:
        return Failure.BLOCK if hook.failure is Failure.ASK else Failure.ALLOW
    return Failure.ASK


def _looks_only_at_tools(hook: Hook) -> bool:
    match = hook.match
    return not (match.pattern or match.condition or match.project or match.skill or match.subagent or hook.once)


def _tools(match: Match, event: Event) -> ToolSet:
    """The tools of this event that the matcher can match, whatever it looks at besides."""
    wide = replace(match, pattern="", project="", skill=(), subagent="")
    known = frozenset(_known_tools(event.agent))
    listed = exact_names(match) if match.tool else frozenset()
    if listed is None and (anchored := _ANCHORED_LIST.fullmatch(match.tool)):
        listed = frozenset((anchored[1] or anchored[2]).split("|"))
    condition = match.condition.partition("(")[0].strip()
    tried = known | (listed or frozenset()) | ({condition} if condition else frozenset())
    names = frozenset(name for name in tried if _may_match(wide, event, name))
    is_open = (listed is None or match.tool in ("", "*")) and (not condition or "*" in condition)
    others = is_open and _may_match(replace(wide, tool="", condition=""), event, "")
    return ToolSet(names, others, known - names)


def _may_match(match: Match, event: Event, tool: str) -> bool:
    event = replace(event, tool=Tool(name=tool))
    return matches(match, event, EventSearch(event))


def _known_tools(agent: str) -> Iterator[str]:
    yield from (name for title in titles() for name in native_names(agent, title))
    yield from AGENTS[agent].older_tools
