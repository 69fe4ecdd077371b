"""T06: twelve attacks from other sites, in a browser that is signed in; and a careless page falls to them."""

from __future__ import annotations

import urllib.parse
from collections.abc import Callable, Iterator

import pytest
from chromium import Chromium, Page
from msgspec.structs import replace
from web.attacker import ATTACKS, REBOUND, Attacker, attacker_site
from web.browsing import address, keep, switched
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


@pytest.mark.parametrize("host", ["evil.test", "127.0.0.1"])
def test_no_other_site_can_do_or_read_anything(site: Site, page: Page, attacker: Attacker, host: str) -> None:
    keep(site, replace(ROW, reason=SECRET))
    page.run(f"location.href = 'http://{host}:{attacker.port}/'")
    page.wait("document.title === 'done'", "the page leads to the attacker's")

    assert hits(page, attacker, host, site.port, lambda: switched(site)) == set()

    assert {*attacker.referers} == {""}, "no address of the page leaves it"
    page.go(address(site, "/"))
    assert SECRET in page.text()


def test_a_careless_page_falls_to_most_of_them(chromium: Chromium, attacker: Attacker) -> None:
    with careless_server() as careless, chromium.page() as page:
        fallen = hits(page, attacker, "evil.test", careless.port, lambda: len(careless.writes))

    assert {"rebind", "form", "plain", "img", "sse", "read", "cache", "upload"} <= fallen
