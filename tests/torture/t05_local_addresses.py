"""T05: an HTTP hook is talked into reaching this machine or its network, by every spelling of its address."""

from __future__ import annotations

import contextlib
import random
import threading
import urllib.request
from collections.abc import Iterator
from contextlib import closing
from http.client import HTTPException

from addresses import REFUSED
from servers import Trap

from torture.frame import Tally
from torture.trays import LONG
from tray.addresses import endpoint
from tray.errors import HooktrayError
from tray.execution.http_client import HttpRequest, check_addresses, send
from tray.execution.request_job import Deadline

TITLE = "HTTP hooks and this machine's own addresses"
TOGETHER = 25  # URLs between two looks at the trap, which take their time


def torture(tally: Tally) -> None:
    for address in REFUSED:
        tally.attack(f"literal {address}", _is_refused(f"[{address}]" if ":" in address else address))
    with closing(Trap()) as trap:
        _spelled(tally, trap)
        plain = urllib.request.build_opener()
        for host in ("127.1", "localhost", "0x7f000001"):
            tally.control(f"a plain client at {host}", _connects(plain, trap, f"http://{host}:{trap.port}/"))


def _is_refused(host: str) -> bool:
    try:
        check_addresses(HttpRequest(endpoint=endpoint(f"http://{host}/")))
    except (HooktrayError, ValueError):
        return True
    return False


def _send(url: str) -> None:
    with contextlib.suppress(HooktrayError, ValueError), closing(Deadline(5.0)) as span:
        send(HttpRequest(endpoint=endpoint(url), body=b"{}", local=False), span)


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


def _connects(plain: urllib.request.OpenerDirector, trap: Trap, url: str) -> bool:
    """Whether it comes to the trap, which hangs up on it."""

    def call() -> None:
        with contextlib.suppress(OSError, ValueError, HTTPException):
            plain.open(url, timeout=LONG).close()

    client = threading.Thread(target=call)
    client.start()
    came = trap.connects
    while not came and client.is_alive():
        came = trap.connects
    client.join()
    return came > 0
