"""Where Claude Code's hooks are: a settings file with its skills and agents, a plugin's folder, a single file.

The file of a skill, slash command or agent declares hooks in its frontmatter:

---
name: deploy
hooks:
  PreToolUse:
    - matcher: Bash
      hooks: [{type: command, command: ./scripts/check.sh}]
---
"""

from __future__ import annotations

import contextlib
import re
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from tray.agents.claude_code import settings_hooks
from tray.agents.claude_code.protocol import ID
from tray.agents.claude_code.settings_hooks import READER
from tray.agents.claude_shape.settings_hooks import SIZE
from tray.agents.protocol import agent_events
from tray.errors import ConfigError
from tray.files import user_file
from tray.reading.entries import SourceHooks, SourceReader, joined, unreadable_source
from tray.settings import invalid_value
from tray.strict.document import Document
from tray.strict.json_reader import load_json
from tray.strict.yaml_reader import load_yaml

DELIMITER = re.compile(r"---[ \t]*")
KEY = re.compile(r"(name|hooks)[ \t]*:(\s|\Z)")
SKILL = "SKILL.md"
COMMANDS = "commands"
MANIFEST = Path(".claude-plugin") / "plugin.json"
DEFAULT_FILE = "hooks/hooks.json"
EXPECTED = f"name a settings file, a plugin's folder ({MANIFEST}, {DEFAULT_FILE}) or a skill's ({SKILL})"
FRONTMATTER_GLOBS = ("skills/*/SKILL.md", "agents/**/*.md", "commands/**/*.md")
FOLDERS = ("skills", "agents", "commands")
FILE_LIMIT = 500  # files of skills and agents beside one source


def read(path: Path, agents: Sequence[str], environment: Mapping[str, str]) -> SourceHooks:
    """The hooks of one place. Raises OSError and ConfigError when it cannot be read at all."""
    root = _root(path)
    if path.suffix == ".md":
        return _read_frontmatter(path, agents, plugin=root, title=_plugin_name(root) if root else "")
    if root and (path.is_dir() or path == root / MANIFEST):
        return _plugin(root, agents)
    if path.is_dir():  # a folder without a plugin may be a skill's
        return _read_frontmatter(path / SKILL, agents)
    settings = settings_hooks.read(path, agents, root)
    if path.parent.name != ".claude" or not path.name.startswith("settings"):
        return settings
    inactive = settings_hooks.disabled_reason(path)
    return joined([settings, *_frontmatter_hooks(path.parent, agents, inactive=inactive)])


def _plugin(root: Path, agents: Sequence[str]) -> SourceHooks:
    """Its usual file, what its manifest names besides, and the hooks of its skills and agents."""
    usual, manifest = root / DEFAULT_FILE, root / MANIFEST
    parts = [SourceHooks(watched=(str(root), str(manifest), str(usual)))]
    if usual.is_file():
        with _problem_as_warning(usual, parts):
            parts.append(settings_hooks.read(usual, agents, root))
    if manifest.is_file():
        with _problem_as_warning(manifest, parts):
            parts.append(_manifest(manifest, root, agents))
    return joined([*parts, *_frontmatter_hooks(root, agents, plugin=root)])


def _manifest(path: Path, root: Path, agents: Sequence[str]) -> SourceHooks:
    """The key `hooks` of plugin.json: the hooks themselves, the path of a file that has them, or several of both."""
    document = load_json(user_file(path), str(path), limit=SIZE)
    reader = SourceReader(document, agent_events(ID), agents=agents, plugin=root)
    declared = document.value.get("hooks") if isinstance(document.value, dict) else None
    is_list = isinstance(declared, list)
    files: list[SourceHooks] = []
    for index, value in enumerate(declared if isinstance(declared, list) else [declared]):
        at = ("hooks", index) if is_list else ("hooks",)
        with reader.entry():
            if isinstance(value, str):
                file = _within(document, at, root, value)
                if file != root / DEFAULT_FILE:  # it is read in any case
                    with _problem_as_warning(file, files):
                        files.append(settings_hooks.read(file, agents, root))
            elif isinstance(value, dict) and isinstance(value.get("hooks"), dict):
                READER.read_mapping(reader, at, value)
            elif value is not None:
                READER.read_events(reader, at, value)
    return joined([reader.result(), *files])


def _within(document: Document, at: tuple[Any, ...], root: Path, relative: str) -> Path:
    path = (root / relative.removeprefix("${CLAUDE_PLUGIN_ROOT}/")).resolve()
    if not path.is_relative_to(root.resolve()):
        raise invalid_value(document, at, f"`{relative}` is outside of the plugin", "name a file of the plugin's own")
    return root / path.relative_to(root.resolve())


def _frontmatter_hooks(
    folder: Path, agents: Sequence[str], *, plugin: Path | None = None, inactive: str = ""
) -> list[SourceHooks]:
    """The hooks of the skills, slash commands and agents in a folder that Claude Code finds them in."""
    places = [folder / name for name in FOLDERS]
    nested = [path for place in places if place.is_dir() for path in place.iterdir() if path.is_dir()]
    parts = [SourceHooks(watched=tuple(map(str, (*places, *sorted(nested)[:FILE_LIMIT]))))]
    files = [path for pattern in FRONTMATTER_GLOBS for path in sorted(folder.glob(pattern))]
    title = _plugin_name(plugin) if plugin else ""
    for path in files[:FILE_LIMIT]:
        with _problem_as_warning(path, parts):
            parts.append(_read_frontmatter(path, agents, plugin=plugin, title=title, inactive=inactive))
    if len(files) > FILE_LIMIT:
        warning = f"{folder}: has {len(files)} skills and agents, of which {FILE_LIMIT} are read"
        parts.append(SourceHooks(warnings=(warning,)))
    return parts


@contextlib.contextmanager
def _problem_as_warning(path: Path, parts: list[SourceHooks]) -> Iterator[None]:
    """If the block cannot read the file, append a warning to `parts` and continue."""
    try:
        yield
    except (OSError, ConfigError, ValueError) as error:
        parts.append(unreadable_source(path, error))


def _root(path: Path) -> Path | None:
    """The plugin's folder that this is, or is in."""
    folders = (path, *path.parents) if path.is_dir() else tuple(path.parents)
    with_manifest = next((folder for folder in folders[:5] if (folder / MANIFEST).is_file()), None)
    return with_manifest or (path if path.is_dir() and (path / DEFAULT_FILE).is_file() else None)


def _plugin_name(root: Path) -> str:
    """The plugin's name, which prefixes the names of its skills and agents."""
    try:
        manifest: Any = load_json(user_file(root / MANIFEST), str(root / MANIFEST), limit=SIZE).value
        name = manifest["name"]
    except (OSError, ConfigError, KeyError, TypeError):
        return root.name
    return name if isinstance(name, str) and name else root.name


def _read_frontmatter(
    path: Path, agents: Sequence[str], *, plugin: Path | None = None, title: str = "", inactive: str = ""
) -> SourceHooks:
    """The hooks of one file; `title` is its plugin's name. Raises OSError and ConfigError when it cannot be read."""
    document = load_yaml(_hooks_yaml(path), str(path))
    value: Any = document.value
    if "hooks" not in value:
        return SourceHooks(watched=(str(path),))
    reader = SourceReader(
        document,
        agent_events(ID),
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
