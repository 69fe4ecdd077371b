"""What a hook's process said, read in its own dialect; a broken hook is neither a refusal nor a permission."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import pytest
from dialects.recordings import knock, recorded, sampled
from hypothesis import given, settings
from hypothesis import strategies as st

from tray.dialects import DIALECTS, parse
from tray.model.decision import Reading, Result, Rewrite, Target, Verdict
from tray.model.event import Event

EVENTS: Mapping[str, Event] = {
    "bash": recorded("claude-code", "PreToolUse-Bash"),  # input: command, description
    "stop": recorded("claude-code", "Stop"),
    "sub": recorded("claude-code", "SubagentStop"),
    "start": recorded("claude-code", "SessionStart-clear"),
    "note": recorded("claude-code", "Notification-permission_prompt"),
    "turn": recorded("shelley", "end-of-turn"),
    "system": parse(knock("shelley", "system-prompt", b"Be brief.")),
    "child": recorded("starchild", "pre_tool_call"),  # input: command
    "child_stop": recorded("starchild", "on_stop"),
    "claim": recorded("starchild", "on_completion_claim"),
    "child_start": recorded("starchild", "on_session_start"),
    "write": recorded("x-code", "PreToolUse"),  # input: path, content
    "round": recorded("x-code", "TurnComplete"),
}


def ran(code: int | None = 0, out: str | bytes = b"", err: str | bytes = b"", cause: str = "") -> Result:
    stdout = out if isinstance(out, bytes) else out.encode()
    stderr = err if isinstance(err, bytes) else err.encode()
    return Result(code=code, stdout=stdout, stderr=stderr, cause=cause)


def deny(reason: str = "", **more: Any) -> Reading:
    return Reading(verdict=Verdict.DENY, reason=reason, **more)


def ask(reason: str = "", **more: Any) -> Reading:
    return Reading(verdict=Verdict.ASK, reason=reason, **more)


def allow(reason: str = "", **more: Any) -> Reading:
    return Reading(verdict=Verdict.ALLOW, reason=reason, **more)


def failed(problem: str) -> Reading:
    return Reading(problem=problem)


def new_input(**value: Any) -> Rewrite:
    return Rewrite(target=Target.INPUT, value=value)


def inner(said: str, event: str = "PreToolUse") -> str:
    return f'{{"hookSpecificOutput":{{"hookEventName":"{event}",{said}}}}}'


NOTHING = Reading()
BASH = {"command": "exit 3", "description": "fail"}
Case = tuple[str, str, Result, Reading]

EVERYWHERE: list[Case] = [
    (dialect, event, result, reading)
    for dialect, event in (("claude-code", "bash"), ("shelley", "turn"), ("starchild", "child"), ("x-code", "write"))
    for result, reading in (
        (ran(None, cause="timed out"), failed("timed out")),
        (ran(None, '{"decision":"block"}', cause="killed by signal 9"), failed("killed by signal 9")),
        (ran(0, cause="stdout over 1048576 bytes"), failed("stdout over 1048576 bytes")),
        (ran(None), failed("ended without an exit code")),
        (ran(-9), failed("killed by signal 9")),
        (ran(126, err="sh: permission denied"), failed("exit 126: the command cannot be executed")),
        (ran(127, '{"decision":"block"}'), failed("exit 127: the command was not found")),
        (ran(1, err="Traceback"), failed("exit 1")),
        (ran(0), NOTHING),
        (ran(0, " \n"), NOTHING),
    )
]

CLAUDE: list[Case] = [
    ("claude-code", event, result, reading)
    for event, result, reading in (
        ("bash", ran(2, err="not here\n"), deny("not here")),
        ("bash", ran(2), deny()),
        ("bash", ran(2, err=b"\xff bytes"), deny("\ufffd bytes")),
        ("bash", ran(2, "plain", "why"), deny("why")),
        ("bash", ran(2, err='{"decision":"deny","reason":"r"}'), deny('{"decision":"deny","reason":"r"}')),
        ("bash", ran(2, inner('"permissionDecision":"allow"'), "no"), deny("no")),
        (
            "bash",
            ran(2, inner('"permissionDecision":"deny","permissionDecisionReason":"json"'), "stderr"),
            deny("json"),
        ),
        ("bash", ran(2, inner('"updatedInput":{"command":"ls"}'), "no"), deny("no")),
        ("bash", ran(2, '{"decision":7}', "no"), deny("no")),
        ("bash", ran(2, inner('"permissionDecision":"allow"', "Stop"), "no"), deny("no")),
        ("start", ran(2, err="cannot block here"), deny("cannot block here")),
        (
            "bash",
            ran(0, inner('"permissionDecision":"deny","permissionDecisionReason":"because"')),
            deny("because"),
        ),
        ("bash", ran(0, inner('"permissionDecision":"deny"')), deny()),
        ("bash", ran(0, inner('"permissionDecision":"ask"')), ask()),
        ("bash", ran(0, inner('"permissionDecision":"defer"')), ask()),
        ("bash", ran(0, inner('"permissionDecision":"allow"')), allow()),
        ("bash", ran(1, inner('"permissionDecision":"allow"')), allow()),
        ("bash", ran(1, inner('"permissionDecision":"deny"'), "crash"), deny()),
        ("bash", ran(1, "{}"), NOTHING),
        ("bash", ran(0, "{}"), NOTHING),
        ("bash", ran(0, '{"continue": true, "suppressOutput": true, "unknown": [1]}'), NOTHING),
        ("bash", ran(0, '{"async": true}'), NOTHING),
        ("bash", ran(0, '{"ok": true}'), NOTHING),
        ("bash", ran(0, '{"continue": false}'), Reading(stop="")),
        ("bash", ran(0, '{"continue": false, "stopReason": "enough"}'), Reading(stop="enough")),
        ("bash", ran(0, '{"systemMessage": "look"}'), Reading(notes=("look",))),
        ("bash", ran(0, inner('"additionalContext":"mind"')), Reading(context="mind")),
        (
            "bash",
            ran(0, inner('"updatedInput":{"command":"ls"}')),
            Reading(rewrite=new_input(command="ls")),
        ),
        # Older spellings.
        ("bash", ran(0, '{"decision":"approve","reason":"fine"}'), allow("fine")),
        ("bash", ran(0, '{"decision":"block","reason":"no"}'), deny("no")),
        ("bash", ran(0, '{"permissionDecision":"deny","permissionDecisionReason":"no"}'), deny("no")),
        ("bash", ran(0, '{"permissionDecision":"ask","reason":"sure?"}'), ask("sure?")),
        ("bash", ran(0, '{"additionalContext":"mind"}'), Reading(context="mind")),
        (
            "bash",
            ran(0, '{"updatedInput":{"command":"ls"}}'),
            Reading(rewrite=new_input(command="ls", description="fail")),
        ),
        ("bash", ran(0, '{"decision":"stop","reason":"enough"}'), Reading(stop="enough")),
        ("bash", ran(0, '{"decision":"continue"}'), NOTHING),
        ("stop", ran(0, '{"decision":"stop"}'), NOTHING),
        ("stop", ran(0, '{"decision":"continue","reason":"missing tests"}'), deny("missing tests")),
        ("stop", ran(0, '{"decision":"approve"}'), NOTHING),
        (
            "bash",
            ran(
                0,
                '{"decision":"block","reason":"old","hookSpecificOutput":{"hookEventName":"PreToolUse",'
                '"permissionDecision":"allow"}}',
            ),
            deny("old"),
        ),
        # Not valid for the agent itself: no verdict, a failure.
        (
            "bash",
            ran(0, '{"decision":"deny"}'),
            failed("output has a decision that is none of approve, block, continue, stop"),
        ),
        ("bash", ran(0, '{"decision":["block"]}'), failed("output has a decision that is no string")),
        ("bash", ran(0, '{"continue":"false"}'), failed("output has a continue that is no boolean")),
        ("bash", ran(0, '{"systemMessage":null}'), failed("output has a systemMessage that is no string")),
        ("bash", ran(0, '{"hookSpecificOutput":[]}'), failed("output has a hookSpecificOutput that is no object")),
        (
            "bash",
            ran(0, '{"hookSpecificOutput":{"permissionDecision":"deny"}}'),
            failed("output has a hookSpecificOutput whose hookEventName is not PreToolUse"),
        ),
        (
            "bash",
            ran(0, inner('"permissionDecision":"deny"', "PostToolUse")),
            failed("output has a hookSpecificOutput whose hookEventName is not PreToolUse"),
        ),
        (
            "bash",
            ran(0, inner('"permissionDecision":"maybe"')),
            failed("output has a permissionDecision that is none of allow, ask, defer, deny"),
        ),
        ("bash", ran(0, inner('"updatedInput":"ls"')), failed("output has a updatedInput that is no object")),
        # Plain text.
        ("bash", ran(0, "all good"), NOTHING),
        ("bash", ran(0, '["block"]'), NOTHING),
        ("bash", ran(0, b"\xff\xfe"), NOTHING),
        ("bash", ran(0, "Hello\n" + inner('"permissionDecision":"deny"')), NOTHING),
        (
            "bash",
            ran(0, '{"decision":"block"} trailing'),
            Reading(notes=("The hook's output is not JSON: Extra data at line 1, column 22; taken as plain text.",)),
        ),
        ("start", ran(0, "Sprint 42\n"), Reading(context="Sprint 42")),
        ("start", ran(0, "{broken"), Reading(context="{broken")),
        ("start", ran(0, inner('"additionalContext":"c"', "SessionStart")), Reading(context="c")),
        ("stop", ran(0, "tests pass"), NOTHING),
        # Ends of turns.
        ("stop", ran(2, err="run the tests"), deny("run the tests")),
        ("stop", ran(0, '{"decision":"block","reason":"run the tests"}'), deny("run the tests")),
        ("sub", ran(0, '{"decision":"block","reason":"more"}'), deny("more")),
        ("stop", ran(0, inner('"additionalContext":"go on"', "Stop")), deny("go on")),
        ("stop", ran(0, '{"continue":false,"stopReason":"s","decision":"block"}'), deny(stop="s")),
        ("stop", ran(0, inner('"permissionDecision":"deny"', "Stop")), NOTHING),
        ("note", ran(0, "seen"), NOTHING),
        # Another agent's events, heard under Claude's names and argument keys.
        ("child", ran(0, inner('"permissionDecision":"deny"')), deny()),
        ("child_stop", ran(0, '{"decision":"block","reason":"r"}'), deny("r")),
        ("turn", ran(0, inner('"additionalContext":"c"', "Stop")), deny("c")),
        (
            "write",
            ran(0, inner('"updatedInput":{"file_path":"/safe","content":"x"}')),
            Reading(rewrite=new_input(path="/safe", content="x")),
        ),
        (
            "write",
            ran(0, '{"updatedInput":{"file_path":"/safe"}}'),
            Reading(rewrite=new_input(path="/safe", content="...")),
        ),
    )
]

IGNORED = "The hook's output is {}; ignored."
STARCHILD: list[Case] = [
    ("starchild", event, result, reading)
    for event, result, reading in (
        ("child", ran(0, '{"decision":"block","reason":"no"}'), deny("no")),
        ("child", ran(0, '{"decision":"block"}'), deny()),
        ("child", ran(0, "{}"), NOTHING),
        ("child", ran(0, '{"decision":"allow"}'), NOTHING),
        ("child", ran(0, '{"decision":"approve"}'), NOTHING),
        ("child", ran(2, err="no\n"), deny("no")),
        ("child", ran(2), failed("exit 2 without a refusal on either stream")),
        ("child", ran(2, "{}", "why"), failed("exit 2 without a refusal on either stream")),
        ("child", ran(2, '{"decision":"block","reason":"json"}', "stderr"), deny("json")),
        ("child", ran(1, '{"decision":"block"}'), failed("exit 1")),
        ("child", ran(3, err="no"), failed("exit 3")),
        ("child", ran(0, "done"), Reading(notes=(IGNORED.format("not JSON: Expecting value at line 1, column 1"),))),
        ("child", ran(0, "[]"), Reading(notes=(IGNORED.format("a JSON array, not an object"),))),
        ("child", ran(0, b"\xff"), Reading(notes=(IGNORED.format("not UTF-8: byte 0 cannot be read"),))),
        (
            "child",
            ran(0, '{"decision":"block","decision":"allow"}'),
            Reading(notes=(IGNORED.format("JSON that has a key twice in one object"),)),
        ),
        ("child", ran(0, '{"decision":"deny"}'), failed("output has a decision that is not block")),
        ("child", ran(0, '{"decision":true}'), failed("output has a decision that is no text")),
        ("child", ran(0, '{"tool_input":"ls"}'), failed("output has a tool_input that is no object")),
        ("child", ran(0, '{"decision":null,"reason":null}'), NOTHING),
        ("child", ran(0, '{"tool_input":{"command":"ls"}}'), Reading(rewrite=new_input(command="ls"))),
        ("child", ran(0, '{"tool_input":{"command":"rm -rf /"}}'), NOTHING),
        ("child", ran(0, '{"tool_input":{}}'), NOTHING),
        (
            "child",
            ran(0, '{"tool_input":{"timeout":5}}'),
            Reading(rewrite=new_input(command="rm -rf /", timeout=5)),
        ),
        ("child_stop", ran(0, '{"tool_input":{"command":"ls"}}'), NOTHING),
        ("child", ran(0, '{"systemMessage":"a","add_warning":"b"}'), Reading(notes=("a", "b"))),
        ("child_start", ran(0, '{"context":"c"}'), Reading(context="c")),
        ("claim", ran(0, '{"decision":"block","reason":"fake"}'), deny("fake")),
        ("child_stop", ran(0, '{"decision":"block","reason":"redo"}'), deny("redo")),
        # Claude's form, translated.
        (
            "child",
            ran(0, inner('"permissionDecision":"deny","permissionDecisionReason":"no"')),
            deny("no"),
        ),
        ("child", ran(0, inner('"permissionDecision":"ask"')), ask()),
        ("bash", ran(0, inner('"permissionDecision":"allow"')), allow()),
        ("child", ran(0, '{"permissionDecision":"deny"}'), deny()),
        (
            "child",
            ran(0, '{"permissionDecision":"deny","hookSpecificOutput":{"permissionDecision":"allow"}}'),
            deny(),
        ),
        (
            "child",
            ran(0, inner('"permissionDecision":"maybe"')),
            failed("output has a permissionDecision that is none of allow, ask, deny"),
        ),
        ("child", ran(0, inner('"additionalContext":"c"')), Reading(context="c")),
        ("child", ran(0, inner('"updatedInput":{"command":"ls"}')), Reading(rewrite=new_input(command="ls"))),
        ("child", ran(0, '{"continue":false,"stopReason":"enough"}'), deny("enough")),
        ("child", ran(0, '{"continue":true,"suppressOutput":true}'), NOTHING),
        # Another agent's events, heard under Starchild's names and argument keys.
        (
            "bash",
            ran(0, '{"tool_input":{"command":"ls"}}'),
            Reading(rewrite=new_input(command="ls", description="fail")),
        ),
        (
            "write",
            ran(0, '{"tool_input":{"path":"/safe"}}'),
            Reading(rewrite=new_input(path="/safe", content="...")),
        ),
        ("stop", ran(0, '{"decision":"block","reason":"r"}'), deny("r")),
        ("turn", ran(0, '{"decision":"block","reason":"r"}'), deny("r")),
    )
]

X_CODE: list[Case] = [
    ("x-code", event, result, reading)
    for event, result, reading in (
        ("write", ran(0, '{"decision":"deny","reason":"no"}\n'), deny("no")),
        ("write", ran(0, '{"decision":"deny","reason":7}'), deny()),
        ("write", ran(0, '{"decision":"allow"}'), NOTHING),
        ("write", ran(0, '{"decision":"allow","context":"ignored"}'), NOTHING),
        ("write", ran(0, '{"decision":"modify","args":{"path":"/safe"}}'), Reading(rewrite=new_input(path="/safe"))),
        (
            "write",
            ran(0, '{"decision":"modify","args":["x"]}'),
            Reading(notes=("The hook's output modifies nothing: its args are no object; ignored.",)),
        ),
        (
            "write",
            ran(0, '{"decision":"block"}'),
            Reading(notes=("The hook's output has a decision that is none of allow, deny, modify; ignored.",)),
        ),
        (
            "write",
            ran(0, '{"reason":"no"}'),
            Reading(notes=("The hook's output has a decision that is none of allow, deny, modify; ignored.",)),
        ),
        (
            "write",
            ran(0, "denied"),
            Reading(notes=(IGNORED.format("not JSON: Expecting value at line 1, column 1"),)),
        ),
        (
            "write",
            ran(0, '{"decision":"deny"}\n{"decision":"allow"}'),
            Reading(notes=(IGNORED.format("not JSON: Extra data at line 2, column 1"),)),
        ),
        ("write", ran(1, '{"decision":"deny"}'), failed("exit 1")),
        ("write", ran(2, err="no"), failed("exit 2")),
        ("round", ran(0, '{"decision":"deny"}'), NOTHING),
        ("round", ran(0, "noted"), NOTHING),
        ("stop", ran(0, '{"decision":"deny","reason":"no"}'), NOTHING),
        ("bash", ran(0, '{"decision":"modify","args":{"command":"ls"}}'), Reading(rewrite=new_input(command="ls"))),
        ("child", ran(0, '{"decision":"deny","reason":"no"}'), deny("no")),
    )
]

SHELLEY: list[Case] = [
    ("shelley", event, result, reading)
    for event, result, reading in (
        ("turn", ran(0, '{"decision":"block"}'), NOTHING),
        ("turn", ran(0, b"\xff"), NOTHING),
        ("turn", ran(2, err="no"), failed("exit 2")),
        ("system", ran(0, "Be kind.\n"), Reading(rewrite=Rewrite(target=Target.PROMPT, value="Be kind.\n"))),
        ("system", ran(0, "Be brief."), NOTHING),
        ("system", ran(0), failed("printed no system prompt")),
        ("system", ran(0, "\n"), failed("printed no system prompt")),
        ("system", ran(0, b"\xff"), failed("output is not UTF-8")),
        ("system", ran(1, "Be kind."), failed("exit 1")),
        ("system", ran(2, err="no"), failed("exit 2")),
        ("bash", ran(0, '{"decision":"block"}'), NOTHING),
        ("bash", ran(1), failed("exit 1")),
    )
]

CASES = [*EVERYWHERE, *CLAUDE, *SHELLEY, *STARCHILD, *X_CODE]


@pytest.mark.parametrize(("dialect", "event", "result", "reading"), CASES)
def test_what_a_hook_left_behind_is_read_so(dialect: str, event: str, result: Result, reading: Reading) -> None:
    assert DIALECTS[dialect].read(EVENTS[event], result) == reading


ANSWERS = st.one_of(
    st.binary(max_size=40),
    st.sampled_from([result.stdout for _, _, result, _ in CASES]),
    st.dictionaries(
        st.sampled_from(["decision", "continue", "permissionDecision", "hookSpecificOutput", "updatedInput", "args"]),
        st.sampled_from(
            [None, 1, "block", "allow", "modify", [], {}, {"permissionDecision": 7}, {"updatedInput": {"a": 1}}]
        ),
    ).map(lambda fields: repr(fields).replace("'", '"').replace("None", "null").encode()),
)


@settings(deadline=None, max_examples=600)
@given(
    st.sampled_from(sorted(DIALECTS)),
    st.sampled_from(sorted(EVENTS)),
    ANSWERS,
    st.binary(max_size=8),
    st.none() | st.integers(-20, 260),
)
def test_reading_never_raises_and_a_broken_hook_says_nothing(
    dialect: str, event: str, stdout: bytes, stderr: bytes, code: int | None
) -> None:
    reading = DIALECTS[dialect].read(EVENTS[event], Result(code=code, stdout=stdout, stderr=stderr))

    if reading.problem:
        assert reading == Reading(problem=reading.problem)
    if code is None or code < 0 or code in (126, 127):
        assert reading.problem
    if reading.verdict is Verdict.ALLOW:
        assert dialect in ("claude-code", "starchild")
        assert b"allow" in stdout or b"approve" in stdout
    if reading.rewrite is not None and reading.rewrite.target is Target.INPUT:
        assert isinstance(reading.rewrite.value, dict)


def test_an_event_without_a_tool_cannot_have_its_input_rewritten() -> None:
    event = parse(knock("claude-code", "PreToolUse", b"{}"))

    for name, answer in (
        ("claude-code", inner('"updatedInput":{"a":1}')),
        ("starchild", '{"tool_input":{"a":1}}'),
        ("x-code", '{"decision":"modify","args":{"a":1}}'),
    ):
        assert DIALECTS[name].read(event, ran(0, answer)).rewrite is None


def test_a_byte_order_mark_before_an_answer_is_no_obstacle() -> None:
    said = b"\xef\xbb\xbf" + b'{"decision":"block","reason":"no"}'

    assert DIALECTS["starchild"].read(EVENTS["child"], ran(0, said)) == deny("no")
    assert DIALECTS["claude-code"].read(EVENTS["stop"], ran(0, said)) == deny("no")


def test_a_sampled_tool_call_can_be_refused_in_every_dialect_that_can_refuse() -> None:
    answers = {
        "claude-code": inner('"permissionDecision":"deny"'),
        "starchild": '{"decision":"block"}',
        "x-code": '{"decision":"deny"}',
    }
    calls = [
        sampled("claude-code", "PreToolUse"),
        sampled("starchild", "pre_tool_call"),
        sampled("x-code", "PreToolUse"),
    ]

    assert {DIALECTS[name].read(call, ran(0, out)) for call in calls for name, out in answers.items()} == {deny()}
