"""What a hook in Starchild's dialect said, in its own form or in Claude's."""

from __future__ import annotations

from agents.hook_outputs import EVENTS, IGNORED, NOTHING, allow, ask, deny, failed, inner, new_input, ran
from every import every

from tray.agents.registry import AGENTS
from tray.model.decision import HookOutput, Result

CASES: list[tuple[str, Result, HookOutput]] = [
    ("child", ran(0, '{"decision":"block"}'), deny()),
    ("child", ran(0, "{}"), NOTHING),
    ("child", ran(0, '{"decision":"allow"}'), NOTHING),
    ("child", ran(2), failed("exit 2 without a refusal on either stream")),
    ("child", ran(2, "{}", "why"), failed("exit 2 without a refusal on either stream")),
    ("child", ran(2, '{"decision":"block","reason":"json"}', "stderr"), deny("json")),
    ("child", ran(3, err="no"), failed("exit 3")),
    ("child", ran(0, "done"), HookOutput(warning=IGNORED.format("not JSON: Expecting value at line 1, column 1"))),
    ("child", ran(0, "[]"), HookOutput(warning=IGNORED.format("a JSON array, not an object"))),
    ("child", ran(0, b"\xff"), HookOutput(warning=IGNORED.format("not JSON: Expecting value at line 1, column 1"))),
    ("child", ran(0, '{"decision":"block","decision":"allow"}'), NOTHING),
    ("child", ran(0, '{"decision":"deny"}'), failed("output has a decision that is not block")),
    ("child", ran(0, '{"decision":true}'), failed("output has a decision that is not text")),
    ("child", ran(0, '{"tool_input":"ls"}'), failed("output has a tool_input that is not an object")),
    ("child", ran(0, '{"decision":null,"reason":null}'), NOTHING),
    ("child", ran(0, '{"tool_input":{"command":"ls"}}'), HookOutput(rewrite=new_input(command="ls"))),
    ("child", ran(0, '{"tool_input":{"command":"rm -rf /"}}'), NOTHING),
    ("child", ran(0, '{"tool_input":{}}'), NOTHING),
    (
        "child",
        ran(0, '{"tool_input":{"timeout":5}}'),
        HookOutput(adjustment="new keys of the tool's input were dropped: timeout"),
    ),
    ("child_stop", ran(0, '{"tool_input":{"command":"ls"}}'), NOTHING),
    ("child", ran(0, '{"systemMessage":"a","add_warning":"b"}'), HookOutput(notes=("a", "b"))),
    # Claude's form, translated.
    ("child", ran(0, inner('"permissionDecision":"ask"')), ask()),
    ("bash", ran(0, inner('"permissionDecision":"allow"')), allow()),
    ("child", ran(0, '{"permissionDecision":"deny"}'), deny()),
    ("child", ran(0, '{"permissionDecision":"deny","hookSpecificOutput":{"permissionDecision":"allow"}}'), deny()),
    (
        "child",
        ran(0, inner('"permissionDecision":"maybe"')),
        failed("output has a permissionDecision that is none of allow, ask, deny"),
    ),
    ("child", ran(0, inner('"updatedInput":{"command":"ls"}')), HookOutput(rewrite=new_input(command="ls"))),
    # Another agent's events, heard under Starchild's names and argument keys.
    (
        "bash",
        ran(0, '{"tool_input":{"command":"ls"}}'),
        HookOutput(rewrite=new_input(command="ls", description="fail")),
    ),
    ("write", ran(0, '{"tool_input":{"path":"/safe"}}'), HookOutput(rewrite=new_input(path="/safe", content="..."))),
    ("stop", ran(0, '{"decision":"block","reason":"r"}'), deny("r")),
    ("turn", ran(0, '{"decision":"block","reason":"r"}'), deny("r")),
]


@every(("event", "result", "hook_output"), CASES)
def test_the_output_of_a_starchild_hook_is_read(event: str, result: Result, hook_output: HookOutput) -> None:
    assert AGENTS["starchild"].protocol.read(EVENTS[event], result) == hook_output
