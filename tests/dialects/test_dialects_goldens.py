"""Every recording as a hook of every dialect reads it, byte for byte; goldens.py writes them."""

from __future__ import annotations

import pytest
from dialects.goldens import FOLDER, kept, recordings, written
from dialects.recordings import recorded, wire

from tray.dialects import DIALECTS

PAIRS = [(agent, name, dialect) for agent, name in recordings() for dialect in DIALECTS if dialect != agent]
KEPT = {agent: kept(agent) for agent in DIALECTS}


@pytest.mark.parametrize(("agent", "name", "dialect"), PAIRS, ids=["-".join(pair) for pair in PAIRS])
def test_a_hook_of_another_dialect_reads_these_bytes(agent: str, name: str, dialect: str) -> None:
    assert written(agent, name, dialect) == KEPT[agent][f"{dialect} {name}"]


@pytest.mark.parametrize(("agent", "name"), list(recordings()), ids=["-".join(one) for one in recordings()])
def test_a_hook_of_the_agents_own_dialect_reads_what_the_agent_sent(agent: str, name: str) -> None:
    event = recorded(agent, name)
    read = DIALECTS[agent].stdin(event)

    if "tool_response" in event.payload:  # two older names of it stand behind all that was said
        assert read.startswith(wire(agent, name).rstrip(b"}\n"))
        return
    assert read == wire(agent, name)


def test_no_golden_is_left_of_a_recording_that_is_gone() -> None:
    for agent in DIALECTS:
        assert set(KEPT[agent]) == {f"{dialect} {name}" for one, name, dialect in PAIRS if one == agent}
    assert {path.stem for path in FOLDER.glob("*.json")} == set(DIALECTS)
