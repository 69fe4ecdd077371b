"""T06: of all the ways to ask, one is answered; and a careless page does not pass the same table."""

from __future__ import annotations

import base64
import hashlib
import re
import socket
from collections.abc import Iterator
from contextlib import closing

import pytest
from msgspec.structs import replace
from web.browsing import keep
from web.careless import careless_server
from web.site import FORM, ROW, Site, status, token
from web.variants import LEGAL, PageCaller, variants

from tray.approvals.callers.click_check import ClickObjection, ClickRejection
from tray.approvals.review import hook_id

MARKER = "only-for-its-owner"


@pytest.fixture
def caller(site: Site) -> Iterator[PageCaller]:
    keep(site, replace(ROW, reason=MARKER))
    site.enter()
    with closing(PageCaller(site.port, site.cookie)) as caller:
        yield caller


def switched(site: Site) -> int:
    with site.house.stores.database.connect() as connection:
        return int(connection.execute("SELECT count(*) FROM switch_log").fetchone()[0])


def test_of_2304_ways_to_write_one_counts(site: Site, caller: PageCaller) -> None:
    answers = {variant: caller.request(variant) for variant in variants()}

    assert len(answers) == 2304
    assert {variant for variant, (code, _) in answers.items() if code < 400} == {LEGAL}
    assert switched(site) == 1
    assert not any(b"evil" in body for _, body in answers.values())


def test_of_the_same_ways_to_read_those_of_the_own_browser_count(caller: PageCaller) -> None:
    answers = {variant: caller.request(variant, "GET", "/") for variant in variants()}

    told = {variant for variant, (_, body) in answers.items() if MARKER.encode() in body}

    assert told == {
        ("own", origin, site, kind, "right")
        for _, _, _, kind, _ in answers
        for origin in ("own", "none")
        for site in ("same-origin", "")
    }


def test_a_careless_page_fails_the_same_table() -> None:
    with careless_server() as careless, closing(PageCaller(careless.port, careless.cookie)) as caller:
        passed = [variant for variant in variants() if caller.request(variant)[0] < 400]

        assert len(passed) == 2304
        assert len(careless.writes) == 2304


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


@pytest.mark.parametrize("request_bytes", RAW.values(), ids=RAW)
def test_odd_requests_get_an_error_that_says_nothing_back(site: Site, request_bytes: bytes) -> None:
    site.enter()
    own = f"127.0.0.1:{site.port}".encode()

    answer = first(site.port, request_bytes.replace(b"{own}", own).replace(b"{cookie}", site.cookie.encode()))

    assert 400 <= status(answer) < 500
    assert b"evil" not in answer
    assert b"eeee" not in answer
    assert switched(site) == 0


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
    link = site.open()
    site.port = int(link.split(":")[2].split("/")[0])
    body = f'{{"token": "{link.partition("#")[2]}"}}'.encode()

    head = site.ask("POST", "/enter", {**site.own, "Content-Type": "application/json"}, body).decode()

    assert "HttpOnly" in head
    assert "SameSite=Strict" in head
    assert f"hooktray-{site.port}=" in head


def test_an_untrusted_process_with_the_cookie_can_read_and_not_act(site: Site) -> None:
    house = site.house
    house.hook("guard", on="tool_before", script="exit 0", approved=False)
    site.enter()
    question = site.get(f"/confirm/approve?of={target(site, 'guard')}")

    site.finding = ClickRejection(ClickObjection.AGENT, "python3 (7) belongs to an agent or a hook")
    refused = site.post("/confirm", f"token={token(question)}")

    assert status(refused) == 403
    assert house.state("guard").state == "pending"


def test_a_process_that_cannot_be_trusted_cannot_sign_in(site: Site) -> None:
    site.finding = ClickRejection(ClickObjection.AGENT, "python3 (7) belongs to an agent or a hook")
    link = site.open()
    site.port = int(link.split(":")[2].split("/")[0])
    body = f'{{"token": "{link.partition("#")[2]}"}}'.encode()

    answer = site.ask("POST", "/enter", {**site.own, "Content-Type": "application/json"}, body)

    assert status(answer) == 403
    assert b"Set-Cookie" not in answer


def target(site: Site, hook: str) -> str:
    return hook_id(site.house.state(hook).key)


def test_a_form_of_another_kind_of_content_is_refused(site: Site) -> None:
    site.enter()

    answer = site.ask(
        "POST", "/do", {**site.own, "Cookie": site.cookie, "Content-Type": f"{FORM}; charset=utf-7"}, b"act=on"
    )

    assert status(answer) == 415
