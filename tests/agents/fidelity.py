"""How each agent's event carries each canonical decision, and the event's name for hooks of each dialect."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

import msgspec

from tray.agents.protocol import TARGETS, VERDICTS
from tray.agents.registry import AGENTS
from tray.model.decision import Target, Verdict
from tray.model.event import Capability, Event, EventSpec

ABILITIES: dict[str, Capability] = {
    **{verdict.word: can for verdict, can in VERDICTS.items()},
    **{f"rewrite {target.value}": can for target, can in TARGETS.items()},
    "context": Capability.CONTEXT,
    "note": Capability.NOTE,
    "stop": Capability.STOP,
    "retry": Capability.RETRY,
}
# Becomes a refusal at an event that can carry a refusal, but not this.
STRICTER = frozenset({Verdict.ASK.word, "stop", *(f"rewrite {target.value}" for target in Target)})


class FidelityRow(msgspec.Struct, frozen=True, kw_only=True):
    """One event of one agent. `after_the_fact`: a refusal only informs the model."""

    agent: str
    event: str
    kind: str
    timeout: float
    carried: tuple[str, ...]
    stricter: tuple[str, ...]  # becomes deny
    dropped: tuple[str, ...]
    extras: tuple[str, ...]
    after_the_fact: bool
    hook_event_names: Mapping[str, str]  # the event's name by the dialect of the hook


class FidelityPair(msgspec.Struct, frozen=True, kw_only=True):
    """How one agent's event carries what a hook of one dialect can decide."""

    agent: str
    event: str
    dialect: str
    hook_event_name: str  # the event's name for the hook
    carried: tuple[str, ...]
    stricter: tuple[str, ...]
    dropped: tuple[str, ...]


def pairs() -> Iterator[FidelityPair]:
    """Yields every event of every agent, for hooks of every dialect."""
    for row in rows():
        for dialect, hook_event in row.hook_event_names.items():
            words = expressible(dialect, hook_event)
            yield FidelityPair(
                agent=row.agent,
                event=row.event,
                dialect=dialect,
                hook_event_name=hook_event,
                carried=tuple(word for word in row.carried if word in words),
                stricter=tuple(word for word in row.stricter if word in words),
                dropped=tuple(word for word in row.dropped if word in words),
            )


def expressible(dialect: str, hook_event: str) -> tuple[str, ...]:
    """Returns the words that a hook of this dialect has for an event of this name."""
    spec = AGENTS[dialect].events.get(hook_event)
    can = spec.can if spec else AGENTS[dialect].default_can
    can |= AGENTS[dialect].extra_can.get(hook_event, Capability.NOTHING)
    return tuple(word for word, ability in ABILITIES.items() if ability in can)


def rows() -> Iterator[FidelityRow]:
    """Yields every event of every agent, in the order of the tables."""
    for agent, known in AGENTS.items():
        for name, spec in known.events.items():
            yield _row(agent, name, spec)


def _row(agent: str, name: str, spec: EventSpec) -> FidelityRow:
    carried = tuple(word for word, can in ABILITIES.items() if can in spec.can)
    can_refuse = Capability.DENY in spec.can
    strict = [word for word in STRICTER if not (spec.feedback_only and word.startswith("rewrite"))]
    stricter = tuple(word for word in ABILITIES if word not in carried and can_refuse and word in strict)
    event = Event(id="", agent=agent, name=name, kind=spec.kind, spec=spec, sender=AGENTS[agent])
    return FidelityRow(
        agent=agent,
        event=name,
        kind=spec.kind.value,
        timeout=spec.timeout,
        carried=carried,
        stricter=stricter,
        dropped=tuple(word for word in ABILITIES if word not in carried and word not in stricter),
        extras=spec.extras,
        after_the_fact=spec.after_the_fact,
        hook_event_names={hook: known.protocol.hook_event_name(event) for hook, known in AGENTS.items()},
    )
