from __future__ import annotations

import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from seeds.product import Product


@pytest.fixture
def product(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Product]:
    """One home, whose tray a test starts."""
    if sys.platform == "win32":
        pytest.skip("the seeds' scripts are for a POSIX shell")
    monkeypatch.setenv("HOME", str(tmp_path))  # as the tray has it: the user's own settings are below it
    product = Product(tmp_path)
    yield product
    product.close()
