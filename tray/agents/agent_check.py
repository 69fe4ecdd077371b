"""Checks the field types of a package's Agent, so that an agent with a wrong type is left out from the start."""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Iterator, Mapping
from typing import Any

from tray.agents.agent import (
    Agent,
    AgentProtocol,
    FormFormat,
    HookRules,
    Marks,
    NativeTool,
    Placeholders,
    ProtectedFiles,
    ShellTexts,
)
from tray.lazy_pattern import LazyPattern
from tray.model.event import Capability, EventKind, EventSpec

Check = tuple[Callable[[Any], bool], str]  # whether a value is valid, and what is expected

PROTOCOL_FUNCTIONS = tuple(name for name in vars(AgentProtocol) if not name.startswith("_"))


def _instance(kind: type) -> Check:
    return lambda value: isinstance(value, kind), kind.__name__


def _collection(container: type[Collection[Any]], is_item: Callable[[Any], bool], words: str) -> Check:
    return lambda value: isinstance(value, container) and all(map(is_item, value)), words


def _mapping(is_item: Callable[[Any], bool], words: str) -> Check:
    def check(value: Any) -> bool:
        return isinstance(value, Mapping) and all(_is_text(key) and is_item(item) for key, item in value.items())

    return check, words


def _optional(check: Check) -> Check:
    return lambda value: value is None or check[0](value), f"{check[1]} or None"


def _is_text(value: Any) -> bool:
    return isinstance(value, str)


def _is_pattern(value: Any) -> bool:
    return isinstance(value, (re.Pattern, LazyPattern)) and isinstance(value.pattern, str)


def _is_event_spec(value: Any) -> bool:
    return isinstance(value, EventSpec) and not any(_wrong_fields("", value, EVENT))


def _is_native_tool(value: Any) -> bool:
    if not isinstance(value, NativeTool) or not _is_text(value.name) or not isinstance(value.keys, Mapping):
        return False
    return all(_is_text(key) and TEXTS[0](spellings) and spellings for key, spellings in value.keys.items())


def _is_protected(value: Any) -> bool:
    return isinstance(value, ProtectedFiles) and _is_text(value.kind) and _is_pattern(value.pattern)


def _is_protocol(value: Any) -> bool:
    return all(callable(getattr(value, name, None)) for name in PROTOCOL_FUNCTIONS)


TEXT: Check = (_is_text, "a text")
WORD: Check = (lambda value: _is_text(value) and value.strip() != "" and value.isprintable(), "a text on one line")
FLAG = _instance(bool)
TEXTS = _collection(tuple, _is_text, "a tuple of texts")
SET = _collection(frozenset, _is_text, "a frozenset of texts")
NUMBER: Check = (lambda value: isinstance(value, int | float) and value > 0, "a number above 0")
FUNCTION: Check = (callable, "a function")
PATTERN: Check = (_is_pattern, "a compiled pattern of text")
PROTECTED = _collection(tuple, _is_protected, "a tuple of ProtectedFiles")

EVENT: Mapping[str, Check] = {
    "kind": _instance(EventKind),
    "can": _instance(Capability),
    "timeout": NUMBER,
    "subject": TEXT,
    "plain": FLAG,
    "after_the_fact": FLAG,
    "feedback_only": FLAG,
    "extras": TEXTS,
}
AGENT: Mapping[str, Check] = {
    "name": WORD,
    "marks": _instance(Marks),
    "programs": SET,
    "variables": SET,
    "starters": SET,
    "off_options": SET,
    "off_variables": SET,
    "without_hooks": _optional(PATTERN),
    "adds_plugins": _optional(PATTERN),
    "home_variable": TEXT,
    "protected": PROTECTED,
    "protected_in_home": PROTECTED,
    "shell_texts": _optional(_instance(ShellTexts)),
    "settings_files": TEXTS,
    "guarded_members": _mapping(_is_pattern, "a mapping of patterns of files to compiled patterns of text"),
    "path_words": TEXTS,
    "events": _mapping(_is_event_spec, "a mapping of names to EventSpec with a kind, a capability and a time-out"),
    "protocol": (_is_protocol, f"a module or an object with the functions {', '.join(PROTOCOL_FUNCTIONS)}"),
    "envelope": SET,
    "default_can": _instance(Capability),
    "extra_can": _mapping(_instance(Capability)[0], "a mapping of names to Capability"),
    "tools": _mapping(_is_native_tool, "a mapping of canonical names to NativeTool"),
    "older_tools": _mapping(_is_text, "a mapping of texts to texts"),
    "matcher_names": _mapping(TEXTS[0], "a mapping of names to tuples of texts"),
    "also_does": _mapping(TEXTS[0], "a mapping of names to tuples of texts"),
    "rules": _instance(HookRules),
    "trusts_each_entry": FLAG,
    "forms": _optional(_instance(FormFormat)),
    "unconnected_events": SET,
    "probe_event": TEXT,
    "connector": _optional(FUNCTION),
    "reader": _optional(FUNCTION),
    "importer": _optional(FUNCTION),
    "runs_own": _optional(FUNCTION),
    "import_hint": TEXT,
    "no_hook_files": TEXT,
    "connect_options": FUNCTION,
}
MARKS: Mapping[str, Check] = {
    "keys": TEXTS,
    "transcript": TEXT,
    "is_sender": FUNCTION,
    "yields": FLAG,
    "is_certain": FUNCTION,
    "is_alike": FUNCTION,
    "event_names": _optional(PATTERN),
    "variables": TEXTS,
    "event": FUNCTION,
}
RULES: Mapping[str, Check] = {
    "plugin_files": TEXTS,
    "word_lists": SET,
    "refusal_cap_variable": TEXT,
    "moved": TEXTS,
    "placeholders": _instance(Placeholders),
    "is_condition_met": _optional(FUNCTION),
    "plugin_input": _optional(FUNCTION),
    "main_agent": _optional(FUNCTION),
}


def field_problem(agent: object, id: str) -> str:
    """The first problem of the AGENT of the entry point `id`; "" when there is none."""
    if not isinstance(agent, Agent):
        return f"its entry point names a {type(agent).__name__}, not an Agent"
    if agent.id != id:
        return f"its entry point is called `{id}`, and the Agent has the id {agent.id!r:.60}"
    return next(_problems(agent), "")


def _problems(agent: Agent) -> Iterator[str]:
    yield from _wrong_fields("", agent, AGENT)
    yield from _wrong_fields("marks.", agent.marks, MARKS)
    yield from _wrong_fields("rules.", agent.rules, RULES)
    names = ("plugin", "storage", "project", "cwd", "home", "separator")
    yield from _wrong_fields("rules.placeholders.", agent.rules.placeholders, dict.fromkeys(names, TEXT))


def _wrong_fields(prefix: str, value: object, checks: Mapping[str, Check]) -> Iterator[str]:
    for name, (is_right, words) in checks.items():
        if not is_right(getattr(value, name)):
            yield f"`{prefix}{name}` of its Agent has to be {words}"
