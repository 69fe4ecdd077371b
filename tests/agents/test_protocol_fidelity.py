"""The table of what is carried says what really happens to a decision."""

from __future__ import annotations

import json
from typing import Any

from agents.fidelity import FidelityRow, expressible, pairs, rows
from agents.hook_outputs import ran
from agents.recordings import sampled
from every import every

from tray.agents.protocol import fit, neutral, render, spec
from tray.agents.registry import AGENTS
from tray.model.decision import Decision, Rewrite, Target, Verdict
from tray.model.event import Capability, Event

ROWS = list(rows())
PAIRS = list(pairs())


def fitting_value(event: Event, target: Target) -> Any:
    """A new value that this event's agent could take."""
    match target:
        case Target.INPUT:
            return {**event.tool.input, "command": "true"} if event.tool else {"command": "true"}
        case Target.OUTPUT:
            return {"stdout": "x"} if event.tool and isinstance(event.tool.output, dict) else "x"
        case Target.ANSWER:
            return "/tree" if event.name == "WorktreeCreate" else {"action": "accept", "content": {}}
    return "other words"


def decision(event: Event, word: str) -> Decision:
    verdicts = {verdict.word: verdict for verdict in Verdict}
    if word in verdicts:
        return Decision(verdict=verdicts[word], reason="because")
    if word.startswith("rewrite "):
        target = Target(word.removeprefix("rewrite "))
        is_answered = event.name == "PermissionRequest" and Capability.ALLOW in spec(event.agent, event.name).can
        allowed = Verdict.ALLOW if is_answered else Verdict.ABSTAIN
        return Decision(verdict=allowed, rewrite=Rewrite(target=target, value=fitting_value(event, target)))
    fields: dict[str, Any] = {"context": "c", "note": ("n",), "stop": "enough", "retry": True}
    return Decision(**{"notes" if word == "note" else word: fields[word]})


CASES = [(row, word) for row in ROWS for word in (*row.carried, *row.stricter, *row.dropped)]


@every(("row", "word"), CASES, ids=[f"{r.agent}-{r.event}-{w}" for r, w in CASES])
def test_each_word_of_a_row_is_what_happens(row: FidelityRow, word: str) -> None:
    event = sampled(row.agent, row.event)
    wanted = decision(event, word)

    fitted = fit(event, wanted)

    if word in row.carried:
        assert fitted == wanted
    elif word in row.stricter:
        assert (fitted.verdict, len(fitted.adjustments)) == (Verdict.DENY, 1)
    elif word == "note":  # it is told to the user in any case
        assert fitted == wanted
    else:
        assert (fitted.verdict in (Verdict.ABSTAIN, wanted.verdict), len(fitted.adjustments)) == (True, 1)


SILENT = {
    ("claude-code", "Elicitation", "ask"),
    ("claude-code", "PermissionRequest", "ask"),
    ("codex", "PermissionRequest", "ask"),
    ("copilot-cli", "PermissionRequest", "ask"),
    ("opencode", "Elicitation", "ask"),
    ("opencode", "PermissionRequest", "ask"),
    ("qwen-code", "PermissionRequest", "ask"),
    # An end that nobody refuses is one.
    ("qwen-code", "Stop", "stop"),
    ("qwen-code", "SubagentStop", "stop"),
}
SPOKEN = [(row, word) for row in ROWS for word in row.carried if (row.agent, row.event, word) not in SILENT]


@every(("row", "word"), SPOKEN, ids=[f"{r.agent}-{r.event}-{w}" for r, w in SPOKEN])
def test_what_is_carried_is_really_told(row: FidelityRow, word: str) -> None:
    event = sampled(row.agent, row.event)

    assert render(event, decision(event, word)) != neutral(event.sender, row.event, event.body)


def test_every_event_has_a_row_whose_words_are_the_same_everywhere() -> None:
    words = {frozenset((*row.carried, *row.stricter, *row.dropped)) for row in ROWS}

    assert [(row.agent, row.event) for row in ROWS] == [
        (agent, name) for agent, known in AGENTS.items() for name in known.events
    ]
    assert len(words) == 1


KEYS = {"claude-code": "hook_event_name", "copilot-cli": "hook_event_name", "starchild": "event", "x-code": "event"}


@every("row", ROWS, ids=lambda row: f"{row.agent}-{row.event}")
def test_the_name_that_a_hook_hears_is_in_what_it_reads(row: FidelityRow) -> None:
    event = sampled(row.agent, row.event)

    assert row.hook_event_names[row.agent] == row.event
    for dialect, key in KEYS.items():
        if dialect != row.agent:
            assert json.loads(AGENTS[dialect].protocol.stdin(event))[key] == row.hook_event_names[dialect]


def test_all_pairs_are_there_and_say_of_each_word_what_the_agents_row_says() -> None:
    by_event = {(row.agent, row.event): row for row in ROWS}

    assert len(PAIRS) == len(AGENTS) * len(ROWS)
    assert len({(pair.agent, pair.dialect) for pair in PAIRS}) == len(AGENTS) ** 2
    for pair in PAIRS:
        row = by_event[pair.agent, pair.event]
        words = (*pair.carried, *pair.stricter, *pair.dropped)
        assert sorted(words) == sorted(expressible(pair.dialect, pair.hook_event_name))
        assert set(pair.carried) <= set(row.carried)
        assert set(pair.stricter) <= set(row.stricter)


CLAUDES = {
    "deny": ran(2, err="no"),
    "note": ran(0, '{"systemMessage":"n"}'),
    "stop": ran(0, '{"continue":false}'),
}
SAYING = dict.fromkeys(AGENTS, CLAUDES) | {
    "antigravity": {
        "deny": ran(0, '{"decision":"deny"}'),
        "ask": ran(0, '{"decision":"force_ask"}'),
        "note": ran(0, '{"reason":"n"}'),
        "stop": ran(0, '{"decision":"continue"}'),
    },
    "cline": CLAUDES | {"deny": ran(0, '{"cancel":true}'), "ask": ran(0, '{"review":true}')},
    "copilot-cli": CLAUDES | {"deny": ran(0, '{"decision":"block"}'), "note": ran(0, "x")},
    "cursor": CLAUDES | {"ask": ran(0, '{"permission":"ask"}'), "note": ran(0, '{"user_message":"n"}')},
    "gemini-cli": CLAUDES | {"note": ran(0, "x")},
    "shelley": {"deny": ran(0, '{"message":"x"}'), "note": ran(0, "x"), "stop": ran(0, "")},
    "starchild": CLAUDES | {"deny": ran(0, '{"decision":"block"}'), "stop": ran(0, '{"stopReason":"x"}')},
    "x-code": {"deny": ran(0, '{"decision":"deny"}'), "note": ran(0, "x"), "stop": ran(0, "")},
}


@every("dialect", AGENTS)
def test_of_an_event_that_its_agent_does_not_have_a_hook_can_say_this(dialect: str) -> None:
    sender = ("claude-code", "ConfigChange") if dialect != "claude-code" else ("starchild", "post_llm_call")
    event = sampled(*sender)
    read = {word: AGENTS[dialect].protocol.read(event, said) for word, said in SAYING[dialect].items()}

    understood = {
        "ask": "ask" in read and read["ask"].verdict is Verdict.ASK,
        "deny": read["deny"].verdict is Verdict.DENY,
        "note": bool(read["note"].notes),
        "stop": read["stop"].stop is not None,
    }
    (heard,) = {pair.hook_event_name for pair in PAIRS if (pair.event, pair.dialect) == (event.name, dialect)}
    assert heard not in AGENTS[dialect].events
    assert {word for word, found in understood.items() if found} == set(expressible(dialect, heard))
