"""Fixtures that run commands in the test's process on the files of a house."""

from __future__ import annotations

import pytest
from cli.commands import Commands
from house import House


@pytest.fixture
def typed(house: House, capsys: pytest.CaptureFixture[str]) -> Commands:
    return Commands(house, capsys)
