"""A home with settings of Claude Code, for tests that look at it from this process."""

from __future__ import annotations

from pathlib import Path

import pytest

TEXT = '{"model": "opus"}\n'


@pytest.fixture
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("HOME", str(tmp_path))
    return tmp_path


@pytest.fixture
def file(home: Path) -> Path:
    file = home / ".claude" / "settings.json"
    file.parent.mkdir()
    file.write_text(TEXT)
    return file
