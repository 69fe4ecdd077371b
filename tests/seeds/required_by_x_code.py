"""What X-Code's document on plugin hooks requires."""

from __future__ import annotations

from functools import partial

from seeds.requirement import Answers, Cases, Reads, reading

A = "x-code"
PRE, POST, PROMPT, TURN = "PreToolUse", "PostToolUse", "UserPromptSubmit", "TurnComplete"
DENY = '{"decision":"deny","reason":"no"}'
DENIED = {"decision": "deny", "reason": "no"}
OBSERVED = ("PostCompact", "PreCompact", "SessionEnd", "SessionStart", "SubagentStart", "SubagentStop", TURN)
says, reads = partial(Answers, A), partial(Reads, A)
X_CODE: Cases = {
    **{f"X{4 + at:03}": says(event, DENY) for at, event in enumerate(OBSERVED)},
    "X011": says(PROMPT, DENY, DENIED),
    "X012": says(PROMPT, '{"decision":"allow","context":"Sprint 42"}', "Sprint 42"),
    "X013": says(PRE, DENY, DENIED),
    "X014": says(
        PRE, '{"decision":"modify","args":{"command":"true"}}', {"decision": "modify", "args": {"command": "true"}}
    ),
    "X015": says(POST, '{"decision":"modify","output":"[redacted]"}', "[redacted]"),
    "X016": says(POST, DENY),
    **reading(
        *(A, "X037"),
        (PRE, "event", "session.cwd", "session.modelId", "plugin.id", "plugin.dir"),
        (PRE, "tool.name", "tool.args", "tool.callId"),
        (POST, "tool.name", "tool.args", "tool.callId", "tool.output", "tool.isError"),
        (PROMPT, "prompt"),
        (TURN, "turn", "tokenUsage.inputTokens", "tokenUsage.outputTokens", "tokenUsage.totalTokens"),
        ("PreCompact", "trigger", "messageCount", "tokenEstimate"),
        ("PostCompact", "trigger", "messageCount", "summary"),
        ("SubagentStart", "agent.name", "agent.description", "agent.prompt"),
        ("SubagentStop", "agent.name", "durationMs", "outcome", "tokenUsage.totalTokens"),
        ("SessionStart", "session.cwd"),
        ("SessionEnd", "session.cwd"),
    ),
    "X071": says(PRE),
    "X072": says(PRE, '{"decision":"allow"}'),
    "X074": says(PROMPT, '{"decision":"modify","context":"Sprint 42"}', "Sprint 42"),
    "X075": says(PRE, '{"decision":"allow","context":"c"}'),
    "X076": says(POST, '{"decision":"allow","context":"c"}'),
    "X077": says(PRE, '{"decision":"modify","output":"x"}'),
    "X082": says(PRE, DENY, code=1),
    "X083": says(PRE, answer="failed", code=1, entry={"failurePolicy": "block"}),
    "X090": reads(
        PRE,
        {"tool.args.path": "a"},
        payload={"tool": {"name": "writeFile", "args": {"filePath": "a"}, "callId": "1"}},
    ),
}
