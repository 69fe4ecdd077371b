"""What a hook's process said, read in its own dialect; a broken hook is neither a refusal nor a permission."""

from __future__ import annotations

from agents.hook_outputs import EVENTS, IGNORED, NOTHING, Case, deny, failed, inner, new_input, ran
from agents.recordings import request_for
from every import every
from msgspec.structs import replace

from tray.agents.protocol import parse
from tray.agents.registry import AGENTS
from tray.model.decision import HookOutput, Result, Rewrite, Target

EVERYWHERE: list[Case] = [
    (dialect, event, result, hook_output)
    for dialect, event in (("claude-code", "bash"), ("shelley", "turn"), ("starchild", "child"), ("x-code", "write"))
    for result, hook_output in (
        (ran(None, cause="timed out"), failed("timed out")),
        (ran(None, '{"decision":"block"}', cause="killed by signal 9"), failed("killed by signal 9")),
        (ran(0, cause="stdout over 1048576 bytes"), failed("stdout over 1048576 bytes")),
        (ran(None), failed("ended without an exit code")),
        (ran(-9), failed("killed by signal 9")),
        (ran(126, err="sh: permission denied"), failed("exit 126: the command cannot be executed")),
        (ran(127, "sh: 1: nowhere: not found"), failed("exit 127: the command was not found")),
        (ran(127, "{broken"), failed("exit 127: the command was not found")),
        (ran(1, err="Traceback"), failed("exit 1")),
        (ran(0), NOTHING),
        (ran(0, " \n"), NOTHING),
    )
]

X_CODE: list[Case] = [
    ("x-code", event, result, hook_output)
    for event, result, hook_output in (
        ("write", ran(0, '{"decision":"deny","reason":"no"}\n'), deny("no")),
        ("write", ran(0, '{"decision":"deny","reason":7}'), deny()),
        ("write", ran(0, '{"decision":"allow","context":"ignored"}'), NOTHING),
        (
            "write",
            ran(0, '{"decision":"modify","args":{"path":"/safe"}}'),
            HookOutput(rewrite=new_input(path="/safe")),
        ),
        (
            "write",
            ran(0, '{"decision":"modify","args":["x"]}'),
            HookOutput(warning="The hook's output modifies nothing: its args are no object; ignored."),
        ),
        (
            "write",
            ran(0, '{"decision":"block"}'),
            HookOutput(warning="The hook's output has a decision that is none of allow, deny, modify; ignored."),
        ),
        (
            "write",
            ran(0, '{"reason":"no"}'),
            HookOutput(warning="The hook's output has a decision that is none of allow, deny, modify; ignored."),
        ),
        (
            "write",
            ran(0, "denied"),
            HookOutput(warning=IGNORED.format("not JSON: Expecting value at line 1, column 1")),
        ),
        (
            "write",
            ran(0, '{"decision":"deny"}\n{"decision":"allow"}'),
            HookOutput(warning=IGNORED.format("not JSON: Extra data at line 2, column 1")),
        ),
        ("write", ran(1, '{"decision":"deny"}'), failed("exit 1")),
        ("write", ran(2, err="no"), failed("exit 2")),
        ("stop", ran(0, '{"decision":"deny","reason":"no"}'), NOTHING),
        (
            "bash",
            ran(0, '{"decision":"modify","args":{"command":"ls"}}'),
            HookOutput(rewrite=new_input(command="ls")),
        ),
        ("child", ran(0, '{"decision":"deny","reason":"no"}'), deny("no")),
    )
]

SHELLEY: list[Case] = [
    ("shelley", event, result, hook_output)
    for event, result, hook_output in (
        ("turn", ran(0, '{"decision":"block"}'), NOTHING),
        ("turn", ran(0, b"\xff"), NOTHING),
        ("turn", ran(2, err="no"), failed("exit 2")),
        ("system", ran(0, "Be kind.\n"), HookOutput(rewrite=Rewrite(target=Target.PROMPT, value="Be kind.\n"))),
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

OTHERS: list[Case] = [
    (
        "codex",
        "bash",
        ran(0, inner('"permissionDecision":"defer"')),
        failed("output has a permissionDecision that is none of allow, ask, deny"),
    ),
    (
        "droid",
        "bash",
        ran(0, inner('"updatedInput":{"command":"ls"}')),
        HookOutput(rewrite=new_input(command="ls", description="fail")),  # the agent merges the inputs
    ),
    ("gemini-cli", "bash", ran(2, '{"systemMessage":"n"}', "no"), HookOutput(notes=("n",))),  # JSON beats the code
    ("grok", "bash", ran(0, inner('"permissionDecision":"block","permissionDecisionReason":"no"')), deny("no")),
]

CASES = [*EVERYWHERE, *OTHERS, *SHELLEY, *X_CODE]


@every(("dialect", "event", "result", "hook_output"), CASES)
def test_what_a_hook_left_behind_is_read_so(
    dialect: str, event: str, result: Result, hook_output: HookOutput
) -> None:
    assert replace(AGENTS[dialect].protocol.read(EVENTS[event], result), plain=False) == hook_output


def test_an_event_without_a_tool_cannot_have_its_input_rewritten() -> None:
    event = parse(request_for("claude-code", "PreToolUse", b"{}"))

    for name, answer in (
        ("claude-code", inner('"updatedInput":{"a":1}')),
        ("starchild", '{"tool_input":{"a":1}}'),
        ("x-code", '{"decision":"modify","args":{"a":1}}'),
    ):
        assert AGENTS[name].protocol.read(event, ran(0, answer)).rewrite is None
