"""Whether a tool call meets the permission rule of a hook's `if`. What cannot be told counts as met."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Mapping
from pathlib import PurePath
from typing import Any
from urllib.parse import urlsplit

from tray.dialects import claude_rules
from tray.dialects.claude_rules import FILES, SHELLS, Rule
from tray.dialects.tools import translate_input
from tray.engine import subjects
from tray.engine.shell_line import Word, commands, inner, words
from tray.model.event import Event
from tray.model.hook import Match
from tray.paths import real

AGENT = "claude-code"
PATHS = ("file_path", "notebook_path", "path")
# These run what their other words say.
WRAPPERS = frozenset(
    {
        "builtin",
        "command",
        "doas",
        "env",
        "exec",
        "nice",
        "nohup",
        "setsid",
        "stdbuf",
        "sudo",
        "time",
        "timeout",
        "xargs",
    }
)
DEPTH = 8
SIZE = 16 * 1024  # characters of a line; to take apart a longer one takes time that the agent may not give

Found = Callable[[str, str], bool]  # whether a pattern is in a text, within the event's time for patterns


def met(match: Match, event: Event, found: Found) -> bool:
    rule = claude_rules.parse(match.condition)
    if rule is None or event.tool is None:
        return True
    if not any(rule.names(name) for name in subjects.names(match, event)):
        return False
    if not rule.asks or claude_rules.problem(match.condition):
        return True
    given = translate_input(event.agent, AGENT, event.tool.name, event.tool.input)
    if rule.tool in SHELLS:
        return _command(rule, given.get("command"), found)
    if rule.tool in FILES:
        return _path(rule, event, match, given, found)
    return _domain(rule, given.get("url"), found)


def _command(rule: Rule, line: Any, found: Found) -> bool:
    """Whether any of the commands in this line is meant. A line that we cannot take apart is met."""
    if not isinstance(line, str):
        return True
    pattern = claude_rules.command_pattern(rule.asks)
    try:
        return found(pattern, line.strip()) or any(found(pattern, one) for one in _spoken(line, DEPTH))
    except ValueError:
        return True


def _spoken(line: str, depth: int) -> Iterator[str]:
    """Every command that the line would run, as written and without its quotes. ValueError when that is unclear."""
    if "<<" in line or not depth or len(line) > SIZE:
        raise ValueError("cannot be taken apart")
    for one in inner(line):
        yield from _spoken(one, depth - 1)
    for command in commands(words(line, {})):
        if not command[0].plain:
            raise ValueError("a command whose name is not known")
        for part in _wrapped(command):
            yield " ".join(word.raw for word in part)
            yield " ".join(word.text for word in part)


def _wrapped(command: list[Word]) -> Iterator[list[Word]]:
    """The command, and what it may run when it only wraps another."""
    yield command
    if PurePath(command[0].text).name in WRAPPERS:
        yield from (command[start:] for start in range(1, len(command)))


def _path(rule: Rule, event: Event, match: Match, given: Mapping[str, Any], found: Found) -> bool:
    named = next((given[key] for key in PATHS if isinstance(given.get(key), str)), "")
    if not named:
        return True
    full = os.path.normpath(os.path.join(event.cwd, os.path.expanduser(named)))  # noqa: PTH111, PTH118 - foreign
    asks = rule.asks
    if asks.startswith("//"):
        folders, asks = {"/"}, asks[1:]
    elif asks.startswith("~/"):
        folders, asks = {os.path.expanduser("~")}, asks[1:]  # noqa: PTH111
    else:
        folders = {event.cwd, match.project, event.environment.get("CLAUDE_PROJECT_DIR", "")} - {""}
    pattern = claude_rules.path_pattern(asks)
    return any(found(pattern, path) for path in _below(full, folders))


def _below(path: str, folders: set[str]) -> Iterator[str]:
    """The path as each of the folders sees it, also where links lead; a file outside of all by its name alone."""
    outside = True
    for folder in folders:
        for one, base in ((path, folder), (real(path), real(folder))):
            if PurePath(one).is_relative_to(base):
                outside = False
                yield str(PurePath(one).relative_to(base))
    if outside:
        yield PurePath(path).name


def _domain(rule: Rule, url: Any, found: Found) -> bool:
    if not isinstance(url, str):
        return True
    try:
        host = (urlsplit(url).hostname or "").rstrip(".")
    except ValueError:
        return True
    domain = rule.asks.removeprefix("domain:").strip().lower()
    return found(rf"(?s)\A(?:.*\.)?{claude_rules.wildcard(domain)}\Z", host)
