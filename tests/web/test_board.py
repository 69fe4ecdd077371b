"""The board of sessions on the page: it is live, and its buttons lead to the terminals."""

from __future__ import annotations

import time

import pytest
from chromium import Chromium, Page
from house import PRE_TOOL_USE
from msgspec.structs import replace
from web.site import Site, found, status

from tray.desktop.session_focus import session_place
from tray.model.session import Session, SessionState

WAITS = Session(
    agent="claude-code", session="s-1", project="shop", name="main · Fix <b>the</b> login",
    state=SessionState.WAITING, since=time.time() - 90,
)  # fmt: skip
WORKS = Session(agent="codex", session="x/1 ü", project="api", name="Import", state=SessionState.WORKING, since=1.0)


def test_the_board_has_what_waits_on_top_and_its_button_leads_there(site: Site, chromium: Chromium) -> None:
    site.sessions = (WAITS, WORKS)
    with chromium.page() as page:
        page.go(site.open())
        page.wait("location.pathname === '/'", "the page")
        page.go(f"http://127.0.0.1:{site.page.address.port}/sessions")
        shown = page.run("[...document.querySelectorAll('.board li')].map((one) => one.innerText)")
        page.follow(".board li:nth-child(2) button")

    assert [one.split("\n")[:2] for one in shown] == [
        ["waits for you", "main · Fix <b>the</b> login"],
        ["works", "Import"],
    ]
    assert site.went == [("codex", "x/1 ü")]


def test_the_board_shows_when_a_usage_limit_ends(site: Site, chromium: Chromium) -> None:
    said = "You've hit your <i>limit</i> · resets 3pm"
    site.sessions = (replace(WAITS, state=SessionState.FAILED, usage_limit=said), WORKS)
    with chromium.page() as page:
        page.go(site.open())
        page.wait("location.pathname === '/'", "the page")
        page.go(f"http://127.0.0.1:{site.page.address.port}/sessions")
        shown = page.run("[...document.querySelectorAll('.board li')].map((one) => one.innerText)")

    assert [said in one for one in shown] == [True, False]


def test_the_board_is_drawn_anew_when_something_happens(site: Site, chromium: Chromium) -> None:
    site.sessions = (WAITS,)
    with chromium.page() as page:
        page.go(site.open())
        page.wait("location.pathname === '/'", "the page")
        page.go(f"http://127.0.0.1:{site.page.address.port}/sessions")
        page.wait("document.querySelector('.board .is-waiting') !== null", "the board")
        site.sessions = (replace(WAITS, state=SessionState.DONE),)

        site.house.tool()
        site.page.publish(site.house.last)

        page.wait("document.querySelector('.board .is-done') !== null", "the new state")


@pytest.mark.parametrize("place", ["/", "/sessions"])
def test_a_live_page_keeps_the_count_of_what_waits_and_the_switch_current(site: Site, page: Page, place: str) -> None:
    site.sessions = (WAITS,)
    page.go(f"http://127.0.0.1:{site.port}{place}")
    page.wait("document.readyState === 'complete' && !document.querySelector('nav .count')", "nothing waits")

    site.house.hook("guard", on="tool_before", script="exit 0", approved=False)
    page.wait("document.querySelector('nav .count')?.innerText.startsWith('1')", "the count")
    site.controls.set_enabled(False, "tray")
    page.wait("document.querySelector('.top .is-off')?.innerText === 'Hooks off'", "the switch")
    site.controls.set_enabled(True, "tray")
    site.house.configure({})

    page.wait("document.querySelector('.top .is-on') && !document.querySelector('nav .count')", "both are gone")


def test_a_page_that_is_not_live_has_them_current_when_it_comes_into_view(site: Site, page: Page) -> None:
    page.go(f"http://127.0.0.1:{site.port}/statistics")
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


def test_the_link_leads_on_to_a_session_whatever_it_is_called(site: Site, chromium: Chromium) -> None:
    site.house.relay("claude-code", "PreToolUse", {**PRE_TOOL_USE, "session_id": "a b/ü?&=#'"})
    with chromium.page() as page:
        site.page.open(session_place("claude-code", "a b/ü?&=#'"))

        page.go(found(site.opened[-1]))

        page.wait("location.pathname === '/session'", "the session's page")
        assert "a b/ü?&=#'" in page.text()
