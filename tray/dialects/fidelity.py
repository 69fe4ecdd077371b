"""What becomes of each canonical decision at each agent's event, and as what each dialect's hooks hear it."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from tray.dialects import DIALECTS
from tray.dialects.fitting import TARGETS, VERDICTS
from tray.model.decision import Target, Verdict
from tray.model.event import Can, Event, EventSpec

WORDS: dict[str, Can] = {
    **{verdict.word: can for verdict, can in VERDICTS.items()},
    **{f"rewrite {target.value}": can for target, can in TARGETS.items()},
    "context": Can.CONTEXT,
    "note": Can.NOTE,
    "stop": Can.STOP,
    "retry": Can.RETRY,
}
# What turns into a refusal where it cannot be carried and a refusal can.
STRICTER = frozenset({Verdict.ASK.word, "stop", *(f"rewrite {target.value}" for target in Target)})

# What a hook can say besides what its own agent takes: Starchild's may answer a tool call in Claude Code's form.
BESIDES: dict[tuple[str, str], Can] = {("starchild", "pre_tool_call"): Can.ALLOW | Can.ASK}


@dataclass(frozen=True, slots=True, kw_only=True)
class Row:
    """One event of one agent. `late`: its refusal is told to the model and withholds nothing."""

    agent: str
    event: str
    kind: str
    timeout: float
    carried: tuple[str, ...]
    stricter: tuple[str, ...]  # becomes deny
    dropped: tuple[str, ...]
    extras: tuple[str, ...]
    late: bool
    heard: Mapping[str, str]  # the event's name by the dialect of the hook that hears it


@dataclass(frozen=True, slots=True, kw_only=True)
class Pair:
    """What becomes of all that a hook of one dialect can say of one agent's event."""

    agent: str
    event: str
    dialect: str
    heard: str  # the event's name for the hook
    carried: tuple[str, ...]
    stricter: tuple[str, ...]
    dropped: tuple[str, ...]


def pairs() -> Iterator[Pair]:
    """Every event of every agent, for hooks of every dialect."""
    for row in rows():
        for dialect, heard in row.heard.items():
            said = sayable(dialect, heard)
            yield Pair(
                agent=row.agent,
                event=row.event,
                dialect=dialect,
                heard=heard,
                carried=tuple(word for word in row.carried if word in said),
                stricter=tuple(word for word in row.stricter if word in said),
                dropped=tuple(word for word in row.dropped if word in said),
            )


def sayable(dialect: str, heard: str) -> tuple[str, ...]:
    """The words that a hook of this dialect has for an event of this name."""
    spec = DIALECTS[dialect].EVENTS.get(heard)
    can = (spec.can if spec else DIALECTS[dialect].UNHEARD) | BESIDES.get((dialect, heard), Can.NOTHING)
    return tuple(word for word, ability in WORDS.items() if ability in can)


def rows() -> Iterator[Row]:
    """Every event of every agent, in the order of the tables."""
    for agent, dialect in DIALECTS.items():
        for name, spec in dialect.EVENTS.items():
            yield _row(agent, name, spec)


def _row(agent: str, name: str, spec: EventSpec) -> Row:
    carried = tuple(word for word, can in WORDS.items() if can in spec.can)
    refusing = Can.DENY in spec.can
    stricter = tuple(word for word in WORDS if word not in carried and refusing and word in STRICTER)
    heard = Event(id="", agent=agent, name=name, kind=spec.kind)
    return Row(
        agent=agent,
        event=name,
        kind=spec.kind.value,
        timeout=spec.timeout,
        carried=carried,
        stricter=stricter,
        dropped=tuple(word for word in WORDS if word not in carried and word not in stricter),
        extras=spec.extras,
        late=spec.late,
        heard={hook: dialect.told(heard) for hook, dialect in DIALECTS.items()},
    )
