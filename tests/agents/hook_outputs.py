"""What the tables of hooks' answers are written with: events to ask about, and short ways to results and outputs."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from agents.recordings import recorded, request_for

from tray.agents.protocol import parse, render
from tray.model.decision import Answer, Decision, HookOutput, Result, Rewrite, Target, Verdict
from tray.model.event import Event

EVENTS: Mapping[str, Event] = {
    "bash": recorded("claude-code", "PreToolUse-Bash"),  # input: command, description
    "stop": recorded("claude-code", "Stop"),
    "start": recorded("claude-code", "SessionStart-clear"),
    "copilot": recorded("copilot-cli", "PreToolUse-Bash"),  # input: command, description
    "turn": recorded("shelley", "end-of-turn"),
    "system": parse(request_for("shelley", "system-prompt", b"Be brief.")),
    "child": recorded("starchild", "pre_tool_call"),  # input: command
    "child_stop": recorded("starchild", "on_stop"),
    "write": recorded("x-code", "PreToolUse"),  # input: path, content
}


def ran(code: int | None = 0, out: str | bytes = b"", err: str | bytes = b"", cause: str = "") -> Result:
    stdout = out if isinstance(out, bytes) else out.encode()
    stderr = err if isinstance(err, bytes) else err.encode()
    return Result(code=code, stdout=stdout, stderr=stderr, cause=cause)


def deny(reason: str = "", **more: Any) -> HookOutput:
    return HookOutput(verdict=Verdict.DENY, reason=reason, **more)


def ask(reason: str = "", **more: Any) -> HookOutput:
    return HookOutput(verdict=Verdict.ASK, reason=reason, **more)


def allow(reason: str = "", **more: Any) -> HookOutput:
    return HookOutput(verdict=Verdict.ALLOW, reason=reason, **more)


def failed(problem: str) -> HookOutput:
    return HookOutput(problem=problem)


def new_input(**value: Any) -> Rewrite:
    return Rewrite(target=Target.INPUT, value=value)


def inner(said: str, event: str = "PreToolUse") -> str:
    return f'{{"hookSpecificOutput":{{"hookEventName":"{event}",{said}}}}}'


NOTHING = HookOutput()
IGNORED = "The hook's output is {}; ignored."
Case = tuple[str, str, Result, HookOutput]


def answered(event: Event, output: HookOutput) -> Answer:
    """Returns what the agent gets for this output of its only hook."""
    shared = {*Decision.__struct_fields__} & {*HookOutput.__struct_fields__}
    return render(event, Decision(**{field: getattr(output, field) for field in shared}))
