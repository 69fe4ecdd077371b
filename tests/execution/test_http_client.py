from __future__ import annotations

import gzip
import socket
import threading
import time
import urllib.request
from collections.abc import Callable, Iterator, Sequence
from contextlib import closing, contextmanager
from http.client import HTTPConnection
from pathlib import Path
from typing import Any

import pytest
from addresses import PUBLIC, REFUSED
from every import every
from servers import Said, Trap, WebServer, authority

from tray.addresses import endpoint
from tray.errors import HooktrayError
from tray.execution import http_client
from tray.execution.http_client import HttpReply, HttpRequest, check_addresses, lookup, send
from tray.execution.request_job import Deadline

Resolve = Callable[[str, int], Sequence[str]]


@contextmanager
def resolved(resolve: Resolve) -> Iterator[None]:
    """Names have the addresses that this function returns."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(http_client, "lookup", resolve)
        yield


def ask(url: str, *, local: bool = True, resolve: Resolve = lookup, timeout: float = 20.0) -> HttpReply:
    with resolved(resolve), closing(Deadline(timeout)) as deadline:
        return send(HttpRequest(endpoint=endpoint(url), body=b"{}", local=local), deadline)


@contextmanager
def fails(words: str) -> Iterator[None]:
    with pytest.raises(HooktrayError) as caught:
        yield
    assert words in caught.value.message


LOCAL = ["127.0.0.1", "::ffff:127.0.0.1", "::1", "10.0.0.1", "169.254.169.254", "64:ff9b::7f00:1", "fe80::1%lo"]


@every("address", LOCAL)
@every("beside", [(), ("8.8.8.8",), ("2606:4700:4700::1111",)])
def test_a_name_with_one_local_address_is_never_connected_to(address: str, beside: tuple[str, ...]) -> None:
    with closing(Trap()) as trap:
        with fails("refused"):
            ask(f"http://guard.test:{trap.port}/", local=False, resolve=lambda host, port: (*beside, address))

        assert trap.connects == 0


@pytest.mark.parametrize("others", [(), ("8.8.8.8",), ("2606:4700:4700::1111", "1.1.1.1")])
def test_no_refused_address_gets_through_a_name_alone_or_in_company(others: tuple[str, ...]) -> None:
    request = HttpRequest(endpoint=endpoint("https://guard.test/"))
    for address in REFUSED:
        answer = (*others, address)
        with fails("refused"), resolved(lambda host, port: answer):  # noqa: B023 - asked before the next round
            check_addresses(request)


def test_public_addresses_pass_in_their_order() -> None:
    with resolved(lambda host, port: tuple(PUBLIC)):
        assert check_addresses(HttpRequest(endpoint=endpoint("https://guard.test/"))) == tuple(PUBLIC)


def test_a_literal_local_address_is_never_connected_to_and_a_plain_client_would() -> None:
    with closing(Trap()) as trap:
        with fails("this machine"):
            ask(f"http://{trap.place}/", local=False)
        assert trap.connects == 0

        with pytest.raises(OSError, match=r"\w"):
            urllib.request.urlopen(f"http://localhost:{trap.port}/", timeout=0.2)
        assert trap.connects == 1


def test_the_address_that_was_checked_is_the_one_connected_to() -> None:
    """A name that turns to another address at the second look-up is looked up once."""
    with closing(WebServer()) as server, closing(Trap()) as trap:
        answers = iter([("127.0.0.1",), ("127.0.0.2",)])

        reply = ask(f"http://flip.test:{server.port}/", resolve=lambda host, port: next(answers))

        assert reply.status == 200
        assert next(answers) == ("127.0.0.2",)
        assert server.asked[0].headers["Host"] == f"flip.test:{server.port}"
        assert trap.connects == 0


def test_an_address_that_takes_no_connection_gives_way_to_the_next() -> None:
    with closing(WebServer()) as server:
        assert (
            ask(f"http://two.test:{server.port}/", resolve=lambda host, port: ("127.0.0.9", "127.0.0.1")).status
            == 200
        )


@pytest.mark.parametrize("status", [301, 302, 303, 307, 308])
def test_a_redirect_is_an_answer_and_leads_nowhere(status: int) -> None:
    with closing(Trap()) as trap:
        goal = {"Location": f"http://{trap.place}/"}
        with closing(WebServer(lambda asked: Said(status=status, headers=goal))) as server:
            assert ask(server.url).status == status
            assert trap.connects == 0


def test_proxy_variables_and_netrc_count_for_nothing(monkeypatch: pytest.MonkeyPatch, own_home: Path) -> None:
    with closing(WebServer()) as server, closing(Trap()) as trap:
        for name in ("http_proxy", "HTTPS_PROXY", "ALL_PROXY"):
            monkeypatch.setenv(name, f"http://{trap.place}")
        (own_home / ".netrc").write_text("machine 127.0.0.1 login me password it\n")
        (own_home / ".netrc").chmod(0o600)

        ask(server.url)

        assert trap.connects == 0
        assert "Authorization" not in server.asked[0].headers


def test_too_long_an_answer_is_a_failure() -> None:
    with closing(WebServer(lambda asked: Said(b"x" * (1024 * 1024 + 1)))) as server, fails("more than 1048576 bytes"):
        ask(server.url)


def test_a_packed_answer_is_refused_unopened() -> None:
    bomb = gzip.compress(b"0" * 10_000_000)
    with closing(WebServer(lambda asked: Said(bomb, headers={"Content-Encoding": "gzip"}))) as server:
        with fails("encoding `gzip`"):
            ask(server.url)
        assert server.asked[0].headers["Accept-Encoding"] == "identity"


def test_half_an_answer_is_none() -> None:
    short = Said(b'{"decision"', headers={"Content-Length": "400", "Connection": "close"})
    with closing(WebServer(lambda asked: short)) as server, fails("hung up"):
        ask(server.url)


def test_a_server_that_drips_ends_at_the_deadline() -> None:
    with closing(WebServer(lambda asked: Said(b"x" * 5000, drip=0.1))) as server:
        started = time.monotonic()
        with fails("timed out after 0.4 s"):
            ask(server.url, timeout=0.4)
        assert time.monotonic() - started < 60  # all of it takes 500 seconds


def test_a_handshake_that_never_comes_ends_at_the_deadline() -> None:
    with closing(Trap()) as trap, fails("timed out after 0.3 s"):
        ask(f"https://{trap.place}/", timeout=0.3)


def test_tls_is_about_the_name_and_not_the_address(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    trusted = authority(tmp_path, "guard.test")
    with closing(WebServer(context=trusted.context)) as server:
        with fails("certificate verify failed"):
            ask(f"https://guard.test:{server.port}/", resolve=lambda host, port: ("127.0.0.1",))
        monkeypatch.setenv("SSL_CERT_FILE", str(trusted.root))

        assert ask(f"https://guard.test:{server.port}/", resolve=lambda host, port: ("127.0.0.1",)).status == 200
        for other in ("other.test", "localhost"):
            with fails("match"):
                ask(f"https://{other}:{server.port}/", resolve=lambda host, port: ("127.0.0.1",))
        assert len(server.asked) == 1


def test_an_ipv6_address_may_end_in_letters(monkeypatch: pytest.MonkeyPatch) -> None:
    connect = socket.create_connection
    monkeypatch.setattr(
        socket, "create_connection", lambda address, timeout: connect(("127.0.0.1", address[1]), timeout)
    )
    with closing(WebServer()) as server:
        assert ask(f"http://[2606:4700::abcd]:{server.port}/").status == 200
        assert server.asked[0].headers["Host"] == f"[2606:4700::abcd]:{server.port}"


def test_signs_that_strict_servers_refuse_in_a_path_are_escaped() -> None:
    with closing(WebServer()) as server:
        ask(f"{server.url}/a{{b}}|%zz/%7e?q=[1]&'!$")

        assert server.asked[0].path == "/a%7Bb%7D%7C%25zz/%7e?q=%5B1%5D&'!$"


def test_an_answer_counts_that_came_before_the_whole_request_was_sent(monkeypatch: pytest.MonkeyPatch) -> None:
    request = HTTPConnection.request

    def cut(connection: HTTPConnection, *words: Any) -> None:
        request(connection, *words)
        raise BrokenPipeError

    monkeypatch.setattr(HTTPConnection, "request", cut)
    with closing(WebServer(lambda asked: Said(status=413))) as server:
        assert ask(server.url).status == 413


ODD = {
    b"SSH-2.0 x\r\n": "answered with what is not HTTP: 'SSH-2.0 x",
    b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\nContent-Length: 3\r\n\r\n{}\n": "answered with two lengths",
}


@pytest.mark.parametrize("answer", ODD)
def test_what_is_no_plain_answer_is_a_failure_in_one_line(answer: bytes) -> None:
    with socket.create_server(("127.0.0.1", 0)) as listener:

        def greet() -> None:
            with listener.accept()[0] as connection:
                connection.recv(4096)
                connection.sendall(answer)

        thread = threading.Thread(target=greet)
        thread.start()
        with fails(ODD[answer]):
            ask(f"http://127.0.0.1:{listener.getsockname()[1]}/")
        thread.join()
