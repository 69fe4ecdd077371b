"""What an agent's own parser reads of a hook's answer is read here, however odd it is: no refusal is lost."""

from __future__ import annotations

import json

import pytest
from agents.hook_outputs import EVENTS, IGNORED, NOTHING, answered, deny, failed, inner, ran
from agents.recordings import sampled
from every import every

from tray.agents import lenient
from tray.agents.registry import AGENTS
from tray.model.decision import HookOutput

DEEP = "[" * 300 + "]" * 300
TOO_DEEP = '{"decision":"block","n":' + "[" * 200_000 + "]" * 200_000 + "}"
# Each refuses by WORD for NO, and none is JSON as we read the payload of an agent.
REFUSALS: dict[str, bytes] = {
    "a key twice": b'{"decision":"WORD","reason":"a","reason":"NO"}',
    "a decision twice": b'{"decision":"allow","decision":"WORD","reason":"NO"}',
    "a byte that is no UTF-8": b'{"decision":"WORD","reason":"NO","by":"caf\xe9"}',
    "an infinite number": b'{"decision":"WORD","reason":"NO","n":[1e999,-1e999]}',
    "a number of many digits": b'{"decision":"WORD","reason":"NO","n":' + b"9" * 5000 + b"}",
    "a deep value": b'{"decision":"WORD","reason":"NO","n":' + DEEP.encode() + b"}",
    "a hard space before it": '\u00a0{"decision":"WORD","reason":"NO"}'.encode(),
    "a byte order mark before it": '\ufeff{"decision":"WORD","reason":"NO"}'.encode(),
    "Unicode blanks around it": '\u2003\ufeff\u2028{"decision":"WORD","reason":"NO"}\u3000\u0020\n'.encode(),
}
HEARD = {"claude-code": ("bash", "block"), "starchild": ("child", "block"), "x-code": ("write", "deny")}


def said(dialect: str, refusal: bytes) -> bytes:
    return refusal.replace(b"WORD", HEARD[dialect][1].encode()).replace(b"NO", b"no")


@every("way", REFUSALS)
@every("dialect", HEARD)
def test_a_refusal_is_heard_however_it_is_written(dialect: str, way: str) -> None:
    event = EVENTS[HEARD[dialect][0]]

    hook_output = AGENTS[dialect].protocol.read(event, ran(0, said(dialect, REFUSALS[way])))

    assert hook_output == deny("no")


@every("way", REFUSALS)
def test_claudes_own_form_of_a_refusal_is_heard_too(way: str) -> None:
    output = (
        said("claude-code", REFUSALS[way]).replace(b'"decision":"block",', b"").replace(b'"decision":"allow",', b"")
    )
    output = output.replace(
        b"{", b'{"hookSpecificOutput":{"hookEventName":"PreToolUse","permissionDecision":"deny"},', 1
    )

    assert AGENTS["claude-code"].protocol.read(EVENTS["bash"], ran(0, output)) == deny("no")


@pytest.mark.parametrize("dialect", HEARD)
def test_an_object_that_is_too_deep_for_us_is_a_failure_and_no_silence(dialect: str) -> None:
    event = EVENTS[HEARD[dialect][0]]

    assert AGENTS[dialect].protocol.read(event, ran(0, TOO_DEEP)) == failed(
        "output is JSON nested more than 200 deep"
    )


TOO_DEEP_ANSWERS = [
    ("claude-code", inner(f'"updatedInput":{{"command":{DEEP}}}')),
    ("starchild", f'{{"tool_input":{{"command":{DEEP}}}}}'),
    ("x-code", f'{{"decision":"modify","args":{{"path":{DEEP}}}}}'),
]


@pytest.mark.parametrize(("dialect", "output"), TOO_DEEP_ANSWERS)
def test_an_answer_that_is_too_deep_to_be_written_again_is_a_failure(dialect: str, output: str) -> None:
    hook_output = AGENTS[dialect].protocol.read(EVENTS[HEARD[dialect][0]], ran(0, output))

    assert hook_output == failed("output is JSON nested more than 200 deep")


def test_with_exit_2_even_what_is_too_deep_is_a_refusal_of_claudes() -> None:
    assert AGENTS["claude-code"].protocol.read(EVENTS["bash"], ran(2, TOO_DEEP, "no")) == deny("no")


def test_an_infinite_number_is_never_written_again_as_one() -> None:
    hook_output = AGENTS["claude-code"].protocol.read(
        EVENTS["bash"], ran(0, inner('"updatedInput":{"timeout":-1e999}'))
    )

    answer = answered(EVENTS["bash"], hook_output)

    written = json.loads(answer.stdout, parse_constant=lambda word: pytest.fail(word))
    assert written["hookSpecificOutput"]["updatedInput"] == {"timeout": -lenient.LARGEST}


@pytest.mark.parametrize("word", ["NaN", "Infinity", "-Infinity"])
def test_pythons_words_for_numbers_are_read_where_the_agent_is_written_in_it(word: str) -> None:
    output = f'{{"decision":"block","reason":"no","n":{word}}}'

    assert AGENTS["starchild"].protocol.read(EVENTS["child"], ran(0, output)) == deny("no")
    claude, x_code = (
        AGENTS[name].protocol.read(EVENTS["bash"], ran(0, output)) for name in ("claude-code", "x-code")
    )
    assert claude.warning == f"The hook's output is not JSON: {word} is not a number; taken as plain text."
    assert x_code.warning == IGNORED.format(f"not JSON: {word} is not a number")


@pytest.mark.parametrize("output", ["\x85{}", "\x1c{}", "\u200b{}"])
def test_what_is_no_blank_to_the_agent_makes_it_plain_text(output: str) -> None:
    assert AGENTS["claude-code"].protocol.read(EVENTS["start"], ran(0, output)).context


@pytest.mark.parametrize("blank", ["\x1c", "\x85", "\u3000"])
def test_what_python_takes_for_a_blank_is_one_where_the_agent_is_written_in_it(blank: str) -> None:
    output = f'{blank}{{"decision":"block","reason":"no"}}{blank}'

    assert AGENTS["starchild"].protocol.read(EVENTS["child"], ran(0, output)) == deny("no")


def test_a_byte_order_mark_is_no_blank_to_go_and_what_it_cannot_read_is_a_veto() -> None:
    event = sampled("shelley", "new-conversation")

    assert AGENTS["shelley"].protocol.read(event, ran(0, '\x85{"model":"m"}')).problem == ""
    assert AGENTS["shelley"].protocol.read(event, ran(0, '\ufeff{"model":"m"}')).problem == (
        "output is not JSON: Expecting value at line 1, column 1"
    )


def test_a_deep_stranger_beside_a_refused_permission_does_not_matter() -> None:
    request = '{"hookSpecificOutput":{"hookEventName":"PermissionRequest","decision":{"behavior":"deny","n":%s}}}'

    assert (
        AGENTS["claude-code"].protocol.read(sampled("claude-code", "PermissionRequest"), ran(0, request % DEEP))
        == deny()
    )


def test_blanks_alone_say_nothing() -> None:
    for dialect, (event, _) in HEARD.items():
        assert AGENTS[dialect].protocol.read(EVENTS[event], ran(0, "\u00a0\ufeff\n")) == NOTHING


def test_a_list_that_is_too_deep_is_no_object_and_says_nothing() -> None:
    output = "[" * 200_000 + "]" * 200_000

    assert AGENTS["claude-code"].protocol.read(EVENTS["bash"], ran(0, output)) == NOTHING
    assert AGENTS["x-code"].protocol.read(EVENTS["write"], ran(0, output)) == HookOutput(
        warning=IGNORED.format("JSON nested more than 200 deep")
    )
