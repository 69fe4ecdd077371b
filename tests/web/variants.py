"""2,304 ways to ask the page for something, one of them right; over kept connections, as raw bytes."""

from __future__ import annotations

import itertools
import socket
from collections.abc import Iterator
from dataclasses import dataclass

BODY = b"act=on"
HOSTS = ("own", "no port", "other port", "localhost", "evil", "none", "twice", "own and evil")
ORIGINS = ("own", "none", "null", "evil", "localhost", "https")
SITES = ("same-origin", "same-site", "cross-site", "")
KINDS = ("application/x-www-form-urlencoded", "application/json", "text/plain", "")
TOKENS = ("right", "wrong", "none")
LEGAL = ("own", "own", "same-origin", KINDS[0], "right")

Variant = tuple[str, str, str, str, str]


def variants() -> Iterator[Variant]:
    return itertools.product(HOSTS, ORIGINS, SITES, KINDS, TOKENS)


@dataclass
class PageCaller:
    """Asks one server for many things; `cookie` is what a browser that is signed in would send."""

    port: int
    cookie: str

    def __post_init__(self) -> None:
        self._connection: socket.socket | None = None
        self._unread = b""

    def request(self, variant: Variant, method: str = "POST", path: str = "/do") -> tuple[int, bytes]:
        """Status and body of the answer."""
        if self._connection is None:
            self._connection, self._unread = socket.create_connection(("127.0.0.1", self.port), 20), b""
        self._connection.sendall(self._request(variant, method, path))
        head, _, rest = self._until(b"\r\n\r\n").partition(b"\r\n\r\n")
        fields = dict(line.lower().split(b": ", 1) for line in head.split(b"\r\n")[1:])
        size = int(fields.get(b"content-length", b"0"))
        while len(rest) < size:
            rest += self._connection.recv(65536)
        self._unread = rest[size:]
        if fields.get(b"connection") == b"close" or head.startswith(b"HTTP/1.0"):
            self.close()
        return int(head.split(b" ")[1]), rest[:size]

    def close(self) -> None:
        if self._connection:
            self._connection.close()
        self._connection = None

    def _until(self, mark: bytes) -> bytes:
        assert self._connection
        found = self._unread
        while mark not in found:
            part = self._connection.recv(65536)
            assert part, f"hung up after {found[:100]!r}"
            found += part
        return found

    def _request(self, variant: Variant, method: str, path: str) -> bytes:
        host, origin, site, kind, token = variant
        own = f"127.0.0.1:{self.port}"
        name, _, value = self.cookie.partition("=")
        lines = [
            f"{method} {path} HTTP/1.1",
            *{
                "own": [f"Host: {own}"],
                "no port": ["Host: 127.0.0.1"],
                "other port": [f"Host: 127.0.0.1:{self.port ^ 1}"],
                "localhost": [f"Host: localhost:{self.port}"],
                "evil": [f"Host: evil.test:{self.port}"],
                "none": [],
                "twice": [f"Host: {own}", f"Host: {own}"],
                "own and evil": [f"Host: {own}", "Host: evil.test"],
            }[host],
            *{
                "own": [f"Origin: http://{own}"],
                "none": [],
                "null": ["Origin: null"],
                "evil": [f"Origin: http://evil.test:{self.port}"],
                "localhost": [f"Origin: http://localhost:{self.port}"],
                "https": [f"Origin: https://{own}"],
            }[origin],
            *([f"Sec-Fetch-Site: {site}"] if site else []),
            *([f"Content-Type: {kind}"] if kind else []),
            *{
                "right": [f"Cookie: theme=dark; {name}={value}"],
                "wrong": [f"Cookie: {name}={value[:-1]}{'A' if value[-1] != 'A' else 'B'}"],
                "none": [],
            }[token],
        ]
        body = BODY if method == "POST" else b""
        lines += [f"Content-Length: {len(body)}"] if body else []
        return "\r\n".join([*lines, "", ""]).encode() + body
