"""What every dialect offers, and the figures that connect and the deadlines rely on."""

from __future__ import annotations

import ast
import json
from pathlib import Path

from agents.recordings import request_for, sampled
from every import every

import tray.agents
from tray.agents.protocol import parse, spec
from tray.agents.registry import AGENTS
from tray.model.event import Capability, EventKind

# Events that are in no table, and events that set a deadline; docs/generated/fidelity.md has all others.
TIMEOUTS = {
    ("claude-code", "PermissionRequest"): 600,
    ("claude-code", "SessionEnd"): 1.5,
    ("codex", "Interrupt"): 3,
    ("shelley", "chat-message"): 30,
    ("shelley", "slash/anything"): 30,
    ("foo", "Stop"): 30,
}
TWINS = {
    ("opencode", "RunStop"),  # like Stop, where the agent quits then; hooks of its format know it as Stop
    # One tool call has several events; hooks of its format know preToolUse and postToolUse.
    *(("cursor", name) for name in ("afterFileEdit", "afterMCPExecution", "afterShellExecution")),
    *(("cursor", f"before{word}") for word in ("MCPExecution", "ReadFile", "ShellExecution", "TabFileRead")),
}
EVENTS = [(agent, name) for agent, each in AGENTS.items() for name in each.events]


def test_the_dialects_stand_in_alphabetical_order() -> None:
    assert list(AGENTS) == sorted(AGENTS)
    assert all(list(known.events) == sorted(known.events) for known in AGENTS.values())


@every(("agent", "name"), TIMEOUTS)
def test_an_event_has_its_agents_own_time_limit(agent: str, name: str) -> None:
    assert spec(agent, name).timeout == TIMEOUTS[agent, name]


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


def test_an_agents_events_are_of_different_kinds_and_none_is_other() -> None:
    for agent, known in AGENTS.items():
        kinds = [each.kind for name, each in known.events.items() if (agent, name) not in TWINS]
        assert (len(set(kinds)), EventKind.OTHER in kinds) == (len(kinds), False), agent


@every(("agent", "name"), EVENTS)
def test_the_tool_of_a_payload_is_that_of_its_event(agent: str, name: str) -> None:
    payload = dict(sampled(agent, name).payload)
    odd = [{key: value} for key in payload for value in ("", 7, None, {"name": "\ud800", "args": []})]

    for one in ({}, *odd):
        event = parse(request_for(agent, name, json.dumps(payload | one).encode()))
        assert AGENTS[agent].protocol.tool(event.name, event.payload) == event.tool


PURE = {
    *("__future__", "ast", "codecs", "collections", "dataclasses", "enum", "functools", "itertools", "json", "math"),
    *("msgspec", "operator", "re", "shlex", "typing", "tray"),
}
FOLDER = Path(tray.agents.__file__).parent
# What looks at or writes settings, files and folders, or logs; an agent's other modules are its protocol.
SHARED = {
    *("agent", "connection", "executables", "list_entries", "native_runs", "overview", "own_file", "packages"),
    *("placeholders", "registry", "relay_command", "relay_table", "settings_connector", "settings_import"),
}
OWN = {"conditions", "connector", "hook_import", "settings_text", "settings_hooks", "source", "two_files"}
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
