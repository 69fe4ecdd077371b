"""Asks a model over the chat-completions API: one POST through the checked HTTP client, one answer.

POST {base_url}/chat/completions
{"model": "m", "messages": [{"role": "user", "content": "…"}], "temperature": 0, "max_tokens": 1024}
{"choices": [{"message": {"role": "assistant", "content": "…", "tool_calls": []}}]}
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import msgspec

from tray import __version__
from tray.addresses import Endpoint, endpoint
from tray.errors import HooktrayError
from tray.execution.http_client import HttpReply, HttpRequest, send
from tray.execution.request_job import Deadline

TOKENS = 1024  # of one answer
PATH = "/chat/completions"

Message = Mapping[str, object]


class ModelEndpoint(msgspec.Struct, frozen=True, kw_only=True):
    """Where the model is, and under which name and key it is asked."""

    base_url: str
    model: str
    key: str


class FunctionCall(msgspec.Struct, frozen=True):
    name: str
    arguments: str = ""  # JSON as the model wrote it


class ToolCall(msgspec.Struct, frozen=True):
    """A tool that the model asks for."""

    id: str
    function: FunctionCall


class ModelReply(msgspec.Struct, frozen=True):
    """The model's answer, or the tools that it asks for first."""

    content: str | None = None
    tool_calls: tuple[ToolCall, ...] | None = None

    @property
    def message(self) -> Message:
        """This reply as the next request repeats it."""
        calls = [{"type": "function", **msgspec.to_builtins(call)} for call in self.tool_calls or ()]
        return {"role": "assistant", "content": self.content or "", "tool_calls": calls}


class _Choice(msgspec.Struct, frozen=True):
    message: ModelReply


class _Completion(msgspec.Struct, frozen=True):
    choices: tuple[_Choice, ...]


DECODER = msgspec.json.Decoder(_Completion)  # made at import: two threads that meet a type first can crash msgspec


def complete(
    target: ModelEndpoint, deadline: Deadline, messages: Sequence[Message], tools: Sequence[Message] = ()
) -> ModelReply:
    """The model's answer to these messages. Raises HooktrayError when none came that can be read."""
    body: dict[str, object] = {"model": target.model, "messages": messages, "temperature": 0, "max_tokens": TOKENS}
    if tools:
        body["tools"] = tools
    headers = {
        "Accept": "application/json",
        "Authorization": f"Bearer {target.key}",
        "Content-Type": "application/json",
        "User-Agent": f"hooktray/{__version__}",
    }
    request = HttpRequest(endpoint=_url(target), body=msgspec.json.encode(body), headers=headers, local=True)
    return _parse(send(request, deadline))


def _url(target: ModelEndpoint) -> Endpoint:
    """`base_url` may have a query, as gateways that want a version have it."""
    base, mark, query = target.base_url.partition("?")
    try:
        return endpoint(f"{base.rstrip('/')}{PATH}{mark}{query}")
    except ValueError as error:
        raise HooktrayError(f"llm: base_url: {error}") from error


def _parse(reply: HttpReply) -> ModelReply:
    if not 200 <= reply.status < 300:
        raise HooktrayError(f"the model's server answered {reply.status}")
    try:
        completion = DECODER.decode(reply.body)
    except (msgspec.DecodeError, UnicodeDecodeError) as error:
        raise HooktrayError(f"the model's server answered with no chat completion: {error}") from error
    if not completion.choices:
        raise HooktrayError("the model's server answered with no chat completion: `choices` is empty")
    return completion.choices[0].message
