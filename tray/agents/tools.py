"""Translates the names of tools and their arguments between agents, by way of the canonical names."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from functools import lru_cache
from typing import Any

from tray.agents.agent import NativeTool
from tray.agents.registry import AGENTS, CANONICAL
from tray.model.event import Tool

NO_TOOLS: Mapping[str, NativeTool] = {}  # a tool without a row keeps its name


def titles() -> list[str]:
    """The canonical name of every tool that some agent calls by another name."""
    return sorted({title for agent in AGENTS.values() for title in agent.tools})


def canonical(agent: str, name: str) -> str:
    """The canonical name of an agent's tool; MCP tools and unknown ones keep their own."""
    return _titles(agent).get(name, name)


def native(agent: str, title: str) -> str:
    """The name of `agent` for the tool of this canonical name."""
    row = _tools(agent).get(title)
    return row.name if row else title


def native_names(agent: str, title: str) -> tuple[str, ...]:
    """Every name of `agent` for a tool of this canonical name."""
    row = _tools(agent).get(title)
    return (row.name, *row.others) if row else (title,)


def spellings(agent: str, name: str) -> tuple[str, ...]:
    """Every name that a matcher may have for this tool: the agent's, the canonical one, older and further ones."""
    title = canonical(agent, name)
    older = (old for old, new in AGENTS[CANONICAL].older_tools.items() if new == title)
    more = AGENTS[agent].matcher_names.get(name, ()) if agent in AGENTS else ()
    return tuple(dict.fromkeys((name, title, native(CANONICAL, title), *older, *more)))


def canonical_input(agent: str, name: str, input: Mapping[str, Any]) -> dict[str, Any]:
    """A tool's input in the canonical argument keys."""
    return translate_input(agent, CANONICAL, name, input)


def canonical_call(agent: str, tool: Tool) -> tuple[str, Mapping[str, Any], Any]:
    """Its name, input and output: the same for one call in whatever form it was reported."""
    return canonical(agent, tool.name), canonical_input(agent, tool.name, tool.input), tool.output


def arguments(agent: str, tool: Tool, key: str) -> list[Any]:
    """What the call has under this canonical key and under each spelling of the agent's: a call may have several."""
    given = filter(tool.input.__contains__, _key_spellings(agent, tool.name, key))
    return [*map(tool.input.__getitem__, given)]


def shell_lines(agent: str, tool: Tool) -> list[Any]:
    """The lines that a shell's tool runs, each by itself; what is not text came so from the agent."""
    return [*tool.lines] or arguments(agent, tool, "command")


def native_input(agent: str, title: str, input: Mapping[str, Any]) -> dict[str, Any]:
    """A canonical input of the tool of this canonical name, in the argument keys of `agent`."""
    return translate_input(CANONICAL, agent, native(CANONICAL, title), input)


def translate_input(from_agent: str, to_agent: str, name: str, input: Mapping[str, Any]) -> dict[str, Any]:
    """A tool's input in another agent's argument keys.

    The agent's first spelling of a key counts before other keys of that meaning: a model may write one that its agent
    does not look at, and a hook would be shown that one.
    """
    if from_agent == to_agent:
        return dict(input)
    keys = _keys(from_agent, to_agent, name, input)
    return {keys[key]: value for key, value in input.items()}


def hook_input(agent: str, hook: str, name: str, input: Mapping[str, Any]) -> dict[str, Any]:
    """A tool's input for a hook of another format: each value is there under every key that its hooks look for."""
    translated = translate_input(agent, hook, name, input)
    return translated | dict(_further_spellings(agent, hook, name, translated))


def _further_spellings(agent: str, hook: str, name: str, input: Mapping[str, Any]) -> Iterator[tuple[str, Any]]:
    """The values of a hook's input under further spellings of their keys, which `input` does not use otherwise."""
    row = _tools(hook).get(canonical(agent, name))
    for spellings_ in row.keys.values() if row else ():
        first = next((key for key in spellings_ if key in input), "")
        yield from ((key, input[first]) for key in spellings_ if first and key not in input)


def translate_back(
    agent: str, hook: str, name: str, original: Mapping[str, Any], answer: Mapping[str, Any]
) -> dict[str, Any]:
    """A hook's new input in the agent's own keys: those of `original` as they were, new ones by the table.

    Of a value that the hook got under several keys, the one that it changed counts.
    """
    given = translate_input(agent, hook, name, original)
    changed, echoed = dict(answer), set[str]()
    for first, key in _further_spellings(agent, hook, name, given):
        if key in changed:
            echoed.add(key)
            if first not in changed or changed[first] == given[first]:
                changed[first] = changed[key]
    answer = {key: value for key, value in changed.items() if key not in echoed}
    spelled = {theirs: own for own, theirs in _keys(agent, hook, name, original).items()}
    fresh = {key: value for key, value in answer.items() if key not in spelled}
    added = _keys(hook, agent, native(hook, canonical(agent, name)), fresh)
    return {spelled.get(key) or added[key]: value for key, value in answer.items()}


def _tools(agent: str) -> Mapping[str, NativeTool]:
    known = AGENTS.get(agent)
    return known.tools if known else NO_TOOLS


@lru_cache(64)
def _titles(agent: str) -> Mapping[str, str]:
    return {name: title for title, tool in _tools(agent).items() for name in (tool.name, *tool.others)}


@lru_cache(256)
def _key_spellings(agent: str, name: str, key: str) -> tuple[str, ...]:
    row = _tools(agent).get(canonical(agent, name))
    return tuple(dict.fromkeys((key, *(row.keys.get(key, ()) if row else ()))))


def _keys(from_agent: str, to_agent: str, name: str, input: Mapping[str, Any]) -> dict[str, str]:
    """The other agent's name for each key of `input`."""
    if from_agent == to_agent:
        return {key: key for key in input}
    title = canonical(from_agent, name)
    canonical_keys = _rename(input, _reverse(title, from_agent))
    row = _tools(to_agent).get(title)
    target_keys = _rename(canonical_keys.values(), dict(row.keys) if row else {})
    return {key: target_keys[middle] for key, middle in canonical_keys.items()}


def _reverse(title: str, agent: str) -> dict[str, tuple[str, ...]]:
    row = _tools(agent).get(title)
    return {spelling: (key,) for key, spelled in row.keys.items() for spelling in spelled} if row else {}


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
