"""X-Code's ten events, both ways: "what gets applied" of its page, and what its hooks hear of other agents."""

from __future__ import annotations

import json
from typing import Any

from agents.hook_outputs import NOTHING, deny, failed, ran
from agents.recordings import recorded, sampled
from every import every

from tray.agents.protocol import render
from tray.agents.registry import AGENTS
from tray.model.decision import Answer, Decision, HookOutput, Result, Rewrite, Target, Verdict
from tray.model.event import Event

DENY = Verdict.DENY
NO = Decision(verdict=DENY, reason="no")
DENIED = '{"decision":"deny","reason":"no"}\n'
SILENT = ("PostCompact", "PreCompact", "SessionEnd", "SessionStart", "SubagentStart", "SubagentStop", "TurnComplete")


def new(target: Target, value: Any, **more: Any) -> Decision:
    return Decision(rewrite=Rewrite(target=target, value=value), **more)


ANSWERS: list[tuple[str, Decision, str]] = [
    *[(name, NO, "") for name in SILENT],
    *[(name, Decision(context="c", stop="s", notes=("n",), retry=True), "") for name in SILENT],
    *[(name, new(Target.OUTPUT, "x"), "") for name in SILENT],
    *[(name, NO, DENIED) for name in ("PreToolUse", "UserPromptSubmit")],
    *[(name, Decision(verdict=Verdict.ASK, reason="no"), DENIED) for name in ("PreToolUse", "UserPromptSubmit")],
    *[(name, Decision(stop="no"), DENIED) for name in ("PreToolUse", "UserPromptSubmit")],
    *[(name, Decision(verdict=Verdict.ALLOW), "") for name in ("PreToolUse", "PostToolUse", "UserPromptSubmit")],
    ("UserPromptSubmit", Decision(context="c"), '{"decision":"allow","context":"c"}\n'),
    ("UserPromptSubmit", Decision(verdict=DENY, reason="no", context="c"), DENIED),
    (
        "UserPromptSubmit",
        new(Target.PROMPT, "x"),
        (
            '{"decision":"deny","reason":"A hook\'s rewrite cannot be carried: UserPromptSubmit of x-code'
            ' cannot rewrite a prompt"}\n'
        ),
    ),
    ("PreToolUse", Decision(context="c"), ""),
    ("PreToolUse", new(Target.INPUT, {"command": "ls"}), '{"decision":"modify","args":{"command":"ls"}}\n'),
    ("PostToolUse", NO, ""),
    ("PostToolUse", Decision(context="c"), ""),
    ("PostToolUse", new(Target.OUTPUT, "é"), '{"decision":"modify","output":"é"}\n'),
    ("PostToolUse", new(Target.OUTPUT, ""), '{"decision":"modify","output":""}\n'),
    ("PostToolUse", new(Target.OUTPUT, "x", verdict=DENY, reason="no"), '{"decision":"modify","output":"x"}\n'),
    ("PostToolUse", new(Target.OUTPUT, {"stdout": "x", "stderr": ""}), '{"decision":"modify","output":"x"}\n'),
    ("PostToolUse", new(Target.OUTPUT, {"a": 1}), '{"decision":"modify","output":"{\\"a\\":1}"}\n'),
    ("PostToolUse", new(Target.INPUT, {}), ""),
]


@every(("name", "decision", "stdout"), ANSWERS)
def test_a_decision_is_answered_with_these_bytes(name: str, decision: Decision, stdout: str) -> None:
    assert render(sampled("x-code", name), decision) == Answer(stdout=stdout.encode())


def output(value: Any) -> HookOutput:
    return HookOutput(rewrite=Rewrite(target=Target.OUTPUT, value=value))


IGNORED = "The hook's output modifies nothing: its output is not text; ignored."
READ = recorded("claude-code", "PostToolUse-Read")
HOOK_OUTPUTS: list[tuple[Event, Result, HookOutput]] = [
    *[(sampled("x-code", name), ran(0, DENIED), NOTHING) for name in SILENT],
    *[(sampled("x-code", name), ran(0, "noted"), NOTHING) for name in SILENT],
    *[(sampled("x-code", name), ran(1), failed("exit 1")) for name in SILENT],
    (sampled("x-code", "UserPromptSubmit"), ran(0, DENIED), deny("no")),
    (sampled("x-code", "UserPromptSubmit"), ran(0, '{"decision":"allow","context":"c"}'), HookOutput(context="c")),
    (sampled("x-code", "UserPromptSubmit"), ran(0, '{"decision":"modify","context":"c"}'), HookOutput(context="c")),
    (sampled("x-code", "UserPromptSubmit"), ran(0, '{"decision":"deny","reason":"no","context":"c"}'), deny("no")),
    (sampled("x-code", "UserPromptSubmit"), ran(0, '{"decision":"modify","args":{}}'), NOTHING),
    (sampled("x-code", "UserPromptSubmit"), ran(2, err="no"), failed("exit 2")),
    (sampled("x-code", "PreToolUse"), ran(0, '{"decision":"allow","context":"c"}'), NOTHING),
    (sampled("x-code", "PostToolUse"), ran(0, '{"decision":"allow","context":"c"}'), NOTHING),
    (sampled("x-code", "PostToolUse"), ran(0, '{"decision":"modify","output":"x"}'), output("x")),
    (sampled("x-code", "PostToolUse"), ran(0, '{"decision":"modify","output":7}'), HookOutput(warning=IGNORED)),
    (sampled("x-code", "PostToolUse"), ran(0, '{"decision":"modify","args":{}}'), HookOutput(warning=IGNORED)),
    (sampled("x-code", "PostToolUse"), ran(0, DENIED), deny("no")),
    # Other agents' events.
    (
        sampled("claude-code", "UserPromptSubmit"),
        ran(0, '{"decision":"allow","context":"c"}'),
        HookOutput(context="c"),
    ),
    (sampled("claude-code", "UserPromptSubmit"), ran(0, DENIED), deny("no")),
    (sampled("shelley", "chat-message"), ran(0, '{"decision":"modify","context":"c"}'), HookOutput(context="c")),
    (sampled("starchild", "on_user_message"), ran(0, DENIED), deny("no")),
    (
        sampled("claude-code", "PostToolUse"),
        ran(0, '{"decision":"modify","output":"x"}'),
        output({"stdout": "x", "stderr": "", "interrupted": False, "isImage": False}),
    ),
    (
        READ,
        ran(0, '{"decision":"modify","output":"x"}'),
        output(
            {
                "type": "text",
                "file": {
                    "filePath": "/home/dev/project/a.txt",
                    "content": "x",
                    "numLines": 2,
                    "startLine": 1,
                    "totalLines": 2,
                },
            }
        ),
    ),
    (recorded("claude-code", "PostToolUse-Edit"), ran(0, '{"decision":"modify","output":"x"}'), output("x")),
]


@every(("event", "result", "hook_output"), HOOK_OUTPUTS)
def test_what_a_hook_said_is_read_so(event: Event, result: Result, hook_output: HookOutput) -> None:
    assert AGENTS["x-code"].protocol.read(event, result) == hook_output


def test_an_output_without_a_place_for_a_text_is_never_left_as_it_was_in_silence() -> None:
    event = recorded("claude-code", "PostToolUse-Edit")
    hook_output = AGENTS["x-code"].protocol.read(event, ran(0, '{"decision":"modify","output":"[redacted]"}'))

    said = json.loads(render(event, Decision(rewrite=hook_output.rewrite)).stdout)

    assert said["decision"] == "block"
    assert "not of the output's own shape" in said["reason"]


def test_a_claude_hook_finds_an_x_code_shells_output_where_it_looks_for_it() -> None:
    written = json.loads(AGENTS["claude-code"].protocol.stdin(sampled("x-code", "PostToolUse")))

    assert (written["tool_name"], written["tool_response"]["stdout"]) == ("Bash", "README.md")
    assert (written["tool_output"], written["tool_result"]) == ("README.md", "README.md")


def test_a_claude_hooks_new_output_comes_back_to_x_code_as_text() -> None:
    said = (
        '{"hookSpecificOutput":{"hookEventName":"PostToolUse",'
        '"updatedToolOutput":{"stdout":"***","stderr":"","interrupted":false,"isImage":false}}}'
    )
    event = sampled("x-code", "PostToolUse")

    hook_output = AGENTS["claude-code"].protocol.read(event, ran(0, said))

    assert render(event, Decision(rewrite=hook_output.rewrite)).stdout == b'{"decision":"modify","output":"***"}\n'
