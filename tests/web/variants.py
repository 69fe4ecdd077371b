"""Variants of a request to the page as raw bytes; one of them is valid."""

from __future__ import annotations

import itertools

BODY = b"act=on"
KINDS = ("application/x-www-form-urlencoded", "application/json", "text/plain", "")
LEGAL = ("own", "own", "same-origin", KINDS[0], "right")
# Header lines by name; {own} is the address of the page.
HOSTS = {
    "own": "Host: {own}\r\n",
    "no port": "Host: 127.0.0.1\r\n",
    "other port": "Host: 127.0.0.1:1\r\n",
    "localhost": "Host: localhost:{port}\r\n",
    "evil": "Host: evil.test:{port}\r\n",
    "none": "",
    "twice": "Host: {own}\r\nHost: {own}\r\n",
    "own and evil": "Host: {own}\r\nHost: evil.test\r\n",
}
ORIGINS = {
    "own": "Origin: http://{own}\r\n",
    "none": "",
    "null": "Origin: null\r\n",
    "evil": "Origin: http://evil.test:{port}\r\n",
    "localhost": "Origin: http://localhost:{port}\r\n",
    "https": "Origin: https://{own}\r\n",
}
SITES = ("same-origin", "same-site", "cross-site", "")
COOKIES = {"right": "Cookie: theme=dark; {cookie}\r\n", "wrong": "Cookie: {cookie}x\r\n", "none": ""}

Variant = tuple[str, str, str, str, str]


def variants() -> list[Variant]:
    """Returns the valid request, and those that differ from it in one or two parts."""
    every = itertools.product(HOSTS, ORIGINS, SITES, KINDS, COOKIES)
    return [one for one in every if sum(part != right for part, right in zip(one, LEGAL, strict=True)) <= 2]


def request(variant: Variant, port: int, cookie: str, first: str = "POST /do") -> bytes:
    host, origin, site, kind, token = variant
    head = HOSTS[host] + ORIGINS[origin] + COOKIES[token]
    head += f"Sec-Fetch-Site: {site}\r\n" if site else ""
    head += f"Content-Type: {kind}\r\n" if kind else ""
    head = head.format(own=f"127.0.0.1:{port}", port=port, cookie=cookie)
    body = BODY if first.startswith("POST") else b""
    head += f"Content-Length: {len(body)}\r\n" if body else ""
    return f"{first} HTTP/1.1\r\n{head}Connection: close\r\n\r\n".encode() + body
