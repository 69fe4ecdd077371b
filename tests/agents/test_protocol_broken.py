"""Every way in which a hook can go wrong, on events of every kind, in every dialect and by both failure policies."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import yaml
from agents.hosts import heard
from agents.recordings import sampled
from every import every

from tray.agents.protocol import fit, render, spec
from tray.agents.registry import AGENTS
from tray.engine.merge import make_outcome, merge
from tray.model.decision import Outcome, Result, Status, Verdict
from tray.model.event import Capability, Event
from tray.model.hook import GATING_KINDS, Command, Failure, Hook, Match, Source

REFUSAL = b'{"decision":"block","reason":"no"}'
WAYS: dict[str, Result] = {
    "exit 1": Result(code=1, stderr=b"crash"),
    "exit 2 without a word": Result(code=2),
    "exit 2 with stderr": Result(code=2, stderr=b"no"),
    "exit 2 with both": Result(code=2, stdout=b"hello", stderr=b"no"),
    "exit 3 with a refusal": Result(code=3, stdout=REFUSAL),
    "exit 127 with a refusal": Result(code=127, stdout=REFUSAL),
    "exit 126": Result(code=126, stderr=b"sh: not permitted"),
    "exit 127": Result(code=127, stderr=b"sh: not found"),
    "signal": Result(code=-11, stdout=REFUSAL),
    "killed": Result(cause="killed by signal 9", stdout=REFUSAL),
    "time-out": Result(cause="timed out", timed_out=True, stdout=REFUSAL),
    "too much output": Result(cause="stdout over 1048576 bytes", stdout=REFUSAL),
    "missing script": Result(cause="not found: ./guard.sh"),
    "text": Result(code=0, stdout=b"hello"),
    "half of an object": Result(code=0, stdout=b'{"decision":'),
    "an array": Result(code=0, stdout=b"[1]"),
    "wrong types": Result(code=0, stdout=b'{"decision":7,"message":7,"prompt":7}'),
    "an unknown word": Result(code=0, stdout=b'{"decision":"perhaps"}'),
    "no UTF-8": Result(code=0, stdout=b"\xff\xfe"),
    "silence": Result(code=0),
    "an empty object": Result(code=0, stdout=b"{}"),
}

FAILED = "failed"  # what broken.yaml does not name
WORDS = ("refuses", "context", "replaces", "warns", "silent")


@dataclass(frozen=True)
class Row:
    """What every way means on one event of an agent, for a hook that is written in this format."""

    dialect: str
    agent: str
    event: str
    meanings: dict[str, str]


def rows() -> Iterator[Row]:
    for group in yaml.load((Path(__file__).parent / "broken.yaml").read_text(), Loader=yaml.CSafeLoader):
        named = {way: word for word in WORDS for way in group.get(word, ())}
        assert named.keys() <= WAYS.keys(), f"no such way: {named.keys() - WAYS.keys()}"
        for agent, events in group["events"].items():
            for event in events:
                yield Row(group["format"], agent, event, {way: named.get(way, FAILED) for way in WAYS})


ROWS = list(rows())


def called(row: object) -> str:
    return f"{row.dialect}-{row.agent}-{row.event}" if isinstance(row, Row) else str(row)


def outcome(event: Event, dialect: str, way: str, failure: Failure) -> Outcome:
    """The hook's turn as the engine settles it, once its process is through."""
    action = Command(line="./guard.sh", folder="/")
    source = Source(kind="hooktray", path="/h")
    match = Match(event=event.kind.value)
    hook = Hook(name="guard", source=source, match=match, action=action, dialect=dialect, failure=failure)
    result = WAYS[way]
    return make_outcome(event, hook, AGENTS[dialect].protocol.read(event, result), timed_out=result.timed_out, ms=1.0)


def meaning_of(found: Outcome) -> str:
    hook_output = found.output
    if found.status in (Status.FAILED, Status.TIMED_OUT):
        return FAILED
    if hook_output.verdict is Verdict.DENY:
        return "refuses"
    if hook_output.rewrite is not None:
        return "replaces"
    if hook_output.context:
        return "context"
    return "warns" if hook_output.warning else "silent"


@every("row", ROWS, ids=called)
def test_this_is_what_it_means(row: Row) -> None:
    event = sampled(row.agent, row.event)
    found = {way: outcome(event, row.dialect, way, Failure.ALLOW) for way in WAYS}

    assert {way: meaning_of(each) for way, each in found.items()} == row.meanings
    for way, each in found.items():
        assert (each.status is Status.TIMED_OUT) == (way == "time-out")
        assert bool(each.cause) == (row.meanings[way] in (FAILED, "warns")), way
        assert each.output.verdict is (Verdict.DENY if row.meanings[way] == "refuses" else Verdict.ABSTAIN), way


@every("failure", Failure)
@every("row", ROWS, ids=called)
def test_the_agent_hears_a_refusal_only_from_who_refused_or_was_to_block(row: Row, failure: Failure) -> None:
    event = sampled(row.agent, row.event)
    can = spec(row.agent, row.event).can
    is_strict = failure is Failure.BLOCK or (failure is Failure.ASK and Capability.ASK not in can)
    for way, meaning in row.meanings.items():
        decision = fit(event, merge([outcome(event, row.dialect, way, failure)]))

        refused = heard(event, render(event, decision)).verdict == "deny"

        uncarried = meaning == "replaces" and decision.rewrite is None
        wanted = meaning == "refuses" or uncarried or (meaning == FAILED and is_strict)
        assert refused == (wanted and Capability.DENY in can), way
        asks = meaning == FAILED and Capability.ASK in can and failure in (Failure.ASK, Failure.DEFAULT)
        assert (decision.verdict is Verdict.ASK) == (asks and (failure is Failure.ASK or event.kind in GATING_KINDS))


def test_the_table_has_every_format_and_every_agent() -> None:
    assert {row.dialect for row in ROWS} == {row.agent for row in ROWS} == set(AGENTS)
