"""Whatever a hook prints on whatever event: reading never raises, and what was read can always be answered."""

from __future__ import annotations

import json
from typing import Any

from agents.hook_outputs import answered
from agents.recordings import sampled
from hypothesis import given, settings
from hypothesis import strategies as st

from tray.agents.protocol import neutral
from tray.agents.registry import AGENTS
from tray.model.decision import HookOutput, Result, Target, Verdict

EVENTS = [sampled(agent, name) for agent, known in AGENTS.items() for name in known.events]
HEARD = sorted({event.name for event in EVENTS if event.agent == "claude-code"})
VALUES: list[Any] = [None, True, False, 7, "", "text", "\ud800", [], ["a"], {}, {"a": 1}, {"action": "accept"}]
VALUES += ["allow", "ask", "deny", "block", "modify", "accept", "cancel", "decline", [{"type": "setMode"}]]
VALUES += [{"behavior": "allow"}, {"behavior": "deny", "interrupt": True}, {"permissionDecision": 7}]
VALUES += [{"behavior": "allow", "updatedInput": {"command": "ls"}}, {"updatedInput": {"a": 1}}]
TOP = ["decision", "reason", "continue", "stopReason", "systemMessage", "permissionDecision", "updatedInput", "args"]
TOP += ["output", "context", "message", "notification", "response", "tool_input", "add_warning", "prompt", "cwd"]
TOP += ["hookSpecificOutput", "slug"]
INNER = ["permissionDecision", "additionalContext", "updatedInput", "updatedToolOutput", "updatedMCPToolOutput"]
INNER += ["retry", "decision", "action", "content", "displayContent", "worktreePath", "sessionTitle", "watchPaths"]
FIELDS = st.dictionaries(st.sampled_from(INNER), st.sampled_from(VALUES), max_size=4)
SPECIFIC = st.builds(lambda name, fields: {"hookEventName": name, **fields}, st.sampled_from(HEARD), FIELDS)
OBJECTS = st.builds(
    lambda top, specific: {**top, **({"hookSpecificOutput": specific} if specific else {})},
    st.dictionaries(st.sampled_from(TOP), st.sampled_from(VALUES), max_size=4),
    st.none() | SPECIFIC,
)
OUTPUTS = st.one_of(st.binary(max_size=30), OBJECTS.map(lambda value: json.dumps(value).encode()))


def own_name(output: bytes, name: str) -> bytes:
    """Most answers name the event that they are about."""
    for heard in HEARD:
        output = output.replace(f'"hookEventName": "{heard}"'.encode(), f'"hookEventName": "{name}"'.encode())
    return output


@settings(deadline=None, max_examples=150)
@given(
    st.sampled_from(sorted(AGENTS)),
    st.sampled_from(EVENTS),
    OUTPUTS,
    st.binary(max_size=8),
    st.sampled_from([None, -9, 0, 0, 0, 1, 2, 2, 126, 127]),
)
def test_reading_never_raises_and_what_was_read_can_be_answered(
    dialect: str, event: Any, stdout: bytes, stderr: bytes, code: int | None
) -> None:
    said = own_name(stdout, event.name)
    hook_output = AGENTS[dialect].protocol.read(event, Result(code=code, stdout=said, stderr=stderr))

    answer = answered(event, hook_output)

    if hook_output.problem:
        assert hook_output == HookOutput(problem=hook_output.problem)
        assert answer == neutral(event.sender, event.name, event.body)
    if hook_output.verdict is Verdict.ALLOW:
        assert dialect in ("claude-code", "droid", "starchild")
        assert b"allow" in said or b"approve" in said
    if hook_output.rewrite is not None and hook_output.rewrite.target is Target.INPUT:
        assert isinstance(hook_output.rewrite.value, dict)
    reads_stderr = dialect in ("gemini-cli", "qwen-code")
    reads_any = dialect in ("claude-code", "droid", "grok")
    has_answer = b"{" in said if reads_any else reads_stderr and b"{" in said + stderr
    if code in (None, -9) or (code in (126, 127) and not has_answer):
        assert hook_output.problem
