"""Every recording in all directions, byte for byte; goldens.py writes them, people read the difference."""

from __future__ import annotations

from agents import goldens
from agents.recordings import wire
from every import every

from tray.agents.registry import AGENTS

CASES = goldens.cases()
IDS = ["-".join(one) for one in CASES]
KEPT = {kind: {agent: goldens.kept(kind, agent) for agent in AGENTS} for kind in ("answers", "events", "stdin")}


@every(("agent", "name"), CASES, ids=IDS)
def test_hooks_of_the_other_dialects_read_these_bytes(agent: str, name: str) -> None:
    read = {f"{dialect} {name}": goldens.stdin(agent, name, dialect) for dialect in AGENTS if dialect != agent}

    assert read == {key: KEPT["stdin"][agent][key] for key in read}


@every(("agent", "name"), CASES, ids=IDS)
def test_a_hook_of_the_agents_own_dialect_reads_what_the_agent_sent(agent: str, name: str) -> None:
    event = goldens.event(agent, name)
    sent = event.body if name.startswith(goldens.SAMPLE) else wire(agent, name)
    read = AGENTS[agent].protocol.stdin(event)

    # Two older names of an output, or the keys of the other form, stand behind all that was said.
    if "tool_response" in event.payload or agent in ("copilot-cli", "cursor"):
        assert read.startswith(sent.rstrip(b"}\n"))
        return
    assert read == sent


@every(("agent", "name"), CASES, ids=IDS)
def test_what_the_agent_sent_is_read_as_these_words(agent: str, name: str) -> None:
    assert goldens.words(agent, name) == KEPT["events"][agent][name]


@every(("agent", "name"), CASES, ids=IDS)
def test_what_hooks_say_is_read_so_and_told_to_the_agent_in_these_bytes(agent: str, name: str) -> None:
    told = {
        f"{dialect} {name}: {title}": goldens.answered(agent, name, dialect, said)
        for dialect in AGENTS
        for title, said in goldens.outputs(agent, name, dialect).items()
    }

    assert told == {key: KEPT["answers"][agent][key] for key in told}


def test_every_agent_has_goldens() -> None:
    assert {agent for agent, _ in CASES} == set(AGENTS)


def test_no_golden_is_left_of_a_recording_that_is_gone() -> None:
    for agent in AGENTS:
        names = {name for one, name in CASES if one == agent}
        pairs = [(name, dialect) for name in names for dialect in AGENTS]
        assert set(KEPT["events"][agent]) == names
        assert set(KEPT["stdin"][agent]) == {f"{dialect} {name}" for name, dialect in pairs if dialect != agent}
        assert set(KEPT["answers"][agent]) == {
            f"{dialect} {name}: {title}" for name, dialect in pairs for title in goldens.outputs(agent, name, dialect)
        }
    assert {path.stem for path in goldens.FOLDER.glob("*/*.json")} == set(AGENTS)
