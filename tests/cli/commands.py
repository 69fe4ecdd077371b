"""Runs commands in the test's process and returns what they print."""

from __future__ import annotations

import json
from typing import Any

import pytest
from house import House

from tray.cli import run_command


class Commands:
    """Runs commands over the files of a house, and keeps the last exit code."""

    def __init__(self, house: House, capsys: pytest.CaptureFixture[str]) -> None:
        self._house, self._capsys = house, capsys
        self.code = 0

    def __call__(self, *words: str) -> str:
        """Returns what the command prints."""
        self._capsys.readouterr()
        self.code = run_command(["--home", str(self._house.paths.home), *words])
        return self._capsys.readouterr().out

    def rows(self, *words: str) -> list[dict[str, Any]]:
        """Returns the rows that the command prints with `--json`."""
        return [json.loads(line) for line in self(*words, "--json").splitlines()]
