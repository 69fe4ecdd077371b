"""Claude Code's permission rules, such as `Bash(git *)` or `Edit(*.ts)`: which tools one names, and what it asks.

https://code.claude.com/docs/en/permissions
"""

from __future__ import annotations

import re
from dataclasses import dataclass

SHELLS = frozenset({"Bash", "PowerShell"})
EDITORS = frozenset({"Edit", "MultiEdit", "NotebookEdit", "Write"})
READERS = frozenset({"Glob", "Grep", "LS", "NotebookRead", "Read"})
# A rule for Edit is about every tool that edits files, one for Read about every one that reads them.
GROUPS = {"Edit": EDITORS, "Read": READERS}
FILES = EDITORS | READERS
RULE = re.compile(r"(?P<tool>[A-Za-z_][\w.*-]*)(?:\((?P<asks>.*)\))?", re.DOTALL)
SPECIAL = re.compile(r"(\\.|\*)", re.DOTALL)


@dataclass(frozen=True, slots=True)
class Rule:
    """`asks` is what stands in the parentheses; "" = any call of the tool."""

    tool: str
    asks: str

    def names(self, tool: str) -> bool:
        """Whether it is about the tool of this name."""
        if tool in GROUPS.get(self.tool, ()):
            return True
        if self.tool.startswith("mcp__") and tool.startswith(f"{self.tool}__"):
            return True  # a server means all of its tools
        return re.fullmatch(wildcard(self.tool), tool) is not None


def parse(text: str) -> Rule | None:
    """The rule; None when the text is none."""
    found = RULE.fullmatch(text.strip())
    if found is None:
        return None
    asks = (found["asks"] or "").strip()
    if not _balanced(asks):  # several rules in one text, perhaps
        return None
    return Rule(tool=found["tool"], asks="" if asks == "*" else asks)


def problem(text: str) -> str:
    """Why we cannot tell whether a call meets this rule; "" when we can."""
    rule = parse(text)
    if rule is None:
        return "not a permission rule"
    known = not rule.asks or rule.tool in SHELLS or _is_path(rule) or _is_domain(rule)
    return "" if known else f"what it asks of {rule.tool} is not known here"


def command_pattern(asks: str) -> str:
    """The pattern of a whole command: `git *` and `git:*` are git with or without more words, `git*` also gitk."""
    if asks.endswith(":*"):
        asks = f"{asks[:-2]} *"
    more = asks.endswith(" *") and asks.count("*") == 1
    return rf"(?s)\A{wildcard(asks[:-2])}(?:\s.*)?\Z" if more else rf"(?s)\A{wildcard(asks)}\Z"


def path_pattern(asks: str) -> str:
    """The pattern of a path below the folder that the rule counts from, as .gitignore reads it, in any case.

    `./` says no more than nothing: the agent takes it off before it looks where the rule is anchored.
    """
    asks = asks.removeprefix("./")
    anchored = "/" in asks.strip("/") or asks.startswith("/")
    parts = re.split(r"(\*\*/|/\*\*$|\*\*|\*|\?)", asks.strip("/"))
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


def _is_path(rule: Rule) -> bool:
    return rule.tool in FILES and not rule.asks.startswith("!") and "[" not in rule.asks


def _is_domain(rule: Rule) -> bool:
    return rule.tool == "WebFetch" and rule.asks.startswith("domain:")
