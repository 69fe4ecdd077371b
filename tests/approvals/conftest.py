"""Fixtures of the tests of approvals."""

from __future__ import annotations

from pathlib import Path

import pytest

from tray.store.copies import Copies


@pytest.fixture
def copies(tmp_path: Path) -> Copies:
    (tmp_path / "copies").mkdir()
    return Copies(tmp_path / "copies")
