"""The payloads that the formats' documents print. Of values between which a page lets one choose, one is chosen."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

CLAUDE = {
    "session_id": "abc123",
    "transcript_path": "~/.claude/projects/.../session.jsonl",
    "cwd": "/Users/username/project",
    "permission_mode": "default",
}
X_CODE = {
    "session": {"cwd": "/abs/path/to/project", "modelId": "anthropic:claude-sonnet-4-6"},
    "plugin": {
        "id": "linear@anthropic-marketplace",
        "dir": "/abs/.x-code/plugins/cache/anthropic-marketplace/linear/1.2.0",
    },
}
WRITE = {"name": "writeFile", "args": {"path": "src/foo.ts", "content": "..."}, "callId": "call_abc123"}
TOKENS = {"inputTokens": 4321, "outputTokens": 567, "totalTokens": 4888}
STARCHILD = {"session_id": "s", "agent_id": "a", "cwd": "/data/workspace"}
DANGEROUS = {"tool_name": "bash", "tool_input": {"command": "rm -rf /"}}
RESULT = {"tool_name": "bash", "tool_result": "the tool's result"}
HEADERS = [["X-Exedev-Email", "user@example.com"]]
CREATED = {"file_path": "/path/to/file.js", "content": "const x = 1;"}


def claude(event: str, **fields: Any) -> dict[str, Any]:
    return {**CLAUDE, "hook_event_name": event, **fields}


def x_code(event: str, **fields: Any) -> dict[str, Any]:
    return {"event": event, **X_CODE, **fields}


def starchild(event: str, **fields: Any) -> dict[str, Any]:
    """The page names the fields; the values are of its own examples."""
    return {"event": event, **STARCHILD, **fields}


PRINTED: Mapping[tuple[str, str], Mapping[str, Any]] = {
    ("claude-code", "PreToolUse"): claude(
        "PreToolUse",
        tool_name="Bash",
        tool_input={"command": "npm install", "description": "Install dependencies"},
    ),
    ("claude-code", "PostToolUse"): claude(
        "PostToolUse",
        tool_name="Write",
        tool_input=CREATED,
        tool_output="File created successfully at: /path/to/file.js",
    ),
    ("claude-code", "UserPromptSubmit"): claude("UserPromptSubmit", prompt="Write a function to calculate factorial"),
    ("claude-code", "Stop"): claude("Stop", stop_hook_active=False),
    ("claude-code", "SubagentStop"): claude("SubagentStop", stop_hook_active=False),
    ("claude-code", "SessionStart"): claude("SessionStart", source="checkpoint"),
    ("claude-code", "SessionEnd"): claude("SessionEnd", reason="timeout"),
    ("claude-code", "PreCompact"): claude(
        "PreCompact", trigger="manual", custom_instructions="Preserve all git commit messages"
    ),
    ("claude-code", "Notification"): claude("Notification"),
    ("claude-code", "TeammateIdle"): {
        "session_id": "...",
        "teammate_name": "researcher",
        "team_name": "my-project",
    },
    ("claude-code", "TaskCompleted"): {
        "session_id": "...",
        "task_id": "123",
        "task_subject": "Implement feature X",
        "task_description": "...",
        "teammate_name": "implementer",
        "team_name": "my-project",
    },
    ("shelley", "new-conversation"): {
        "prompt": "...",
        "model": "...",
        "cwd": "...",
        "readonly": {
            "conversation_id": "cXXXXXX",
            "is_subagent": False,
            "parent_id": "...",
            "is_orchestrator": False,
            "headers": HEADERS,
        },
    },
    ("shelley", "chat-message"): {
        "message": "the user's chat message",
        "readonly": {
            "conversation_id": "cXXXXXX",
            "model": "claude-sonnet-4.5",
            "queued": False,
            "headers": HEADERS,
        },
    },
    ("shelley", "end-of-turn"): {
        "type": "end_of_turn",
        "conversation_id": "cXXXXXX",
        "timestamp": "2024-01-02T03:04:05Z",
        "hostname": "host.exe.xyz",
        "model": "claude-sonnet-4.5",
        "slug": "my-slug",
        "conversation_url": "https://host.exe.xyz/c/my-slug",
        "vm_name": "host",
        "final_response": "agent's last text or tool-call summary",
    },
    ("shelley", "slash/foo"): {
        "command": "foo",
        "args": "the rest of the message after /foo",
        "raw_message": "/foo the rest of the message after /foo",
        "conversation_id": "cXXXXXX",
        "is_new_conversation": False,
        "cwd": "/home/user/project",
        "model": "claude-sonnet-4.5",
        "user_email": "you@example.com",
        "is_orchestrator": False,
    },
    ("starchild", "pre_tool_call"): starchild("pre_tool_call", **DANGEROUS),
    ("starchild", "post_tool_call"): starchild("post_tool_call", **RESULT),
    ("starchild", "transform_tool_result"): starchild("transform_tool_result", **RESULT),
    ("starchild", "pre_llm_call"): starchild(
        "pre_llm_call", system="You are a guard.", last_user_message="does this leak a secret?", model="minimax-m3"
    ),
    ("starchild", "post_llm_call"): starchild("post_llm_call", model="minimax-m3"),
    ("starchild", "on_outbound_message"): starchild(
        "on_outbound_message", notification="the message with a private key", type="telegram"
    ),
    ("starchild", "on_completion_claim"): starchild(
        "on_completion_claim",
        goal="publish the site",
        summary="the site is published",
        response="I published it.",
        tool_names=["read_file", "write_file", "bash"],
    ),
    ("starchild", "on_session_start"): starchild("on_session_start", status="begins"),
    ("starchild", "on_session_end"): starchild("on_session_end", status="ends"),
    ("x-code", "SessionStart"): x_code("SessionStart"),
    ("x-code", "UserPromptSubmit"): x_code("UserPromptSubmit", prompt="Refactor X to do Y"),
    ("x-code", "PreToolUse"): x_code("PreToolUse", tool=WRITE),
    ("x-code", "PostToolUse"): x_code("PostToolUse", tool={**WRITE, "output": "wrote 42 bytes", "isError": False}),
    ("x-code", "PreCompact"): x_code("PreCompact", trigger="proactive", messageCount=87, tokenEstimate=184_000),
    ("x-code", "PostCompact"): x_code("PostCompact", trigger="reactive", messageCount=87, summary="..."),
    ("x-code", "SubagentStart"): x_code(
        "SubagentStart",
        agent={
            "name": "code-reviewer",
            "description": "review the diff",
            "prompt": "<full prompt sent to sub-agent>",
        },
    ),
    ("x-code", "SubagentStop"): x_code(
        "SubagentStop",
        agent={"name": "code-reviewer", "description": "review the diff"},
        durationMs=12_345,
        outcome="completed",
        tokenUsage=TOKENS,
    ),
    ("x-code", "TurnComplete"): x_code("TurnComplete", turn=3, tokenUsage=TOKENS),
    ("x-code", "SessionEnd"): x_code("SessionEnd"),
}
