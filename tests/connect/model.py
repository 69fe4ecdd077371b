"""A stand-in for the model behind Claude Code: it asks for one scripted tool after the other and keeps requests."""

from __future__ import annotations

import json
import threading
from collections.abc import Mapping, Sequence
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

Call = tuple[str, Mapping[str, Any]]  # tool and input


class Model:
    """Answers on loopback until it is closed."""

    def __init__(self, calls: Sequence[Call]) -> None:
        self.calls = calls
        self.requests: list[dict[str, Any]] = []
        model = self

        class Handler(BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"
            wbufsize = -1

            def log_message(self, *words: Any) -> None:
                pass

            def do_GET(self) -> None:
                self.reply("application/json", b"{}")

            def do_HEAD(self) -> None:
                self.reply("application/json", b"")

            def do_POST(self) -> None:
                request = json.loads(self.rfile.read(int(self.headers["Content-Length"])) or b"{}")
                self.reply(*model.answer(self.path, request))

            def reply(self, kind: str, body: bytes) -> None:
                self.send_response(200)
                self.send_header("Content-Type", kind)
                self.send_header("Content-Length", str(len(body)))
                self.send_header("Connection", "close")
                self.end_headers()
                self.wfile.write(body)

        self._server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
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
        return json.dumps([request["messages"] for request in self.requests], ensure_ascii=False)

    def results(self) -> list[str]:
        """What came back for each tool call, in order."""
        last = max(self.requests, key=lambda request: len(request["messages"]))
        parts = [
            part
            for message in last["messages"]
            if isinstance(message["content"], list)
            for part in message["content"]
        ]
        return [json.dumps(part["content"]) for part in parts if part["type"] == "tool_result"]

    def answer(self, path: str, request: dict[str, Any]) -> tuple[str, bytes]:
        if "count_tokens" in path:
            return "application/json", b'{"input_tokens": 10}'
        if not request.get("tools"):  # a title, a summary
            return self._streamed(
                request, {"type": "text", "text": ""}, {"type": "text_delta", "text": "ok"}, "end_turn"
            )
        self.requests.append(request)
        parts = [m["content"] for m in request["messages"] if isinstance(m["content"], list)]
        done = sum(part["type"] == "tool_result" for content in parts for part in content)
        if done >= len(self.calls):
            text = {"type": "text_delta", "text": "All done."}
            return self._streamed(request, {"type": "text", "text": ""}, text, "end_turn")
        name, value = self.calls[done]
        block = {"type": "tool_use", "id": f"toolu_{done}", "name": name, "input": {}}
        return self._streamed(
            request, block, {"type": "input_json_delta", "partial_json": json.dumps(value)}, "tool_use"
        )

    def _streamed(self, request: dict[str, Any], block: Any, delta: Any, reason: str) -> tuple[str, bytes]:
        message: dict[str, Any] = {
            "id": "msg_1",
            "type": "message",
            "role": "assistant",
            "model": request.get("model"),
            "content": [],
            "stop_reason": None,
            "stop_sequence": None,
            "usage": {"input_tokens": 1, "output_tokens": 1},
        }
        if not request.get("stream"):
            done = {**message, "content": [{"type": "text", "text": "ok"}], "stop_reason": reason}
            return "application/json", json.dumps(done).encode()
        events: list[dict[str, Any]] = [
            {"type": "message_start", "message": message},
            {"type": "content_block_start", "index": 0, "content_block": block},
            {"type": "content_block_delta", "index": 0, "delta": delta},
            {"type": "content_block_stop", "index": 0},
            {
                "type": "message_delta",
                "delta": {"stop_reason": reason, "stop_sequence": None},
                "usage": {"output_tokens": 5},
            },
            {"type": "message_stop"},
        ]
        lines = "".join(f"event: {event['type']}\ndata: {json.dumps(event)}\n\n" for event in events)
        return "text/event-stream", lines.encode()
