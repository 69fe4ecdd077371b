"""How a browser gets in: a file for its owner alone, a pass that works once and for a while, nothing after that."""

from __future__ import annotations

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
from house import House
from web.site import FORM, Site, found, status

from tray.approvals.callers.click_check import REFUSED, ClickObjection, ClickRejection
from tray.web.request_checks import OneTimeTokens, RefusalCause, click_refusal

DEAD_LINK = "This link was used already, or is too old"
SECRET = "seven quiet bridges"


def enter(site: Site, token: str) -> int:
    body = json.dumps({"token": token}).encode()
    return status(site.ask("POST", "/enter", {**site.own, "Content-Type": "application/json"}, body))


def arrive(site: Site) -> str:
    """The pass of a fresh link."""
    link = site.open()
    site.port = int(link.split(":")[2].split("/")[0])
    return link.partition("#")[2]


def test_the_link_is_in_a_file_for_its_owner_alone_and_gone_after_use(site: Site) -> None:
    token = arrive(site)
    file = site.opened[-1]
    assert stat.S_IMODE(file.stat().st_mode) == 0o600
    assert len(token) >= 43  # 256 bits

    assert enter(site, token) == 204

    assert not file.exists()


def test_the_link_leads_on_to_a_decision_and_nowhere_else(site: Site, chromium: Chromium) -> None:
    site.house.tool()
    one = site.house.last.id
    with chromium.page() as page:
        for decision, path in ((one, f"/decisions/{one}"), ("../switch", "/")):
            site.page.open(decision)

            page.go(found(site.opened[-1]))

            page.wait(f"location.pathname === '{path}'", path)


def test_a_pass_works_once(site: Site) -> None:
    token = arrive(site)

    assert [enter(site, token), enter(site, token)] == [204, 403]


def said(site: Site, token: str) -> str:
    """The heading of the page that a browser is shown instead."""
    body = json.dumps({"token": token}).encode()
    answer = site.ask("POST", "/enter", {**site.own, "Content-Type": "application/json"}, body).decode()
    return answer.partition("<h1>")[2].partition("</h1>")[0]


def test_a_link_that_does_not_work_shows_why(site: Site) -> None:
    token = arrive(site)
    assert enter(site, token) == 204

    assert said(site, token) == said(site, "x" * 43) == DEAD_LINK


def test_a_link_of_yesterday_says_that_it_is_too_old_and_so_does_its_file(
    house: House, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("tray.web.page.LINK_LIFETIME", 0.0)  # nobody waits a minute for this
    with closing(Site(house)) as site:
        site.page.open()
        read = threading.Event()
        site.loop.loop.call_soon_threadsafe(read.wait, 20)  # the note does not come before the link is read
        token = arrive(site)
        read.set()

        assert said(site, token) == DEAD_LINK
        file = site.opened[-1]
        wait(lambda: f"<h1>{DEAD_LINK}</h1>" in file.read_text(), what="the file says so")
        assert token not in file.read_text()
        assert stat.S_IMODE(file.stat().st_mode) == 0o600


def test_a_link_for_a_browser_elsewhere_is_written_and_nothing_is_opened(site: Site) -> None:
    file, port = site.page.write_link()

    assert (site.opened, stat.S_IMODE(file.stat().st_mode), port) == ([], 0o600, site.page.address.port)
    token = found(file).partition("#")[2]
    site.port = port
    assert enter(site, token) == 204
    assert not file.exists()


def test_a_second_browser_with_the_same_link_is_shown_why_and_what_to_do(site: Site, chromium: Chromium) -> None:
    link = site.open()
    with chromium.page() as first, chromium.page() as second:
        first.go(link)
        first.wait("location.pathname === '/'")

        second.go(link)

        second.wait(f"document.title === '{DEAD_LINK} · Hooktray'")
        assert "Choose Open page in the tray's menu, or run hooktray open." in second.text()


def test_an_address_without_a_pass_leads_a_browser_that_is_signed_in_to_the_decisions(
    site: Site, chromium: Chromium
) -> None:
    link = site.open()
    with chromium.page() as page, chromium.page() as other:
        page.go(link)
        page.wait("location.pathname === '/'")

        page.go(link.partition("#")[0])
        other.go(link.partition("#")[0])

        page.wait("document.title.startsWith('Decisions')")
        other.wait("document.title === 'This browser is not signed in · Hooktray'")


def test_every_cause_has_a_refusal_of_its_own() -> None:
    refusals = [one.value for one in RefusalCause]
    refusals += [click_refusal(ClickRejection(one)) for one in ClickObjection]

    assert len({one.why for one in refusals}) == len(refusals)
    assert all(one.remedy for one in refusals if one.status in (401, 403, 421))


@pytest.mark.parametrize("objection", sorted(REFUSED, key=str))
def test_a_browser_that_does_not_count_is_shown_the_true_cause_and_the_link_still_works(
    site: Site, chromium: Chromium, objection: ClickObjection
) -> None:
    site.finding = ClickRejection(objection, "chromium (7) <b>did</b> it")
    link = site.open()
    with chromium.page() as page:
        page.go(link)

        page.wait(f"document.title === {json.dumps(objection.title + ' · Hooktray')}")
        assert "chromium (7) <b>did</b> it." in page.text()
        assert objection.remedy in page.text()
    site.finding = None
    with chromium.page() as page:
        page.go(link)
        page.wait("document.title.startsWith('Decisions')")


def test_a_browser_that_is_not_known_looks_without_and_acts_with_the_passphrase(
    site: Site, chromium: Chromium
) -> None:
    site.house.passphrase.set(SECRET, "page")
    site.finding = ClickRejection(ClickObjection.UNKNOWN, "zen (7) is not a browser that your system installed")
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
    site.finding = ClickRejection(ClickObjection.UNKNOWN, "zen (7) is not a browser that your system installed")

    answer = site.post("/replay", "id=x")

    assert status(answer) == 403
    assert b"hooktray passphrase" in answer


def test_a_connection_that_an_agent_shares_is_refused_whatever_is_typed(site: Site) -> None:
    site.house.passphrase.set(SECRET, "page")
    site.enter()
    site.finding = ClickRejection(ClickObjection.UNKNOWN, "zen (7) is not a browser that your system installed")
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
    site.finding = ClickRejection(ClickObjection.UNKNOWN, "zen (7) is not a browser that your system installed")
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


@pytest.mark.parametrize("token", ["", "x", "x" * 43, 1, None, ["x"], {"token": 1}])
def test_a_wrong_pass_does_not_work(site: Site, token: object) -> None:
    arrive(site)

    assert enter(site, token) == 403  # type: ignore[arg-type]


def test_each_opening_has_a_pass_of_its_own_on_the_same_port(site: Site) -> None:
    first = arrive(site)
    port = site.port
    second = arrive(site)

    assert (first != second, port) == (True, site.port)
    assert enter(site, second) == 204
    assert site.opened[0].exists()  # whoever opened it twice has two pages
    assert enter(site, first) == 204


def test_links_that_an_earlier_tray_left_are_removed(house: House) -> None:
    left = house.paths.state / "open-left.html"
    left.write_text("old")

    site = Site(house)
    site.close()

    assert not left.exists()


def test_closing_ends_the_port_and_the_links(site: Site) -> None:
    arrive(site)
    file = site.opened[-1]
    assert found(file)

    site.page.close()

    assert not file.exists()
    with pytest.raises(ConnectionRefusedError):
        socket.create_connection(("127.0.0.1", site.port), 5)


def test_a_journal_that_cannot_be_read_is_an_error_and_no_bug(site: Site) -> None:
    site.enter()
    site.house.paths.database.rename(site.house.paths.database.with_suffix(".away"))

    answer = site.get("/")

    assert status(answer) == 503
    assert b"hooktray.db" in answer


def test_a_page_that_is_open_does_not_hold_up_the_end(site: Site) -> None:
    site.enter()
    with socket.create_connection(("127.0.0.1", site.port), 20) as connection:
        connection.sendall(
            f"GET /live HTTP/1.1\r\nHost: 127.0.0.1:{site.port}\r\nCookie: {site.cookie}\r\n\r\n".encode()
        )
        assert b"text/event-stream" in connection.recv(65536)

        site.page.close()

        while connection.recv(65536):
            pass


def test_the_server_listens_on_loopback_alone(site: Site) -> None:
    arrive(site)

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
