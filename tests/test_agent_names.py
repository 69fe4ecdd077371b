"""No code outside tray/agents/ names an agent: everything about an agent is in its own file or folder there."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from pathlib import Path

from every import every

from tray.agents.registry import OTHER_PROGRAMS, OTHER_VARIABLES, UNSUPPORTED, known_agents

ROOT = Path(__file__).parent.parent
AGENTS = ROOT / "tray" / "agents"
MODULES = [path for path in sorted(ROOT.glob("tray/**/*.py")) if not path.is_relative_to(AGENTS)]
# Not code: the settings file that users start with, which names agents in its comments.
HELP_MODULES = {"tray/sources/starter.py"}
OTHER_FILES = [
    path
    for pattern in ("native/*.[ch]", "tray/web/templates/*.html", "tray/web/static/*.js", "tray/language/*.py")
    for path in sorted(ROOT.glob(pattern))
]
# Agents' names that are also ordinary words, such as SQLite's `cursor`. They count only as a whole text.
PLAIN_WORDS = {
    "amp",
    "cline",
    "copilot",
    "crush",
    "cursor",
    "devin",
    "droid",
    "gemini",
    "goose",
    "grok",
    "hermes",
    "xc",
}


def names() -> set[str]:
    """Ids, names, programs and variables of every agent, in lower case."""
    agents = list(known_agents())
    found = {*(agent.id for agent in agents), *(agent.name for agent in agents), *OTHER_PROGRAMS, *OTHER_VARIABLES}
    for agent in agents:
        found |= {*agent.programs, *agent.variables, *agent.marks.variables, agent.home_variable}
    return {name.lower() for name in found} - {""}


LONG = sorted(names() - PLAIN_WORDS, key=len, reverse=True)
SPELLED = "|".join(re.escape(name).replace(r"\-", "[-_ ]?") for name in LONG)
PATTERN = re.compile(rf"(?<![a-z0-9])(?:{SPELLED})(?![a-z0-9])")


def mentions(text: str) -> set[str]:
    return set(PATTERN.findall(text.lower())) | ({text.lower()} & PLAIN_WORDS)


def words(tree: ast.Module) -> Iterator[tuple[int, str]]:
    """Every identifier and every text of a module, except texts in `help=` arguments."""
    helping = {
        part
        for node in ast.walk(tree)
        if isinstance(node, ast.keyword) and node.arg == "help"
        for part in ast.walk(node.value)
    }
    for node in ast.walk(tree):
        if node in helping:
            continue
        if isinstance(node, ast.Constant) and isinstance(node.value, str):
            yield node.lineno, node.value
        elif isinstance(node, ast.Name):
            yield node.lineno, node.id
        elif isinstance(node, ast.Attribute):
            yield node.lineno, node.attr
        elif isinstance(node, ast.arg):
            yield node.lineno, node.arg
        elif isinstance(node, ast.FunctionDef | ast.ClassDef):
            yield node.lineno, node.name
        elif isinstance(node, ast.ImportFrom) and (node.module or "").startswith("tray.agents."):
            yield node.lineno, " ".join((node.module or "", *(alias.name for alias in node.names)))


@every("path", MODULES, ids=lambda path: path.relative_to(ROOT).as_posix())
def test_a_module_outside_names_no_agent(path: Path) -> None:
    if path.relative_to(ROOT).as_posix() in HELP_MODULES:
        assert mentions(path.read_text(encoding="utf-8"))
        return
    tree = ast.parse(path.read_text(encoding="utf-8"))

    assert [(line, found) for line, word in words(tree) if (found := mentions(word))] == []


@every("path", OTHER_FILES, ids=lambda path: path.relative_to(ROOT).as_posix())
def test_no_other_source_names_an_agent(path: Path) -> None:
    lines = path.read_text(encoding="utf-8").splitlines()

    assert [
        (number, found) for number, line in enumerate(lines, 1) if (found := set(PATTERN.findall(line.lower())))
    ] == []


def test_the_pattern_finds_what_it_is_for() -> None:
    for word in ("claude-code", "CLAUDE_PROJECT_DIR", "x_code", "X-Code CLI", "the Starchild format", "SHELLEY_CWD"):
        assert mentions(word), word
    assert mentions("cursor") == {"cursor"}
    assert not mentions("the cursor of a query")
    assert len(LONG) > len(UNSUPPORTED)
