"""Computes what the relay's table guards: what approved hooks match, and after a loss what was guarded before.

The relay compares names and nothing else. So whatever else a hook looks at (arguments, a skill, a project) counts as
met, and a pattern that is not a list of names finds every tool that is not known here.

Lost approvals go on guarding until the user has reviewed the loss. Their hooks do not run. The tray, the one-shot
engine and the relay ask about each call that these hooks would have judged, or deny it if the agent cannot ask.
"""

from __future__ import annotations

import contextlib
import re
from collections.abc import Collection, Iterable, Iterator

import msgspec
from msgspec.structs import replace

from tray.agents import relay_table
from tray.agents.registry import AGENTS
from tray.agents.relay_table import TableContent
from tray.agents.tools import native_names, titles
from tray.engine.gates import apply_switch
from tray.engine.plan import EventSearch, exact_names, matches
from tray.files import user_file
from tray.model.decision import Verdict
from tray.model.event import Capability, Event, Tool
from tray.model.hook import GATING_KINDS, OWN_SOURCE, AsyncMode, Failure, Guard, Hook, Match, Rule
from tray.paths import Paths
from tray.store.db import Database
from tray.store.ledger import LedgerState
from tray.store.lost_guards import LostGuards
from tray.store.switch import Switch

USUAL_WITHOUT_TRAY = "once"
# A pattern that only lists names.
_ANCHORED_LIST = re.compile(r"\^(?:\((?:\?:)?([\w|-]+)\)|([\w-]+))\$")


class GuardSources(msgspec.Struct, frozen=True, kw_only=True):
    """What guards depend on. `waiting` has the names of the hooks that wait for the user; None = not known."""

    database: Database
    ledger: LedgerState
    switch: Switch
    agents: Collection[str]  # that are connected
    waiting: frozenset[str] | None = None
    after_quit: bool = False


def note_loss(paths: Paths, database: Database, ledger: LedgerState) -> None:
    """Notes what was guarded if approvals were lost while no tray ran. Call it before the relay's table is written.

    If the whole state folder is gone, only that table shows what was approved. Raises StoreError.
    """
    lost, table = LostGuards(database), _own_table(paths)
    had_approvals = bool(table.guards) or table.without_tray == "allow"  # confirmed, so that the table has no guards
    if not lost.is_noted and (lost.is_unreviewed or (not ledger.version and had_approvals)):
        lost.begin(strict(table.guards))


def connected_guards(sources: GuardSources, kept: Iterable[Guard]) -> tuple[Guard, ...]:
    """Returns what connected agents' approved hooks guard, and what is `kept` of lost approvals."""
    usual = guards(sources.ledger, sources.switch, sources.agents, after_quit=sources.after_quit)
    return (*usual, *(guard for guard in kept if guard.agent in sources.agents))


def kept_guards(sources: GuardSources) -> tuple[Guard, ...]:
    """Returns what lost approvals guard now, at any agent. Forgets the loss once the user has reviewed it."""
    lost = LostGuards(sources.database)
    found = lost.load()
    if lost.is_unreviewed and sources.waiting is not None and not sources.waiting and _is_seen(sources):
        lost.forget()
        return ()
    state = sources.switch.state()
    pauses = () if sources.after_quit else state.pauses
    return tuple(
        guard
        for guard in found
        if state.enabled
        and not any(pause.covers("", guard.agent) for pause in pauses)
        and not is_in_force(guard, sources.ledger, sources.waiting or frozenset())
    )


def _is_seen(sources: GuardSources) -> bool:
    """True if the user has read what happened, or has decided about a hook since."""
    ledger = sources.ledger
    return sources.database.damage() is None or bool(ledger.approved or ledger.revoked or ledger.denied)


def is_in_force(guard: Guard, ledger: LedgerState, waiting: Collection[str] = ()) -> bool:
    """True if the hooks that this guard comes from are approved again, so that they judge themselves."""
    approved = {one.hook.name for one in ledger.ordered}.difference(waiting)
    return bool(guard.hooks) and approved.issuperset(guard.hooks)


def strict(guarded: Iterable[Guard]) -> tuple[Guard, ...]:
    """Returns the guards as they hold after a loss: if the agent cannot ask, the call is denied."""
    denied = (replace(one, failure=Failure.BLOCK) if one.failure is Failure.ALLOW else one for one in guarded)
    return tuple(dict.fromkeys(denied))


def table_guards(paths: Paths) -> tuple[Guard, ...]:
    """Returns what the relay's table guards; nothing if it cannot be read or has another state folder."""
    return _own_table(paths).guards


def _own_table(paths: Paths) -> TableContent:
    with contextlib.suppress(OSError):
        table = relay_table.read(user_file(paths.relay_table))
        if table.state == str(paths.state):
            return table
    return relay_table.read(b"")


# ---- what hooks match, by names ----


class ToolSet(msgspec.Struct, frozen=True):
    """The tools that a matcher can match: `names`, and with `others` every tool that is not among `known`."""

    names: frozenset[str]
    others: bool
    known: frozenset[str]


class _Row(msgspec.Struct):
    names: set[str] = set()
    hooks: list[str] = []
    exceptions: frozenset[str] | None = None  # of the tools that are not known; None = those are not guarded


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
        for name, spec in AGENTS[agent].events.items()
        if spec.kind in GATING_KINDS  # a hook can refuse the call
        for guard in _event_guards(
            Event(id="", agent=agent, name=name, kind=spec.kind, spec=spec, sender=AGENTS[agent]),
            [one for one in hooks if one.match.project or not switch.is_run_by(agent, one)],
        )
    )


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
                row.exceptions = part.known if row.exceptions is None else row.exceptions & part.known
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
