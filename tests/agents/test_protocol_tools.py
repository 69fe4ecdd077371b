"""One tool, three names: what a guard reads and rewrites is the same argument in every agent."""

from __future__ import annotations

from typing import Any

from every import every
from hypothesis import given, settings
from hypothesis import strategies as st

from tray.agents.registry import AGENTS
from tray.agents.tools import canonical, hook_call, native, spellings, translate_back, translate_input
from tray.model.event import Tool

NAMES = [  # the goldens have the others
    ("claude-code", "Task", "Task"),
    ("claude-code", "Agent", "Task"),
    ("starchild", "write_file", "Write"),
    ("x-code", "shell", "Bash"),
    ("shelley", "bash", "bash"),
    ("x-code", "mcp__github__create_issue", "mcp__github__create_issue"),
    ("starchild", "send_to_telegram", "send_to_telegram"),
    ("nobody", "shell", "shell"),
]


@every(("agent", "name", "title"), NAMES)
def test_an_agents_tool_has_this_canonical_name(agent: str, name: str, title: str) -> None:
    assert canonical(agent, name) == title


@every(("title", "agent"), [(title, agent) for agent, known in AGENTS.items() for title in known.tools])
def test_a_canonical_name_leads_to_the_agents_own_and_back(title: str, agent: str) -> None:
    assert agent in AGENTS
    assert canonical(agent, native(agent, title)) == title


def test_a_tool_that_an_agent_does_not_have_keeps_its_canonical_name() -> None:
    assert native("starchild", "Task") == "Task"
    assert native("shelley", "Bash") == "Bash"


def test_a_matcher_may_mean_a_tool_by_either_name() -> None:
    assert spellings("x-code", "shell") == ("shell", "Bash")
    assert spellings("claude-code", "Agent") == ("Agent", "Task")
    assert spellings("claude-code", "Bash") == ("Bash",)
    assert spellings("x-code", "task") == ("task", "Task", "Agent")
    assert spellings("claude-code", "TaskStop") == ("TaskStop", "KillBash", "KillShell")
    assert spellings("starchild", "send_to_telegram") == ("send_to_telegram",)


INPUTS: list[tuple[str, str, str, dict[str, Any], dict[str, Any]]] = [
    ("claude-code", "x-code", "Write", {"file_path": "a", "content": "b"}, {"filePath": "a", "content": "b"}),
    ("claude-code", "starchild", "Write", {"file_path": "a", "content": "b"}, {"path": "a", "content": "b"}),
    ("x-code", "claude-code", "writeFile", {"path": "a", "content": "b"}, {"file_path": "a", "content": "b"}),
    ("x-code", "claude-code", "writeFile", {"filePath": "a", "content": "b"}, {"file_path": "a", "content": "b"}),
    ("x-code", "starchild", "readFile", {"filePath": "a", "limit": 3}, {"path": "a", "limit": 3}),
    (
        "claude-code",
        "x-code",
        "Edit",
        {"file_path": "a", "old_string": "b", "new_string": "c", "replace_all": False},
        {"filePath": "a", "oldString": "b", "newString": "c", "replaceAll": False},
    ),
    ("x-code", "claude-code", "glob", {"pattern": "*", "cwd": "/p"}, {"pattern": "*", "path": "/p"}),
    ("x-code", "claude-code", "listDir", {"dirPath": "/p"}, {"path": "/p"}),
    ("x-code", "claude-code", "activateSkill", {"name": "review"}, {"skill": "review"}),
    (
        "x-code",
        "claude-code",
        "grep",
        {"pattern": "x", "outputMode": "content", "contextAfter": 1, "caseInsensitive": True, "headLimit": 5},
        {"pattern": "x", "output_mode": "content", "-A": 1, "-i": True, "head_limit": 5},
    ),
    ("x-code", "starchild", "mcp__fs__write", {"filePath": "a"}, {"filePath": "a"}),
    ("x-code", "x-code", "writeFile", {"path": "a"}, {"path": "a"}),
    # Two spellings of one argument: neither is lost, and the hook is shown the one that the agent looks at first.
    ("x-code", "claude-code", "writeFile", {"path": "a", "filePath": "b"}, {"path": "a", "file_path": "b"}),
    ("opencode", "claude-code", "write", {"file_path": "a", "filePath": "b"}, {"filePath": "a", "file_path": "b"}),
    ("claude-code", "starchild", "Write", {"path": "a", "file_path": "b"}, {"file_path": "a", "path": "b"}),
    (
        "antigravity",
        "codex",
        "run_command",
        {"command": "a", "CommandLine": "b"},
        {"CommandLine": "a", "command": "b"},
    ),
]


@every(("source", "target", "name", "input", "there"), INPUTS)
def test_an_input_is_told_in_the_other_agents_keys(
    source: str, target: str, name: str, input: dict[str, Any], there: dict[str, Any]
) -> None:
    assert translate_input(source, target, name, input) == there


def test_a_rewrite_comes_back_as_the_agent_spelled_it() -> None:
    original = {"path": "a", "content": "b"}

    answer = translate_back("x-code", "starchild", "writeFile", original, {"path": "c", "content": "d"})

    assert answer == {"path": "c", "content": "d"}


@every("changed", ["path", "file_path", "filename"])
def test_of_a_value_under_several_keys_the_one_that_a_hook_changed_comes_back(changed: str) -> None:
    original = {"file_path": ["a"], "content": "x"}
    _, given = hook_call("claude-code", "starchild", Tool(name="Write", input=original))

    answer = translate_back("claude-code", "starchild", "Write", original, given | {changed: ["b"]})

    assert answer == {"file_path": ["b"], "content": "x"}


def test_an_argument_that_a_hook_adds_comes_back_in_the_agents_first_spelling() -> None:
    assert translate_back("x-code", "claude-code", "writeFile", {}, {"file_path": "c"}) == {"filePath": "c"}


CALLS = [(agent, tool.name) for agent, known in AGENTS.items() for tool in known.tools.values()] + [
    ("x-code", "mcp__a__b")
]
KEYS = st.sampled_from(
    ["path", "filePath", "file_path", "filename", "oldString", "old_string", "cwd", "command", "x"]
)


@settings(max_examples=50)
@given(st.sampled_from(CALLS), st.sampled_from(sorted(AGENTS)), st.dictionaries(KEYS, st.integers()))
def test_no_argument_is_lost_on_the_way_there_and_back(
    call: tuple[str, str], hook: str, input: dict[str, int]
) -> None:
    agent, name = call

    there = translate_input(agent, hook, name, input)

    assert list(there.values()) == list(input.values())
    assert translate_back(agent, hook, name, input, there) == input


def test_no_two_tools_of_an_agent_share_a_name() -> None:
    for known in AGENTS.values():
        assert len({tool.name for tool in known.tools.values()}) == len(known.tools)
