"""Which hook is asked about which tool, by whatever name: every format, every agent, every tool, every name.

The table is made from the agents' own. NATIVE has what a format's own agent asks about, by its documentation.
"""

from __future__ import annotations

import functools
from collections.abc import Iterator

import pytest
from every import every

from tray.agents.registry import AGENTS, OWN_FORMAT
from tray.agents.tools import CANONICAL_NAMES, canonical, native_names, titles
from tray.engine.plan import EventSearch, matches
from tray.model.event import Event, EventKind, Tool
from tray.model.hook import Match

CALL = {"file_path": "a.py"}


@functools.cache
def is_asked(format: str, agent: str, tool: str, matcher: str, condition: str = "") -> bool:
    match = Match(event="tool_before", tool=matcher, format=format, native=before(format), condition=condition)
    event = call(agent, tool)
    return matches(match, event, EventSearch(event))


@functools.cache
def call(agent: str, tool: str) -> Event:
    kind = EventKind.TOOL_BEFORE
    return Event(id="1", agent=agent, name=before(agent), kind=kind, tool=Tool(name=tool, input=CALL))


@functools.cache
def before(agent: str) -> str:
    """The agent's event before a tool whose matcher is about the tool's name."""
    events = AGENTS[agent].events if agent else {}
    names = [name for name, spec in events.items() if spec.kind is EventKind.TOOL_BEFORE]
    return next((name for name in names if "tool" in events[name].subject.lower()), next(iter(names), ""))


def own_tools(agent: str) -> list[str]:
    """Every name of a tool that the agent's tables have."""
    rows = AGENTS[agent].tools.values()
    names = [name for row in rows for name in (row.name, *row.others)]
    return list(dict.fromkeys([*names, *AGENTS[agent].also_does, *AGENTS[agent].matcher_names]))


def work(agent: str, tool: str) -> set[str]:
    """The canonical tools whose work it does."""
    return {canonical(agent, tool), *AGENTS[agent].also_does.get(tool, ())}


WITH_TOOLS = [agent for agent in AGENTS if before(agent)]
NAMES = sorted({name for agent in AGENTS for name in own_tools(agent)} | CANONICAL_NAMES)


def equal_tools(format: str, agent: str, tool: str) -> Iterator[str]:
    for title in work(agent, tool):
        yield from native_names(format, title)


@pytest.mark.parametrize("format", WITH_TOOLS)
def test_a_hook_is_asked_about_each_agents_tool_as_its_own_agent_asks_it_about_its_own(format: str) -> None:
    wrong = []
    for agent in WITH_TOOLS:
        tools = [*own_tools(agent), *(title for title in CANONICAL_NAMES if agent == "claude-code")]
        for tool in tools if agent != format else ():
            equal = set(equal_tools(format, agent, tool))
            for matcher in NAMES:
                there = any(is_asked(format, format, own, matcher) for own in equal)
                if is_asked(format, agent, tool, matcher) is not there:
                    wrong.append((agent, tool, matcher, there))

    assert wrong == []


@pytest.mark.parametrize("agent", WITH_TOOLS)
def test_our_own_hook_is_asked_by_any_agents_name_for_any_agents_tool(agent: str) -> None:
    wrong = []
    for tool in own_tools(agent):
        names = work(agent, tool)  # a canonical name means that tool, whatever some agent calls by it
        for other in WITH_TOOLS:
            names |= {name for name in own_tools(other) if work(other, name) & work(agent, tool)} - CANONICAL_NAMES
        wrong += [(tool, name) for name in names if not is_asked("", agent, tool, name)]

    assert wrong == []


NATIVE = [
    ("claude-code", "Edit", "Edit|Write", True),
    ("claude-code", "Edit", "MultiEdit", False),
    ("claude-code", "NotebookEdit", "Edit", False),
    ("claude-code", "Agent", "Task", True),
    ("claude-code", "TaskStop", "KillShell", True),
    ("claude-code", "Write", "write", False),
    ("codex", "apply_patch", "Edit|Write", True),
    ("codex", "apply_patch", "apply_patch", True),
    ("codex", "apply_patch", "^Write$", True),
    ("codex", "apply_patch", "MultiEdit", False),
    ("codex", "Bash", "Edit|Write", False),
    ("codex", "mcp__my-server__read", "mcp__my-server", True),  # `-` makes it a pattern there
    ("copilot-cli", "bash", "Bash", True),
    ("cursor", "Write", "Write", True),
    ("cursor", "Write", "Edit", False),
    ("cursor", "Shell", "Bash", False),
    ("gemini-cli", "run_shell_command", "Bash", False),
    ("gemini-cli", "run_shell_command", "shell", True),
    ("gemini-cli", "replace", "Edit|Write", False),
    ("qwen-code", "run_shell_command", "Bash", True),
    ("qwen-code", "run_shell_command", "Shell", True),
    ("qwen-code", "run_shell_command", "She", False),
    ("kimi-code", "Edit", "Edit|Write", True),
    ("droid", "Execute", "Execute", True),
    ("x-code", "writeFile", "write", True),
    ("x-code", "writeFile", "Write", False),
]


@every(("agent", "tool", "matcher", "asked"), NATIVE)
def test_a_hook_of_the_agents_own_format_matches_as_in_that_agent(
    agent: str, tool: str, matcher: str, asked: bool
) -> None:
    assert is_asked(agent, agent, tool, matcher) is asked


WRITERS = [
    ("codex", "apply_patch"),
    ("copilot-cli", "apply_patch"),
    ("copilot-cli", "str_replace_editor"),
    ("cline", "apply_patch"),
    ("cline", "editor"),
    ("cursor", "Write"),
    ("cursor", "StrReplace"),
    ("droid", "ApplyPatch"),
    ("opencode", "apply_patch"),
    ("opencode", "patch"),
]


@every(("agent", "tool"), WRITERS)
@every("matcher", ["Edit", "Write", "Edit|Write", "Write|Edit|MultiEdit", "^(Edit|Write)$"])
@every("format", ["", "claude-code", "codex", "kimi-code"])
def test_a_tool_that_edits_and_creates_files_matches_both_names(
    agent: str, tool: str, matcher: str, format: str
) -> None:
    assert is_asked(format, agent, tool, matcher)
    assert not is_asked(format, agent, tool, "Bash|Read")


PAIRS = [
    ("codex", "apply_patch", "claude-code", "Edit"),
    ("codex", "apply_patch", "claude-code", "Write"),
    ("codex", "Edit", "claude-code", "Write"),  # its one tool is asked about by either name
    ("codex", "apply_patch", "claude-code", "NotebookEdit"),
    ("cursor", "^Write$", "claude-code", "Edit"),
    ("cursor", "^Write$", "gemini-cli", "replace"),
    ("claude-code", "Edit", "antigravity", "multi_replace_file_content"),
    ("claude-code", "Edit", "opencode", "multiedit"),
    ("claude-code", "NotebookEdit", "qwen-code", "notebook_edit"),
    ("droid", "ApplyPatch", "claude-code", "Edit"),
    ("droid", "Create", "codex", "apply_patch"),
    ("gemini-cli", "search_file_content", "claude-code", "Grep"),
    ("copilot-cli", "powershell", "claude-code", "Bash"),
    ("", "apply_patch", "claude-code", "Edit"),
    ("", "run_shell_command", "claude-code", "Bash"),
    ("", "execute_bash", "codex", "Bash"),
    ("", "bash", "claude-code", "Bash"),
]


@every(("format", "matcher", "agent", "tool"), PAIRS)
def test_a_hook_is_asked_about_tools_by_its_agents_names(format: str, matcher: str, agent: str, tool: str) -> None:
    assert is_asked(format, agent, tool, matcher)


@every("condition", ["Edit", "Write", "Edit(a.py)", "Edit(*.py)", "MultiEdit|Edit(a.py)"])
@every(("agent", "tool"), WRITERS)
def test_a_condition_knows_the_same_names(agent: str, tool: str, condition: str) -> None:
    assert is_asked("claude-code", agent, tool, "", condition)


@every("agent", list(AGENTS))
def test_each_canonical_name_is_known_without_loading_every_agent(agent: str) -> None:
    assert AGENTS[agent].tools.keys() <= CANONICAL_NAMES
    assert {title for more in AGENTS[agent].also_does.values() for title in more} <= CANONICAL_NAMES
    assert set(titles()) <= CANONICAL_NAMES
    assert OWN_FORMAT in AGENTS
