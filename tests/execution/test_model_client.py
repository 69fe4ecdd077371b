"""What is sent to a model's server, and the words for answers that are none."""

from __future__ import annotations

from contextlib import closing

import pytest
from every import every
from servers import Said, WebServer, completion

from tray.errors import HooktrayError
from tray.execution.model_client import ModelEndpoint, ModelReply, complete
from tray.execution.request_job import Deadline

QUESTION = [{"role": "user", "content": "Good?"}]
TOOL = {"type": "function", "function": {"name": "read", "description": "", "parameters": {"type": "object"}}}


def ask(server: WebServer, path: str = "/v1") -> ModelReply:
    target = ModelEndpoint(base_url=server.url + path, model="small", key="k")
    with closing(Deadline(20)) as deadline:
        return complete(target, deadline, QUESTION, [TOOL])


def answering(said: bytes | Said) -> WebServer:
    return WebServer(lambda asked: said if isinstance(said, Said) else Said(said))


def test_the_request_is_one_post_with_everything_the_model_needs() -> None:
    with closing(answering(completion("fine"))) as server:
        assert ask(server) == ModelReply(content="fine")

    (asked,) = server.asked
    assert (asked.path, asked.headers["Authorization"]) == ("/v1/chat/completions", "Bearer k")
    assert asked.json == {
        "model": "small", "messages": QUESTION, "temperature": 0, "max_tokens": 1024, "tools": [TOOL]
    }  # fmt: skip


@every(
    ("path", "asked"),
    [
        ("/v1/", "/v1/chat/completions"),
        ("", "/chat/completions"),
        ("/v1?api-version=2", "/v1/chat/completions?api-version=2"),
    ],
)
def test_the_path_goes_before_a_query(path: str, asked: str) -> None:
    with closing(answering(completion("fine"))) as server:
        ask(server, path)

    assert server.asked[0].path == asked


def test_the_models_calls_go_into_the_next_request_as_they_came() -> None:
    with closing(answering(completion("", (("read", {"path": "a"}),)))) as server:
        (call,) = (reply := ask(server)).tool_calls or ()

    assert (call.function.name, call.function.arguments) == ("read", '{"path": "a"}')
    assert reply.message["tool_calls"] == [
        {"id": call.id, "type": "function", "function": {"name": "read", "arguments": '{"path": "a"}'}}
    ]


@every(
    ("said", "words"),
    [
        (b"no json", "no chat completion: JSON is malformed"),
        (b'{"choices": []}', "`choices` is empty"),
        (b'{"choices": [{"message": {"content": 7}}]}', "`$.choices[0].message.content`"),
        (b'{"choices": [{"message": {"content": "\xff"}}]}', "no chat completion"),
        (Said(completion("fine"), status=429), "answered 429"),
    ],
)
def test_an_answer_that_is_none_says_what_is_wrong(said: bytes | Said, words: str) -> None:
    with closing(answering(said)) as server, pytest.raises(HooktrayError) as caught:
        ask(server)

    assert words in caught.value.message


def test_a_base_url_that_leads_nowhere_is_named() -> None:
    target = ModelEndpoint(base_url="ftp://models.example/v1", model="small", key="k")

    with closing(Deadline(20)) as deadline, pytest.raises(HooktrayError, match="llm: base_url: "):
        complete(target, deadline, QUESTION)
