"""Claude Code's permission rules, and whether a tool call meets the rule of a hook's `if`. If unclear, it does.

`Bash(git *)` and `Edit(*.ts)` are such rules: the tools that a rule names, and what it requires of their input. See
https://code.claude.com/docs/en/permissions
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterator
from pathlib import PurePath
from urllib.parse import urlsplit

import msgspec

from tray.agents import patches
from tray.agents.agent import PatternSearch
from tray.agents.tools import COMMAND, arguments, matched_names
from tray.model.event import Event
from tray.model.hook import Match
from tray.paths import real_path
from tray.shell.split import WRAPPERS, ShellWord, commands, substitutions, words

PATHS = ("file_path", "notebook_path", "path")
MAX_DEPTH = 8
SIZE = 16 * 1024  # characters of a line; splitting a longer one may take more time than the agent allows
SHELLS = frozenset({"Bash", "PowerShell"})
EDITORS = frozenset({"Edit", "MultiEdit", "NotebookEdit", "Write"})
READERS = frozenset({"Glob", "Grep", "LS", "NotebookRead", "Read"})
# A rule for Edit is about every tool that edits files, one for Read about every one that reads them.
GROUPS = {"Edit": EDITORS, "Read": READERS}
FILES = EDITORS | READERS
RULE = re.compile(r"(?P<tool>[A-Za-z_][\w.*-]*)(?:\((?P<argument>.*)\))?", re.DOTALL)
SPECIAL = re.compile(r"(\\.|\*)", re.DOTALL)


class PermissionRule(msgspec.Struct, frozen=True):
    """`argument` is the text in the parentheses; "" = any call of the tool."""

    tool: str
    argument: str

    def matches_tool(self, tool: str) -> bool:
        """Whether it is about the tool of this name."""
        if tool in GROUPS.get(self.tool, ()):
            return True
        if self.tool.startswith("mcp__") and tool.startswith(f"{self.tool}__"):
            return True  # a server means all of its tools
        return re.fullmatch(wildcard(self.tool), tool) is not None


def parse_rule(text: str) -> PermissionRule | None:
    """The rule; None when the text is none."""
    match = RULE.fullmatch(text.strip())
    if match is None:
        return None
    argument = (match["argument"] or "").strip()
    if not _balanced(argument):  # several rules in one text, perhaps
        return None
    return PermissionRule(tool=match["tool"], argument="" if argument == "*" else argument)


def rule_problem(text: str) -> str:
    """Why we cannot tell whether a call meets this rule; "" when we can."""
    rule = parse_rule(text)
    if rule is None:
        return "not a permission rule"
    argument = rule.argument
    is_path = rule.tool in FILES and not argument.startswith("!") and "[" not in argument
    is_domain = rule.tool == "WebFetch" and argument.startswith("domain:")
    is_known = not argument or rule.tool in SHELLS or is_path or is_domain
    return "" if is_known else f"what it asks of {rule.tool} is not known here"


def command_pattern(argument: str) -> str:
    """The pattern of a whole command: `git *` and `git:*` are git with or without more words, `git*` also gitk."""
    if argument.endswith(":*"):
        argument = f"{argument[:-2]} *"
    more = argument.endswith(" *") and argument.count("*") == 1
    return rf"(?s)\A{wildcard(argument[:-2])}(?:\s.*)?\Z" if more else rf"(?s)\A{wildcard(argument)}\Z"


def path_pattern(argument: str) -> str:
    """The pattern of a path below the folder that the rule counts from, as .gitignore reads it, in any case.

    `./` has no meaning: the agent takes it off before it looks where the rule is anchored.
    """
    argument = argument.removeprefix("./")
    anchored = "/" in argument.strip("/") or argument.startswith("/")
    parts = re.split(r"(\*\*/|/\*\*$|\*\*|\*|\?)", argument.strip("/"))
    signs = {"**/": "(?:.*/)?", "/**": "/.*", "**": ".*", "*": "[^/]*", "?": "[^/]"}
    body = "".join(signs.get(part) or re.escape(part) for part in parts)
    return rf"(?si)\A{'' if anchored else '(?:.*/)?'}{body}(?:/.*)?\Z"


def wildcard(text: str) -> str:
    """A pattern in which `*` is any text, and an escaped one is itself."""
    parts = SPECIAL.split(text)
    return "".join(".*" if part == "*" else re.escape(part[1:] if part.startswith("\\") else part) for part in parts)


def _balanced(text: str) -> bool:
    open_ = 0
    for sign in text:
        open_ += {"(": 1, ")": -1}.get(sign, 0)
        if open_ < 0:
            return False
    return not open_


def is_met(match: Match, event: Event, search: PatternSearch) -> bool:
    rule = parse_rule(match.condition)
    if rule is None or event.tool is None:
        return True
    if not any(rule.matches_tool(name) for name in matched_names(match.format, event.agent, event.tool.name)):
        return False
    if not rule.argument or rule_problem(match.condition):
        return True
    keys = (COMMAND,) if rule.tool in SHELLS else PATHS if rule.tool in FILES else ("url",)
    found = [one for key in keys for one in arguments(event.agent, event.tool, key)]
    if rule.tool in FILES:
        found = found or patches.arguments(event.tool.input).get(patches.FILES, [])
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
    pattern = command_pattern(rule.argument)
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
    pattern = path_pattern(argument)
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
    return search.in_text(rf"(?s)\A(?:.*\.)?{wildcard(domain)}\Z", host)
