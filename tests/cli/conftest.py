"""Commands in this process, over the files of a house."""

from __future__ import annotations

import pytest
from cli.commands import Commands
from house import House


@pytest.fixture
def typed(house: House, capsys: pytest.CaptureFixture[str]) -> Commands:
    return Commands(house, capsys)
