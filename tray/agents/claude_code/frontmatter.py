"""Hooks in the frontmatter of a Claude Code skill, slash command or agent: `hooks:` between its `---` lines.

---
name: deploy
hooks:
  PreToolUse:
    - matcher: Bash
      hooks: [{type: command, command: ./scripts/check.sh}]
---
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from tray.agents.claude_code.events import AGENT
from tray.agents.claude_code.settings_hooks import READER
from tray.agents.protocol import agent_events
from tray.errors import ConfigError
from tray.files import user_file
from tray.reading.entries import SourceHooks, SourceReader
from tray.strict.yaml_reader import load_yaml

DELIMITER = re.compile(r"---[ \t]*")
KEY = re.compile(r"(name|hooks)[ \t]*:(\s|\Z)")
SIZE = 4 * 1024 * 1024  # bytes of a skill
SKILL = "SKILL.md"
COMMANDS = "commands"


def read(
    path: Path, agents: Sequence[str], *, plugin: Path | None = None, title: str = "", inactive: str = ""
) -> SourceHooks:
    """The hooks of one file; `title` is its plugin's name. Raises OSError and ConfigError when it cannot be read."""
    document = load_yaml(_hooks_yaml(path), str(path))
    value: Any = document.value
    if "hooks" not in value:
        return SourceHooks(watched=(str(path),))
    reader = SourceReader(
        document,
        agent_events(AGENT),
        agents=agents,
        project=_project(path),
        inactive=inactive,
        plugin=plugin,
        **_scope(path, value, title),
    )
    with reader.entry():
        READER.read_mapping(reader, (), value)
    return reader.result()


def _scope(path: Path, value: Mapping[str, Any], title: str) -> dict[str, Any]:
    """What the hooks are scoped to. A skill is called by its folder or by its name; a plugin's, by both of them."""
    stem = path.parent.name if path.name == SKILL else path.stem
    declared = value.get("name")
    name = declared.strip() if isinstance(declared, str) and declared.strip() else stem
    prefix = f"{title}:" if title else ""
    if path.name == SKILL or COMMANDS in path.parts:
        return {"skill": tuple(dict.fromkeys((prefix + name, prefix + stem)))}
    return {"subagent": prefix + name}


def _hooks_yaml(path: Path) -> str:
    """The frontmatter with nothing left but our keys, each in its line: the rest need not be strict YAML."""
    lines = _frontmatter_lines(path)
    kept, ours = [""], False
    for line in lines:
        if line[:1] not in ("", " ", "\t", "#", "]", "}", "-"):
            ours = KEY.match(line) is not None
        kept.append(line if ours else "")
    return "\n".join(kept)


def _frontmatter_lines(path: Path) -> list[str]:
    """The lines between the fences; none when the file does not begin with one."""
    size = path.stat().st_size
    if size > SIZE:
        raise ConfigError(f"{path}:1:1: the file has {size} bytes, {SIZE} are allowed", hint="make it smaller")
    lines = user_file(path).decode("utf-8-sig", "replace").splitlines()
    if not lines or not DELIMITER.fullmatch(lines[0]):
        return []
    end = next((index for index, line in enumerate(lines[1:], 1) if DELIMITER.fullmatch(line)), 0)
    return lines[1:end] if end else []


def _project(path: Path) -> str:
    """The project whose own skill or agent this is; "" for the user's and for a plugin's."""
    above = next((folder for folder in path.parents if folder.name == ".claude"), None)
    return str(above.parent) if above and above.parent != Path.home() else ""
