"""A program of an agent at the page: `request_page.py REQUEST…`, each a JSON list of method, URL, headers and body.

Prints the status of each. With the method UPGRADE it begins a WebSocket, as a script in a browser would. The cookie
that an answer sets goes with the requests after it, and TOKEN in a body is that of the form that was shown last.
"""

from __future__ import annotations

import json
import re
import socket
import sys
from urllib.parse import urlsplit

UPGRADE = {
    "Connection": "Upgrade",
    "Upgrade": "websocket",
    "Sec-WebSocket-Version": "13",
    "Sec-WebSocket-Key": "dGhlIHNhbXBsZSBub25jZQ==",
}


COOKIE = re.compile(rb"^Set-Cookie: ([^;\r\n]+)", re.IGNORECASE | re.MULTILINE)
TOKEN = re.compile(rb'name="token" value="([^"]+)"')


def main(requests: list[str]) -> None:
    cookie: dict[str, str] = {}
    token = "TOKEN"
    for request in requests:
        method, url, headers, body = json.loads(request)
        answer = ask(method, url, headers | cookie, body.replace("TOKEN", token))
        print(answer.split(b" ", 2)[1].decode())
        if found := COOKIE.search(answer):
            cookie = {"Cookie": found[1].decode()}
        if found := TOKEN.search(answer):
            token = found[1].decode()


def ask(method: str, url: str, headers: dict[str, str], body: str) -> bytes:
    where = urlsplit(url)
    words = headers | (UPGRADE if method == "UPGRADE" else {"Connection": "close"})
    target = where.path + (f"?{where.query}" if where.query else "")
    lines = [f"{'GET' if method == 'UPGRADE' else method} {target} HTTP/1.1", f"Host: {where.netloc}"]
    lines += [f"{name}: {value}" for name, value in words.items()]
    lines += [f"Content-Length: {len(body)}"] if method == "POST" else []
    with socket.create_connection((where.hostname or "", where.port or 80), 20) as caller:
        caller.sendall("\r\n".join([*lines, "", body]).encode())
        answer = caller.recv(4096)
        while method != "UPGRADE" and (more := caller.recv(1 << 16)):
            answer += more
        return answer


if __name__ == "__main__":
    main(sys.argv[1:])
