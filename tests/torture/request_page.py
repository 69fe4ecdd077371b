"""A program of an agent at the page: `request_page.py REQUEST…`, each a JSON list of method, URL, headers and body.

Prints the status of each. With the method UPGRADE it begins a WebSocket, as a script in a browser would.
"""

from __future__ import annotations

import json
import socket
import sys
from urllib.parse import urlsplit

UPGRADE = {
    "Connection": "Upgrade",
    "Upgrade": "websocket",
    "Sec-WebSocket-Version": "13",
    "Sec-WebSocket-Key": "dGhlIHNhbXBsZSBub25jZQ==",
}


def main(method: str, url: str, headers: dict[str, str], body: str) -> None:
    where = urlsplit(url)
    words = headers | (UPGRADE if method == "UPGRADE" else {"Connection": "close"})
    target = where.path + (f"?{where.query}" if where.query else "")
    lines = [f"{'GET' if method == 'UPGRADE' else method} {target} HTTP/1.1", f"Host: {where.netloc}"]
    lines += [f"{name}: {value}" for name, value in words.items()]
    lines += [f"Content-Length: {len(body)}"] if method == "POST" else []
    with socket.create_connection((where.hostname or "", where.port or 80), 20) as caller:
        caller.sendall("\r\n".join([*lines, "", body]).encode())
        print(caller.recv(4096).split(b" ", 2)[1].decode())


if __name__ == "__main__":
    for request in sys.argv[1:]:
        main(*json.loads(request))
