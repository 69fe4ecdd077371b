"""Hooks written for Claude Code, every event: what the agent would honour of an answer is read so, and no more."""

from __future__ import annotations

from typing import Any

import pytest
from agents.hook_outputs import NOTHING, allow, ask, deny, failed, ran
from agents.recordings import recorded, request_for, sampled
from every import every
from msgspec.structs import replace

from tray.agents.protocol import parse
from tray.agents.registry import AGENTS
from tray.model.decision import HookOutput, Result, Rewrite, Target
from tray.model.event import Event

BLOCKED = '{"decision":"block","reason":"no"}'
STOPPED = '{"continue":false,"stopReason":"enough"}'


def inner(name: str, said: str) -> str:
    return f'{{"hookSpecificOutput":{{"hookEventName":"{name}",{said}}}}}'


def new(target: Target, value: Any) -> Rewrite:
    return Rewrite(target=target, value=value)


def extra(**fields: Any) -> HookOutput:
    return HookOutput(extra=tuple(fields.items()))


def decided(said: str) -> str:
    return inner("PermissionRequest", f'"decision":{{{said}}}')


BLOCKS = (
    *("ConfigChange", "PostToolBatch", "PostToolUse", "PostToolUseFailure", "PreCompact", "PreToolUse"),
    *("Stop", "SubagentStop", "TaskCreated", "UserPromptExpansion", "UserPromptSubmit"),
)
EXITS = (*BLOCKS, "Elicitation", "ElicitationResult", "PreModelSwitch", "TaskCompleted", "TeammateIdle")
STOPS = (*("PostToolBatch", "PostToolUse", "PreToolUse", "Stop", "TaskCompleted", "TeammateIdle"), "UserPromptSubmit")
TELLS = (
    *("PostModelSwitch", "PostToolBatch", "PostToolUse", "PostToolUseFailure", "PreToolUse", "SessionStart"),
    *("Setup", "SubagentStart", "UserPromptExpansion", "UserPromptSubmit"),
)
HEARS_TEXT = ("SessionStart", "UserPromptExpansion", "UserPromptSubmit")
DEAF = tuple(name for name in AGENTS["claude-code"].events if name not in (*HEARS_TEXT, "WorktreeCreate"))
FORMS = ("Elicitation", "ElicitationResult")
CASES: list[tuple[str, Result, HookOutput]] = [
    *[(name, ran(0, BLOCKED), deny("no")) for name in BLOCKS],
    *[(name, ran(1, BLOCKED), deny("no")) for name in BLOCKS],
    *[(name, ran(2, err="no\n"), deny("no")) for name in EXITS],
    *[(name, ran(2, BLOCKED, "stderr"), deny("no")) for name in BLOCKS],
    *[(name, ran(2, '{"systemMessage":"n"}', "no"), deny("no", notes=("n",))) for name in EXITS],
    *[(name, ran(2, '{"decision":7}', "no"), deny("no")) for name in EXITS],
    *[(name, ran(0, STOPPED), HookOutput(stop="enough")) for name in STOPS],
    *[(name, ran(0, STOPPED), NOTHING) for name in ("SessionStart", "TaskCreated")],
    *[(name, ran(0, inner(name, '"additionalContext":"c"')), HookOutput(context="c")) for name in TELLS],
    *[(name, ran(0, "words\n"), HookOutput(context="words")) for name in HEARS_TEXT],
    *[(name, ran(0, "words\n"), NOTHING) for name in DEAF],
    *[(name, ran(1, "words\n"), failed("exit 1")) for name in (*HEARS_TEXT, *DEAF)],
    *[(name, ran(0), NOTHING) for name in (*HEARS_TEXT, *DEAF)],
    *[
        (
            name,
            ran(0, inner("NoSuch", '"additionalContext":"c"')),
            failed(f"output has a hookSpecificOutput whose hookEventName is not {name}"),
        )
        for name in AGENTS["claude-code"].events
    ],
    # Permissions.
    ("PermissionRequest", ran(0, decided('"behavior":"allow"')), allow()),
    ("PermissionRequest", ran(1, decided('"behavior":"allow"')), allow()),
    ("PermissionRequest", ran(2, decided('"behavior":"allow"'), "no"), allow()),
    ("PermissionRequest", ran(0, decided('"behavior":"deny","message":"no"')), deny("no")),
    ("PermissionRequest", ran(0, decided('"behavior":"deny"')), deny()),
    (
        "PermissionRequest",
        ran(0, decided('"behavior":"deny","message":"no","interrupt":true')),
        deny("no", stop="no"),
    ),
    (
        "PermissionRequest",
        ran(0, decided('"behavior":"allow","updatedInput":{"command":"ls"}')),
        allow(rewrite=new(Target.INPUT, {"command": "ls"})),
    ),
    (
        "PermissionRequest",
        ran(0, decided('"behavior":"allow","updatedPermissions":[{"type":"setMode"}]')),
        allow(extra=(("updatedPermissions", [{"type": "setMode"}]),)),
    ),
    *(
        (
            name,
            ran(0, '{"decision":"block","reason":"no","stopReason":"Cannot stop yet"}'),
            deny("no", notes=("Cannot stop yet",)),
        )
        for name in ("PreToolUse", "Stop", "SubagentStop")
    ),
    ("Stop", ran(0, '{"decision":"block","reason":"no","stopReason":"no"}'), deny("no")),
    ("PermissionRequest", ran(0, decided('"behavior":"allow","updatedPermissions":{}')), allow()),
    (
        "PermissionRequest",
        ran(0, decided('"behavior":"allow","updatedPermissions":{"type":"setMode"}')),
        failed("output has a updatedPermissions that is not an array"),
    ),
    ("PermissionRequest", ran(0, BLOCKED), NOTHING),
    ("PermissionRequest", ran(0, '{"decision":"approve"}'), NOTHING),
    ("PermissionRequest", ran(0, '{"permissionDecision":"allow"}'), NOTHING),
    (
        "PermissionRequest",
        ran(2, err="no"),
        failed("exit 2 without a decision, which a permission request does not heed"),
    ),
    (
        "PermissionRequest",
        ran(0, decided('"behavior":"ask"')),
        failed("output has a behavior that is none of allow, deny"),
    ),
    (
        "PermissionRequest",
        ran(0, inner("PermissionRequest", '"decision":"allow"')),
        failed("output has a decision that is not an object"),
    ),
    ("PermissionDenied", ran(0, inner("PermissionDenied", '"retry":true')), HookOutput(retry=True)),
    ("PermissionDenied", ran(0, inner("PermissionDenied", '"retry":false')), NOTHING),
    (
        "PermissionDenied",
        ran(0, inner("PermissionDenied", '"retry":"yes"')),
        failed("output has a retry that is not a boolean"),
    ),
    ("UserPromptSubmit", ran(0, '{"decision":"approve"}'), NOTHING),
    ("PostToolUse", ran(0, '{"decision":"approve"}'), NOTHING),
    ("PostToolUse", ran(0, '{"permissionDecision":"allow"}'), NOTHING),
    ("PreModelSwitch", ran(0, inner("PreModelSwitch", '"permissionDecision":"ask"')), ask()),
    ("PreModelSwitch", ran(0, inner("PreModelSwitch", '"permissionDecision":"allow"')), allow()),
    (
        "PreModelSwitch",
        ran(0, inner("PreModelSwitch", '"permissionDecision":"deny","permissionDecisionReason":"no"')),
        deny("no"),
    ),
    # Outputs.
    (
        "PostToolUse",
        ran(0, inner("PostToolUse", '"updatedToolOutput":{"stdout":"x"}')),
        HookOutput(rewrite=new(Target.OUTPUT, {"stdout": "x"})),
    ),
    (
        "PostToolUse",
        ran(2, inner("PostToolUse", '"updatedToolOutput":{"stdout":"x"}'), "no"),
        deny("no", rewrite=new(Target.OUTPUT, {"stdout": "x"})),
    ),
    ("PostToolUse", ran(0, inner("PostToolUse", '"updatedMCPToolOutput":"x"')), NOTHING),
    ("PostToolUse", ran(0, '{"updatedInput":{"command":"ls"}}'), NOTHING),
    ("PostToolUse", ran(0, inner("PostToolUse", '"classifierContext":"c"')), extra(classifierContext="c")),
    # Sessions and prompts.
    (
        "SessionStart",
        ran(
            0,
            inner(
                "SessionStart", '"sessionTitle":"t","watchPaths":["/a"],"reloadSkills":true,"initialUserMessage":"m"'
            ),
        ),
        extra(initialUserMessage="m", reloadSkills=True, sessionTitle="t", watchPaths=["/a"]),
    ),
    (
        "SessionStart",
        ran(0, inner("SessionStart", '"watchPaths":"/a"')),
        failed("output has a watchPaths that is not an array"),
    ),
    ("UserPromptSubmit", ran(0, inner("UserPromptSubmit", '"sessionTitle":"t"')), extra(sessionTitle="t")),
    (
        "UserPromptSubmit",
        ran(
            0,
            '{"decision":"block","reason":"no","hookSpecificOutput":{"hookEventName":"UserPromptSubmit","suppressOriginalPrompt":true}}',
        ),
        deny("no", extra=(("suppressOriginalPrompt", True),)),
    ),
    ("CwdChanged", ran(0, inner("CwdChanged", '"watchPaths":["/a"]')), extra(watchPaths=["/a"])),
    ("Setup", ran(0, inner("Setup", '"sessionTitle":"t"')), NOTHING),
    ("Stop", ran(0, '{"terminalSequence":"\\u0007"}'), extra(terminalSequence="\a")),
    ("SubagentStop", ran(0, inner("SubagentStop", '"additionalContext":"more"')), HookOutput(context="more")),
    # Forms.
    *[
        (
            name,
            ran(0, inner(name, '"action":"accept","content":{"day":"Monday"}')),
            HookOutput(rewrite=new(Target.ANSWER, {"action": "accept", "content": {"day": "Monday"}})),
        )
        for name in FORMS
    ],
    *[(name, ran(0, inner(name, '"action":"decline"')), deny()) for name in FORMS],
    *[(name, ran(2, inner(name, '"action":"accept","content":{}'), "no"), deny("no")) for name in FORMS],
    *[
        (name, ran(0, inner(name, '"action":"cancel"')), HookOutput(rewrite=new(Target.ANSWER, {"action": "cancel"})))
        for name in FORMS
    ],
    *[
        (
            name,
            ran(0, inner(name, '"action":"agree"')),
            failed("output has an action that is none of accept, cancel, decline"),
        )
        for name in FORMS
    ],
    # What is shown, and where a worktree is.
    (
        "MessageDisplay",
        ran(0, inner("MessageDisplay", '"displayContent":"***"')),
        HookOutput(rewrite=new(Target.MESSAGE, "***")),
    ),
    (
        "MessageDisplay",
        ran(0, inner("MessageDisplay", '"displayContent":""')),
        HookOutput(rewrite=new(Target.MESSAGE, "")),
    ),
    (
        "WorktreeCreate",
        ran(0, "Cloning…\n/home/dev/tree\n\n"),
        HookOutput(rewrite=new(Target.ANSWER, "/home/dev/tree")),
    ),
    (
        "WorktreeCreate",
        ran(0, inner("WorktreeCreate", '"worktreePath":"/t"')),
        HookOutput(rewrite=new(Target.ANSWER, "/t")),
    ),
    *[
        (name, ran(0, inner(name, '"content":"x"')), failed("output has a content that is not an object"))
        for name in FORMS
    ],
    *[
        ("PermissionRequest", ran(0, decided(f'"behavior":"deny","message":"no",{more}')), deny("no"))
        for more in ('"updatedInput":null', '"updatedInput":"x"', '"updatedPermissions":null')
    ],
    *[
        ("PermissionRequest", ran(0, decided(f'"behavior":"allow",{more}')), allow())
        for more in ('"message":null', '"interrupt":null')
    ],
    *[
        ("PermissionRequest", ran(0, decided(said)), failed(f"output has {fault}"))
        for said, fault in {
            '"behavior":"deny","message":null': "a message that is not a string",
            '"behavior":"allow","updatedInput":null': "a updatedInput that is not an object",
            '"behavior":7': "a behavior that is none of allow, deny",
        }.items()
    ],
    ("SessionStart", ran(0, '{"watchPaths":"x","reloadSkills":7,"systemMessage":"n"}'), HookOutput(notes=("n",))),
    ("UserPromptSubmit", ran(0, '{"sessionTitle":7,"decision":"block","reason":"no"}'), deny("no")),
    ("WorktreeCreate", ran(0), failed("printed no path")),
    ("WorktreeCreate", ran(1, "/home/dev/tree", "no room"), deny("no room")),
    ("WorktreeCreate", ran(127), failed("exit 127: the command was not found")),
]


@every(("name", "result", "hook_output"), CASES)
def test_what_a_hook_said_is_read_as_the_agent_would(name: str, result: Result, hook_output: HookOutput) -> None:
    assert (
        replace(AGENTS["claude-code"].protocol.read(sampled("claude-code", name), result), plain=False) == hook_output
    )


def mcp(output: str) -> Event:
    body = '{"hook_event_name":"PostToolUse","tool_name":"mcp__db__query","tool_input":{},"tool_response":%s}'
    return parse(request_for("claude-code", "PostToolUse", (body % output).encode()))


@pytest.mark.parametrize("said", ['{"updatedMCPToolOutput":"x"}', inner("PostToolUse", '"updatedMCPToolOutput":"x"')])
def test_the_output_of_an_mcp_tool_may_be_replaced_under_its_older_name(said: str) -> None:
    hook_output = AGENTS["claude-code"].protocol.read(mcp('"secret"'), ran(0, said))

    assert hook_output == HookOutput(rewrite=new(Target.OUTPUT, "x"))


def test_a_hook_finds_a_tools_output_under_its_older_names_too() -> None:
    written = AGENTS["claude-code"].protocol.stdin(recorded("claude-code", "PostToolUse-Read"))

    body = recorded("claude-code", "PostToolUse-Read").body.rstrip(b"}\n")
    assert written.startswith(body)
    assert written.endswith(b',"tool_output":"hello\\n","tool_result":"hello\\n"}\n')


def test_an_older_name_that_the_agent_sent_itself_is_left_alone() -> None:
    body = b'{"hook_event_name":"PostToolUse","tool_name":"T","tool_response":"a","tool_output":"b","tool_result":7}'

    assert (
        AGENTS["claude-code"].protocol.stdin(parse(request_for("claude-code", "PostToolUse", body))) == body + b"\n"
    )
