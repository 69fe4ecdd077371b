"""One desktop for all tests of a class; failures in the contract show their values."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

pytest.register_assert_rewrite("desktops.contract")


@pytest.fixture(scope="class")
def running(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Iterator[object]:
    """The desktop that the class names."""
    with request.cls.shell(tmp_path_factory.mktemp("d")) as shell:
        yield shell


@pytest.fixture(autouse=True)
def nothing_left_behind() -> None:
    """A shell that a test starts anew stays for the next test; what is left in the end, the desktop ends."""
