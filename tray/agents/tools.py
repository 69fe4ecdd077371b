"""Translates the names of tools and their arguments between agents, by way of the canonical names."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from functools import lru_cache
from typing import Any

import msgspec
from msgspec.structs import replace

from tray.agents import patches
from tray.agents.agent import NativeTool
from tray.agents.registry import AGENTS, CANONICAL, hook_rules
from tray.model.event import Tool
from tray.text.words import word_set

Spellings = Mapping[str, tuple[str, ...]]  # the names of argument keys; the first counts before others

NO_TOOLS: Mapping[str, NativeTool] = {}  # a tool without a row keeps its name
COMMAND = "command"  # the canonical key of a shell's lines
CALLED = 1024  # tools whose names in matchers and translations are remembered
BROADER = {"MultiEdit": "Edit", "NotebookEdit": "Edit"}  # the tool that agents without this one use
PATCHERS = frozenset({"Edit", "Write"})  # the canonical tools that a patch can replace
CANONICAL_NAMES = word_set(
    "Agent AskUserQuestion Bash Edit EnterPlanMode ExitPlanMode Glob Grep KillBash KillShell LS MultiEdit "
    "NotebookEdit Read Skill Task TaskStop TodoWrite ToolSearch WebFetch WebSearch Write"
)


class Translation(msgspec.Struct, frozen=True, kw_only=True):
    """What another agent calls a tool and its arguments."""

    name: str
    to_canonical: Spellings  # of the agent's own keys
    from_canonical: Spellings  # to the other agent's keys
    spellings: tuple[tuple[str, ...], ...]  # the other agent's keys of one meaning
    keys: frozenset[str]  # an input without these stays as it is
    is_patcher: bool  # a patch may do what the tool does
    patch: str  # the other agent's key for a patch, where its tool takes nothing else


def titles() -> list[str]:
    """The canonical name of every tool that some agent calls by another name."""
    return sorted({title for agent in AGENTS.values() for title in agent.tools})


def canonical(agent: str, name: str) -> str:
    """The canonical name of an agent's tool; MCP tools and unknown ones keep their own."""
    return _titles(agent).get(name, name)


def native(agent: str, title: str) -> str:
    """The name of `agent` for the tool of this canonical name."""
    return native_names(agent, title)[0]


@lru_cache(CALLED)
def native_names(agent: str, title: str) -> tuple[str, ...]:
    """Returns each tool of `agent` that does the work of the canonical one; the canonical name if there is none."""
    known, row = AGENTS.get(agent), _tools(agent).get(title)
    own = [row.name, *row.others] if row else []
    own += (name for name, more in (known.also_does if known else {}).items() if title in more and name not in own)
    if own:
        return tuple(own)
    broader = BROADER.get(title)
    return (title, *(native_names(agent, broader) if broader else ()))


def spellings(agent: str, name: str) -> tuple[str, ...]:
    """Every name that a matcher may have for this tool: the agent's, the canonical one, older and further ones."""
    title = canonical(agent, name)
    older = (old for old, new in AGENTS[CANONICAL].older_tools.items() if new == title)
    more = AGENTS[agent].matcher_names.get(name, ()) if agent in AGENTS else ()
    return tuple(dict.fromkeys((name, title, native(CANONICAL, title), *older, *more)))


@lru_cache(CALLED)
def matched_names(format: str, agent: str, name: str) -> frozenset[str]:
    """Returns the names that a matcher of this format is compared with for an agent's tool.

    For another agent's tool these are the format's own names of each tool that does the same work. "" is the format
    of hooktray.yaml, whose matchers know the agent's names and the canonical ones.
    """
    if format == agent:
        return frozenset(_own_names(agent, name))
    if format:
        return frozenset(own for tool in _alike(format, agent, name) for own in _own_names(format, tool))
    canonical_names = _alike(CANONICAL, agent, name) if agent != CANONICAL else ()
    return frozenset((*spellings(agent, name), *canonical_names))


@lru_cache(CALLED)
def aliases(format: str, agent: str, name: str) -> frozenset[str]:
    """Returns the further names of an agent's tool that count in a matcher of this format as a whole word."""
    alike = (native(agent, canonical(agent, name)),) if format == agent else _alike(format, agent, name)
    return frozenset(one for tool in alike for one in spellings(format, tool))


def is_called(agent: str, name: str, words: Iterable[str]) -> bool:
    """True if one of these words is any agent's name for a tool that does the same work. May load every agent."""
    foreign = [word for word in words if word not in CANONICAL_NAMES and not word.startswith("mcp__")]
    return bool(foreign) and not _every_name(agent, name).isdisjoint(foreign)


@lru_cache(CALLED)
def _every_name(agent: str, name: str) -> frozenset[str]:
    alike = ((other, tool) for other in AGENTS for tool in _alike(other, agent, name))
    return frozenset(one for other, tool in alike for one in (tool, *AGENTS[other].matcher_names.get(tool, ())))


def _alike(format: str, agent: str, name: str) -> Iterator[str]:
    """Yields the tools of the format's agent that do the work of this one."""
    known = AGENTS.get(agent)
    for title in (canonical(agent, name), *(known.also_does.get(name, ()) if known else ())):
        yield from native_names(format, title)


def _own_names(agent: str, name: str) -> tuple[str, ...]:
    """Returns the names that the agent's own matchers are compared with for its tool."""
    rules, known = hook_rules(agent), AGENTS.get(agent)
    if known is None:
        return (name,)
    usual = () if name in known.also_does else (native(agent, canonical(agent, name)),)  # by its usual name
    if rules.older_tool_names:
        return (*usual, *spellings(agent, name))
    return (*usual, name, *(() if rules.whole_aliases else known.matcher_names.get(name, ())))


def further_files(agent: str, hook: str, tool: Tool) -> list[Tool]:
    """Returns a call for each further file of a patch, for a hook whose own tool changes one file at a time."""
    row = _row(hook, "Edit")
    if agent == hook or canonical(agent, tool.name) not in PATCHERS or (row and row.patch):
        return []
    return [replace(tool, input=input) for input in patches.further_files(tool.input)]


def title(agent: str, tool: Tool) -> str:
    """Returns the canonical name of the tool for this call: a patch that only adds files is a Write."""
    name = canonical(agent, tool.name)
    return "Write" if name == "Edit" and "content" in patches.arguments(tool.input) else name


def canonical_input(agent: str, name: str, input: Mapping[str, Any]) -> dict[str, Any]:
    """A tool's input in the canonical argument keys."""
    return translate_input(agent, CANONICAL, name, input)


def canonical_call(agent: str, tool: Tool) -> tuple[str, Mapping[str, Any], Any]:
    """Its name, input and output: the same for one call in whatever form it was reported."""
    return canonical(agent, tool.name), canonical_input(agent, tool.name, tool.input), tool.output


def arguments(agent: str, tool: Tool, key: str) -> list[Any]:
    """The call's values under this canonical key and under each of the agent's spellings: a call may have several.

    For COMMAND it is each line that runs by itself, if the agent reports the lines.
    """
    if tool.lines and key == COMMAND:
        return [*tool.lines]
    row = _rows(agent).get(tool.name)
    names = dict.fromkeys((key, *row.keys.get(key, ()))) if row else (key,)
    return [*map(tool.input.__getitem__, filter(tool.input.__contains__, names))]


def native_input(agent: str, title: str, input: Mapping[str, Any]) -> dict[str, Any]:
    """A canonical input of the tool of this canonical name, in the argument keys of `agent`."""
    return translate_input(CANONICAL, agent, native(CANONICAL, title), input)


def translate_input(from_agent: str, to_agent: str, name: str, input: Mapping[str, Any]) -> dict[str, Any]:
    """A tool's input in another agent's argument keys.

    The agent's first spelling of a key counts before other keys of that meaning: a model may write one that its agent
    does not look at, and a hook would be shown that one.
    """
    known = _translation(from_agent, to_agent, name) if from_agent != to_agent else None
    if known is None or (known.keys.isdisjoint(input) and not known.is_patcher):
        return dict(input)
    keys = _keys(known, input)
    renamed = {keys[key]: value for key, value in input.items()}
    return renamed | _added(known, input) if known.is_patcher else renamed


def _added(known: Translation, input: Mapping[str, Any]) -> dict[str, Any]:
    """Returns what a hook also gets: the files and the text of a patch, or the patch for an edit."""
    middle = _rename(input, known.to_canonical)
    given = {middle[key]: value for key, value in input.items()}
    if not known.patch:
        added = patches.arguments(input) if "file_path" not in given else {}
        names = _rename(added, known.from_canonical)
        return {names[key]: value for key, value in added.items()}
    text = "" if known.patch in given else patches.text(input) or patches.write(given)
    return {known.patch: text} if text else {}


def hook_call(agent: str, hook: str, tool: Tool) -> tuple[str, dict[str, Any]]:
    """A call's name and input for a hook of another format: each value under every key that its hooks look for."""
    known = _translation(agent, hook, tool.name)
    if known is None:
        return tool.name, dict(tool.input)
    name = native(hook, title(agent, tool)) if known.is_patcher else known.name
    if known.keys.isdisjoint(tool.input) and not known.is_patcher:
        return name, dict(tool.input)
    input = translate_input(agent, hook, tool.name, tool.input)
    return name, input | {key: input[first] for first, key in _further_spellings(known, input)}


def _further_spellings(known: Translation, input: Mapping[str, Any]) -> Iterator[tuple[str, str]]:
    """Each key of a hook's input with its further spellings, which `input` does not use otherwise."""
    for names in known.spellings:
        first = next((key for key in names if key in input), "")
        yield from ((first, key) for key in names if first and key not in input)


def translate_back(
    agent: str, hook: str, name: str, original: Mapping[str, Any], answer: Mapping[str, Any]
) -> dict[str, Any]:
    """A hook's new input in the agent's own keys: those of `original` as they were, new ones by the table.

    Of a value that the hook got under several keys, the one that it changed counts.
    """
    there = _translation(agent, hook, name)
    if there is None:
        return dict(answer)
    given, added = translate_input(agent, hook, name, original), _added(there, original) if there.is_patcher else {}
    changed, echoed = {key: value for key, value in answer.items() if added.get(key, ()) != value}, set[str]()
    for first, key in _further_spellings(there, given):
        if key in changed:
            echoed.add(key)
            if first not in changed or changed[first] == given[first]:
                changed[first] = changed[key]
    answer = {key: value for key, value in changed.items() if key not in echoed}
    spelled = {theirs: own for own, theirs in _keys(there, original).items()}
    fresh = {key: value for key, value in answer.items() if key not in spelled}
    back = _translation(hook, agent, there.name)
    added = _keys(back, fresh) if back else {key: key for key in fresh}
    return {spelled.get(key) or added[key]: value for key, value in answer.items()}


def _tools(agent: str) -> Mapping[str, NativeTool]:
    known = AGENTS.get(agent)
    return known.tools if known else NO_TOOLS


@lru_cache(64)
def _titles(agent: str) -> Mapping[str, str]:
    return {name: title for title, tool in _tools(agent).items() for name in (tool.name, *tool.others)}


@lru_cache(64)
def _rows(agent: str) -> Mapping[str, NativeTool]:
    """The agent's tools by every name that it may use for them."""
    rows = _tools(agent)
    return {**rows, **{name: rows[title] for name, title in _titles(agent).items()}}


@lru_cache(CALLED)
def _translation(agent: str, other: str, name: str) -> Translation | None:
    """Returns None for a tool that has the same name and keys in the other agent."""
    title = canonical(agent, name)
    own, row = _tools(agent).get(title), _row(other, title)
    if own is None and row is None:
        return None
    is_same = agent == other
    native_keys = row.keys if row else {}
    reverse = (
        {spelling: (key,) for key, names in own.keys.items() for spelling in names} if own and not is_same else {}
    )
    return Translation(
        name=row.name if row else title,
        to_canonical=reverse,
        from_canonical={} if is_same else native_keys,
        spellings=tuple(native_keys.values()),
        keys=frozenset((*reverse, *native_keys, *(each for names in native_keys.values() for each in names))),
        is_patcher=title in PATCHERS and not is_same,
        patch=row.patch if row else "",
    )


def _row(agent: str, title: str) -> NativeTool | None:
    """Returns the names that `agent` has for the canonical tool and its arguments."""
    name = native(agent, title)
    row = _tools(agent).get(title) or (_rows(agent).get(name) if name != title else None)
    return replace(row, name=name) if row else None


def _keys(known: Translation, input: Mapping[str, Any]) -> dict[str, str]:
    """The other agent's name for each key of `input`."""
    canonical_keys = _rename(input, known.to_canonical)
    native_keys = _rename(canonical_keys.values(), known.from_canonical)
    return {key: native_keys[middle] for key, middle in canonical_keys.items()}


def _rename(keys: Iterable[str], table: Mapping[str, tuple[str, ...]]) -> dict[str, str]:
    """New names by `table`: of several keys that may have one name its first, and the other gets that one's."""
    new = {key: key for key in keys}
    named = set[str]()
    for key, (wanted, *_) in table.items():
        if key in new and wanted not in named:
            named.add(wanted)
            holder = next((other for other, name in new.items() if name == wanted), key)
            new[holder], new[key] = new[key], wanted
    return new
