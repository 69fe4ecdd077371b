"""The page of a house, and one browser for a whole run."""

from __future__ import annotations

import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest
from chromium import Chromium, Page
from house import House
from web.site import Site


@pytest.fixture
def site(house: House) -> Iterator[Site]:
    site = Site(house)
    yield site
    site.close()


@pytest.fixture(scope="session")
def chromium() -> Iterator[Chromium]:
    """Started once; every test takes a page with cookies of its own."""
    if sys.platform != "linux":
        pytest.skip("the browser is a package of Debian")
    with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as folder:
        browser = Chromium(Path(folder), "--host-resolver-rules=MAP *.test 127.0.0.1")
        yield browser
        browser.close()


@pytest.fixture
def page(site: Site, chromium: Chromium) -> Iterator[Page]:
    """A browser that is signed in and looks at the decisions."""
    with chromium.page() as page:
        page.look()
        page.go(site.open())
        page.wait("location.pathname === '/' && document.readyState === 'complete'")
        site.port = int(page.run("location.port"))
        yield page


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """One browser: with several workers, all of its tests go to the same one, or to the desk's."""
    for item in items:
        fixtures = getattr(item, "fixturenames", ())
        if "chromium" in fixtures and "desk" not in fixtures:  # two names of groups make a third group
            item.add_marker(pytest.mark.xdist_group("chromium"))
