"""What a recorded or a documented payload becomes: the fields of the Event that say something."""

from __future__ import annotations

from typing import Any

from tray.model.event import EventKind, Tool

KIND = EventKind
LISTING = {"command": "ls -la", "description": "List the files"}
SUB = "/home/dev/project/sub"
CLAUDE = {"session": "8599f3e0-cb9f-4fa4-8e7e-c6bbde88efdc", "cwd": SUB}
CHILD = {"session": "sess-1", "cwd": "/data/workspace"}
X_CODE = {"session": "40:/abs/path/to/project", "cwd": "/abs/path/to/project", "model": "anthropic:claude-sonnet-4-6"}
EXPECTED: dict[tuple[str, str], dict[str, Any]] = {
    ("claude-code", "Stop"): CLAUDE | {"kind": KIND.TURN_END, "message": "All done.", "repeated": False},
    ("claude-code", "SubagentStop"): CLAUDE
    | {"kind": KIND.SUBAGENT_END, "message": "All done.", "subagent": "general-purpose"},
    ("claude-code", "SessionStart-clear"): {
        "kind": KIND.SESSION_START,
        "session": "24f10d65-4302-4c59-b0e2-dc80d8ccabe9",
        "topic": "clear",
    },
    ("claude-code", "SessionStart-resume"): {
        "kind": KIND.SESSION_START,
        "topic": "resume",
        "cwd": "/home/dev/project",
    },
    ("claude-code", "SessionEnd"): CLAUDE | {"kind": KIND.SESSION_END, "topic": "other"},
    ("claude-code", "SessionEnd-interactive-other"): {"kind": KIND.SESSION_END, "topic": "other"},
    ("claude-code", "Notification-permission_prompt"): {
        "kind": KIND.NOTIFICATION,
        "topic": "permission_prompt",
        "message": "Claude needs your permission",
        "title": "",
    },
    ("claude-code", "PreToolUse-Bash"): {
        "kind": KIND.TOOL_BEFORE,
        "tool": Tool(name="Bash", input={"command": "exit 3", "description": "fail"}, call="toolu_06"),
        "subagent": "",
    },
    ("claude-code", "PreToolUse-Bash-subagent"): {"kind": KIND.TOOL_BEFORE, "subagent": "general-purpose"},
    ("claude-code", "PreToolUse-Write"): {
        "tool": Tool(
            name="Write", input={"file_path": "/home/dev/project/a.txt", "content": "hello\n"}, call="toolu_01"
        )
    },
    ("claude-code", "StopFailure"): {
        "kind": KIND.TURN_FAILED,
        "session": "138d8934-a77a-48c0-a30e-3cb79f8f9e4b",
        "cwd": "/home/dev/project",
        "topic": "authentication_failed",
        "message": "Invalid API key · Fix external API key",
    },
    ("claude-code", "CwdChanged"): CLAUDE | {"kind": KIND.CWD_CHANGED, "path": SUB},
    ("claude-code", "SubagentStart"): CLAUDE | {"kind": KIND.SUBAGENT_START, "subagent": "general-purpose"},
    ("claude-code", "UserPromptExpansion"): {
        "kind": KIND.PROMPT_EXPANSION,
        "topic": "mycmd",
        "prompt": "/mycmd foo bar",
    },
    ("claude-code", "InstructionsLoaded-session_start"): {
        "kind": KIND.INSTRUCTIONS_LOADED,
        "topic": "session_start",
        "path": "/home/dev/project/CLAUDE.md",
    },
    ("claude-code", "MessageDisplay"): CLAUDE | {"kind": KIND.MESSAGE_DISPLAY, "message": "All done."},
    ("claude-code", "PostModelSwitch"): {
        "kind": KIND.MODEL_SWITCH_AFTER,
        "topic": "command",
        "model": "claude-sonnet-5-5",
    },
    ("claude-code", "PreModelSwitch"): {
        "kind": KIND.MODEL_SWITCH_BEFORE,
        "topic": "command",
        "model": "claude-sonnet-5-5",
    },
    ("claude-code", "PostToolUse-Edit"): {
        "kind": KIND.TOOL_AFTER,
        "tool": Tool(
            name="Edit",
            input={
                "file_path": "/home/dev/project/a.txt",
                "old_string": "hello",
                "new_string": "bye",
                "replace_all": False,
            },
            call="toolu_03",
            output={
                "filePath": "/home/dev/project/a.txt",
                "oldString": "hello",
                "newString": "bye",
                "originalFile": "hello\n",
                "structuredPatch": [
                    {"oldStart": 1, "oldLines": 1, "newStart": 1, "newLines": 1, "lines": ["-hello", "+bye"]}
                ],
                "userModified": False,
                "replaceAll": False,
            },
        ),
    },
    ("claude-code", "PostToolUse-Agent-subagent"): {"kind": KIND.TOOL_AFTER, "subagent": "general-purpose"},
    ("claude-code", "PostToolUse-Read"): {"kind": KIND.TOOL_AFTER, "subagent": "", "path": ""},
    ("claude-code", "PostToolUseFailure-Bash"): {
        "kind": KIND.TOOL_FAILED,
        "tool": Tool(
            name="Bash",
            input={"command": "exit 3", "description": "fail"},
            call="toolu_06",
            output="Exit code 3",
            failed=True,
        ),
    },
    ("claude-code", "PreCompact"): {
        "kind": KIND.COMPACT_BEFORE,
        "topic": "manual",
        "prompt": "focus on x",
    },
    ("claude-code", "Setup"): {"kind": KIND.SETUP, "topic": "init", "cwd": "/home/dev/project"},
    ("shelley", "end-of-turn"): {
        "kind": KIND.TURN_END,
        "session": "cMT7MTV",
        "cwd": "",
        "model": "predictable",
        "title": "vm",
        "message": "Done.",
        "url": "https://vm.exe.xyz/",
        "project": "vm",
    },
    ("shelley", "end-of-turn-seed000"): {"name": "end-of-turn", "title": "my-slug", "session": "cXXXXXX"},
    ("shelley", "new-conversation"): {
        "kind": KIND.CONVERSATION_NEW,
        "session": "cH3UICU",
        "model": "predictable",
        "prompt": "hello shelley",
        "subagent": "",
    },
    ("shelley", "new-conversation-subagent"): {
        "kind": KIND.CONVERSATION_NEW,
        "cwd": "/home/user/project",
        "subagent": "subagent",
    },
    ("shelley", "new-conversation-seed000"): {"name": "new-conversation", "session": "cXXXXXX"},
    ("shelley", "chat-message"): {
        "kind": KIND.PROMPT,
        "session": "cH3UICU",
        "model": "predictable",
        "prompt": "follow-up question",
        "topic": "",
    },
    ("shelley", "chat-message-seed000"): {"kind": KIND.PROMPT, "model": "claude-sonnet-4.5"},
    ("shelley", "slash-command"): {
        "name": "slash/foo",
        "kind": KIND.SLASH_COMMAND,
        "session": "cXXXXXX",
        "cwd": "/home/user/project",
        "topic": "foo",
        "prompt": "/foo the rest of the message after /foo",
    },
    ("shelley", "slash-command-new"): {"name": "slash/files", "cwd": "", "model": "", "topic": "files"},
    ("starchild", "on_stop"): CHILD
    | {"kind": KIND.TURN_END, "message": "All done.", "tools": ("bash",), "model": "claude-sonnet-4-6"},
    ("starchild", "on_completion_claim"): CHILD
    | {"kind": KIND.COMPLETION_CLAIM, "message": "published", "tools": ("write_file",)},
    ("starchild", "on_session_start"): CHILD | {"kind": KIND.SESSION_START, "topic": "started"},
    ("starchild", "on_session_end"): CHILD | {"kind": KIND.SESSION_END, "topic": "ended"},
    ("starchild", "pre_tool_call"): CHILD
    | {"kind": KIND.TOOL_BEFORE, "tool": Tool(name="bash", input={"command": "rm -rf /"})},
    ("starchild", "on_user_message"): CHILD
    | {"kind": KIND.PROMPT, "prompt": "here is my key sk-...", "topic": "web"},
    ("starchild", "post_tool_call"): CHILD | {"kind": KIND.TOOL_AFTER, "tool": Tool(name="bash", output="total 0")},
    ("starchild", "transform_tool_result"): CHILD
    | {"kind": KIND.TOOL_RESULT, "tool": Tool(name="bash", output="total 0")},
    ("starchild", "pre_llm_call"): CHILD
    | {"kind": KIND.MODEL_BEFORE, "prompt": "deploy it", "model": "claude-sonnet-4-6"},
    ("starchild", "post_llm_call"): CHILD | {"kind": KIND.MODEL_AFTER, "model": "claude-sonnet-4-6"},
    ("starchild", "on_outbound_message"): CHILD
    | {"kind": KIND.OUTBOUND_MESSAGE, "message": "build finished", "topic": "telegram"},
    ("starchild", "on_response_end"): CHILD
    | {"kind": KIND.RESPONSE_END, "message": "All done.", "tools": ("bash",), "model": "claude-sonnet-4-6"},
    ("x-code", "PreToolUse"): X_CODE
    | {
        "kind": KIND.TOOL_BEFORE,
        "tool": Tool(name="writeFile", input={"path": "src/foo.ts", "content": "..."}, call="call_abc123"),
    },
    ("x-code", "SessionStart"): X_CODE | {"kind": KIND.SESSION_START},
    ("x-code", "SessionEnd"): X_CODE | {"kind": KIND.SESSION_END},
    ("x-code", "TurnComplete"): X_CODE | {"kind": KIND.ROUND_END, "name": "TurnComplete"},
    ("x-code", "UserPromptSubmit"): X_CODE | {"kind": KIND.PROMPT, "prompt": "Refactor X to do Y"},
    ("x-code", "SubagentStart"): X_CODE
    | {
        "kind": KIND.SUBAGENT_START,
        "subagent": "code-reviewer",
        "title": "review the diff",
        "prompt": "<full prompt sent to sub-agent>",
    },
    ("x-code", "SubagentStop"): X_CODE
    | {"kind": KIND.SUBAGENT_END, "subagent": "code-reviewer", "topic": "completed"},
    ("x-code", "PreCompact"): X_CODE | {"kind": KIND.COMPACT_BEFORE, "topic": "proactive"},
    ("x-code", "PostCompact"): X_CODE | {"kind": KIND.COMPACT_AFTER, "topic": "reactive", "message": ""},
    ("x-code", "PostToolUse"): X_CODE
    | {
        "kind": KIND.TOOL_AFTER,
        "tool": Tool(
            name="writeFile",
            input={"path": "src/foo.ts", "content": "..."},
            call="call_abc123",
            output="wrote 42 bytes",
        ),
    },
}
CONSTRUCTED: list[tuple[str, str, dict[str, Any]]] = [  # events that nobody recorded, from their documented fields
    ("claude-code", "ConfigChange", {"topic": "project_settings", "path": "/home/dev/project/.claude/settings.json"}),
    ("claude-code", "DirectoryAdded", {"topic": "slash_command", "path": "/home/dev/other"}),
    ("claude-code", "Elicitation", {"topic": "form", "title": "calendar", "message": "Which day?"}),
    ("claude-code", "ElicitationResult", {"topic": "accept", "title": "calendar"}),
    ("claude-code", "FileChanged", {"topic": "change", "path": "/home/dev/project/.envrc"}),
    ("claude-code", "PermissionDenied", {"topic": "", "message": "The command leaves the project."}),
    ("claude-code", "PermissionRequest", {"tool": Tool(name="Bash", input=LISTING)}),
    ("claude-code", "PostCompact", {"topic": "auto", "message": "The parser was fixed."}),
    ("claude-code", "PostToolBatch", {"tools": ("Bash",), "tool": None}),
    ("claude-code", "TaskCompleted", {"title": "Write the tests", "message": "One per behaviour."}),
    ("claude-code", "TaskCreated", {"title": "Write the tests", "message": "One per behaviour."}),
    ("claude-code", "TeammateIdle", {"title": "release", "subagent": "reviewer"}),
    ("claude-code", "UserPromptSubmit", {"prompt": "Fix the parser.", "topic": ""}),
    ("claude-code", "WorktreeCreate", {"title": "feature-parser"}),
    ("claude-code", "WorktreeRemove", {"path": "/home/dev/worktrees/feature-parser"}),
]
