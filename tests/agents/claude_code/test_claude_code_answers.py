"""What a hook in Claude's dialect said: JSON on any exit code, exit 2, plain text, older spellings."""

from __future__ import annotations

from agents.hook_outputs import EVENTS, NOTHING, allow, ask, deny, failed, inner, new_input, ran
from every import every

from tray.agents.registry import AGENTS
from tray.model.decision import HookOutput, Result

CASES: list[tuple[str, Result, HookOutput]] = [
    ("bash", ran(2), deny()),
    ("bash", ran(2, err=b"\xff bytes"), deny("\ufffd bytes")),
    ("bash", ran(2, "plain", "why"), deny("why")),
    ("bash", ran(2, err='{"decision":"deny","reason":"r"}'), deny('{"decision":"deny","reason":"r"}')),
    ("bash", ran(2, inner('"permissionDecision":"allow"'), "no"), deny("no")),
    ("bash", ran(2, inner('"permissionDecision":"deny","permissionDecisionReason":"json"'), "stderr"), deny("json")),
    ("bash", ran(2, inner('"updatedInput":{"command":"ls"}'), "no"), deny("no")),
    ("bash", ran(2, inner('"permissionDecision":"allow"', "Stop"), "no"), deny("no")),
    ("start", ran(2, err="cannot block here"), deny("cannot block here")),
    ("bash", ran(0, inner('"permissionDecision":"deny","permissionDecisionReason":"because"')), deny("because")),
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
    ("bash", ran(0, '{"continue": false}'), HookOutput(stop="")),
    ("bash", ran(0, '{"systemMessage": "look"}'), HookOutput(notes=("look",))),
    ("bash", ran(0, inner('"updatedInput":{"command":"ls"}')), HookOutput(rewrite=new_input(command="ls"))),
    # Older spellings.
    ("bash", ran(0, '{"decision":"approve","reason":"fine"}'), allow("fine")),
    ("bash", ran(0, '{"permissionDecision":"deny","permissionDecisionReason":"no"}'), deny("no")),
    ("bash", ran(0, '{"permissionDecision":"ask","reason":"sure?"}'), ask("sure?")),
    ("bash", ran(0, '{"additionalContext":"mind"}'), HookOutput(context="mind")),
    (
        "bash",
        ran(0, '{"updatedInput":{"command":"ls"}}'),
        HookOutput(rewrite=new_input(command="ls", description="fail")),
    ),
    ("bash", ran(0, '{"decision":"stop","reason":"enough"}'), HookOutput(stop="enough")),
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
    ("bash", ran(0, '{"decision":["block"]}'), failed("output has a decision that is not a string")),
    ("bash", ran(0, '{"continue":"false"}'), failed("output has a continue that is not a boolean")),
    ("bash", ran(0, '{"systemMessage":null}'), failed("output has a systemMessage that is not a string")),
    ("bash", ran(0, '{"hookSpecificOutput":[]}'), failed("output has a hookSpecificOutput that is not an object")),
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
    ("bash", ran(0, inner('"updatedInput":"ls"')), failed("output has a updatedInput that is not an object")),
    ("bash", ran(0, inner('"additionalContext":7')), failed("output has a additionalContext that is not a string")),
    # Unknown keys, though they bear a name that means something elsewhere: tolerated.
    *(
        ("bash", ran(0, inner(f'"permissionDecision":"deny","permissionDecisionReason":"no",{more}')), deny("no"))
        for more in (
            '"decision":"deny"',
            '"action":"blocked"',
            '"content":"x"',
            '"retry":0',
            '"watchPaths":"x"',
            '"sessionTitle":7',
            '"worktreePath":null',
            '"terminalSequence":7',
        )
    ),
    *(
        ("bash", ran(0, f'{{"decision":"block","reason":"no",{more}}}'), deny("no"))
        for more in (
            '"permissionDecision":"block"',
            '"permissionDecision":null',
            '"permissionDecisionReason":7',
            '"additionalContext":["x"]',
            '"updatedInput":"x"',
            '"action":"blocked"',
        )
    ),
    ("bash", ran(0, '{"permissionDecision":null,' + inner('"permissionDecision":"deny"')[1:]), deny()),
    ("bash", ran(0, '{"permissionDecision":"block"}'), NOTHING),
    (
        "stop",
        ran(0, inner('"permissionDecision":7,"retry":"x","additionalContext":"go on"', "Stop")),
        HookOutput(context="go on"),
    ),
    # Plain text.
    ("bash", ran(0, '["block"]'), NOTHING),
    ("bash", ran(0, b"\xff\xfe"), NOTHING),
    ("bash", ran(0, "Hello\n" + inner('"permissionDecision":"deny"')), NOTHING),
    (
        "bash",
        ran(0, '{"decision":"block"} trailing'),
        HookOutput(warning="The hook's output is not JSON: Extra data at line 1, column 22; taken as plain text."),
    ),
    ("start", ran(0, "{broken"), HookOutput(context="{broken")),
    # Ends of turns.
    ("stop", ran(0, inner('"additionalContext":"go on"', "Stop")), HookOutput(context="go on")),
    ("stop", ran(0, '{"continue":false,"stopReason":"s","decision":"block"}'), deny(stop="s")),
    ("stop", ran(0, inner('"permissionDecision":"deny"', "Stop")), NOTHING),
    # Another agent's events, heard under Claude's names and argument keys.
    ("child", ran(0, inner('"permissionDecision":"deny"')), deny()),
    ("child_stop", ran(0, '{"decision":"block","reason":"r"}'), deny("r")),
    ("turn", ran(0, inner('"additionalContext":"c"', "Stop")), deny("c")),
    (
        "write",
        ran(0, inner('"updatedInput":{"file_path":"/safe","content":"x"}')),
        HookOutput(rewrite=new_input(path="/safe", content="x")),
    ),
    (
        "write",
        ran(0, '{"updatedInput":{"file_path":"/safe"}}'),
        HookOutput(rewrite=new_input(path="/safe", content="...")),
    ),
]


@every(("event", "result", "hook_output"), CASES)
def test_the_output_of_a_claude_code_hook_is_read(event: str, result: Result, hook_output: HookOutput) -> None:
    assert AGENTS["claude-code"].protocol.read(EVENTS[event], result) == hook_output
