"""T06: twelve attacks from other sites, in a browser that is signed in; and a careless page falls to them."""

from __future__ import annotations

import urllib.parse
from collections.abc import Callable, Iterator

import pytest
from chromium import Chromium, Page
from msgspec.structs import replace
from web.attacker import ATTACKS, REBOUND, Attacker, attacker_site
from web.browsing import keep
from web.careless import SECRET, careless_server
from web.site import ROW, Site


@pytest.fixture
def attacker() -> Iterator[Attacker]:
    with attacker_site() as attacker:
        yield attacker


def attack(page: Page, attacker: Attacker, name: str, host: str, port: int) -> None:
    """Visit the attacker's page, and wait until it has done what it can."""
    if name == "rebind":
        page.go(f"http://evil.test:{port}/")
        attacker.told.append(str(page.run(REBOUND)))
        return
    page.go(f"http://{host}:{attacker.port}/{urllib.parse.quote(name)}")
    page.wait("document.title === 'done' || !location.port.includes(" + str(attacker.port) + ")", name)


def hits(page: Page, attacker: Attacker, host: str, port: int, writes: Callable[[], int]) -> set[str]:
    """The attacks that did something to the victim, or read what only its owner may."""
    found = set()
    attacker.victim = f"http://127.0.0.1:{port}"
    for name in ATTACKS:
        before, told = writes(), len(attacker.told)
        attack(page, attacker, name, host, port)
        page.go("about:blank#")
        if writes() > before or any(SECRET in one for one in attacker.told[told:]):
            found.add(name)
    return found


def switched(site: Site) -> int:
    with site.house.stores.database.connect() as connection:
        return int(connection.execute("SELECT count(*) FROM switch_log").fetchone()[0])


@pytest.mark.parametrize("host", ["evil.test", "127.0.0.1"])
def test_no_other_site_can_do_or_read_anything(site: Site, chromium: Chromium, attacker: Attacker, host: str) -> None:
    keep(site, replace(ROW, reason=SECRET))
    with chromium.page() as page:
        link = site.open()
        page.go(link)
        page.wait(f"document.body.innerText.includes({SECRET!r})", "the owner sees it")
        port = int(link.split(":")[2].split("/")[0])

        assert hits(page, attacker, host, port, lambda: switched(site)) == set()

        page.go(f"http://127.0.0.1:{port}/")
        assert SECRET in page.text()


def test_a_careless_page_falls_to_most_of_them(chromium: Chromium, attacker: Attacker) -> None:
    with careless_server() as careless, chromium.page() as page:
        fallen = hits(page, attacker, "evil.test", careless.port, lambda: len(careless.writes))

    assert {"rebind", "form", "plain", "img", "sse", "read", "cache", "upload"} <= fallen


def test_the_page_is_shown_in_no_frame(site: Site, chromium: Chromium, attacker: Attacker) -> None:
    with chromium.page() as page:
        link = site.open()
        page.go(link)
        page.wait("location.pathname === '/'")
        attacker.victim = link.split("/enter")[0]
        page.go(f"http://127.0.0.1:{attacker.port}/iframe")
        page.wait("document.title === 'done'")

        frames = page.call("Page.getFrameTree")["frameTree"]["childFrames"]

        assert [frame["frame"].get("unreachableUrl") for frame in frames] == [f"{attacker.victim}/"]


def test_no_address_of_the_page_leaves_it(site: Site, chromium: Chromium, attacker: Attacker) -> None:
    with chromium.page() as page:
        page.go(site.open())
        page.wait("location.pathname === '/'")
        page.run(f"location.href = 'http://evil.test:{attacker.port}/'")
        page.wait("document.title === 'done'")

    assert attacker.referers == [""]


def test_nothing_is_kept_in_the_cache_and_no_service_worker_moves_in(site: Site, chromium: Chromium) -> None:
    with chromium.page() as page:
        page.go(site.open())
        page.wait("location.pathname === '/'")

        cached = page.run("fetch('/', {cache: 'only-if-cached', mode: 'same-origin'}).then((a) => a.status, () => 0)")
        worker = page.run(
            "navigator.serviceWorker.register('/static/page.js').then(() => 'moved in', () => 'refused')"
        )

    assert cached in (0, 504)
    assert worker == "refused"
