"""The board of sessions on the page: it is live, and its buttons lead to the terminals."""

from __future__ import annotations

import pytest
from chromium import Page
from msgspec.structs import replace
from web.browsing import WAITS, WORKS, address
from web.site import Site, status

from tray.model.session import SessionState


def test_the_board_has_what_waits_on_top_and_its_button_leads_there(site: Site, page: Page) -> None:
    site.sessions = (WAITS, WORKS)
    page.go(address(site, "/sessions"))
    shown = page.run("[...document.querySelectorAll('.board li')].map((one) => one.innerText)")
    page.follow(".board li:nth-child(2) button")

    assert [one.split("\n")[:2] for one in shown] == [
        ["waits for you", "main · Fix <b>the</b> login"],
        ["works", "Import"],
    ]
    assert site.went == [("codex", "x/1 ü")]


def test_the_board_shows_when_a_usage_limit_ends(site: Site, page: Page) -> None:
    said = "You've hit your <i>limit</i> · resets 3pm"
    site.sessions = (replace(WAITS, state=SessionState.FAILED, usage_limit=said), WORKS)
    page.go(address(site, "/sessions"))
    shown = page.run("[...document.querySelectorAll('.board li')].map((one) => one.innerText)")

    assert [said in one for one in shown] == [True, False]


@pytest.mark.parametrize("place", ["/", "/sessions"])
def test_a_live_page_keeps_the_count_of_what_waits_and_the_switch_current(
    site: Site, page: Page, monkeypatch: pytest.MonkeyPatch, place: str
) -> None:
    monkeypatch.setattr("tray.web.server.HEADER_INTERVAL", 0.1)
    site.sessions = (WAITS,)
    page.go(address(site, place))
    page.wait("document.readyState === 'complete' && !document.querySelector('nav .count')", "nothing waits")

    site.house.hook("guard", on="tool_before", script="exit 0", approved=False)
    page.wait("document.querySelector('nav .count')?.innerText.startsWith('1')", "the count")
    site.controls.set_enabled(False, "tray")
    page.wait("document.querySelector('.top .is-off')?.innerText === 'Hooks off'", "the switch")
    site.controls.set_enabled(True, "tray")
    site.house.configure({})

    page.wait("document.querySelector('.top .is-on') && !document.querySelector('nav .count')", "both are gone")


def test_a_page_that_is_not_live_has_them_current_when_it_comes_into_view(site: Site, page: Page) -> None:
    page.go(address(site, "/statistics"))
    page.wait("document.readyState === 'complete' && !document.querySelector('nav .count')", "nothing waits")
    site.house.hook("guard", on="tool_before", script="exit 0", approved=False)

    page.run("document.dispatchEvent(new Event('visibilitychange'))")

    page.wait("document.querySelector('nav .count')?.innerText.startsWith('1')", "the count")


def test_only_sessions_that_are_there_can_be_gone_to(site: Site) -> None:
    site.enter()
    site.sessions = (WAITS,)

    unknown = site.post("/go", "agent=claude-code&session=nobody")
    known = site.post("/go", "agent=claude-code&session=s-1")

    assert (status(unknown), status(known)) == (404, 303)
    assert site.went == [("claude-code", "s-1")]
