"""Failures in the scenes show their values, as those in a test module do. CLIENTS_RECORD=1 records what passed."""

from __future__ import annotations

from collections.abc import Generator
from typing import Any

import pytest
from clients import runs

pytest.register_assert_rewrite("clients.scenes")


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(items: list[pytest.Function]) -> None:
    """Puts tests that share a client on one worker, and the longest tests first."""
    for item in items:
        if item.cls and "connected" in item.fixturenames:
            item.add_marker(pytest.mark.xdist_group(item.cls.__name__))
    items.sort(key=lambda item: item.get_closest_marker("first") is None)


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(
    item: pytest.Item, call: pytest.CallInfo[None]
) -> Generator[None, pytest.TestReport, pytest.TestReport]:
    report = yield
    client: Any = getattr(getattr(item, "cls", None), "client", None)
    if runs.WANTED and client is not None and report.when == "call":
        runs.record(client, item.name, passed=report.passed)
    return report
