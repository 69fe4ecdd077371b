"""Each relay that this machine can run, and a server for it: what is asked of one is asked of all.

HOOKTRAY_RELAY names one more relay to try, such as one that was built with sanitizers.
"""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from pathlib import Path

import pytest
from relays import Agent, Judge, Recorder, Said, copied, opened, run, said

from tray import relay_program
from tray.agents import relay_table

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
def native() -> list[str]:
    if trouble := relay_program.problem():
        pytest.skip(trouble)
    return RELAYS["native"]


@pytest.fixture
def table(tmp_path: Path) -> Path:
    """The table beside the relay of the fixture `beside`."""
    return tmp_path / "relay" / relay_table.FILE.name


@pytest.fixture
def beside(tmp_path: Path, relay: list[str], table: Path) -> Agent:
    """An agent whose relay has a table of its own, and neither a tray nor a one-shot engine."""
    return Agent(tmp_path / "home", copied(relay, table.parent))


@pytest.fixture
def both(tmp_path: Path, native: list[str]) -> Judge:
    """Runs the native and the portable relay with a table, and requires equal answers."""
    folders = (tmp_path / "one", tmp_path / "two")
    relays = [copied(relay, folder) for relay, folder in zip((native, RELAYS["portable"]), folders, strict=True)]

    def judge(table: bytes, words: Sequence[str], body: bytes) -> Said:
        for folder in folders:
            (folder / relay_table.FILE.name).write_bytes(table)
        one, two = (said(run([*relay, "--home", "/nonexistent", *words], body)) for relay in relays)
        assert one == two, (table, words, body)
        return one

    return judge


@pytest.fixture
def agent(tmp_path: Path, relay: list[str]) -> Agent:
    return Agent(tmp_path / "home", relay)


@pytest.fixture
def tray(agent: Agent) -> Iterator[Recorder]:
    with opened(agent) as service:
        yield service
