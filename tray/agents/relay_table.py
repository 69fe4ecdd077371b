"""Writes the table that holds what the relays need to know about agents. A relay reads the `relay.table` beside it.

    neutral=AGENT␟EVENT␟echo           the relay writes the event's input back if nothing else answers
    neutral=AGENT␟EVENT␟bytes␟TEXT     the relay writes TEXT then

The table of a package or a wheel has only these rows. That of the installed relay also has:

    state=FOLDER                       the state folder, whatever the agent's environment has
    without_tray=once|allow            what the relay does when the tray does not answer
    once=WORD␟WORD…                    the command of the one-shot engine
    package=MARK␟FOLDER␟FILE…          how the relay knows that Hooktray was uninstalled; then no guard counts
    guard=AGENT␟EVENT␟ask|block|allow␟only|except␟NAME…   the tools that approved hooks guard
    hooks=AGENT␟EVENT␟ask|block|allow␟NAME…   the names of these hooks; no relay reads them
    tool=AGENT␟KEY…                    where a payload has the tool's name: a key, then the keys inside that object
    event=AGENT␟KEY…                   where a payload has the event's name
    ask=AGENT␟EVENT␟CODE␟STDOUT␟STDERR    the agent's own answer that has its user asked
    deny=AGENT␟EVENT␟CODE␟STDOUT␟STDERR   the agent's own answer that refuses the call
    limit=AGENT␟EVENT␟MS               milliseconds after which the relay must have answered
    mark=AGENT␟key␟KEY                 only this agent's payloads have this key: it ran the command of another agent
    neutral=AGENT␟*␟bytes␟TEXT         for every other event of the agent; no table has such a row at present

Hooktray was uninstalled if MARK is there (or empty), FOLDER (if any) did not change for a minute, and no FILE is
there. `allow` is for agents that cannot ask: the call goes on, and the relay adds a line to UNJUDGED in the state
folder.

␟ is the byte 0x1f. In a field other than AGENT, EVENT and numbers, `%` and two hexadecimal digits are one byte. The
first row of an agent and event counts, and of guards all; without a row, the answer is empty. A relay ignores unknown
lines, damaged rows and neutral rows with more fields.
`python -m tray.agents.relay_table` writes the package's file, and a test compares it with the agents.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any
from urllib.parse import quote_from_bytes, unquote_to_bytes

import msgspec
from msgspec.structs import replace

from tray.agents import wire
from tray.agents.protocol import neutral, parse, render, sample, spec
from tray.agents.registry import AGENTS, BUILT_IN, UNSUPPORTED
from tray.errors import PACKAGE_ERRORS, AgentError
from tray.model.decision import Answer, Decision, Verdict
from tray.model.event import Capability, EventKind, RelayRequest
from tray.model.hook import Failure, Guard
from tray.text import sanitise

FILE = Path(__file__).parents[1] / "relay.table"
HEAD = "# The answers of the relay where nobody else answers; written by tray/agents/relay_table.py.\n"
SEPARATOR = "\x1f"
SAMPLES = (b'{"sample":1}\n', b"another sample")  # inputs; an answer that equals each of them is an echo
READABLE = "".join(map(chr, range(0x20, 0x7F))).replace("%", "")
REASON = "Hooktray could not judge this call{guards}. Run `hooktray doctor`."
GUARDS = ": {names} could not be asked"
NAMES, NAME_LENGTH = 3, 40  # of the guards that a reason names, and characters of each
UNJUDGED = "unjudged-calls"  # a line AGENT␟EVENT for each guarded call that went on; the relays know this name, too
ANSWERED_ALONE = "answered-alone"  # a byte for each event that a relay answered by itself
ENDING = "If Hooktray was removed, a person ends this with `{command}`."
PROBE = "HooktrayProbe"  # no tool and no event has this name
ONLY, EXCEPT = "only", "except"


class TableContent(msgspec.Struct, frozen=True, kw_only=True):
    """What the table of the installed relay has beside the agents' answers."""

    state: str
    without_tray: str
    once: tuple[str, ...]
    package: tuple[str, ...] = ()
    guards: tuple[Guard, ...] = ()
    ending: str = ""  # the command that takes the guards away when Hooktray itself is gone


def text() -> str:
    """The table of the built-in agents. Raises ValueError for a neutral answer that a row cannot hold."""
    return HEAD + "".join(map(_line, _neutral_rows(BUILT_IN)))


def installed_text(content: TableContent) -> str:
    """The table of the installed relay, of all agents."""
    head: tuple[tuple[str, ...], ...] = (
        ("state", _escaped(os.fsencode(content.state))),
        ("without_tray", content.without_tray),
        ("once", *(_escaped(os.fsencode(word)) for word in content.once)),
    )
    if content.package:
        head += (("package", *(_escaped(os.fsencode(word)) for word in content.package)),)
    rows = (*head, *_neutral_rows(AGENTS, lenient=True), *_guard_rows(content), *_mark_rows())
    return HEAD + "".join(map(_line, rows))


def fields(agent: str, event: str, answers: tuple[Answer, Answer]) -> tuple[str, ...]:
    """The fields of the row for these neutral answers to SAMPLES; none for silence.

    Raises ValueError for answers that a row cannot hold.
    """
    outputs = tuple(answer.stdout for answer in answers)
    if any(answer.stderr or answer.code for answer in answers):
        raise ValueError(f"neutral answer of {agent} to {event}: the relay's table holds no stderr and no exit code")
    if not any(outputs):
        return ()
    if "<" in event:
        raise ValueError(f"neutral answer of {agent} to {event}: the relay's table has rows for single events only")
    if outputs == SAMPLES:
        return agent, event, "echo"
    if outputs[0] != outputs[1]:
        raise ValueError(f"neutral answer of {agent} to {event}: neither the input nor always the same bytes")
    return agent, event, "bytes", _escaped(outputs[0])


def read(table: bytes) -> TableContent:
    """A table's values; damaged rows are left out, and what it does not have is empty."""
    found: dict[str, list[str]] = {}
    guards: list[Guard] = []
    hooks: dict[tuple[str, ...], tuple[str, ...]] = {}
    for line in table.split(b"\n"):
        key, _, row = line.rstrip(b"\r").decode("latin-1").partition("=")
        parts = row.split(SEPARATOR)
        if key == "guard":
            guards += _read_guard(parts)
        elif key == "hooks" and len(parts) > 3:
            place = tuple(map(_unescaped, parts[:3]))  # lost approvals may have a row of the same place
            hooks[place] = (*hooks.get(place, ()), *map(_unescaped, parts[3:]))
        else:
            found.setdefault(key, parts)
    return TableContent(
        state=_unescaped(found.get("state", [""])[0]),
        without_tray=found.get("without_tray", [""])[0],
        once=tuple(map(_unescaped, found.get("once", ()))),
        guards=tuple(replace(one, hooks=hooks.get((one.agent, one.event, one.failure.value), ())) for one in guards),
    )


def _read_guard(parts: Sequence[str]) -> Iterator[Guard]:
    if len(parts) >= 4 and parts[2] in (Failure.ALLOW, Failure.ASK, Failure.BLOCK) and parts[3] in (ONLY, EXCEPT):
        yield Guard(
            agent=_unescaped(parts[0]),
            event=_unescaped(parts[1]),
            failure=Failure(parts[2]),
            names=tuple(map(_unescaped, parts[4:])),
            is_exception=parts[3] == EXCEPT,
        )


def _neutral_rows(agents: Iterable[str], *, lenient: bool = False) -> Iterator[tuple[str, ...]]:
    """`lenient`: the answers of a package's agent that no row can hold are left out."""
    one, other = SAMPLES
    for agent in agents:
        known = AGENTS[agent]
        for event in sorted(known.events):
            try:
                row = fields(agent, event, (neutral(known, event, one), neutral(known, event, other)))
            except ValueError:
                if lenient and agent not in BUILT_IN:
                    continue
                raise
            if row:
                yield "neutral", *row


def _guard_rows(content: TableContent) -> Iterator[tuple[str, ...]]:
    """The guards, and what is needed to answer for them."""
    guards = [guard for guard in content.guards if guard.agent in AGENTS]
    for guard in guards:
        place = (guard.agent, guard.event, guard.failure.value)
        yield "guard", *place, EXCEPT if guard.is_exception else ONLY, *map(_escaped_text, guard.names)
        if guard.hooks:
            yield "hooks", *place, *map(_escaped_text, guard.hooks)
    for agent in dict.fromkeys(guard.agent for guard in guards):
        events = tuple(dict.fromkeys(guard.event for guard in guards if guard.agent == agent))
        yield from _place_rows(agent, events)
        for event in events:
            reasons = {
                guard.failure: _reason(guard, content.ending)
                for guard in guards
                if (guard.agent, guard.event) == (agent, event)
            }
            yield from _answer_rows(agent, event, reasons)
        if AGENTS[agent].unnamed_event:
            yield _limit_row(agent, "")


def _reason(guard: Guard, ending: str) -> str:
    """Which guards did not judge the call, and what to do."""
    names = [f"`{sanitise(name, NAME_LENGTH)}`" for name in guard.hooks[:NAMES]]
    more = len(guard.hooks) - len(names)
    named = [*names, f"{more} more"] if more > 0 else names
    listed = " and ".join(filter(None, (", ".join(named[:-1]), *named[-1:])))
    reason = REASON.format(guards=GUARDS.format(names=listed) if listed else "")
    return f"{reason} {ENDING.format(command=ending)}" if ending else reason


def _answer_rows(agent: str, event: str, reasons: Mapping[Failure, str]) -> Iterator[tuple[str, ...]]:
    """The answers of the guards at this event; a `block` guard asks where the event cannot deny."""
    known = spec(agent, event)
    asks, blocks = reasons.get(Failure.ASK), reasons.get(Failure.BLOCK)
    for verdict, ability, reason in (
        (Verdict.ASK, Capability.ASK, asks or blocks),
        (Verdict.DENY, Capability.DENY, blocks),
    ):
        if ability in known.can and reason:
            yield from _answer_row(agent, event, Decision(verdict=verdict, reason=reason))
    yield _limit_row(agent, event)


def _limit_row(agent: str, event: str) -> tuple[str, ...]:
    """After the tray's own limit, which its acknowledgement names, and before the agent's."""
    known = spec(agent, event)
    return "limit", agent, event, str(int((0.75 * known.timeout + 0.25 * known.deadline) * 1000))


def _answer_row(agent: str, event: str, decision: Decision) -> Iterator[tuple[str, ...]]:
    """None when the agent's answer depends on the payload, or cannot be rendered."""
    try:
        bodies = [_sample(agent, event), b"{}"]
        events = [parse(RelayRequest(agent=agent, event=event, id="", body=body)) for body in bodies]
        answers = {render(one, decision) for one in events if not one.problem}
    except AgentError:
        return
    if len(answers) == 1:
        answer = answers.pop()
        outputs = (_escaped(answer.stdout), _escaped(answer.stderr))
        yield decision.verdict.word, agent, event, str(answer.code), *outputs


def _place_rows(agent: str, events: Sequence[str]) -> Iterator[tuple[str, ...]]:
    """Where the agent's payloads have the names of tool and event, found by changing each text of a sample."""
    protocol = AGENTS[agent].protocol
    # An agent may have another key on other events; without a name a guard counts for every tool.
    first = [event for event in events if spec(agent, event).kind is EventKind.TOOL_BEFORE]
    for event in dict.fromkeys((*first, *events)):
        try:
            probes = [*_probes(wire.mapping(_sample(agent, event)))]
            calls = [(path, protocol.tool(event, changed)) for path, changed in probes]
            tools = [path for path, call in calls if call and call.name == PROBE]
            names = [path for path, changed in probes if protocol.event_name(changed) == PROBE]
        except (AgentError, ValueError):
            continue
        except PACKAGE_ERRORS as error:
            AGENTS.failure(agent, "tool", error)
            continue
        if len(tools) == 1:
            yield "tool", agent, *tools[0]
            yield from (("event", agent, *path) for path in names[:1])
            return


def _probes(sample: Mapping[str, Any]) -> Iterator[tuple[tuple[str, ...], Mapping[str, Any]]]:
    """Each text at the top level or one below, with the sample in which it is PROBE."""
    for key, value in sample.items():
        if isinstance(value, str):
            yield (_escaped(key.encode()),), {**sample, key: PROBE}
        elif isinstance(value, dict):
            for inner, text in value.items():
                if isinstance(text, str):
                    yield (_escaped(key.encode()), _escaped(inner.encode())), {**sample, key: {**value, inner: PROBE}}


def _mark_rows() -> Iterator[tuple[str, ...]]:
    """The agents that one key of the payload identifies.

    Marks in the environment are left out: an agent inherits them from the terminal of another one, and only the
    engine can tell that from the rest of the payload.
    """
    for agent in (*AGENTS.built_in.values(), *UNSUPPORTED.values()):
        marks = agent.marks
        keys = [key for key in marks.keys if not marks.yields and marks.is_sender({key: PROBE})]
        yield from (("mark", agent.id, "key", _escaped(key.encode())) for key in keys)
        if keys and marks.event({keys[0]: PROBE, "hook_event_name": PROBE}, "") == PROBE:
            yield "event", agent.id, "hook_event_name"


def _sample(agent: str, event: str) -> bytes:
    try:
        return sample(agent, event)
    except KeyError:
        return b"{}"


def _line(row: Sequence[str]) -> str:
    key, *rest = row
    return f"{key}={SEPARATOR.join(rest)}\n"


def _escaped(content: bytes) -> str:
    return quote_from_bytes(content, safe=READABLE)


def _escaped_text(text: str) -> str:
    return _escaped(text.encode("utf-8", "surrogatepass"))


def _unescaped(field: str) -> str:
    return os.fsdecode(unquote_to_bytes(field.encode("latin-1")))


def main() -> None:
    FILE.write_text(text(), encoding="utf-8", newline="\n")


if __name__ == "__main__":
    main()
