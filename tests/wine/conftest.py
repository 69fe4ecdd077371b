"""One Windows for all tests; each has a Hooktray with a home of its own."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from wine.windows import Tray, Windows


@pytest.fixture(scope="session")
def windows(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Windows]:
    with Windows(tmp_path_factory.mktemp("w")) as windows:
        yield windows


@pytest.fixture
def tray(windows: Windows) -> Tray:
    return Tray(windows)


@pytest.fixture(autouse=True)
def nothing_left_behind() -> None:
    """The Windows that all tests share has processes of its own; in the end they all end with it."""
