"""The wire formats of models, as far as an agent needs them: one text, or one tool call, and the results of tools.

Anthropic: POST /v1/messages. OpenAI: POST …/chat/completions and …/responses. Gemini: POST …:streamGenerateContent.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Protocol

Request = Mapping[str, Any]
Reply = tuple[str, bytes]  # content type and body


@dataclass(frozen=True, slots=True)
class Call:
    """A tool that the model asks for. `patch` is the text for a tool that takes a text instead of an object."""

    tool: str
    input: Mapping[str, Any]
    patch: str = ""


class Wire(Protocol):
    """One format. `results` are the texts of tool results in a request, in order of their calls."""

    def is_for(self, path: str) -> bool: ...
    def has_tools(self, request: Request) -> bool: ...
    def results(self, request: Request) -> list[str]: ...
    def text(self, request: Request, path: str, text: str) -> Reply: ...
    def call(self, request: Request, path: str, number: int, call: Call) -> Reply: ...


def server_sent(events: Iterable[Mapping[str, Any]], *, named: bool = True, end: str = "") -> Reply:
    lines = [(f"event: {event['type']}\n" if named else "") + f"data: {json.dumps(event)}\n\n" for event in events]
    return "text/event-stream", ("".join(lines) + end).encode()


def plain(value: Any) -> Reply:
    return "application/json", json.dumps(value).encode()


def dicts(values: Any) -> list[Mapping[str, Any]]:
    return [value for value in values if isinstance(value, dict)] if isinstance(values, list) else []


class Anthropic:
    """In: messages with tool_result blocks. Out: message_start, content_block_…, message_delta, message_stop."""

    def is_for(self, path: str) -> bool:
        return path.partition("?")[0].endswith("/messages")

    def has_tools(self, request: Request) -> bool:
        return bool(request.get("tools"))

    def results(self, request: Request) -> list[str]:
        parts = [part for message in dicts(request["messages"]) for part in dicts(message["content"])]
        return [
            json.dumps(part.get("content"), ensure_ascii=False) for part in parts if part["type"] == "tool_result"
        ]

    def text(self, request: Request, path: str, text: str) -> Reply:
        return self._reply(request, {"type": "text", "text": text}, {"type": "text_delta", "text": text}, "end_turn")

    def call(self, request: Request, path: str, number: int, call: Call) -> Reply:
        block = {"type": "tool_use", "id": f"toolu_{number}", "name": call.tool, "input": call.input}
        return self._reply(
            request, block, {"type": "input_json_delta", "partial_json": json.dumps(call.input)}, "tool_use"
        )

    def _reply(self, request: Request, block: Mapping[str, Any], delta: Mapping[str, Any], reason: str) -> Reply:
        message: dict[str, Any] = {
            "id": "msg_1", "type": "message", "role": "assistant", "model": request.get("model"), "content": [],
            "stop_reason": None, "stop_sequence": None, "usage": {"input_tokens": 1, "output_tokens": 1},
        }  # fmt: skip
        if not request.get("stream"):
            return plain(message | {"content": [block], "stop_reason": reason})
        empty = {**block, "text": ""} if block["type"] == "text" else {**block, "input": {}}
        stop = {"stop_reason": reason, "stop_sequence": None}
        return server_sent(
            (
                {"type": "message_start", "message": message},
                {"type": "content_block_start", "index": 0, "content_block": empty},
                {"type": "content_block_delta", "index": 0, "delta": delta},
                {"type": "content_block_stop", "index": 0},
                {"type": "message_delta", "delta": stop, "usage": {"output_tokens": 5}},
                {"type": "message_stop"},
            )
        )


class Chat:
    """OpenAI's chat completions. In: messages of the role `tool`. Out: chat.completion or its chunks."""

    def is_for(self, path: str) -> bool:
        return path.endswith("/chat/completions")

    def has_tools(self, request: Request) -> bool:
        return bool(request.get("tools"))

    def results(self, request: Request) -> list[str]:
        messages = dicts(request["messages"])
        return [json.dumps(each["content"], ensure_ascii=False) for each in messages if each.get("role") == "tool"]

    def text(self, request: Request, path: str, text: str) -> Reply:
        return self._reply(request, {"role": "assistant", "content": text}, "stop")

    def call(self, request: Request, path: str, number: int, call: Call) -> Reply:
        function = {"name": call.tool, "arguments": json.dumps(call.input)}
        wanted = {"index": 0, "id": f"call_{number}", "type": "function", "function": function}
        return self._reply(request, {"role": "assistant", "content": None, "tool_calls": [wanted]}, "tool_calls")

    def _reply(self, request: Request, message: Mapping[str, Any], reason: str) -> Reply:
        usage = {"prompt_tokens": 1, "completion_tokens": 1, "total_tokens": 2}
        common = {"id": "c-1", "created": 1, "model": request.get("model")}
        if not request.get("stream"):
            choice = {"index": 0, "finish_reason": reason, "message": message}
            return plain(common | {"object": "chat.completion", "choices": [choice], "usage": usage})
        common |= {"object": "chat.completion.chunk"}
        return server_sent(
            (
                common | {"choices": [{"index": 0, "delta": message, "finish_reason": None}]},
                common | {"choices": [{"index": 0, "delta": {}, "finish_reason": reason}]},
                common | {"choices": [], "usage": usage},
            ),
            named=False,
            end="data: [DONE]\n\n",
        )


class Responses:
    """OpenAI's responses. In: items function_call_output. Out: response.created, …output_item.done, …completed."""

    OUTPUTS = ("function_call_output", "custom_tool_call_output")

    def is_for(self, path: str) -> bool:
        return path.endswith("/responses")

    def has_tools(self, request: Request) -> bool:
        return bool(request.get("tools"))

    def results(self, request: Request) -> list[str]:
        items = dicts(request.get("input"))
        return [json.dumps(item["output"], ensure_ascii=False) for item in items if item.get("type") in self.OUTPUTS]

    def text(self, request: Request, path: str, text: str) -> Reply:
        content = [{"type": "output_text", "text": text, "annotations": []}]
        return self._reply({"type": "message", "role": "assistant", "id": "msg_1", "content": content})

    def call(self, request: Request, path: str, number: int, call: Call) -> Reply:
        common = {"id": f"fc_{number}", "call_id": f"call_{number}", "name": call.tool}
        if call.patch:
            return self._reply(common | {"type": "custom_tool_call", "input": call.patch})
        return self._reply(common | {"type": "function_call", "arguments": json.dumps(call.input)})

    def _reply(self, item: Mapping[str, Any]) -> Reply:
        usage = {
            "input_tokens": 1, "input_tokens_details": None, "output_tokens": 1, "output_tokens_details": None,
            "total_tokens": 2,
        }  # fmt: skip
        return server_sent(
            (
                {"type": "response.created", "response": {"id": "resp_1"}},
                {"type": "response.output_item.added", "output_index": 0, "item": item},
                {"type": "response.output_item.done", "output_index": 0, "item": item},
                {"type": "response.completed", "response": {"id": "resp_1", "usage": usage}},
            )
        )


class Gemini:
    """Google's generateContent. In: parts functionResponse. Out: one candidate."""

    def is_for(self, path: str) -> bool:
        return "enerateContent" in path

    def has_tools(self, request: Request) -> bool:
        return bool(request.get("tools"))

    def results(self, request: Request) -> list[str]:
        parts = [part for content in dicts(request["contents"]) for part in dicts(content.get("parts"))]
        answers = [part["functionResponse"] for part in parts if "functionResponse" in part]
        return [json.dumps(answer.get("response"), ensure_ascii=False) for answer in answers]

    def text(self, request: Request, path: str, text: str) -> Reply:
        return self._reply(path, {"text": text})

    def call(self, request: Request, path: str, number: int, call: Call) -> Reply:
        return self._reply(path, {"functionCall": {"id": f"call_{number}", "name": call.tool, "args": call.input}})

    def _reply(self, path: str, part: Mapping[str, Any]) -> Reply:
        candidate = {"index": 0, "finishReason": "STOP", "content": {"role": "model", "parts": [part]}}
        usage = {"promptTokenCount": 1, "candidatesTokenCount": 1, "totalTokenCount": 2}
        answer = {"candidates": [candidate], "usageMetadata": usage, "modelVersion": "mock-model"}
        return server_sent((answer,), named=False) if "stream" in path else plain(answer)


WIRES: Sequence[Wire] = (Anthropic(), Chat(), Responses(), Gemini())
