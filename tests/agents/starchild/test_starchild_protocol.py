"""Starchild's twelve events, both ways: what each takes for an answer, what its hooks may say."""

from __future__ import annotations

import json
from typing import Any

import pytest
from agents.hook_outputs import NOTHING, allow, deny, failed, inner, ran
from agents.recordings import recorded, sampled
from every import every
from house import House

from tray.agents.protocol import parse, render
from tray.agents.registry import AGENTS
from tray.agents.relay_table import TableContent, installed_text
from tray.model.decision import Answer, Decision, HookOutput, Result, Rewrite, Target, Verdict
from tray.model.event import Event, EventKind, RelayRequest
from tray.model.hook import Failure, Guard

DENY = Verdict.DENY
NO = Decision(verdict=DENY, reason="no")
BLOCK = '{"decision":"block","reason":"no"}\n'
REFUSES = (
    "on_completion_claim",
    "on_outbound_message",
    "on_stop",
    "on_user_message",
    "pre_llm_call",
    "pre_tool_call",
)
NOTES = (*REFUSES, "on_response_end", "transform_tool_result")
SILENT = ("on_session_end", "post_llm_call", "post_tool_call")
TEXTS = {
    "on_outbound_message": ("notification", Target.MESSAGE),
    "on_response_end": ("response", Target.MESSAGE),
    "on_user_message": ("message", Target.PROMPT),
}


def new(target: Target, value: Any, **more: Any) -> Decision:
    return Decision(rewrite=Rewrite(target=target, value=value), **more)


def lost(name: str, thing: str) -> str:
    return BLOCK.replace("no", f"A hook's rewrite cannot be carried: {name} of starchild cannot {thing}", 1)


ANSWERS: list[tuple[str, Decision, str]] = [
    *[(name, NO, BLOCK) for name in REFUSES],
    *[(name, Decision(verdict=Verdict.ASK, reason="no"), BLOCK) for name in REFUSES],
    *[(name, Decision(stop="no"), BLOCK) for name in REFUSES],
    *[(name, Decision(verdict=DENY, reason="no", notes=("n",), context="c"), BLOCK) for name in REFUSES],
    *[(name, Decision(verdict=Verdict.ALLOW), "") for name in REFUSES],
    *[(name, Decision(notes=("a", "b")), '{"systemMessage":"a\\nb"}\n') for name in NOTES],
    *[(name, NO, "") for name in (*SILENT, "on_response_end", "on_session_start", "transform_tool_result")],
    *[(name, Decision(context="c"), '{"context":"c"}\n') for name in ("on_session_start", "pre_llm_call")],
    *[(name, Decision(context="c"), "") for name in NOTES if name != "pre_llm_call"],
    *[(name, Decision(context="c", notes=("n",), stop="s", retry=True), "") for name in SILENT],
    *[(name, new(target, "é"), f'{{"{key}":"é"}}\n') for name, (key, target) in TEXTS.items()],
    *[
        (name, new(target, "x", notes=("n",)), f'{{"{key}":"x","systemMessage":"n"}}\n')
        for name, (key, target) in TEXTS.items()
    ],
    *[
        (name, new(target, "x", verdict=DENY, reason="no"), BLOCK)
        for name, (_, target) in TEXTS.items()
        if name in REFUSES
    ],
    (
        "on_outbound_message",
        new(Target.MESSAGE, " "),
        lost("on_outbound_message", "carry the rewrite, which is empty"),
    ),
    (
        "on_outbound_message",
        new(Target.MESSAGE, 7),
        lost("on_outbound_message", "carry the rewrite, which is not text"),
    ),
    ("on_user_message", new(Target.MESSAGE, "x"), lost("on_user_message", "rewrite a message")),
    ("on_stop", new(Target.MESSAGE, "x"), lost("on_stop", "rewrite a message")),
    ("on_completion_claim", new(Target.MESSAGE, "x"), lost("on_completion_claim", "rewrite a message")),
    ("on_response_end", new(Target.MESSAGE, ""), ""),
    ("pre_llm_call", new(Target.PROMPT, "x"), lost("pre_llm_call", "rewrite a prompt")),
    ("transform_tool_result", new(Target.OUTPUT, "x"), ""),
    ("post_tool_call", new(Target.OUTPUT, "x"), ""),
    (
        "pre_tool_call",
        new(Target.INPUT, {"command": "true"}, notes=("n",)),
        '{"tool_input":{"command":"true"},"systemMessage":"n"}\n',
    ),
]


@every(("name", "decision", "stdout"), ANSWERS)
def test_a_decision_is_answered_with_these_bytes(name: str, decision: Decision, stdout: str) -> None:
    assert render(sampled("starchild", name), decision) == Answer(stdout=stdout.encode())


EVENTS: dict[str, Event] = {name: recorded("starchild", name) for name in AGENTS["starchild"].events}
EVENTS |= {
    "claude prompt": sampled("claude-code", "UserPromptSubmit"),
    "shown": sampled("claude-code", "MessageDisplay"),
}
EVENTS |= {"chat": recorded("shelley", "chat-message"), "new": recorded("shelley", "new-conversation")}


def rewritten(target: Target, value: str, **more: Any) -> HookOutput:
    return HookOutput(rewrite=Rewrite(target=target, value=value), **more)


HOOK_OUTPUTS: list[tuple[str, Result, HookOutput]] = [
    *[(name, ran(0, BLOCK), deny("no")) for name in EVENTS],
    *[(name, ran(2, err="no"), deny("no")) for name in EVENTS],
    *[(name, ran(1, BLOCK), failed("exit 1")) for name in EVENTS],
    *[(name, ran(0, '{"continue":false,"stopReason":"no"}'), deny("no")) for name in EVENTS],
    *[
        (name, ran(0, inner('"permissionDecision":"deny","permissionDecisionReason":"no"')), deny("no"))
        for name in EVENTS
    ],
    *[(name, ran(0, '{"decision":"approve"}'), NOTHING) for name in EVENTS],
    *[(name, ran(0, '{"ok":true,"continue":true,"suppressOutput":true}'), NOTHING) for name in EVENTS],
    *[(name, ran(0, '{"add_warning":"n"}'), HookOutput(notes=("n",))) for name in EVENTS],
    *[(name, ran(0, '{"context":"c"}'), HookOutput(context="c")) for name in EVENTS],
    *[(name, ran(0, inner('"additionalContext":"c"')), HookOutput(context="c")) for name in EVENTS],
    *[(name, ran(0, inner('"permissionDecision":"allow"')), NOTHING) for name in EVENTS if name != "pre_tool_call"],
    ("pre_tool_call", ran(0, inner('"permissionDecision":"allow"')), allow()),
    *[(name, ran(0, f'{{"{key}":"x"}}'), rewritten(target, "x")) for name, (key, target) in TEXTS.items()],
    *[(name, ran(0, f'{{"{key}":""}}'), NOTHING) for name, (key, _) in TEXTS.items()],
    *[(name, ran(0, f'{{"{key}":null}}'), NOTHING) for name, (key, _) in TEXTS.items()],
    *[
        (name, ran(0, f'{{"{key}":7}}'), failed(f"output has a {key} that is not text"))
        for name, (key, _) in TEXTS.items()
    ],
    ("on_outbound_message", ran(0, '{"notification":"build finished"}'), NOTHING),
    ("on_outbound_message", ran(0, '{"response":"x"}'), NOTHING),
    ("on_stop", ran(0, '{"response":"x"}'), NOTHING),
    ("on_response_end", ran(0, '{"response":"x","systemMessage":"n"}'), rewritten(Target.MESSAGE, "x", notes=("n",))),
    ("claude prompt", ran(0, '{"message":"x"}'), rewritten(Target.PROMPT, "x")),
    ("chat", ran(0, '{"message":"x"}'), rewritten(Target.PROMPT, "x")),
    ("new", ran(0, '{"message":"x"}'), rewritten(Target.PROMPT, "x")),
    ("shown", ran(0, '{"response":"x"}'), rewritten(Target.MESSAGE, "x")),
    ("post_tool_call", ran(0, '{"tool_input":{"command":"x"}}'), NOTHING),
]


@every(("name", "result", "hook_output"), HOOK_OUTPUTS)
def test_what_a_hook_said_is_read_so(name: str, result: Result, hook_output: HookOutput) -> None:
    assert AGENTS["starchild"].protocol.read(EVENTS[name], result) == hook_output


@pytest.mark.parametrize("body", [b"{broken", b"", b'{"session_id": "s"}'])
def test_a_payload_that_names_no_event_counts_as_a_tool_call(body: bytes) -> None:
    event = parse(RelayRequest(agent="starchild", event="", id="1", body=body))

    assert (event.name, event.kind) == ("pre_tool_call", EventKind.TOOL_BEFORE)


def test_a_guard_refuses_a_call_that_nobody_can_read(house: House) -> None:
    house.hook("guard", on="tool_before", script="exit 0", failure="block")

    answer = house.relay("starchild", "", b'{"event": "pre_tool_call", "tool_input": {"command": "rm')

    assert json.loads(answer.stdout)["decision"] == "block"


def test_the_relay_goes_by_the_guards_where_the_command_names_no_event() -> None:
    guard = Guard(agent="starchild", event="pre_tool_call", failure=Failure.BLOCK, names=("bash",))
    content = TableContent(state="/s", without_tray="once", once=("hooktray",), guards=(guard,))

    rows = installed_text(content).splitlines()

    limits = [row.split("\x1f") for row in rows if row.startswith("limit=starchild")]
    assert [limit[1] for limit in limits] == ["pre_tool_call", ""]
    assert limits[0][2] == limits[1][2]
