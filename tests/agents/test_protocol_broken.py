"""Every way in which a hook can go wrong, on events of every kind, in every dialect and by both failure policies."""

from __future__ import annotations

from agents.recordings import sampled
from agents.test_protocol_hosts import heard
from every import every

from tray.agents.protocol import fit, render, spec
from tray.agents.registry import AGENTS
from tray.engine.merge import make_outcome, merge
from tray.model.decision import Outcome, Result, Status, Verdict
from tray.model.event import Capability, Event
from tray.model.guard import GATING_KINDS
from tray.model.hook import Command, Failure, Hook, Match, Source

REFUSAL = b'{"decision":"block","reason":"no"}'
WAYS: dict[str, Result] = {
    "exit 1": Result(code=1, stderr=b"crash"),
    "exit 2 without a word": Result(code=2),
    "exit 2 with stderr": Result(code=2, stderr=b"no"),
    "exit 2 with both": Result(code=2, stdout=b"hello", stderr=b"no"),
    "exit 3 with a refusal": Result(code=3, stdout=REFUSAL),
    "exit 127 with a refusal": Result(code=127, stdout=REFUSAL),
    "exit 126": Result(code=126, stderr=b"sh: not permitted"),
    "exit 127": Result(code=127, stderr=b"sh: not found"),
    "signal": Result(code=-11, stdout=REFUSAL),
    "killed": Result(cause="killed by signal 9", stdout=REFUSAL),
    "time-out": Result(cause="timed out", timed_out=True, stdout=REFUSAL),
    "too much output": Result(cause="stdout over 1048576 bytes", stdout=REFUSAL),
    "missing script": Result(cause="not found: ./guard.sh"),
    "text": Result(code=0, stdout=b"hello"),
    "half of an object": Result(code=0, stdout=b'{"decision":'),
    "an array": Result(code=0, stdout=b"[1]"),
    "wrong types": Result(code=0, stdout=b'{"decision":7,"message":7,"prompt":7}'),
    "an unknown word": Result(code=0, stdout=b'{"decision":"perhaps"}'),
    "no UTF-8": Result(code=0, stdout=b"\xff\xfe"),
    "silence": Result(code=0),
    "an empty object": Result(code=0, stdout=b"{}"),
}
# One sign for each way above. F: it has failed, and its policy speaks. D: it refused. C: its output is context.
# R: its output replaces a text. W: it said nothing, and the user is warned. A dot: it said nothing.
TOLD: dict[tuple[str, str, str], str] = {
    ("claude-code", "claude-code", "PreToolUse"): "FDDDDD FFFFFFF .W.FF...",
    ("claude-code", "claude-code", "PostToolUse"): "FDDDDD FFFFFFF .W.FF...",
    ("claude-code", "claude-code", "Stop"): "FDDDDD FFFFFFF .W.FF...",
    ("claude-code", "claude-code", "SubagentStop"): "FDDDDD FFFFFFF .W.FF...",
    ("claude-code", "claude-code", "PreCompact"): "FDDDDD FFFFFFF .W.FF...",
    ("claude-code", "claude-code", "Notification"): "FDDDDD FFFFFFF .W.FF...",
    ("claude-code", "claude-code", "SessionStart"): "FDDDDD FFFFFFF CCCFFC..",
    ("claude-code", "claude-code", "UserPromptSubmit"): "FDDDDD FFFFFFF CCCFFC..",
    ("claude-code", "claude-code", "PermissionRequest"): "FFFF.. FFFFFFF .W.FF...",
    ("claude-code", "claude-code", "WorktreeCreate"): "DDDDDF FFFFFFF RRRFFRFF",
    ("claude-code", "shelley", "chat-message"): "FDDDDD FFFFFFF CCCFFC..",
    ("claude-code", "shelley", "end-of-turn"): "FDDDDD FFFFFFF .W.FF...",
    ("claude-code", "starchild", "pre_tool_call"): "FDDDDD FFFFFFF .W.FF...",
    ("claude-code", "starchild", "on_stop"): "FDDDDD FFFFFFF .W.FF...",
    ("claude-code", "x-code", "PreToolUse"): "FDDDDD FFFFFFF .W.FF...",
    ("claude-code", "x-code", "TurnComplete"): "FDDDDD FFFFFFF .W.FF...",
    ("codex", "codex", "PreToolUse"): "FFDDFF FFFFFFF .W.FF...",
    ("codex", "codex", "PostToolUse"): "FFDDFF FFFFFFF .W.FF...",
    ("codex", "codex", "Stop"): "FFDDFF FFFFFFF .W.FF...",
    ("codex", "codex", "SessionStart"): "FFDDFF FFFFFFF CCCFFC..",
    ("codex", "codex", "UserPromptSubmit"): "FFDDFF FFFFFFF CCCFFC..",
    ("codex", "codex", "PermissionRequest"): "FFFFFF FFFFFFF .W.FF...",
    ("codex", "claude-code", "PreToolUse"): "FFDDFF FFFFFFF .W.FF...",
    ("codex", "claude-code", "Stop"): "FFDDFF FFFFFFF .W.FF...",
    ("codex", "starchild", "pre_tool_call"): "FFDDFF FFFFFFF .W.FF...",
    ("codex", "x-code", "PreToolUse"): "FFDDFF FFFFFFF .W.FF...",
    ("copilot-cli", "copilot-cli", "PreToolUse"): "FDDDFF FFFFFFF WWW..W..",
    ("copilot-cli", "copilot-cli", "PermissionRequest"): "FDDDFF FFFFFFF WWW..W..",
    ("copilot-cli", "copilot-cli", "PostToolUse"): "FFFFFF FFFFFFF WWW..W..",
    ("copilot-cli", "copilot-cli", "PostToolUseFailure"): "F..CFF FFFFFFF WWW..W..",
    ("copilot-cli", "copilot-cli", "Stop"): "FFFFFF FFFFFFF WWW..W..",
    ("copilot-cli", "copilot-cli", "UserPromptSubmit"): "FFFFFF FFFFFFF WWW..W..",
    ("copilot-cli", "copilot-cli", "SessionEnd"): "FFFFFF FFFFFFF ........",
    ("copilot-cli", "claude-code", "PreToolUse"): "FDDDFF FFFFFFF WWW..W..",
    ("copilot-cli", "starchild", "on_stop"): "FFFFFF FFFFFFF WWW..W..",
    ("copilot-cli", "x-code", "PreToolUse"): "FDDDFF FFFFFFF WWW..W..",
    ("opencode", "opencode", "PreToolUse"): "FDDDFF FFFFFFF .W.FF...",
    ("opencode", "opencode", "PostToolUse"): "FDDDFF FFFFFFF .W.FF...",
    ("opencode", "opencode", "Stop"): "FDDDFF FFFFFFF .W.FF...",
    ("opencode", "opencode", "UserPromptSubmit"): "FDDDFF FFFFFFF .W.FF...",
    ("opencode", "opencode", "PermissionRequest"): "FFFFFF FFFFFFF .W.FF...",
    ("opencode", "claude-code", "PreToolUse"): "FDDDFF FFFFFFF .W.FF...",
    ("qwen-code", "qwen-code", "PreToolUse"): "FFDDDD FFFFFFF .W.FF...",
    ("qwen-code", "qwen-code", "PostToolUse"): "FFDDDD FFFFFFF .W.FF...",
    ("qwen-code", "qwen-code", "Stop"): "FFDDDD FFFFFFF .W.FF...",
    ("qwen-code", "qwen-code", "UserPromptSubmit"): "FFDDDD FFFFFFF CCCFFC..",
    ("qwen-code", "qwen-code", "PermissionRequest"): "FFFF.. FFFFFFF .W.FF...",
    ("qwen-code", "claude-code", "PreToolUse"): "FFDDDD FFFFFFF .W.FF...",
    ("shelley", "shelley", "chat-message"): "FFFFFF FFFFFFF FFFF.F..",
    ("shelley", "shelley", "new-conversation"): "FFFFFF FFFFFFF FFFF.F..",
    ("shelley", "shelley", "slash/files"): "FFFFFF FFFFFFF RRRRRF.R",
    ("shelley", "shelley", "system-prompt"): "FFFFFF FFFFFFF RRRRRFFR",
    ("shelley", "shelley", "end-of-turn"): "FFFFFF FFFFFFF ........",
    ("shelley", "claude-code", "PreToolUse"): "FFFFFF FFFFFFF ........",
    ("shelley", "claude-code", "UserPromptSubmit"): "FFFFFF FFFFFFF FFFF.F..",
    ("shelley", "claude-code", "Stop"): "FFFFFF FFFFFFF ........",
    ("shelley", "starchild", "on_user_message"): "FFFFFF FFFFFFF FFFF.F..",
    ("shelley", "x-code", "PreToolUse"): "FFFFFF FFFFFFF ........",
    ("starchild", "starchild", "pre_tool_call"): "FFDFFF FFFFFFF WWWFFW..",
    ("starchild", "starchild", "on_user_message"): "FFDFFF FFFFFFF WWWFFW..",
    ("starchild", "starchild", "on_stop"): "FFDFFF FFFFFFF WWWFFW..",
    ("starchild", "starchild", "post_tool_call"): "FFDFFF FFFFFFF WWWFFW..",
    ("starchild", "claude-code", "PreToolUse"): "FFDFFF FFFFFFF WWWFFW..",
    ("starchild", "claude-code", "Stop"): "FFDFFF FFFFFFF WWWFFW..",
    ("starchild", "shelley", "chat-message"): "FFDFFF FFFFFFF WWWFFW..",
    ("starchild", "x-code", "PreToolUse"): "FFDFFF FFFFFFF WWWFFW..",
    ("x-code", "x-code", "PreToolUse"): "FFFFFF FFFFFFF WWWWWW.W",
    ("x-code", "x-code", "PostToolUse"): "FFFFFF FFFFFFF WWWWWW.W",
    ("x-code", "x-code", "UserPromptSubmit"): "FFFFFF FFFFFFF WWWWWW.W",
    ("x-code", "x-code", "TurnComplete"): "FFFFFF FFFFFFF ........",
    ("x-code", "claude-code", "PreToolUse"): "FFFFFF FFFFFFF WWWWWW.W",
    ("x-code", "claude-code", "Stop"): "FFFFFF FFFFFFF ........",
    ("x-code", "shelley", "slash/files"): "FFFFFF FFFFFFF WWWWWW.W",
    ("x-code", "starchild", "pre_tool_call"): "FFFFFF FFFFFFF WWWWWW.W",
}


def outcome(event: Event, dialect: str, way: str, failure: Failure) -> Outcome:
    """The hook's turn as the engine settles it, once its process is through."""
    action = Command(line="./guard.sh", folder="/")
    source = Source(kind="hooktray", path="/h")
    match = Match(event=event.kind.value)
    hook = Hook(name="guard", source=source, match=match, action=action, dialect=dialect, failure=failure)
    result = WAYS[way]
    return make_outcome(event, hook, AGENTS[dialect].protocol.read(event, result), timed_out=result.timed_out, ms=1.0)


def sign_of(found: Outcome) -> str:
    hook_output = found.output
    if found.status in (Status.FAILED, Status.TIMED_OUT):
        return "F"
    if hook_output.verdict is Verdict.DENY:
        return "D"
    if hook_output.rewrite is not None:
        return "R"
    if hook_output.context:
        return "C"
    return "W" if hook_output.warning else "."


@every("row", TOLD, ids="-".join)
def test_this_is_what_it_means(row: tuple[str, str, str]) -> None:
    dialect, agent, name = row
    found = {way: outcome(sampled(agent, name), dialect, way, Failure.EXPLICIT_ALLOW) for way in WAYS}
    signs = dict(zip(WAYS, TOLD[row].replace(" ", ""), strict=True))

    assert {way: sign_of(each) for way, each in found.items()} == signs
    for way, each in found.items():
        assert (each.status is Status.TIMED_OUT) == (way == "time-out")
        assert bool(each.cause) == (signs[way] in "FW"), way
        assert each.output.verdict is (Verdict.DENY if signs[way] == "D" else Verdict.ABSTAIN), way


@every("failure", Failure)
@every("row", TOLD, ids="-".join)
def test_the_agent_hears_a_refusal_only_from_who_refused_or_was_to_block(
    row: tuple[str, str, str], failure: Failure
) -> None:
    dialect, agent, name = row
    event = sampled(agent, name)
    for way, sign in zip(WAYS, TOLD[row].replace(" ", ""), strict=True):
        decision = fit(event, merge([outcome(event, dialect, way, failure)]))

        refused = heard(event, render(event, decision)).verdict == "deny"

        can = spec(agent, name).can
        uncarried = sign == "R" and decision.rewrite is None
        is_strict = failure is Failure.BLOCK or (failure is Failure.ASK and Capability.ASK not in can)
        wanted = sign == "D" or uncarried or (sign == "F" and is_strict)
        assert refused == (wanted and Capability.DENY in can), way
        has_default = failure in (Failure.DEFAULT, Failure.ALLOW)  # the second as it was stored without `failure:`
        asks = sign == "F" and Capability.ASK in can and (failure is Failure.ASK or has_default)
        assert (decision.verdict is Verdict.ASK) == (asks and (failure is Failure.ASK or event.kind in GATING_KINDS))


def test_the_table_has_every_format_and_every_agent() -> None:
    assert {dialect for dialect, _, _ in TOLD} == {agent for _, agent, _ in TOLD} == set(AGENTS)
