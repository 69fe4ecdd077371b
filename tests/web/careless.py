"""A page as careless ones are: it answers everybody, does what it is told, and shows what it knows to all."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any, ClassVar

SECRET = "what-only-the-owner-may-read"


class Careless:
    """Counts what was done to it; `cookie` is there, and nobody looks at it."""

    cookie = "careless=x"

    def __init__(self) -> None:
        self.writes: list[str] = []
        self.port = 0

    def do(self, path: str) -> None:
        self.writes.append(path)


class Answers(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    disable_nagle_algorithm = True
    careless: ClassVar[Careless]

    def do_POST(self) -> None:
        self.rfile.read(int(self.headers.get("Content-Length", 0)))
        self.careless.do(self.path)
        self._answer()

    def do_GET(self) -> None:
        if self.path.startswith("/do"):
            self.careless.do(self.path)
        self._answer()

    def _answer(self) -> None:
        stream = self.path.startswith("/live")
        body = f"data: {SECRET}\n\n".encode() if stream else SECRET.encode()
        self.send_response(200)
        self.send_header("Content-Type", "text/event-stream" if stream else "text/html")
        self.send_header("Access-Control-Allow-Origin", self.headers.get("Origin", "*"))
        self.send_header("Access-Control-Allow-Credentials", "true")
        self.send_header("Vary", "Origin")
        self.send_header("Cache-Control", "max-age=600")
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, format: str, *words: Any) -> None:
        """Nobody reads it."""


@contextmanager
def careless_server() -> Iterator[Careless]:
    careless = Careless()
    handler = type("Handler", (Answers,), {"careless": careless})
    with serving(handler) as careless.port:
        yield careless


class Quiet(ThreadingHTTPServer):
    def handle_error(self, request: Any, client_address: Any) -> None:
        """Browsers hang up as they like."""


@contextmanager
def serving(handler: type[BaseHTTPRequestHandler]) -> Iterator[int]:
    """A server in a thread; its port."""
    with Quiet(("127.0.0.1", 0), handler) as server:
        server.daemon_threads = True
        thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.05})
        thread.start()
        try:
            yield server.server_address[1]
        finally:
            server.shutdown()
            thread.join()
