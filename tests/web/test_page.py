"""How a browser gets in: a file for its owner alone, a pass that works once and for a while, nothing after that."""

from __future__ import annotations

import html
import json
import socket
import stat
import subprocess
import threading
from contextlib import closing

import psutil
import pytest
from chromium import Chromium
from clock import Clock
from desk import wait
from every import every
from house import PRE_TOOL_USE, House
from web.site import FORM, Site, found, status

from tray.approvals.callers.click_check import REFUSED, ClickObjection, ClickRejection
from tray.desktop.session_focus import session_place
from tray.web.request_checks import OneTimeTokens, RefusalCause, click_refusal

DEAD_LINK = "This link was used already, or is too old"
SECRET = "seven quiet bridges"
UNKNOWN = ClickRejection(ClickObjection.UNKNOWN, "zen (7) is not a browser that your system installed")


def test_the_link_is_in_a_file_for_its_owner_alone_and_gone_after_use(site: Site) -> None:
    token = site.arrive()
    file = site.opened[-1]
    assert stat.S_IMODE(file.stat().st_mode) == 0o600
    assert len(token) >= 43  # 256 bits

    assert status(site.enter_with(token)) == 204

    assert not file.exists()


def test_the_link_leads_on_to_a_decision_or_a_session_and_nowhere_else(site: Site, chromium: Chromium) -> None:
    name = "a b/ü?&=#'"
    site.house.relay("claude-code", "PreToolUse", {**PRE_TOOL_USE, "session_id": name})
    one, session = site.house.last.id, session_place("claude-code", name)
    with chromium.page() as page:
        for place, path in ((one, f"/decisions/{one}"), (session, "/session"), ("../switch", "/")):
            site.page.open(place)

            page.go(found(site.opened[-1]))

            page.wait(f"location.pathname === '{path}'", path)
            assert path != "/session" or name in page.text()


def heading(answer: bytes) -> str:
    """Returns the heading of an answer."""
    return answer.decode().partition("<h1>")[2].partition("</h1>")[0]


def test_a_pass_works_once_and_then_the_page_shows_why_not(site: Site) -> None:
    token = site.arrive()
    first, again = site.enter_with(token), site.enter_with(token)

    assert [status(first), status(again)] == [204, 403]
    assert heading(again) == heading(site.enter_with("x" * 43)) == DEAD_LINK


def test_a_link_of_yesterday_says_that_it_is_too_old_and_so_does_its_file(
    house: House, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("tray.web.page.LINK_LIFETIME", 0.0)  # nobody waits a minute for this
    with closing(Site(house)) as site:
        site.page.open()
        read = threading.Event()
        site.loop.loop.call_soon_threadsafe(read.wait, 20)  # the note does not come before the link is read
        token = site.arrive()
        read.set()

        assert heading(site.enter_with(token)) == DEAD_LINK
        file = site.opened[-1]
        wait(lambda: f"<h1>{DEAD_LINK}</h1>" in file.read_text(), what="the file says so")
        assert token not in file.read_text()
        assert stat.S_IMODE(file.stat().st_mode) == 0o600


def test_a_link_for_a_browser_elsewhere_is_written_and_nothing_is_opened(site: Site) -> None:
    file, port = site.page.write_link()

    assert (site.opened, stat.S_IMODE(file.stat().st_mode), port) == ([], 0o600, site.page.address.port)
    token = found(file).partition("#")[2]
    site.port = port
    assert status(site.enter_with(token)) == 204
    assert not file.exists()


def test_a_link_lets_one_browser_in_and_its_address_without_the_pass_no_other(site: Site, chromium: Chromium) -> None:
    link = site.open()
    with chromium.page() as page, chromium.page() as other:
        page.go(link)
        page.wait("location.pathname === '/'")
        other.go(link)
        other.wait(f"document.title === '{DEAD_LINK} · Hooktray'")
        assert "Choose Open page in the tray's menu, or run hooktray open." in other.text()

        page.go(link.partition("#")[0])
        other.go(link.partition("#")[0])

        page.wait("document.title.startsWith('Decisions')")
        other.wait("document.title === 'This browser is not signed in · Hooktray'")


def test_every_cause_has_a_refusal_of_its_own() -> None:
    refusals = [one.value for one in RefusalCause]
    refusals += [click_refusal(ClickRejection(one)) for one in ClickObjection]

    assert len({one.why for one in refusals}) == len(refusals)
    assert all(one.remedy for one in refusals if one.status in (401, 403, 421))


@every("objection", sorted(REFUSED, key=str))
def test_a_browser_that_does_not_count_is_shown_the_true_cause_and_the_link_still_works(
    site: Site, objection: ClickObjection
) -> None:
    site.finding = ClickRejection(objection, "chromium (7) <b>did</b> it")
    token = site.arrive()

    refused = site.enter_with(token)

    assert html.unescape(heading(refused)) == objection.title
    assert b"chromium (7) &lt;b&gt;did&lt;/b&gt; it." in refused
    assert objection.remedy in html.unescape(refused.decode())
    site.finding = None
    assert status(site.enter_with(token)) == 204


def test_a_browser_that_is_not_known_looks_without_and_acts_with_the_passphrase(
    site: Site, chromium: Chromium
) -> None:
    site.house.passphrase.set(SECRET, "page")
    site.finding = UNKNOWN
    with chromium.page() as page:
        page.go(site.open())
        page.wait("document.title.startsWith('Decisions')")
        page.run("location.href = '/confirm/off'")
        page.wait("document.querySelector('main h1')?.textContent.startsWith('Switch all hooks off')")
        page.click("button", "Switch off")
        page.wait("document.querySelector('main h1')?.textContent === 'Your passphrase'")
        for typed, shown in (("a guess of mine", "That was not the passphrase"), (SECRET, "Hooks are off")):
            page.run(f"document.querySelector('[name=passphrase]').value = {json.dumps(typed)}")
            page.click("button", "Go on")
            page.wait(f"document.querySelector('main').textContent.includes({json.dumps(shown)})")
            assert site.controls.state.enabled is (typed != SECRET)


def test_without_a_passphrase_a_browser_that_is_not_known_is_told_how_to_set_one(site: Site) -> None:
    site.enter()
    site.finding = UNKNOWN

    answer = site.post("/replay", "id=x")

    assert status(answer) == 403
    assert b"hooktray passphrase" in answer


def test_a_connection_that_an_agent_shares_is_refused_whatever_is_typed(site: Site) -> None:
    site.house.passphrase.set(SECRET, "page")
    site.enter()
    site.finding = UNKNOWN
    headers = {**site.own, "Cookie": site.cookie, "Content-Type": FORM}
    request = site.written("POST", "/choose", headers, f"passphrase={SECRET}&choice=x".encode())
    with (
        socket.create_connection(("127.0.0.1", site.port), 20) as connection,
        subprocess.Popen(["cat"], stdin=subprocess.PIPE, pass_fds=[connection.fileno()]) as agent,
    ):
        site.findings[agent.pid] = ClickRejection(ClickObjection.AGENT, "cat (8) belongs to an agent or a hook")

        connection.sendall(request)

        answer = connection.recv(65536)
        agent.communicate()
    assert status(answer) == 403
    assert b"cat (8)" in answer


@pytest.mark.parametrize("secret", ["", SECRET])
def test_any_browser_of_the_user_switches_on_and_resumes_and_an_agents_does_not(site: Site, secret: str) -> None:
    if secret:
        site.house.passphrase.set(secret, "page")
    site.enter()
    site.finding = UNKNOWN
    site.controls.set_enabled(False, "tray")
    site.controls.pause(600, "tray")

    answers = [status(site.post("/do", f"act={act}")) for act in ("on", "resume", "off", "")]

    assert answers[:2] == [303, 303]
    assert 303 not in answers[2:]
    assert (site.controls.state.enabled, site.controls.state.paused_until) == (True, None)
    site.controls.set_enabled(False, "tray")
    site.finding = ClickRejection(ClickObjection.AGENT, "python3 (7) belongs to an agent or a hook")
    assert status(site.post("/do", "act=on")) == 403
    assert not site.controls.state.enabled


@every("token", ["", "x", "x" * 43, 1, None, ["x"], {"token": 1}])
def test_a_wrong_pass_does_not_work(site: Site, token: object) -> None:
    site.arrive()

    assert status(site.enter_with(token)) == 403


def test_each_opening_has_a_pass_of_its_own_on_the_same_port(site: Site) -> None:
    first = site.arrive()
    port = site.port
    second = site.arrive()

    assert (first != second, port) == (True, site.port)
    assert status(site.enter_with(second)) == 204
    assert site.opened[0].exists()  # whoever opened it twice has two pages
    assert status(site.enter_with(first)) == 204


def test_links_that_an_earlier_tray_left_are_removed(house: House) -> None:
    left = house.paths.state / "open-left.html"
    left.write_text("old")

    site = Site(house)
    site.close()

    assert not left.exists()


def test_closing_ends_the_port_and_the_links_and_waits_for_no_open_page(site: Site) -> None:
    site.enter()
    site.open()
    file = site.opened[-1]
    assert found(file)
    with socket.create_connection(("127.0.0.1", site.port), 20) as connection:
        connection.sendall(site.written("GET", "/live", {"Cookie": site.cookie}))
        assert b"text/event-stream" in connection.recv(65536)

        site.page.close()

        while connection.recv(65536):
            pass
    assert not file.exists()
    with pytest.raises(ConnectionRefusedError):
        socket.create_connection(("127.0.0.1", site.port), 5)


def test_a_journal_that_cannot_be_read_is_an_error_and_no_bug(site: Site) -> None:
    site.enter()
    site.house.paths.database.rename(site.house.paths.database.with_suffix(".away"))

    answer = site.get("/")

    assert status(answer) == 503
    assert b"hooktray.db" in answer


def test_the_server_listens_on_loopback_alone(site: Site) -> None:
    site.arrive()

    ends = [one.laddr for one in psutil.Process().net_connections("tcp") if one.status == psutil.CONN_LISTEN]

    assert ("127.0.0.1", site.port) in ends
    assert {address for address, port in ends if port == site.port} == {"127.0.0.1"}


def test_a_pass_is_good_for_a_while_and_the_oldest_makes_room() -> None:
    clock = Clock(0.0)
    passes: OneTimeTokens[int] = OneTimeTokens(clock)
    words = [passes.issue(number, 60.0) for number in range(65)]

    assert passes.redeem(words[0]) is None
    assert [passes.redeem(words[1]), passes.redeem(words[1])] == [1, None]
    clock.now = 60.0
    assert passes.redeem(words[2]) is None
