"""How a browser gets in: a file for its owner alone, a pass that works once and for a while, nothing after that."""

from __future__ import annotations

import json
import socket
import stat

import psutil
import pytest
from chromium import Chromium
from house import House
from page.site import Site, found, status

from tray.page.passes import Passes


def enter(site: Site, word: str) -> int:
    body = json.dumps({"pass": word}).encode()
    return status(site.ask("POST", "/enter", {**site.own, "Content-Type": "application/json"}, body))


def arrive(site: Site) -> str:
    """The pass of a fresh link."""
    link = site.open()
    site.port = int(link.split(":")[2].split("/")[0])
    return link.partition("#")[2]


def test_the_link_is_in_a_file_for_its_owner_alone_and_gone_after_use(site: Site) -> None:
    word = arrive(site)
    file = site.opened[-1]
    assert stat.S_IMODE(file.stat().st_mode) == 0o600
    assert len(word) >= 43  # 256 bits

    assert enter(site, word) == 204

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
    word = arrive(site)

    assert [enter(site, word), enter(site, word)] == [204, 403]


@pytest.mark.parametrize("word", ["", "x", "x" * 43, 1, None, ["x"], {"pass": 1}])
def test_a_wrong_pass_does_not_work(site: Site, word: object) -> None:
    arrive(site)

    assert enter(site, word) == 403  # type: ignore[arg-type]


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
    now = [0.0]
    passes: Passes[int] = Passes(60.0, clock=lambda: now[0])
    words = [passes.mint(number) for number in range(65)]

    assert passes.take(words[0]) is None
    assert passes.take(words[1]) == 1
    now[0] = 60.0
    assert passes.take(words[2]) is None
