"""Claude Code's permission rules, such as `Bash(git *)` or `Edit(*.ts)`: which tools one names, and what it asks.

https://code.claude.com/docs/en/permissions
"""

from __future__ import annotations

import re

import msgspec

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


def parse(text: str) -> PermissionRule | None:
    """The rule; None when the text is none."""
    match = RULE.fullmatch(text.strip())
    if match is None:
        return None
    argument = (match["argument"] or "").strip()
    if not _balanced(argument):  # several rules in one text, perhaps
        return None
    return PermissionRule(tool=match["tool"], argument="" if argument == "*" else argument)


def problem(text: str) -> str:
    """Why we cannot tell whether a call meets this rule; "" when we can."""
    rule = parse(text)
    if rule is None:
        return "not a permission rule"
    known = not rule.argument or rule.tool in SHELLS or _is_path(rule) or _is_domain(rule)
    return "" if known else f"what it asks of {rule.tool} is not known here"


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


def _is_path(rule: PermissionRule) -> bool:
    return rule.tool in FILES and not rule.argument.startswith("!") and "[" not in rule.argument


def _is_domain(rule: PermissionRule) -> bool:
    return rule.tool == "WebFetch" and rule.argument.startswith("domain:")
