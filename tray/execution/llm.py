"""Talks to a model over the chat-completions API: the openai library says what, our own HTTP says how."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import httpx2
import openai

from tray.addresses import endpoint
from tray.errors import HooktrayError
from tray.execution.deadline import Deadline
from tray.execution.http_client import HttpRequest, send

TOKENS = 1024  # of one answer
HEADERS = ("accept", "authorization", "content-type")

Message = dict[str, Any]


@dataclass(frozen=True, slots=True, kw_only=True)
class ModelEndpoint:
    """Where the model is, and under which name and key it is asked."""

    base_url: str
    model: str
    key: str


@dataclass(frozen=True, slots=True, kw_only=True)
class ToolCall:
    """A tool that the model wants used; `arguments` is JSON, as it wrote it."""

    id: str
    name: str
    arguments: str


@dataclass(frozen=True, slots=True, kw_only=True)
class ModelReply:
    """What the model answered, or the tools that it wants first."""

    text: str
    calls: tuple[ToolCall, ...] = ()

    @property
    def message(self) -> Message:
        """The same, as the next request repeats it."""
        calls = [
            {"id": call.id, "type": "function", "function": {"name": call.name, "arguments": call.arguments}}
            for call in self.calls
        ]
        return {"role": "assistant", "content": self.text, "tool_calls": calls}


class LlmTransport(httpx2.BaseTransport):
    """The library's way out: the same that HTTP hooks have, to an endpoint that a person confirmed."""

    def __init__(self, deadline: Deadline) -> None:
        self._deadline = deadline

    def handle_request(self, request: httpx2.Request) -> httpx2.Response:
        try:
            end = endpoint(str(request.url))
        except ValueError as error:
            raise HooktrayError(f"llm: base_url: {error}") from error
        headers = {name: value for name, value in request.headers.items() if name.lower() in HEADERS}
        reply = send(
            HttpRequest(endpoint=end, body=request.read(), headers=headers, method=request.method, local=True),
            self._deadline,
        )
        kind = {"Content-Type": "application/json"}  # whatever it calls itself, nothing else is read
        return httpx2.Response(reply.status, headers=kind, content=reply.body, request=request)


def complete(
    target: ModelEndpoint, deadline: Deadline, messages: Sequence[Message], tools: Sequence[Message] = ()
) -> ModelReply:
    """One request, one answer. Raises HooktrayError."""
    with (
        httpx2.Client(transport=LlmTransport(deadline), trust_env=False) as http_client,
        openai.OpenAI(api_key=target.key, base_url=target.base_url, http_client=http_client, max_retries=0) as client,
    ):
        more: dict[str, Any] = {"tools": list(tools)} if tools else {}
        try:
            completion = client.chat.completions.create(
                model=target.model,
                messages=list(messages),  # type: ignore[arg-type]  # plain mappings, as the wire has them
                temperature=0,
                max_tokens=TOKENS,
                timeout=deadline.left,
                **more,
            )
        except openai.APIStatusError as error:
            raise HooktrayError(f"the model's server answered {error.status_code}") from error
        except openai.OpenAIError as error:
            raise HooktrayError(deadline.cause or f"the model: {error.__cause__ or error}") from error
        except ValueError as error:  # the library reads what it gets as JSON
            raise HooktrayError(deadline.cause or f"the model's server answered what is not JSON: {error}") from error
    return _parse(completion)


def _parse(completion: object) -> ModelReply:
    """The library builds what it was sent without looking at it, so nothing is taken for granted here."""
    try:
        message = completion.choices[0].message  # type: ignore[attr-defined]
        calls = tuple(
            ToolCall(id=str(one.id), name=str(one.function.name), arguments=str(one.function.arguments))
            for one in message.tool_calls or ()
        )
        return ModelReply(text=str(message.content or ""), calls=calls)
    except (AttributeError, IndexError, TypeError, KeyError) as error:
        raise HooktrayError("the model's server answered with what is no chat completion") from error
