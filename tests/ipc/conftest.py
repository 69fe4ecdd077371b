"""An open server for each test that takes one."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from ipc.server_bench import ServerBench, opened


@pytest.fixture
def bench(tmp_path: Path) -> Iterator[ServerBench]:
    with opened(tmp_path) as made:
        yield made
