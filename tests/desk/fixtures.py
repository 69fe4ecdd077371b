"""The desk as pytest fixtures: one desk for a whole run, swept between tests; import both names in conftest.py."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from desk import Desk


@pytest.fixture(scope="session")
def shared_desk(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Desk]:
    """The whole desktop, started once when the first test asks for it."""
    with Desk(tmp_path_factory.mktemp("desk")) as desk:
        yield desk


@pytest.fixture
def desk(shared_desk: Desk) -> Iterator[Desk]:
    """The shared desk without earlier notifications; what a test starts on it ends with the test."""
    shared_desk.clear_notifications()
    before = shared_desk.pids()
    yield shared_desk
    shared_desk.menus.close()
    shared_desk.leave(before)
