"""What the tests of this room begin with."""

from __future__ import annotations

from pathlib import Path

import pytest

from tray.store.db import Database, open_db


@pytest.fixture
def database(tmp_path: Path) -> Database:
    return open_db(tmp_path / "hooktray.db", create=True)
