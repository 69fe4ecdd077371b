"""What every dialect offers, and the figures that connect and the deadlines rely on."""

from __future__ import annotations

import ast
import json
from pathlib import Path

import pytest
from agents.recordings import request_for, sampled
from every import every

import tray.agents
from tray.agents.protocol import parse, spec
from tray.agents.registry import AGENTS
from tray.model.event import Capability, EventKind

TIMEOUTS = {
    ("antigravity", "PreToolUse"): 30,
    ("claude-code", "Stop"): 600,
    ("claude-code", "PreToolUse"): 600,
    ("claude-code", "SessionStart"): 600,
    ("claude-code", "Notification"): 600,
    ("claude-code", "SessionEnd"): 1.5,
    ("claude-code", "UserPromptSubmit"): 30,
    ("claude-code", "MessageDisplay"): 10,
    ("claude-code", "PermissionRequest"): 600,
    ("cline", "PreToolUse"): 120,
    ("codex", "Interrupt"): 3,
    ("codex", "PreToolUse"): 600,
    ("codex", "SessionEnd"): 3,
    ("copilot-cli", "PreToolUse"): 600,
    ("copilot-cli", "SessionEnd"): 30,
    ("cursor", "beforeShellExecution"): 60,
    ("gemini-cli", "BeforeTool"): 600,
    ("gemini-cli", "SessionEnd"): 60,
    ("devin", "PreToolUse"): 60,
    ("droid", "PreToolUse"): 60,
    ("grok", "PreToolUse"): 600,
    ("kimi-code", "PreToolUse"): 600,
    ("kimi-code", "SessionEnd"): 30,
    ("kiro", "preToolUse"): 60,
    ("opencode", "PreToolUse"): 600,
    ("opencode", "SessionEnd"): 5,
    ("qwen-code", "PostToolBatch"): 15,
    ("qwen-code", "PreToolUse"): 60,
    ("shelley", "end-of-turn"): 30,
    ("shelley", "chat-message"): 30,
    ("shelley", "new-conversation"): 30,
    ("shelley", "slash/anything"): 30,
    ("shelley", "system-prompt"): 30,
    ("starchild", "pre_tool_call"): 120,
    ("x-code", "PreToolUse"): 30,
    ("foo", "Stop"): 30,
}
COUNTS = {
    "antigravity": 5,
    "claude-code": 33,
    "cline": 6,
    "codex": 12,
    "copilot-cli": 14,
    "cursor": 20,
    "gemini-cli": 10,
    "devin": 7,
    "droid": 9,
    "grok": 15,
    "kimi-code": 15,
    "kiro": 5,
    "opencode": 16,
    "qwen-code": 21,
    "shelley": 5,
    "starchild": 12,
    "x-code": 10,
}
TWINS = {
    ("opencode", "RunStop"),  # like Stop, where the agent quits then; hooks of its format know it as Stop
    # One tool call has several events; hooks of its format know preToolUse and postToolUse.
    *(("cursor", name) for name in ("afterFileEdit", "afterMCPExecution", "afterShellExecution")),
    *(("cursor", f"before{word}") for word in ("MCPExecution", "ReadFile", "ShellExecution", "TabFileRead")),
}
EVENTS = [(agent, name) for agent, each in AGENTS.items() for name in each.events]
OBSERVED = {
    "antigravity": {"PostInvocation", "PostToolUse"},
    "claude-code": {
        "DirectoryAdded",
        "InstructionsLoaded",
        "Notification",
        "PostCompact",
        "SessionEnd",
        "StopFailure",
        "WorktreeRemove",
    },
    "cline": {"SessionShutdown", "TaskComplete", "TaskError", "TaskStart"},
    "codex": {"Interrupt", "SessionEnd"},
    "copilot-cli": {"ErrorOccurred", "PreCompact", "SessionEnd"},
    "cursor": {
        *("afterAgentResponse", "afterAgentThought", "afterFileEdit", "afterMCPExecution", "afterShellExecution"),
        *("afterTabFileEdit", "sessionEnd"),
    },
    "gemini-cli": {"Notification", "PreCompress", "SessionEnd"},
    "devin": {"PermissionRequest", "PostToolUse", "SessionEnd", "SessionStart"},
    "droid": {"Notification", "SessionEnd", "SubagentStop"},
    "grok": {
        *("Notification", "PermissionDenied", "PostCompact", "PreCompact", "SessionEnd", "SessionStart"),
        *("StopCancelled", "StopFailure", "SubagentStart"),
    },
    "kiro": {"postToolUse", "stop"},
    "kimi-code": {
        *("Interrupt", "Notification", "PermissionRequest", "PostCompact", "PostToolUse", "PostToolUseFailure"),
        *("PreCompact", "SessionEnd", "SessionStart", "StopFailure", "SubagentStart", "SubagentStop"),
    },
    "opencode": {
        "Interrupt",
        "PostCompact",
        "PostToolUseFailure",
        "RunStop",
        "SessionEnd",
        "StopFailure",
        "SubagentStop",
    },
    "qwen-code": {
        "InstructionsLoaded",
        "MessageDisplay",
        "Notification",
        "PermissionDenied",
        "PostCompact",
        "SessionEnd",
        "StopFailure",
    },
    "shelley": {"end-of-turn"},
    "starchild": {"on_session_end", "post_llm_call", "post_tool_call"},
    "x-code": {
        "PostCompact",
        "PreCompact",
        "SessionEnd",
        "SessionStart",
        "SubagentStart",
        "SubagentStop",
        "TurnComplete",
    },
}


def test_the_dialects_stand_in_alphabetical_order() -> None:
    assert list(AGENTS) == sorted(COUNTS)
    assert all(list(known.events) == sorted(known.events) for known in AGENTS.values())


@every(("agent", "name"), TIMEOUTS)
def test_an_event_has_its_agents_own_time_limit(agent: str, name: str) -> None:
    assert spec(agent, name).timeout == TIMEOUTS[agent, name]


@pytest.mark.parametrize("agent", AGENTS)
def test_these_events_are_observed_only(agent: str) -> None:
    assert {name for name, each in AGENTS[agent].events.items() if each.observe_only} == OBSERVED[agent]


def test_only_these_agents_can_be_told_allow() -> None:
    able = {
        (agent, name)
        for agent, each in AGENTS.items()
        for name in each.events
        if Capability.ALLOW in spec(agent, name).can
    }

    assert able == {
        *(("claude-code", name) for name in ("PermissionRequest", "PreModelSwitch", "PreToolUse")),
        ("codex", "PermissionRequest"),
        *(("copilot-cli", name) for name in ("PermissionRequest", "PreToolUse")),
        ("droid", "PreToolUse"),
        ("opencode", "PermissionRequest"),
        ("qwen-code", "PermissionRequest"),
    }


@pytest.mark.parametrize(("agent", "count"), COUNTS.items())
def test_an_agent_has_so_many_events(agent: str, count: int) -> None:
    assert len(AGENTS[agent].events) == count


def test_an_agents_events_are_of_different_kinds_and_none_is_other() -> None:
    for agent, known in AGENTS.items():
        kinds = [each.kind for name, each in known.events.items() if (agent, name) not in TWINS]
        assert (len(set(kinds)), EventKind.OTHER in kinds) == (len(kinds), False), agent


@every(("agent", "name"), EVENTS)
def test_the_tool_of_a_payload_is_that_of_its_event(agent: str, name: str) -> None:
    payload = dict(sampled(agent, name).payload)
    odd = [
        {key: value} for key in payload for value in ("", 7, "\ud800", None, ["Bash"], {"name": "\ud800", "args": []})
    ]

    for one in ({}, *odd):
        event = parse(request_for(agent, name, json.dumps(payload | one).encode()))
        assert AGENTS[agent].protocol.tool(event.name, event.payload) == event.tool


def test_an_unknown_event_can_carry_nothing() -> None:
    assert (spec("foo", "Stop").kind, spec("foo", "Stop").can) == (EventKind.OTHER, Capability.NOTHING)


PURE = {
    "__future__",
    "ast",
    "codecs",
    "collections",
    "dataclasses",
    "enum",
    "functools",
    "itertools",
    "json",
    "math",
    "msgspec",
    "operator",
    "re",
    "shlex",
    "typing",
    "tray",
}
FOLDER = Path(tray.agents.__file__).parent
# What looks at or writes settings, files and folders, or logs; an agent's other modules are its protocol.
SHARED = {
    "agent",
    "connection",
    "executables",
    "list_entries",
    "native_runs",
    "overview",
    "own_file",
    "packages",
    "placeholders",
    "registry",
    "relay_command",
    "relay_table",
    "settings_connector",
    "settings_import",
}
OWN = {
    "conditions",
    "connector",
    "hook_import",
    "settings_text",
    "settings_hooks",
    "source",
    "two_files",
}
PROTOCOLS = [path for path in sorted(FOLDER.rglob("*.py")) if path.stem not in SHARED | OWN]


@every("path", PROTOCOLS, ids=lambda path: path.relative_to(FOLDER).as_posix())
def test_a_protocol_touches_no_file_clock_or_process(path: Path) -> None:
    tree = ast.parse(path.read_text(encoding="utf-8"))
    nodes = [node for top in tree.body if not _is_for_types(top) for node in ast.walk(top)]
    imported = [node.module or "" for node in nodes if isinstance(node, ast.ImportFrom) and not _is_pure_path(node)]
    imported += [alias.name for node in nodes if isinstance(node, ast.Import) for alias in node.names]

    assert {name.partition(".")[0] for name in imported} <= PURE


def _is_pure_path(node: ast.ImportFrom) -> bool:
    """`from pathlib import PurePath`, which takes words apart and touches no file."""
    return node.module == "pathlib" and [alias.name for alias in node.names] == ["PurePath"]


def _is_for_types(node: ast.stmt) -> bool:
    """`if TYPE_CHECKING:`, which imports nothing when it runs."""
    return isinstance(node, ast.If) and isinstance(node.test, ast.Name) and node.test.id == "TYPE_CHECKING"
