"""Shelley's five hooks, both ways: what it takes for an answer, what its hooks read, what they may say."""

from __future__ import annotations

import json
from typing import Any

import pytest
from agents.hook_outputs import NOTHING, failed, ran
from agents.recordings import recorded, request_for, wire
from every import every
from msgspec.structs import replace

from tray.agents.protocol import is_known_event, parse, render, spec
from tray.agents.registry import AGENTS
from tray.model.decision import Answer, Decision, HookOutput, Result, Rewrite, Target, Verdict
from tray.model.event import Event, EventKind

SHELLEY = AGENTS["shelley"].protocol
DENY = Verdict.DENY
NEW, CHAT, SLASH = "new-conversation", "chat-message", "slash-command"
TALKS = (NEW, CHAT, SLASH)
LOST = "A hook's rewrite cannot be carried: {} of shelley cannot {}\n"


def told(value: Any, **more: Any) -> Decision:
    return Decision(rewrite=Rewrite(target=Target.PROMPT, value=value), **more)


def failing(reason: str) -> Answer:
    return Answer(stderr=reason.encode(), code=1)


def out(text: str) -> Answer:
    return Answer(stdout=text.encode())


ANSWERS: list[tuple[str, Decision, Answer]] = [
    *[(name, Decision(), Answer()) for name in TALKS],
    *[(name, Decision(verdict=Verdict.ALLOW, notes=("n",)), Answer()) for name in TALKS],
    *[(name, Decision(verdict=DENY, reason="no secrets"), failing("no secrets\n")) for name in TALKS],
    *[(name, Decision(verdict=DENY), failing("Blocked by a hook\n")) for name in TALKS],
    *[(name, Decision(verdict=Verdict.ASK, reason="sure?"), failing("sure?\n")) for name in TALKS],
    *[(name, Decision(stop="enough"), failing("enough\n")) for name in TALKS],
    (NEW, told("p"), out('{"prompt":"p"}\n')),
    (NEW, told("hello shelley"), Answer()),
    (NEW, Decision(context="c"), out('{"prompt":"hello shelley\\n\\nc"}\n')),
    (
        NEW,
        Decision(extra=(("model", "m"), ("cwd", "/w"), ("slug", "s"))),
        out('{"model":"m","cwd":"/w","slug":"s"}\n'),
    ),
    (NEW, Decision(extra=(("model", 7), ("cwd", ""), ("readonly", {}))), Answer()),
    (NEW, told("p", extra=(("slug", "s"),)), out('{"prompt":"p","slug":"s"}\n')),
    (CHAT, told("é"), out('{"message":"é"}\n')),
    (CHAT, told("follow-up question"), Answer()),
    (CHAT, Decision(context="c"), out('{"message":"follow-up question\\n\\nc"}\n')),
    (CHAT, told("m", context="c"), out('{"message":"m\\n\\nc"}\n')),
    (CHAT, Decision(extra=(("slug", "s"),)), Answer()),
    (SLASH, told(" text\n"), out(" text\n")),
    (SLASH, told("\n"), out("\n")),
    (SLASH, Decision(context="c"), out("/foo the rest of the message after /foo\n\nc")),
    (SLASH, told(""), failing(LOST.format("slash/foo", "carry the rewrite, which is empty"))),
    (CHAT, told(""), failing(LOST.format("chat-message", "carry the rewrite, which is empty"))),
    (CHAT, told(["m"]), failing(LOST.format("chat-message", "carry the rewrite, which is not text"))),
    (NEW, told("\ud800"), failing(LOST.format("new-conversation", "carry the rewrite, which is not Unicode text"))),
    (
        CHAT,
        Decision(rewrite=Rewrite(target=Target.INPUT, value={})),
        failing(LOST.format("chat-message", "rewrite a tool's input")),
    ),
    ("end-of-turn", told("p", verdict=DENY, context="c", stop="s"), Answer()),
]


@every(("name", "decision", "answer"), ANSWERS)
def test_a_decision_is_answered_so(name: str, decision: Decision, answer: Answer) -> None:
    assert render(recorded("shelley", name), decision) == answer


def rewritten(text: str, **more: Any) -> HookOutput:
    return HookOutput(rewrite=Rewrite(target=Target.PROMPT, value=text), **more)


HOOK_OUTPUTS: list[tuple[str, Result, HookOutput]] = [
    *[(name, ran(1, err="no"), failed("exit 1")) for name in TALKS],
    *[(name, ran(2, err="no"), failed("exit 2")) for name in TALKS],
    *[(name, ran(0), NOTHING) for name in TALKS],
    *[
        (name, ran(0, b"\xff"), failed(problem))
        for name, problem in (
            (NEW, "output is not JSON: Expecting value at line 1, column 1"),
            (CHAT, "output is not JSON: Expecting value at line 1, column 1"),
            (SLASH, "output is not UTF-8"),
        )
    ],
    (CHAT, ran(0, ' {"message":"m"}\n'), rewritten("m")),
    (CHAT, ran(0, '{"MESSAGE":"m"}'), rewritten("m")),
    (CHAT, ran(0, '{"message":"a","message":"m"}'), rewritten("m")),
    (CHAT, ran(0, b'{"message":"caf\xe9"}'), rewritten("caf\ufffd")),
    (CHAT, ran(0, '\u00a0{"message":"m","n":1e999}'), rewritten("m")),
    (CHAT, ran(0, '{"message":""}'), NOTHING),
    (CHAT, ran(0, '{"message":null}'), NOTHING),
    (CHAT, ran(0, '{"message":"follow-up question"}'), NOTHING),
    (CHAT, ran(0, '{"other":1}'), NOTHING),
    (CHAT, ran(0, "null"), NOTHING),
    (CHAT, ran(0, " \n"), NOTHING),
    (CHAT, ran(0, '{"message":7}'), failed("output has a message that is not a string")),
    (CHAT, ran(0, '"m"'), failed("output is a JSON string, not an object")),
    (CHAT, ran(0, "[]"), failed("output is a JSON array, not an object")),
    (CHAT, ran(0, "7"), failed("output is a JSON number, not an object")),
    (CHAT, ran(0, '{"message":"m"} x'), failed("output is not JSON: Extra data at line 1, column 17")),
    (CHAT, ran(0, "plain"), failed("output is not JSON: Expecting value at line 1, column 1")),
    (NEW, ran(0, '{"prompt":"p"}'), rewritten("p")),
    (NEW, ran(0, '{"readonly":{"conversation_id":"x"},"prompt":"hello shelley"}'), NOTHING),
    (
        NEW,
        ran(0, '{"cwd":"/w","model":"m","slug":"s"}'),
        HookOutput(extra=(("cwd", "/w"), ("model", "m"), ("slug", "s"))),
    ),
    (NEW, ran(0, '{"prompt":"p","model":"predictable","cwd":"","slug":""}'), rewritten("p")),
    (NEW, ran(0, '{"slug":["s"]}'), failed("output has a slug that is not a string")),
    (SLASH, ran(0, "Here:\n\n"), rewritten("Here:\n\n")),
    (SLASH, ran(0, "\n"), rewritten("\n")),
    (SLASH, ran(0, "/foo the rest of the message after /foo"), NOTHING),
    (SLASH, ran(0, '{"message":"m"}'), rewritten('{"message":"m"}')),
]


@every(("name", "result", "hook_output"), HOOK_OUTPUTS)
def test_what_a_hook_said_is_read_as_shelley_would(name: str, result: Result, hook_output: HookOutput) -> None:
    assert replace(SHELLEY.read(recorded("shelley", name), result), plain=False) == hook_output


@pytest.mark.parametrize("name", ["slash/files", "slash/_a", "slash/0-b"])
def test_any_command_is_an_event_of_its_own(name: str) -> None:
    event = parse(request_for("shelley", name, SHELLEY.sample(name)))

    assert (is_known_event("shelley", name), event.problem, event.kind) == (True, "", EventKind.SLASH_COMMAND)
    assert (event.name, event.topic) == (name, name.removeprefix("slash/"))


@pytest.mark.parametrize("name", ["slash", "slash/", "slash/-a", "slash/a/b", "slash/é", "slash/a b", "other/files"])
def test_what_is_no_commands_name_is_no_event(name: str) -> None:
    assert not is_known_event("shelley", name)
    assert parse(request_for("shelley", name, b"{}")).kind is EventKind.OTHER
    assert spec("claude-code", "slash/files").kind is EventKind.OTHER
    with pytest.raises(KeyError):
        SHELLEY.sample(name)


COMMAND_EVENTS: list[tuple[Event, dict[str, str]]] = [
    (
        recorded("shelley", "slash-command"),
        {
            "SHELLEY_SLASH_COMMAND": "foo",
            "SHELLEY_SLASH_ARGS": "the rest of the message after /foo",
            "SHELLEY_CONVERSATION_ID": "cXXXXXX",
            "SHELLEY_CWD": "/home/user/project",
            "SHELLEY_MODEL": "claude-sonnet-4.5",
            "SHELLEY_USER_EMAIL": "you@example.com",
        },
    ),
    (
        recorded("shelley", "slash-command-new"),
        {
            "SHELLEY_SLASH_COMMAND": "files",
            "SHELLEY_SLASH_ARGS": "src/main.go src/util.go please summarize",
            "SHELLEY_CONVERSATION_ID": "cH3UICU",
            "SHELLEY_CWD": "",
            "SHELLEY_MODEL": "",
            "SHELLEY_USER_EMAIL": "",
        },
    ),
    (
        recorded("claude-code", "UserPromptExpansion"),
        {
            "SHELLEY_SLASH_COMMAND": "mycmd",
            "SHELLEY_SLASH_ARGS": "foo bar",
            "SHELLEY_CONVERSATION_ID": "70d7abec-93cf-40d6-a2ab-67711406747a",
            "SHELLEY_CWD": "/home/dev/project",
            "SHELLEY_MODEL": "",
            "SHELLEY_USER_EMAIL": "",
        },
    ),
]


@pytest.mark.parametrize(("event", "variables"), COMMAND_EVENTS)
def test_a_slash_hook_always_finds_six_variables(event: Event, variables: dict[str, str]) -> None:
    assert SHELLEY.environment(event) == variables


def test_a_variable_that_no_process_could_be_given_is_empty() -> None:
    event = replace(recorded("shelley", "slash-command"), cwd="/a\0b", model="\ud800")

    assert (SHELLEY.environment(event)["SHELLEY_CWD"], SHELLEY.environment(event)["SHELLEY_MODEL"]) == ("", "")
    assert SHELLEY.environment(recorded("shelley", CHAT)) == {}


@pytest.mark.parametrize("name", ["Cookie", "set-cookie", "AUTHORIZATION", "Proxy-Authorization"])
def test_a_header_that_bears_credentials_never_reaches_a_hook(name: str) -> None:
    payload = json.loads(wire("shelley", CHAT))
    payload["readonly"]["headers"].insert(0, [name, "s3cret"])

    written = SHELLEY.stdin(parse(request_for("shelley", CHAT, json.dumps(payload).encode())))

    assert json.loads(written) == json.loads(wire("shelley", CHAT))


@pytest.mark.parametrize("headers", [None, "x", [7, [], ["Accept"]], []])
def test_headers_of_another_form_are_left_as_they_are(headers: Any) -> None:
    body = json.dumps({"message": "m", "readonly": {"headers": headers}}).encode()

    assert SHELLEY.stdin(parse(request_for("shelley", CHAT, body))) == body
