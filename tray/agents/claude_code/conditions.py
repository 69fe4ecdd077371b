"""Whether a tool call meets the permission rule of a hook's `if`. What is unclear counts as met."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import PurePath
from urllib.parse import urlsplit

from tray.agents import patches
from tray.agents.agent import PatternSearch
from tray.agents.claude_code import permission_rules
from tray.agents.claude_code.permission_rules import FILES, SHELLS, PermissionRule
from tray.agents.tools import COMMAND, arguments, matched_names
from tray.model.event import Event
from tray.model.hook import Match
from tray.paths import real_path
from tray.shell.split import WRAPPERS, ShellWord, commands, substitutions, words

PATHS = ("file_path", "notebook_path", "path")
MAX_DEPTH = 8
SIZE = 16 * 1024  # characters of a line; splitting a longer one may take more time than the agent allows


def is_met(match: Match, event: Event, search: PatternSearch) -> bool:
    rule = permission_rules.parse(match.condition)
    if rule is None or event.tool is None:
        return True
    if not any(rule.matches_tool(name) for name in matched_names(match.format, event.agent, event.tool.name)):
        return False
    if not rule.argument or permission_rules.problem(match.condition):
        return True
    if rule.tool in SHELLS:
        found = arguments(event.agent, event.tool, COMMAND)
    elif rule.tool in FILES:
        found = [one for key in PATHS for one in arguments(event.agent, event.tool, key)]
        found = found or patches.arguments(event.tool.input).get(patches.FILES, [])
    else:
        found = arguments(event.agent, event.tool, "url")
    return not found or any(not isinstance(one, str) or _matches(rule, one, match, event, search) for one in found)


def _matches(rule: PermissionRule, argument: str, match: Match, event: Event, search: PatternSearch) -> bool:
    """Whether the rule matches this argument of the call: a command, a path or a URL."""
    if rule.tool in SHELLS:
        return _command(rule, search, argument)
    if rule.tool in FILES:
        return _path(rule, event, match, search, argument)
    return _domain(rule, search, argument)


def _command(rule: PermissionRule, search: PatternSearch, line: str) -> bool:
    """Whether the rule matches any command in this line. A line that we cannot split counts as met."""
    pattern = permission_rules.command_pattern(rule.argument)
    try:
        return search.in_text(pattern, line.strip()) or any(
            search.in_text(pattern, one) for one in _commands(line, MAX_DEPTH)
        )
    except ValueError:
        return True


def _commands(line: str, depth: int) -> Iterator[str]:
    """Every command that the line would run, as written and without its quotes. ValueError when that is unclear."""
    if "<<" in line or not depth or len(line) > SIZE:
        raise ValueError("cannot be taken apart")
    for one in substitutions(line):
        yield from _commands(one, depth - 1)
    for command in commands(words(line, {})):
        if not command[0].is_literal:
            raise ValueError("a command whose name is not known")
        for part in _unwrapped(command):
            yield " ".join(word.raw for word in part)
            yield " ".join(word.text for word in part)


def _unwrapped(command: list[ShellWord]) -> Iterator[list[ShellWord]]:
    """The command, and what it may run when it only wraps another."""
    yield command
    if PurePath(command[0].text).name in WRAPPERS | {"builtin"}:
        yield from (command[start:] for start in range(1, len(command)))


def _path(rule: PermissionRule, event: Event, match: Match, search: PatternSearch, named: str) -> bool:
    if not named:
        return True
    full = os.path.normpath(os.path.join(event.cwd, os.path.expanduser(named)))  # noqa: PTH111, PTH118 - foreign
    argument = rule.argument
    if argument.startswith("//"):
        folders, argument = {"/"}, argument[1:]
    elif argument.startswith("~/"):
        folders, argument = {os.path.expanduser("~")}, argument[1:]  # noqa: PTH111
    else:
        folders = {event.cwd, match.project, event.environment.get("CLAUDE_PROJECT_DIR", "")} - {""}
    pattern = permission_rules.path_pattern(argument)
    return any(search.in_text(pattern, path) for path in _below(full, folders))


def _below(path: str, folders: set[str]) -> Iterator[str]:
    """The path relative to each folder, also with links resolved; the name only for a file outside of all of them."""
    outside = True
    for folder in folders:
        for one, base in ((path, folder), (real_path(path), real_path(folder))):
            if PurePath(one).is_relative_to(base):
                outside = False
                yield PurePath(one).relative_to(base).as_posix()
    if outside:
        yield PurePath(path).name


def _domain(rule: PermissionRule, search: PatternSearch, url: str) -> bool:
    try:
        host = (urlsplit(url).hostname or "").rstrip(".")
    except ValueError:
        return True
    domain = rule.argument.removeprefix("domain:").strip().lower()
    return search.in_text(rf"(?s)\A(?:.*\.)?{permission_rules.wildcard(domain)}\Z", host)
