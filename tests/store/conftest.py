"""What the tests of this room begin with."""

from __future__ import annotations

from pathlib import Path

import pytest

from tray.store.copies import Copies
from tray.store.db import Database, open_db


@pytest.fixture
def database(tmp_path: Path) -> Database:
    return open_db(tmp_path / "hooktray.db", create=True)


@pytest.fixture
def copies(tmp_path: Path) -> Copies:
    (tmp_path / "copies").mkdir()
    return Copies(tmp_path / "copies")
