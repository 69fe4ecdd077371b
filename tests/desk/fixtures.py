"""The desk as pytest fixtures: one desk for a whole run, swept between tests; a conftest.py imports their names."""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest

from desk import Desk
from desk.viewer import viewer


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


@pytest.fixture
def opened(desk: Desk, folder: Path) -> Iterator[Path]:
    """A file that contains the name of the file that the desktop was last asked to show."""
    with viewer(desk, folder) as note:
        yield note


@pytest.fixture
def claude_settings(desk: Desk) -> Iterator[Path]:
    """Claude Code's settings on the desk, with one key of its user's."""
    file = Path(desk.environment["HOME"]) / ".claude" / "settings.json"
    file.parent.mkdir(parents=True)
    file.write_text('{\n  "theme": "dark"\n}\n')
    yield file
    shutil.rmtree(file.parent)
