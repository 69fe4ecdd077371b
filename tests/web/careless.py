"""A page as careless ones are: it answers everybody, does what it is told, and shows what it knows to all."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import closing, contextmanager

from servers import Asked, Said, WebServer

SECRET = "what-only-the-owner-may-read"


class Careless:
    """Counts what was done to it; `cookie` is there, and nobody looks at it."""

    cookie = "careless=x"

    def __init__(self) -> None:
        self.writes: list[str] = []
        self.port = 0

    def answer(self, asked: Asked) -> Said:
        if asked.method == "POST" or asked.path.startswith("/do"):
            self.writes.append(asked.path)
        stream = asked.path.startswith("/live")
        headers = {
            "Content-Type": "text/event-stream" if stream else "text/html",
            "Access-Control-Allow-Origin": asked.headers.get("Origin", "*"),
            "Access-Control-Allow-Credentials": "true",
            "Vary": "Origin",
            "Cache-Control": "max-age=600",
        }
        return Said((f"data: {SECRET}\n\n" if stream else SECRET).encode(), headers=headers)


@contextmanager
def careless_server() -> Iterator[Careless]:
    careless = Careless()
    with closing(WebServer(careless.answer)) as server:
        careless.port = server.port
        yield careless
