"""The examples, approved once for all of their tests, which run in one worker (`xdist_group`)."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from examples.shelf import Shelf, shelf


@pytest.fixture(scope="package")
def shared(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Shelf]:
    place = shelf(tmp_path_factory.mktemp("shelf"))
    yield place
    place.house.close()
