"""The page by keyboard alone, and as a screen reader has it: order and sight of the focus, names, announcements."""

from __future__ import annotations

from collections import Counter
from typing import Any

import pytest
from chromium import Page
from desk import wait
from msgspec.structs import replace
from web.browsing import (
    ADDS,
    WAITS,
    WORKS,
    address,
    every_page,
    keep,
    kept,
    problems,
    problems_in_both_colours,
    record,
)  # fmt: skip
from web.site import Site

from tray.approvals.callers.click_check import ClickObjection, ClickRejection
from tray.desktop.menu.state import MenuAgent
from tray.model.session import SessionState

FOCUSABLE = "a[href], button, input:not([type=hidden]), select, textarea, summary, [tabindex]:not([tabindex='-1'])"
EXPECTED = f"""[...document.querySelectorAll({FOCUSABLE!r})]
    .filter((one) => one.checkVisibility() && !one.closest('details:not([open]) > :not(summary)'))
    .map((one) => one.dataset.place ??= String(Math.random()))"""
SEEN = """(() => {
    const one = document.activeElement, box = one.getBoundingClientRect();
    if (one === document.body) return null;
    const inside = box.bottom > 0 && box.top < innerHeight && box.width > 0 && box.height > 0;
    const outline = getComputedStyle(one).outlineStyle;
    return {place: one.dataset.place, inside, outline, html: one.outerHTML.slice(0, 120)};
})()"""
LISTEN = """window.told = []; new MutationObserver((all) => all.forEach((one) => {
    const element = one.target.nodeType === 1 ? one.target : one.target.parentElement;
    const region = element?.closest('[role=status], [role=alert], [aria-live]');
    if (region && region.textContent) told.push(region.textContent);
})).observe(document.body, {subtree: true, childList: true, characterData: true}); 0"""
COUNT = """window.kept = document.querySelector('.board li'); window.asked = 0; const old = fetch;
window.fetch = (...all) => old(...all).finally(() => { asked += 1; }); 0"""
FAINT = """(() => {
    const levels = (colour) => colour.match(/[\\d.]+/g).map(Number);
    const light = (colour) => levels(colour).slice(0, 3).map((one) => one / 255)
        .map((one) => one <= 0.04045 ? one / 12.92 : ((one + 0.055) / 1.055) ** 2.4)
        .reduce((sum, one, at) => sum + one * [0.2126, 0.7152, 0.0722][at], 0);
    const ground = (one) => {
        const colour = getComputedStyle(one).backgroundColor;
        return (levels(colour)[3] ?? 1) || !one.parentElement ? colour : ground(one.parentElement);
    };
    const contrast = (one, other) => {
        const [dim, bright] = [light(one), light(other)].sort((a, b) => a - b);
        return (bright + 0.05) / (dim + 0.05);
    };
    const all = (what) => [...document.querySelectorAll(what)].filter((one) => one.checkVisibility());
    const icons = all('svg.glyph, svg.mark, svg.logo');
    const fields = all('input[type=text], input[type=password], input[type=search], select, textarea');
    const found = [...icons.map((one) => [getComputedStyle(one).color, ground(one), one]),
        ...fields.map((one) => [getComputedStyle(one).borderTopColor, ground(one.parentElement), one])];
    return {count: found.length, faint: found.filter(([ink, below]) => contrast(ink, below) < 3)
        .map(([ink, below, one]) => [ink, below, one.outerHTML.slice(0, 120)])};
})()"""
ROLES = {"button", "checkbox", "combobox", "image", "link", "region", "searchbox", "switch", "textbox"}


@pytest.fixture
def full(site: Site) -> Site:
    """A page with something in each of its lists."""
    claude = MenuAgent(agent="claude-code", name="Claude Code", installed=True, connect=ADDS)
    codex = MenuAgent(agent="codex", name="Codex", installed=True, connect=replace(ADDS, digest="9f"))
    site.agents.found = (claude, codex)
    site.sessions = (WAITS, WORKS)
    site.controls.add_request("Switch hooks off", "claude-code, pid 812", lambda: None)
    site.controls.add_request("Pause hooks", "codex, pid 813", lambda: None)
    return site


def focused(page: Page) -> list[dict[str, Any]]:
    """Everything that the Tab key reaches, from the top of the page until it leaves it."""
    found: list[dict[str, Any]] = []
    for _ in range(200):
        page.key("Tab", 9)
        one = page.run(SEEN)
        if one is None or one["place"] in {each["place"] for each in found}:
            return found
        found.append(one)
    raise AssertionError("Tab never leaves the page")


def tree(page: Page) -> list[tuple[str, str, str]]:
    """Role, name and description of everything that a screen reader stops at."""
    nodes = page.call("Accessibility.getFullAXTree")["nodes"]
    words = [[str(node.get(key, {}).get("value", "")) for key in ("role", "name", "description")] for node in nodes]
    return [
        (role, name, more)
        for (role, name, more), node in zip(words, nodes, strict=True)
        if role in ROLES and not node["ignored"]
    ]


def test_axe_finds_nothing_and_nothing_is_wider_than_a_narrow_window(full: Site, page: Page) -> None:
    found = []
    for path in every_page(full):
        page.look(width=360, height=700)
        page.run("window.before = true")
        page.go(address(full, path))
        page.wait("!window.before && document.readyState === 'complete'")
        if page.run("document.documentElement.scrollWidth > innerWidth"):
            found.append((path, "wider than a narrow window"))
        found += [(path, one) for one in problems_in_both_colours(page)]

    assert found == []


def test_icons_and_the_edges_of_fields_stand_out_from_what_is_below_them(full: Site, page: Page) -> None:
    """By 3:1 at least, which axe does not measure."""
    seen, faint = 0, []
    for path in every_page(full):
        page.go(address(full, path))
        for dark in (False, True):
            page.look(dark=dark)
            found = page.run(FAINT)
            seen += found["count"]
            faint += [(path, dark, one) for one in found["faint"]]

    assert faint == []
    assert seen > 100


def test_the_passphrase_is_asked_for_on_an_accessible_page(full: Site, page: Page) -> None:
    full.controls.set_passphrase("correct horse battery", "page")
    full.finding = ClickRejection(ClickObjection.UNKNOWN, "zen (7) is not a browser that your system installed")
    page.go(address(full, "/confirm/off"))

    page.click(".confirm button")
    page.wait("!!document.querySelector('input[name=passphrase]')", "the passphrase is asked for")

    assert problems(page) == []
    assert page.run("document.activeElement.id") == "main"


def test_tab_reaches_everything_in_the_order_of_the_page_and_is_seen(full: Site, page: Page) -> None:
    wrong: list[object] = []
    for path in every_page(full):
        page.go(address(full, path))
        page.run("document.activeElement.blur(); scrollTo(0, 0)")
        expected = page.run(EXPECTED)

        found = focused(page)

        if [one["place"] for one in found] != expected:
            wrong.append((path, "order", [one["html"] for one in found], len(expected)))
        wrong += [(path, one["html"]) for one in found if not one["inside"] or one["outline"] == "none"]

    assert wrong == []


def test_tab_stops_at_a_text_only_where_it_scrolls(site: Site, page: Page) -> None:
    long, short = kept(site, "echo " + "many words " * 900), kept(site, "ls")
    seen = {}
    for one in (long, short):
        page.go(address(site, f"/decisions/{one}"))
        seen[one] = page.run("[...document.querySelectorAll('pre')].filter((one) => one.tabIndex === 0).length")

    page.go(address(site, f"/decisions/{long}"))
    page.run("document.querySelector('pre[tabindex]').style.maxHeight = 'none'")
    page.look(width=500)

    assert (seen[long], seen[short]) == (1, 0)
    page.wait("!document.querySelector('pre[tabindex]')", "a text that the window shows whole is passed by")


def test_everything_that_a_screen_reader_stops_at_has_a_name_of_its_own(full: Site, page: Page) -> None:
    wrong: list[object] = []
    for path in every_page(full):
        page.go(address(full, path))
        found = wait(lambda: tree(page), what=f"Chromium has made the accessibility tree of {path}")
        wrong += [(path, role) for role, name, _ in found if not name.strip()]
        twice = Counter(one for one in found if one[0] in ("button", "switch"))
        wrong += [(path, one) for one, number in twice.items() if number > 1]

    assert wrong == []


def test_new_decisions_that_fit_appear_and_are_announced_once(site: Site, page: Page) -> None:
    keep(site, record(1, agent="shelley"))
    page.go(address(site, "/?agent=shelley"))
    page.wait("!!document.querySelector('[data-state=live]')")
    page.run(LISTEN)

    for first in (2, 6):
        for number in range(first, first + 4):
            site.page.publish(record(number, agent="shelley" if number % 2 else "x-code"))
        page.wait(f"told.length >= {first // 4 + 1}", "the decisions are announced")

    assert page.run("told") == ["2 new decisions", "2 new decisions"]
    shown = page.run("[...document.querySelectorAll('.rows > li')].map((one) => one.dataset.id)")
    assert shown == [record(number).id for number in (9, 7, 5, 3, 1)]


def test_a_page_without_its_tray_says_so_and_shows_no_green_dot(site: Site, page: Page) -> None:
    page.go(address(site, "/"))
    page.wait("!!document.querySelector('[data-state=live]')")
    assert page.run("getComputedStyle(document.querySelector('.pulse')).fill") != "none"

    site.page.close()

    page.wait("!!document.querySelector('[data-state=lost]')", "it is noticed")
    assert "does not answer" in page.run("document.querySelector('.live [role=status]').textContent")
    assert page.run("document.querySelector('.live button').innerText") == "The tray does not answer"
    assert page.run("getComputedStyle(document.querySelector('.pulse')).fill") == "none"


def test_the_skip_link_leads_to_the_content_and_what_was_done_has_the_focus(site: Site, page: Page) -> None:
    page.go(address(site, "/confirm/off"))

    page.key("Tab", 9)
    page.key("Enter", 13, "\r")
    page.wait("document.activeElement.id === 'main'", "the content has the focus")
    page.follow(".confirm button")

    page.wait("document.activeElement.textContent.includes('Hooks are off.')", "it is read aloud")


def test_a_board_that_says_the_same_is_not_drawn_again(full: Site, page: Page) -> None:
    page.go(address(full, "/sessions"))
    page.run(COUNT)

    full.page.publish(record(9))
    page.wait("asked === 1", "the board was looked at")
    full.sessions = (WORKS,)
    full.page.publish(record(10))
    page.wait("!kept.isConnected", "the board is another one")

    assert page.run("asked") == 2


def test_a_session_with_a_new_state_is_announced_by_name_and_many_are_counted(full: Site, page: Page) -> None:
    others = (WAITS, *(replace(WORKS, session=str(number)) for number in range(2)))
    full.sessions = (*others, WORKS)
    page.go(address(full, "/sessions"))
    page.run(LISTEN)
    page.run("document.querySelector('.board a').focus()")

    full.sessions = (*others, replace(WORKS, state=SessionState.DONE))
    full.page.publish(record(9))
    page.wait("told.length === 1", "it is read aloud, wherever the focus is")
    assert page.run("document.querySelectorAll('.board .is-done').length") == 0, "the board is held below the focus"
    page.run("document.activeElement.blur()")
    page.wait("!!document.querySelector('.board .is-done')", "then the board follows")
    full.sessions = tuple(replace(one, state=SessionState.FAILED) for one in full.sessions)
    full.page.publish(record(10))
    page.wait("told.length === 2", "they are counted")

    assert page.run("told") == ["Import: done", "4 sessions changed"]
