"""T06: of all the ways to ask, one is answered; and a careless page does not pass the same table."""

from __future__ import annotations

import base64
import hashlib
import re
import socket

import pytest
from every import every
from msgspec.structs import replace
from web.browsing import keep, switched
from web.careless import careless_server
from web.site import FORM, ROW, Site, status
from web.variants import LEGAL, request, variants

from tray.approvals.callers.click_check import ClickObjection, ClickRejection

MARKER = "only-for-its-owner"


@pytest.fixture
def entered(site: Site) -> Site:
    keep(site, replace(ROW, reason=MARKER))
    site.enter()
    return site


def test_only_one_of_all_request_variants_is_accepted(entered: Site) -> None:
    answers = {one: entered.raw(request(one, entered.port, entered.cookie)) for one in variants()}

    assert len(answers) > 150
    assert {variant for variant, answer in answers.items() if status(answer) < 400} == {LEGAL}
    assert switched(entered) == 1
    assert not any(b"evil" in answer for answer in answers.values())


def test_of_all_request_variants_only_those_of_the_own_browser_can_read(entered: Site) -> None:
    answers = {one: entered.raw(request(one, entered.port, entered.cookie, "GET /")) for one in variants()}

    told = {variant for variant, answer in answers.items() if MARKER.encode() in answer}

    assert told == {
        one
        for one in answers
        if (one[0], one[4]) == ("own", "right") and one[1] in ("own", "none") and one[2] in ("same-origin", "")
    }


def test_a_careless_page_accepts_every_request_variant(site: Site) -> None:
    with careless_server() as careless:
        site.port = careless.port
        passed = [one for one in variants() if status(site.raw(request(one, careless.port, careless.cookie))) < 400]

    assert passed == variants()
    assert len(careless.writes) == len(passed)


READ = b"Host: {own}\r\nCookie: {cookie}\r\n"
SELF = b"Origin: http://{own}\r\nSec-Fetch-Site: same-origin\r\n"
WRITE = READ + SELF + b"Content-Type: application/x-www-form-urlencoded\r\n"
RAW = {
    "absolute form": b"GET http://evil.test/ HTTP/1.1\r\n" + READ + b"\r\n",
    "absolute form of our own": b"GET http://{own}/ HTTP/1.1\r\n" + READ + b"\r\n",
    "authority form": b"CONNECT {own} HTTP/1.1\r\n" + READ + b"\r\n",
    "two slashes": b"GET //evil.test/ HTTP/1.1\r\n" + READ + b"\r\n",
    "asterisk": b"OPTIONS * HTTP/1.1\r\n" + READ + b"\r\n",
    "HEAD": b"HEAD / HTTP/1.1\r\n" + READ + b"\r\n",
    "PUT": b"PUT /do HTTP/1.1\r\n" + WRITE + b"Content-Length: 0\r\n\r\n",
    "preflight": b"OPTIONS /do HTTP/1.1\r\nAccess-Control-Request-Method: POST\r\n" + READ + SELF + b"\r\n",
    "websocket": b"GET /live HTTP/1.1\r\n" + READ + b"Connection: Upgrade\r\nUpgrade: websocket\r\n\r\n",
    "frame": b"GET / HTTP/1.1\r\n" + READ + b"Sec-Fetch-Dest: iframe\r\n\r\n",
    "service worker": b"GET /static/page.js HTTP/1.1\r\n" + READ + b"Sec-Fetch-Dest: serviceworker\r\n\r\n",
    "chunked": b"POST /do HTTP/1.1\r\n" + WRITE + b"Transfer-Encoding: chunked\r\n\r\n6\r\nact=on\r\n0\r\n\r\n",
    "too large": b"POST /do HTTP/1.1\r\n" + WRITE + b"Content-Length: 99999999\r\n\r\nact=on",
    "a body on GET": b"GET / HTTP/1.1\r\n" + READ + b"Content-Length: 4\r\n\r\nevil",
    "no HTTP": b"evil\r\n\r\n",
    "a long line": b"GET /" + b"e" * 9000 + b" HTTP/1.1\r\n" + READ + b"\r\n",
    "a broken header": b"GET / HTTP/1.1\r\n" + READ + b"evil header\r\n\r\n",
    "a traversal": b"GET /static/../app.py HTTP/1.1\r\n" + READ + b"\r\n",
    "an encoded traversal": b"GET /static/%2e%2e/app.py HTTP/1.1\r\n" + READ + b"\r\n",
}  # fmt: skip


@every("name", RAW)
def test_invalid_requests_get_an_error_that_repeats_nothing(entered: Site, name: str) -> None:
    own = f"127.0.0.1:{entered.port}".encode()

    answer = first(entered.port, RAW[name].replace(b"{own}", own).replace(b"{cookie}", entered.cookie.encode()))

    assert 400 <= status(answer) < 500
    assert b"evil" not in answer
    assert b"eeee" not in answer
    assert switched(entered) == 0


def first(port: int, request: bytes) -> bytes:
    """What the server says before anything else happens, whole or its beginning."""
    with socket.create_connection(("127.0.0.1", port), 20) as connection:
        connection.sendall(request)
        return connection.recv(1 << 20)


def test_every_answer_forbids_what_the_page_does_not_need(site: Site) -> None:
    site.enter()

    for answer in (site.get("/"), site.get("/nothing"), site.get("/static/icon.svg"), site.ask("GET", "/", {})):
        head = answer.partition(b"\r\n\r\n")[0].decode()
        assert "default-src 'none'" in head
        assert "unsafe" not in head
        assert "frame-ancestors 'none'" in head
        for line in ("Cache-Control: no-store", "X-Content-Type-Options: nosniff", "Referrer-Policy: no-referrer"):
            assert line in head
        assert "Cross-Origin-Opener-Policy: same-origin" in head
        assert "Server: Python" not in head


@pytest.mark.parametrize("path", ["/", "/nothing", "/enter"])
def test_only_our_one_script_and_sheet_count_by_their_hashes(site: Site, path: str) -> None:
    site.enter()

    head, _, body = site.get(path).decode().partition("\r\n\r\n")

    for tag, source in (("script", "script-src"), ("style", "style-src")):
        allowed = re.findall(f"{source} ([^;]+);", head)
        assert len(allowed) == 1
        for text in re.findall(f"<{tag}>(.*?)</{tag}>", body, re.DOTALL):
            digest = base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()
            assert allowed == [f"'sha256-{digest}'"]
    assert "<style>" in body
    assert not re.findall(r"\s(?:on\w+|style|src)=", body)


def test_the_cookie_is_for_this_page_alone(site: Site) -> None:
    head = site.enter_with(site.arrive()).decode()

    assert "HttpOnly" in head
    assert "SameSite=Strict" in head
    assert f"hooktray-{site.port}=" in head


def test_a_process_that_cannot_be_trusted_cannot_sign_in(site: Site) -> None:
    site.finding = ClickRejection(ClickObjection.AGENT, "python3 (7) belongs to an agent or a hook")

    answer = site.enter_with(site.arrive())

    assert status(answer) == 403
    assert b"Set-Cookie" not in answer


def test_a_form_of_another_kind_of_content_is_refused(site: Site) -> None:
    site.enter()

    answer = site.ask(
        "POST", "/do", {**site.own, "Cookie": site.cookie, "Content-Type": f"{FORM}; charset=utf-7"}, b"act=on"
    )

    assert status(answer) == 415
