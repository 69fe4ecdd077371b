"""Fixtures: a folder for the trays of these tests, and what their desktop has."""

from __future__ import annotations

import contextlib
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from plain import Plain

if sys.platform == "linux":  # elsewhere its libraries are not installed
    from desk.fixtures import claude_settings, opened

    __all__ = ["claude_settings", "opened"]


@pytest.fixture
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder of the test's with a short path: sockets are below it."""
    return tmp_path_factory.mktemp("e")


@pytest.fixture
def plain(tmp_path: Path) -> Iterator[Plain]:
    with contextlib.closing(Plain(tmp_path)) as plain:
        yield plain
