"""Each relay that this machine can run, and a server for it: what is asked of one is asked of all.

HOOKTRAY_RELAY names one more relay to try, such as one that was built with sanitizers.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path

import pytest
from relays import Agent, Recorder, opened

from tray import relay_program

GIVEN = os.environ.get("HOOKTRAY_RELAY")
RELAYS = {
    "native": [str(relay_program.NATIVE_RELAY)],
    "portable": relay_program.portable(),
    **({"given": [GIVEN]} if GIVEN else {}),
}


@pytest.fixture(params=RELAYS)
def relay(request: pytest.FixtureRequest) -> list[str]:
    """The command of a relay, up to its options."""
    if request.param == "native" and (trouble := relay_program.problem()):
        pytest.skip(trouble)
    return RELAYS[request.param]


@pytest.fixture
def agent(tmp_path: Path, relay: list[str]) -> Agent:
    return Agent(tmp_path / "home", relay)


@pytest.fixture
def tray(agent: Agent) -> Iterator[Recorder]:
    with opened(agent) as service:
        yield service
