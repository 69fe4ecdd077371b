"""Servers of the tests' own on the loopback: they answer what they are told to, and remember what they were asked."""

from __future__ import annotations

import json
import socket
import ssl
import subprocess
import threading
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

Respond = Callable[["Asked"], "Said"]


@dataclass(frozen=True)
class Asked:
    """One request, as it came."""

    path: str
    headers: Mapping[str, str]
    body: bytes
    method: str = "POST"

    @property
    def json(self) -> Any:
        return json.loads(self.body)


@dataclass(frozen=True)
class Said:
    """What to answer. With `drip` the body goes out byte by byte, one each so many seconds, until told to end."""

    body: bytes = b""
    status: int = 200
    headers: Mapping[str, str] = field(default_factory=dict)
    drip: float = 0.0


class WebServer:
    """Speaks HTTP, or HTTPS with the certificate of an authority of its own."""

    def __init__(self, respond: Respond = lambda asked: Said(), context: ssl.SSLContext | None = None) -> None:
        self.asked: list[Asked] = []
        self._ended = threading.Event()
        self._server = _Server(("127.0.0.1", 0), self._kind(respond))
        if context is not None:
            self._server.socket = context.wrap_socket(self._server.socket, server_side=True)
        self.port = int(self._server.server_address[1])
        self.place = f"127.0.0.1:{self.port}"
        self.url = f"{'https' if context else 'http'}://{self.place}"
        self._thread = threading.Thread(target=self._server.serve_forever, kwargs={"poll_interval": 0.05})
        self._thread.start()

    def close(self) -> None:
        self._ended.set()
        self._server.shutdown()
        self._server.server_close()
        self._thread.join()

    def _kind(self, respond: Respond) -> type[BaseHTTPRequestHandler]:
        asked, ended = self.asked, self._ended

        class Speaker(BaseHTTPRequestHandler):
            def do_POST(self) -> None:
                body = self.rfile.read(int(self.headers.get("Content-Length", 0)))
                asked.append(Asked(self.path, dict(self.headers), body, self.command))
                said = respond(asked[-1])
                self.send_response(said.status)
                for name, value in {"Content-Length": str(len(said.body)), **said.headers}.items():
                    self.send_header(name, value)
                self.end_headers()
                for byte in [said.body[i : i + 1] for i in range(len(said.body))] if said.drip else [said.body]:
                    if said.drip and ended.wait(said.drip):
                        return
                    try:
                        self.wfile.write(byte)
                    except OSError:
                        return

            do_GET = do_POST  # noqa: N815

            def log_message(self, format: str, *args: Any) -> None:
                """Silent."""

        return Speaker


class _Server(ThreadingHTTPServer):
    daemon_threads = False

    def handle_error(self, request: Any, client_address: Any) -> None:
        """A client that goes, or knows no such authority, is not the server's trouble."""


class Trap:
    """Listens, and counts who connects."""

    def __init__(self) -> None:
        self._socket = socket.create_server(("127.0.0.1", 0))
        self.port = int(self._socket.getsockname()[1])
        self.place = f"127.0.0.1:{self.port}"

    @property
    def connects(self) -> int:
        """How many have come since the last look; each is hung up on."""
        count = 0
        self._socket.settimeout(0.05)
        try:
            while True:
                self._socket.accept()[0].close()
                count += 1
        except TimeoutError:
            return count

    def close(self) -> None:
        self._socket.close()


@dataclass(frozen=True)
class Authority:
    """A certificate authority of one test, and a certificate by it for one name."""

    root: Path
    context: ssl.SSLContext


def authority(folder: Path, name: str) -> Authority:
    def openssl(*words: str) -> None:
        subprocess.run(["openssl", *words], cwd=folder, check=True, capture_output=True, timeout=60)

    curve = ("-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes", "-days", "2")
    openssl("req", "-x509", *curve, "-keyout", "root.key", "-out", "root.pem", "-subj", "/CN=Test authority")
    openssl("req", *curve[:5], "-keyout", "leaf.key", "-out", "leaf.csr", "-subj", f"/CN={name}")
    (folder / "names").write_text(f"subjectAltName=DNS:{name}\n")
    openssl(
        "x509", "-req", "-in", "leaf.csr", "-CA", "root.pem", "-CAkey", "root.key", "-CAcreateserial", "-days", "2",
        "-out", "leaf.pem", "-extfile", "names",
    )  # fmt: skip
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(folder / "leaf.pem", folder / "leaf.key")
    return Authority(folder / "root.pem", context)


def completion(text: str = "", calls: tuple[tuple[str, Mapping[str, Any]], ...] = ()) -> bytes:
    """A chat completion: an answer, or tools that the model wants used."""
    wanted = [
        {"id": f"call_{i}", "type": "function", "function": {"name": name, "arguments": json.dumps(arguments)}}
        for i, (name, arguments) in enumerate(calls)
    ]
    message = {"role": "assistant", "content": text, **({"tool_calls": wanted} if wanted else {})}
    choice = {"index": 0, "finish_reason": "tool_calls" if wanted else "stop", "message": message}
    whole = {"id": "c-1", "object": "chat.completion", "created": 1, "model": "m", "choices": [choice]}
    return json.dumps(whole).encode()


@contextmanager
def answering_socket(path: Path, answer: bytes, limit: float) -> Iterator[threading.Event]:
    """A socket that says this to its one caller, whatever it is asked, and hangs up; the event is set then."""
    answered = threading.Event()
    with socket.socket(socket.AF_UNIX) as listener:
        listener.bind(str(path))
        listener.listen()

        def serve() -> None:
            connection, _ = listener.accept()
            with connection:
                connection.recv(4096)
                connection.sendall(answer)
            answered.set()

        thread = threading.Thread(target=serve)
        thread.start()
        yield answered
        thread.join(limit)
