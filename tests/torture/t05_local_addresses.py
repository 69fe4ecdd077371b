"""T05: an HTTP hook is talked into reaching this machine or its network, by every spelling and every turn."""

from __future__ import annotations

import contextlib
import random
import threading
import urllib.request
from collections.abc import Callable, Iterator, Sequence
from contextlib import closing
from http.client import HTTPException

import pytest
from addresses import PUBLIC, REFUSED
from servers import Said, Trap, WebServer

from torture.frame import Tally
from torture.trays import LONG
from tray.addresses import endpoint
from tray.errors import HooktrayError
from tray.execution import http_client
from tray.execution.http_client import HttpRequest, check_addresses, lookup, send
from tray.execution.request_job import Deadline

Resolve = Callable[[str, int], Sequence[str]]

TITLE = "HTTP hooks and this machine's own addresses"
TOGETHER = 25  # URLs between two looks at the trap, which take their time
STATUSES = (301, 302, 303, 307, 308)


def torture(tally: Tally) -> None:
    with closing(Trap()) as trap:
        _names(tally, trap)
        _literals(tally, trap)
        _redirects(tally, trap)
        _rebinding(tally, trap)
        _spelled(tally, trap)
        _controls(tally, trap)
    for _ in range(tally.many(2, 12)):
        for address in PUBLIC:
            tally.keep(f"{address} is public", _passes(address))


@contextlib.contextmanager
def _resolved(resolve: Resolve) -> Iterator[None]:
    """Names have the addresses that this function returns."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(http_client, "lookup", resolve)
        yield


def _passes(address: str) -> bool:
    request = HttpRequest(endpoint=endpoint("https://guard.test/"))
    with _resolved(lambda host, port: (address,)):
        try:
            return check_addresses(request) == (address,)
        except HooktrayError:
            return False


def _reaches(trap: Trap, url: str, resolve: Resolve = lookup, *, local: bool = False) -> bool:
    """Whether anybody was connected to."""
    _send(url, resolve, local=local)
    return trap.connects > 0


def _send(url: str, resolve: Resolve = lookup, *, local: bool = False) -> None:
    with contextlib.suppress(HooktrayError, ValueError), _resolved(resolve), closing(Deadline(5.0)) as span:
        send(HttpRequest(endpoint=endpoint(url), body=b"{}", local=local), span)


def _names(tally: Tally, trap: Trap) -> None:
    """A name with one such address, alone and in company."""
    for address in REFUSED:
        for others in ((), ("8.8.8.8",), ("2606:4700:4700::1111",), ("1.1.1.1", "2620:fe::fe")):
            for answer in {(*others, address), (address, *others)}:
                request = HttpRequest(endpoint=endpoint(f"http://guard.test:{trap.port}/"))
                tally.attack(f"a name with {answer}", _is_refused(request, answer))


def _is_refused(request: HttpRequest, answer: Sequence[str]) -> bool:
    with _resolved(lambda host, port: answer):
        try:
            check_addresses(request)
        except HooktrayError:
            return True
    return False


def _literals(tally: Tally, trap: Trap) -> None:
    for address in REFUSED:
        host = f"[{address}]" if ":" in address else address
        try:
            request = HttpRequest(endpoint=endpoint(f"http://{host}:{trap.port}/"))
        except ValueError:
            tally.attack(f"literal {address}", held=True)
            continue
        tally.attack(f"literal {address}", _is_refused(request, ()))


def _redirects(tally: Tally, trap: Trap) -> None:
    for status in STATUSES:
        for goal in (f"http://{trap.place}/", f"//{trap.place}/", f"http://localhost:{trap.port}/"):
            moved = Said(status=status, headers={"Location": goal})
            with closing(WebServer(lambda asked, moved=moved: moved)) as server:  # type: ignore[misc]
                tally.attack(f"{status} to {goal}", not _reaches(trap, server.url, local=True))
                tally.keep(f"{status} to {goal} was said", bool(server.asked))


def _rebinding(tally: Tally, trap: Trap) -> None:
    """A name that is public at the first look-up and local at the second."""
    for _ in range(tally.many(5, 50)):
        answers = iter([("192.0.1.1", "127.0.0.1"), ("127.0.0.1",), ("127.0.0.1",)])
        held = not _reaches(trap, f"http://flip.test:{trap.port}/", lambda host, port: next(answers))  # noqa: B023
        tally.attack("a name that turns", held)


def _spelled(tally: Tally, trap: Trap) -> None:
    urls = list(_urls(random.Random(5), trap, tally.many(300, 5000)))
    for start in range(0, len(urls), TOGETHER):
        some = urls[start : start + TOGETHER]
        for url in some:
            _send(url)
        reached = trap.connects
        for url in some:
            tally.attack(f"{url} ({reached} connects by its batch)", not reached)


def _urls(dice: random.Random, trap: Trap, count: int) -> Iterator[str]:
    """Loopback in other words, with the noise that parsers disagree about."""
    hosts = (
        "127.0.0.1", "127.1", "2130706433", "0x7f000001", "0x7f.1", "0177.0.0.1", "127.0.0.1.", "localhost",
        "LOCALHOST", "localhost.", "a.localhost", "[::1]", "[::ffff:127.0.0.1]", "[::ffff:7f00:1]", "0", "0.0.0.0",
        "[::]", "[0:0:0:0:0:0:0:1]", "127。0。0。1", "①②⑦.0.0.1", "127.0.0.1%00.example.com", "%31%32%37.0.0.1",
        "[::1%25lo]", "[::127.0.0.1]", "0x7f.0x0.0x0.0x1", "00000177.1", "127.000.000.001",
    )  # fmt: skip
    before = (
        "",
        "example.com@",
        "example.com:80@",
        "user:pass@",
        "example.com%40",
        "example.com#@",
        "example.com\\@",
    )
    schemes = ("http", "HTTP", "hTTp", "http\t", " http", "file", "gopher", "ftp", "dict", "unix")
    after = ("/", "", "?x", "#x", "/../", "\\", "/%0d%0aHost:x", "\r\nX: y", ";x", "/\t")
    for _ in range(count):
        scheme = dice.choice(schemes) if dice.random() < 0.2 else "http"
        slashes = dice.choice(("//", "//", "//", "/", "", "///", "\\\\", "/\\"))
        port = dice.choice((f":{trap.port}",) * 6 + (f":0{trap.port}", f":{trap.port}@example.com"))
        yield f"{scheme}:{slashes}{dice.choice(before)}{dice.choice(hosts)}{port}{dice.choice(after)}"


def _controls(tally: Tally, trap: Trap) -> None:
    plain = urllib.request.build_opener()
    for url in (f"http://127.1:{trap.port}/", f"http://localhost:{trap.port}/", f"http://0x7f000001:{trap.port}/"):
        tally.control(f"a plain client at {url}", _connects(plain, trap, url))
    moved = Said(status=302, headers={"Location": f"http://{trap.place}/"})
    with closing(WebServer(lambda asked: moved)) as server:
        tally.control("a client that follows", _connects(plain, trap, server.url, b"{}"))


def _connects(plain: urllib.request.OpenerDirector, trap: Trap, url: str, body: bytes | None = None) -> bool:
    """Whether it comes to the trap, which hangs up on it."""

    def call() -> None:
        with contextlib.suppress(OSError, ValueError, HTTPException):
            plain.open(url, body, timeout=LONG).close()

    client = threading.Thread(target=call)
    client.start()
    came = trap.connects
    while not came and client.is_alive():
        came = trap.connects
    client.join()
    return came > 0
