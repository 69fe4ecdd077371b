"""Claude Code, every event: what a decision is answered with, byte for byte (the table of what each event takes)."""

from __future__ import annotations

from typing import Any

from agents.recordings import request_for, sampled
from every import every

from tray.agents.protocol import parse, render
from tray.model.decision import Answer, Decision, Rewrite, Target, Verdict

DENY, ASK, ALLOW = Verdict.DENY, Verdict.ASK, Verdict.ALLOW
NO = Decision(verdict=DENY, reason="no")
HALT = Decision(stop="enough")
BLOCK = '{"decision":"block","reason":"no"}\n'
STOPPED = '{"continue":false,"stopReason":"enough"}\n'
RULES = [{"type": "setMode", "mode": "acceptEdits", "destination": "session"}]


def new(target: Target, value: Any, **more: Any) -> Decision:
    return Decision(rewrite=Rewrite(target=target, value=value), **more)


def extra(**fields: Any) -> Decision:
    return Decision(extra=tuple(fields.items()))


def inner(name: str, said: str) -> str:
    return f'{{"hookSpecificOutput":{{"hookEventName":"{name}",{said}}}}}\n'


def halted(rest: str) -> str:
    return STOPPED.rstrip("}\n") + "," + rest[1:]


def lost(name: str, thing: str) -> str:
    return f"A hook's rewrite cannot be carried: {name} of claude-code cannot {thing}"


BLOCKS = (
    *("ConfigChange", "PostToolBatch", "PostToolUse", "PostToolUseFailure", "PreCompact", "Stop", "SubagentStop"),
    *("TaskCreated", "UserPromptExpansion", "UserPromptSubmit"),
)
SILENT = (
    *("DirectoryAdded", "InstructionsLoaded", "Notification", "PostCompact", "SessionEnd", "StopFailure"),
    *("WorktreeRemove",),
)
TELLS = (
    *("PostModelSwitch", "PostToolBatch", "PostToolUse", "PostToolUseFailure", "PreToolUse", "SessionStart"),
    *("Setup", "SubagentStart", "UserPromptExpansion", "UserPromptSubmit"),
)
STOPS: tuple[str, ...] = ("PostToolBatch", "PostToolUse", "PostToolUseFailure", "PreToolUse", "Stop", "SubagentStop")
STOPS += ("TaskCompleted", "TeammateIdle", "UserPromptExpansion", "UserPromptSubmit")
NOTED = sorted({*BLOCKS, *TELLS, *STOPS, "CwdChanged", "Elicitation", "ElicitationResult", "FileChanged"})
NOTED += ["PermissionDenied", "PermissionRequest", "PreModelSwitch"]
CASES: list[tuple[str, Decision, str]] = [
    *[(name, NO, BLOCK) for name in BLOCKS],
    *[(name, Decision(verdict=DENY), BLOCK.replace("no", "Blocked by a hook")) for name in BLOCKS],
    *[(name, Decision(verdict=ASK, reason="no"), BLOCK) for name in BLOCKS],
    *[(name, Decision(verdict=ALLOW, reason="yes"), "") for name in BLOCKS],
    *[(name, decision, "") for name in SILENT for decision in (NO, HALT, Decision(context="c", notes=("n",)))],
    *[(name, Decision(context="c"), inner(name, '"additionalContext":"c"')) for name in TELLS],
    *[(name, HALT, STOPPED) for name in STOPS],
    *[(name, Decision(notes=("a", "b")), '{"systemMessage":"a\\nb"}\n') for name in NOTED],
    *[(name, extra(terminalSequence="\a"), '{"terminalSequence":"\\u0007"}\n') for name in NOTED],
    *[(name, Decision(retry=True), "") for name in BLOCKS],
    # A stop where `continue: false` counts for nothing becomes a refusal, or is dropped.
    *[(name, HALT, BLOCK.replace("no", "enough")) for name in ("ConfigChange", "PreCompact", "TaskCreated")],
    *[(name, HALT, "") for name in ("SessionStart", "Setup", "SubagentStart", "CwdChanged", "PostModelSwitch")],
    *[(name, NO, "") for name in ("SessionStart", "Setup", "SubagentStart", "CwdChanged", "MessageDisplay")],
    *[(name, NO, "") for name in ("FileChanged", "PermissionDenied", "PostModelSwitch")],
    # Tools.
    ("PreToolUse", NO, inner("PreToolUse", '"permissionDecision":"deny","permissionDecisionReason":"no"')),
    ("PreToolUse", Decision(verdict=ALLOW), inner("PreToolUse", '"permissionDecision":"allow"')),
    ("PreToolUse", new(Target.INPUT, {"command": "ls"}), inner("PreToolUse", '"updatedInput":{"command":"ls"}')),
    (
        "PostToolUse",
        new(Target.OUTPUT, {"stdout": "x", "stderr": ""}),
        inner("PostToolUse", '"updatedToolOutput":{"stdout":"x","stderr":""}'),
    ),
    (
        "PostToolUse",
        new(Target.OUTPUT, {"stdout": "x"}, verdict=DENY, reason="no"),
        '{"decision":"block","reason":"no",' + inner("PostToolUse", '"updatedToolOutput":{"stdout":"x"}')[1:],
    ),
    (
        "PostToolUse",
        new(Target.OUTPUT, "[redacted]"),
        BLOCK.replace("no", lost("PostToolUse", "carry the rewrite, which is not of the output's own shape"), 1),
    ),
    ("PostToolUse", extra(classifierContext="c"), inner("PostToolUse", '"classifierContext":"c"')),
    ("PostToolUse", new(Target.INPUT, {}), BLOCK.replace("no", lost("PostToolUse", "rewrite a tool's input"), 1)),
    (
        "PostToolUseFailure",
        Decision(context="c", verdict=DENY, reason="no"),
        BLOCK[:-2] + "," + inner("PostToolUseFailure", '"additionalContext":"c"')[1:],
    ),
    # Permissions.
    ("PermissionRequest", NO, inner("PermissionRequest", '"decision":{"behavior":"deny","message":"no"}')),
    (
        "PermissionRequest",
        HALT,
        inner("PermissionRequest", '"decision":{"behavior":"deny","message":"enough","interrupt":true}'),
    ),
    (
        "PermissionRequest",
        Decision(verdict=DENY, reason="no", stop=""),
        inner("PermissionRequest", '"decision":{"behavior":"deny","message":"no","interrupt":true}'),
    ),
    ("PermissionRequest", Decision(verdict=ALLOW), inner("PermissionRequest", '"decision":{"behavior":"allow"}')),
    ("PermissionRequest", Decision(verdict=ASK, reason="sure?"), ""),
    ("PermissionRequest", Decision(), ""),
    (
        "PermissionRequest",
        new(Target.INPUT, {"command": "ls"}, verdict=ALLOW),
        inner("PermissionRequest", '"decision":{"behavior":"allow","updatedInput":{"command":"ls"}}'),
    ),
    (
        "PermissionRequest",
        new(Target.INPUT, {"command": "ls"}),
        inner(
            "PermissionRequest",
            '"decision":{"behavior":"deny","message":"'
            + lost("PermissionRequest", "carry the rewrite, which comes without an allow")
            + '"}',
        ),
    ),
    (
        "PermissionRequest",
        Decision(verdict=ALLOW, extra=(("updatedPermissions", RULES),)),
        inner(
            "PermissionRequest",
            '"decision":{"behavior":"allow","updatedPermissions":'
            '[{"type":"setMode","mode":"acceptEdits","destination":"session"}]}',
        ),
    ),
    ("PermissionRequest", extra(updatedPermissions=RULES), ""),
    ("PermissionRequest", Decision(context="c"), ""),
    ("PermissionDenied", Decision(retry=True), inner("PermissionDenied", '"retry":true')),
    # Prompts.
    ("UserPromptSubmit", extra(sessionTitle="t"), inner("UserPromptSubmit", '"sessionTitle":"t"')),
    (
        "UserPromptSubmit",
        Decision(verdict=DENY, reason="no", extra=(("suppressOriginalPrompt", True),)),
        '{"decision":"block","reason":"no",' + inner("UserPromptSubmit", '"suppressOriginalPrompt":true')[1:],
    ),
    (
        "UserPromptSubmit",
        new(Target.PROMPT, "other"),
        BLOCK.replace("no", lost("UserPromptSubmit", "rewrite a prompt"), 1),
    ),
    ("UserPromptSubmit", Decision(verdict=DENY, reason="no", stop="enough"), halted(BLOCK)),
    (
        "UserPromptExpansion",
        new(Target.PROMPT, "other"),
        BLOCK.replace("no", lost("UserPromptExpansion", "rewrite a prompt"), 1),
    ),
    # Sessions.
    (
        "SessionStart",
        extra(initialUserMessage="m", sessionTitle="t", watchPaths=["/a"], reloadSkills=True),
        inner("SessionStart", '"initialUserMessage":"m","sessionTitle":"t","watchPaths":["/a"],"reloadSkills":true'),
    ),
    ("SessionStart", extra(updatedPermissions=RULES), ""),
    ("CwdChanged", extra(watchPaths=["/a"]), inner("CwdChanged", '"watchPaths":["/a"]')),
    ("FileChanged", extra(watchPaths=[]), inner("FileChanged", '"watchPaths":[]')),
    # Ends of turns: a stop beats the refusal to stop.
    ("Stop", Decision(verdict=DENY, reason="no", stop="enough"), STOPPED),
    ("SubagentStop", Decision(verdict=DENY, reason="no", stop="enough"), STOPPED),
    ("TaskCompleted", Decision(verdict=DENY, reason="no", stop="enough"), STOPPED),
    ("TeammateIdle", Decision(verdict=DENY, reason="no", stop="enough"), STOPPED),
    # Models.
    ("PreModelSwitch", NO, inner("PreModelSwitch", '"permissionDecision":"deny","permissionDecisionReason":"no"')),
    ("PreModelSwitch", Decision(verdict=ASK), inner("PreModelSwitch", '"permissionDecision":"ask"')),
    ("PreModelSwitch", Decision(verdict=ALLOW), inner("PreModelSwitch", '"permissionDecision":"allow"')),
    (
        "PreModelSwitch",
        HALT,
        inner("PreModelSwitch", '"permissionDecision":"deny","permissionDecisionReason":"enough"'),
    ),
    # Forms.
    *[(name, NO, inner(name, '"action":"decline"')) for name in ("Elicitation", "ElicitationResult")],
    ("Elicitation", Decision(verdict=ASK), ""),
    ("ElicitationResult", Decision(verdict=ASK), inner("ElicitationResult", '"action":"decline"')),
    *[
        (
            name,
            new(Target.ANSWER, {"action": "accept", "content": {"day": "Monday"}}),
            inner(name, '"action":"accept","content":{"day":"Monday"}'),
        )
        for name in ("Elicitation", "ElicitationResult")
    ],
    ("Elicitation", new(Target.ANSWER, {"action": "cancel"}), inner("Elicitation", '"action":"cancel"')),
    ("Elicitation", new(Target.ANSWER, {"action": "maybe"}), inner("Elicitation", '"action":"decline"')),
    ("Elicitation", new(Target.ANSWER, "Monday"), inner("Elicitation", '"action":"decline"')),
    # What is shown, and where a worktree is.
    ("MessageDisplay", new(Target.MESSAGE, "***"), inner("MessageDisplay", '"displayContent":"***"')),
    ("MessageDisplay", new(Target.MESSAGE, ""), inner("MessageDisplay", '"displayContent":""')),
    ("MessageDisplay", new(Target.MESSAGE, 7), ""),
    ("WorktreeCreate", new(Target.ANSWER, "/home/dev/tree é"), "/home/dev/tree é\n"),
    ("WorktreeCreate", Decision(), ""),
]


@every(("name", "decision", "stdout"), CASES)
def test_a_decision_is_answered_with_these_bytes(name: str, decision: Decision, stdout: str) -> None:
    assert render(sampled("claude-code", name), decision) == Answer(stdout=stdout.encode())


EXITS: list[tuple[str, Decision, Answer]] = [
    ("TaskCompleted", NO, Answer(stderr=b"no\n", code=2)),
    ("TeammateIdle", NO, Answer(stderr=b"no\n", code=2)),
    ("TeammateIdle", Decision(verdict=ASK), Answer(stderr=b"Blocked by a hook\n", code=2)),
    (
        "TaskCompleted",
        Decision(verdict=DENY, reason="no", notes=("n",)),
        Answer(stdout=b'{"systemMessage":"n"}\n', stderr=b"no\n", code=2),
    ),
    ("WorktreeCreate", NO, Answer(stderr=b"no\n", code=1)),
    ("WorktreeCreate", HALT, Answer(stderr=b"enough\n", code=1)),
    (
        "WorktreeCreate",
        new(Target.ANSWER, "/a\n/b"),
        Answer(
            stderr=lost("WorktreeCreate", "carry the rewrite, which is more than one line").encode() + b"\n", code=1
        ),
    ),
    (
        "WorktreeCreate",
        new(Target.ANSWER, " "),
        Answer(stderr=lost("WorktreeCreate", "carry the rewrite, which is empty").encode() + b"\n", code=1),
    ),
]


@every(("name", "decision", "answer"), EXITS)
def test_where_only_the_exit_code_refuses_it_does(name: str, decision: Decision, answer: Answer) -> None:
    assert render(sampled("claude-code", name), decision) == answer


def test_a_form_of_output_that_the_tool_does_not_have_is_never_sent() -> None:
    event = parse(request_for("claude-code", "PostToolUse", b'{"hook_event_name":"PostToolUse","tool_name":"T"}'))

    assert b'"updatedToolOutput":"x"' in render(event, new(Target.OUTPUT, "x")).stdout
