"""One table of tools: the canonical name (Claude Code's) and each agent's own name and argument keys."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any


@dataclass(frozen=True, slots=True)
class NativeTool:
    """A tool as one agent knows it: its name, and its spellings of the canonical argument keys that differ."""

    name: str
    keys: Mapping[str, tuple[str, ...]] = field(default_factory=dict)  # the first spelling is the one we write


# X-Code's documentation says `path`, its source `filePath`; Starchild's own hooks look for all three.
X_CODE_FILE: dict[str, tuple[str, ...]] = {"file_path": ("filePath", "path")}
STARCHILD_FILE: dict[str, tuple[str, ...]] = {"file_path": ("path", "file_path", "filename")}
X_CODE_EDIT: dict[str, tuple[str, ...]] = {
    "old_string": ("oldString",),
    "new_string": ("newString",),
    "replace_all": ("replaceAll",),
}
X_CODE_GREP: dict[str, tuple[str, ...]] = {
    "output_mode": ("outputMode",),
    "head_limit": ("headLimit",),
    "-A": ("contextAfter",),
    "-B": ("contextBefore",),
    "-C": ("context",),
    "-i": ("caseInsensitive",),
}

# Shelley has no tool events, so it has no column. What has no row (MCP tools, an agent's own) keeps its name.
TOOLS: Mapping[str, Mapping[str, NativeTool]] = {
    "AskUserQuestion": {"x-code": NativeTool("askUser")},
    "Bash": {"starchild": NativeTool("bash"), "x-code": NativeTool("shell")},
    "Edit": {
        "starchild": NativeTool("edit_file", STARCHILD_FILE),
        "x-code": NativeTool("edit", X_CODE_FILE | X_CODE_EDIT),
    },
    "EnterPlanMode": {"x-code": NativeTool("enterPlanMode")},
    "ExitPlanMode": {"x-code": NativeTool("exitPlanMode")},
    "Glob": {"x-code": NativeTool("glob", {"path": ("cwd",)})},
    "Grep": {"x-code": NativeTool("grep", X_CODE_GREP)},
    "LS": {"x-code": NativeTool("listDir", {"path": ("dirPath",)})},
    "Read": {"starchild": NativeTool("read_file", STARCHILD_FILE), "x-code": NativeTool("readFile", X_CODE_FILE)},
    "Skill": {"x-code": NativeTool("activateSkill", {"skill": ("name",)})},
    "Task": {"claude-code": NativeTool("Agent"), "x-code": NativeTool("task")},  # `Task` stays an alias of `Agent`
    "TodoWrite": {"x-code": NativeTool("todoWrite")},
    "ToolSearch": {"x-code": NativeTool("toolSearch")},
    "WebFetch": {"x-code": NativeTool("webFetch")},
    "WebSearch": {"x-code": NativeTool("webSearch")},
    "Write": {"starchild": NativeTool("write_file", STARCHILD_FILE), "x-code": NativeTool("writeFile", X_CODE_FILE)},
}
# Older names of Claude Code's own tools, which its matchers still take.
ALIASES: Mapping[str, str] = {"KillBash": "TaskStop", "KillShell": "TaskStop"}
CANONICAL: Mapping[tuple[str, str], str] = {
    (agent, native.name): title for title, row in TOOLS.items() for agent, native in row.items()
}


def canonical(agent: str, name: str) -> str:
    """The canonical name of an agent's tool; MCP tools and unknown ones keep their own."""
    return CANONICAL.get((agent, name), name)


def native(agent: str, name: str) -> str:
    """What `agent` calls the tool of this canonical name."""
    row = TOOLS.get(name, {}).get(agent)
    return row.name if row else name


def spellings(agent: str, name: str) -> tuple[str, ...]:
    """Every name by which a matcher may mean this tool: the agent's, the canonical one, Claude Code's, older ones."""
    title = canonical(agent, name)
    older = (old for old, new in ALIASES.items() if new == title)
    return tuple(dict.fromkeys((name, title, native("claude-code", title), *older)))


def translate_input(from_agent: str, to_agent: str, name: str, input: Mapping[str, Any]) -> dict[str, Any]:
    """A tool's input in another agent's argument keys. No argument is ever lost: a taken key stays as it is."""
    keys = _keys(from_agent, to_agent, name, input)
    return {keys[key]: value for key, value in input.items()}


def translate_back(
    agent: str, hook: str, name: str, original: Mapping[str, Any], answer: Mapping[str, Any]
) -> dict[str, Any]:
    """A hook's new input in the agent's own keys: as `original` spells them, new ones by the table."""
    spelled = {theirs: own for own, theirs in _keys(agent, hook, name, original).items()}
    fresh = {key: value for key, value in answer.items() if key not in spelled}
    added = _keys(hook, agent, native(hook, canonical(agent, name)), fresh)
    return {spelled.get(key) or added[key]: value for key, value in answer.items()}


def _keys(from_agent: str, to_agent: str, name: str, input: Mapping[str, Any]) -> dict[str, str]:
    """For each key of `input` what it is called on the other side."""
    if from_agent == to_agent:
        return {key: key for key in input}
    title = canonical(from_agent, name)
    canonical_keys = _rename(input, {key: (key,) for key in input} | _reverse(title, from_agent))
    row = TOOLS.get(title, {}).get(to_agent)
    target_keys = _rename(canonical_keys.values(), dict(row.keys) if row else {})
    return {key: target_keys[middle] for key, middle in canonical_keys.items()}


def _reverse(title: str, agent: str) -> dict[str, tuple[str, ...]]:
    row = TOOLS.get(title, {}).get(agent)
    return {spelling: (key,) for key, spelled in row.keys.items() for spelling in spelled} if row else {}


def _rename(keys: Any, table: Mapping[str, tuple[str, ...]]) -> dict[str, str]:
    """New names by `table`, each given once; who comes second, or would take another's name, keeps their own."""
    old = list(keys)
    new: dict[str, str] = {}
    for key in old:
        wanted = table.get(key, (key,))[0]
        new[key] = key if wanted != key and (wanted in old or wanted in new.values()) else wanted
    return new
