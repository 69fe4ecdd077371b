"""One desktop for all tests of a class; failures in the contract show their values."""

from __future__ import annotations

from collections.abc import Generator, Iterator

import pytest
from desk import Desk

pytest.register_assert_rewrite("desktops.contract")


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(item: pytest.Item) -> Generator[None, pytest.TestReport, pytest.TestReport]:
    """Saves a screenshot when a test fails; the report names the file."""
    report = yield
    desktop = getattr(item, "funcargs", {}).get("running")
    if report.when == "call" and report.failed and isinstance(desktop, Desk):
        path = desktop.folder / f"{item.name}.png"
        try:
            desktop.screenshot(path)
        except Exception as error:  # noqa: BLE001 - the screen may be what failed
            report.sections.append(("screenshot", f"no picture: {error!r}"))
        else:
            report.sections.append(("screenshot", str(path)))
    return report


@pytest.fixture(scope="class")
def running(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Iterator[object]:
    """The desktop that the class names."""
    with request.cls.shell(tmp_path_factory.mktemp("d")) as shell:
        yield shell


@pytest.fixture(autouse=True)
def nothing_left_behind() -> None:
    """A shell that a test starts anew stays for the next test; what is left in the end, the desktop ends."""
