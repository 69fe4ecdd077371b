"""A model of ours on loopback: it asks for one scripted tool after the other, and keeps what agents told it."""

from __future__ import annotations

import gzip
import json
import threading
from collections.abc import Sequence
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

from clients.wires import WIRES, Call, Reply, Request, Wire

DONE = "All done."  # what it says when no tool is left
MODEL = "mock-model"


class Model:
    """Answers in every wire format until it is closed. Requests without tools (titles, summaries) get a text."""

    def __init__(self, calls: Sequence[Call] = ()) -> None:
        self.calls = calls
        self.requests: list[tuple[Wire, Request]] = []  # those that offer tools, in order
        self.others: list[str] = []  # the paths that nothing here answers
        self._lock = threading.Lock()
        self._server = ThreadingHTTPServer(("127.0.0.1", 0), self._kind())
        self._thread = threading.Thread(target=self._server.serve_forever, kwargs={"poll_interval": 0.05})
        self._thread.start()

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self._server.server_port}"

    def close(self) -> None:
        self._server.shutdown()
        self._thread.join()
        self._server.server_close()

    def told(self) -> str:
        """Everything that the model was told, tool results and reminders included."""
        return json.dumps([request for _, request in self.requests], ensure_ascii=False)

    def results(self) -> list[str]:
        """What came back for each tool call, in order."""
        each = [wire.results(request) for wire, request in self.requests]
        return max(each, key=len, default=[])

    def answer(self, path: str, request: Request) -> Reply:
        wire = next((wire for wire in WIRES if wire.is_for(path)), None)
        if wire is None:
            with self._lock:
                self.others.append(path)
            return "application/json", b'{"input_tokens": 10, "totalTokens": 10, "data": [], "models": []}'
        if not wire.has_tools(request):
            return wire.text(request, path, "ok")
        with self._lock:
            self.requests.append((wire, request))
        done = len(wire.results(request))
        if done < len(self.calls):
            return wire.call(request, path, done, self.calls[done])
        return wire.text(request, path, DONE)

    def _kind(self) -> type[BaseHTTPRequestHandler]:
        model = self

        class Handler(BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"
            wbufsize = -1

            def do_GET(self) -> None:
                self._send(*model.answer(self.path, {}))

            def do_HEAD(self) -> None:
                self._send("application/json", b"")

            def do_POST(self) -> None:
                body = self.rfile.read(int(self.headers.get("Content-Length") or 0))
                if self.headers.get("Content-Encoding") == "gzip":
                    body = gzip.decompress(body)
                self._send(*model.answer(self.path, _object(body)))

            def _send(self, kind: str, body: bytes) -> None:
                self.send_response(200)
                self.send_header("Content-Type", kind)
                self.send_header("Content-Length", str(len(body)))
                self.send_header("Connection", "close")
                self.end_headers()
                self.wfile.write(body)

            def log_message(self, format: str, *args: Any) -> None:
                """Silent."""

        return Handler


def _object(body: bytes) -> Request:
    value = json.loads(body or b"{}")
    assert isinstance(value, dict), value
    return value
