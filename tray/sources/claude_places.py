"""Where Claude Code's hooks stand: a settings file with its skills and agents, a plugin's folder, a single file."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import partial
from pathlib import Path
from typing import Any

from tray.errors import ConfigError
from tray.settings import wrong
from tray.sources import claude_code, frontmatter
from tray.sources.entries import Found, Sheet, failed
from tray.strict import Document, load_json

MANIFEST = Path(".claude-plugin") / "plugin.json"
USUAL = "hooks/hooks.json"
WRITTEN = ("skills/*/SKILL.md", "agents/**/*.md", "commands/**/*.md")
FOLDERS = ("skills", "agents", "commands")
MOST = 500  # files of skills and agents beside one source


def read(path: Path, agents: Sequence[str]) -> Found:
    """The hooks of one place. Raises OSError and ConfigError when it cannot be read at all."""
    root = _root(path)
    if path.suffix == ".md":
        return frontmatter.read(path, agents, plugin=root, title=_title(root) if root else "")
    if root and (path.is_dir() or path == root / MANIFEST):
        return _plugin(root, agents)
    if path.is_dir():
        return _skill(path, agents)
    found = claude_code.read(path, agents, root)
    if path.parent.name != ".claude" or not path.name.startswith("settings"):
        return found
    off = claude_code.switched_off(path)
    return _together([found, *_beside(path.parent, agents, inert=off)])


def _skill(path: Path, agents: Sequence[str]) -> Found:
    """A folder that is no plugin's may still be a skill's; raises OSError when it is neither."""
    return frontmatter.read(path / frontmatter.SKILL, agents)


def _plugin(root: Path, agents: Sequence[str]) -> Found:
    """Its usual file, what its manifest says besides, and the hooks of its skills and agents."""
    usual, manifest = root / USUAL, root / MANIFEST
    parts = [_part(usual, partial(claude_code.read, usual, agents, root))] if usual.is_file() else []
    if manifest.is_file():
        parts.append(_part(manifest, partial(_manifest, manifest, root, agents)))
    parts += _beside(root, agents, plugin=root)
    return _together([Found(watched=(str(root), str(manifest), str(usual))), *parts])


def _manifest(path: Path, root: Path, agents: Sequence[str]) -> Found:
    """The key `hooks` of plugin.json: the hooks themselves, the path of a file that has them, or several of both."""
    document = load_json(path.read_bytes(), str(path), limit=claude_code.SIZE)
    sheet = Sheet(document, claude_code.AGENT, agents=agents, plugin=root)
    said = document.value.get("hooks") if isinstance(document.value, dict) else None
    many = isinstance(said, list)
    files: list[Found] = []
    for index, value in enumerate(said if isinstance(said, list) else [said]):
        at = ("hooks", index) if many else ("hooks",)
        with sheet.entry():
            if isinstance(value, str):
                file = _within(document, at, root, value)
                if file != root / USUAL:  # it is read in any case
                    files.append(_part(file, partial(claude_code.read, file, agents, root)))
            elif isinstance(value, dict) and isinstance(value.get("hooks"), dict):
                claude_code.declared(sheet, at, value)
            elif value is not None:
                claude_code.events(sheet, at, value)
    return _together([sheet.found(), *files])


def _within(document: Document, at: tuple[Any, ...], root: Path, relative: str) -> Path:
    path = (root / relative.removeprefix("${CLAUDE_PLUGIN_ROOT}/")).resolve()
    if not path.is_relative_to(root.resolve()):
        raise wrong(document, at, f"`{relative}` is outside of the plugin", "name a file of the plugin's own")
    return root / path.relative_to(root.resolve())


def _beside(folder: Path, agents: Sequence[str], *, plugin: Path | None = None, inert: str = "") -> Iterator[Found]:
    """The hooks of the skills, slash commands and agents in a folder that Claude Code finds them in."""
    places = [folder / name for name in FOLDERS]
    nested = [path for place in places if place.is_dir() for path in place.iterdir() if path.is_dir()]
    yield Found(watched=tuple(map(str, (*places, *sorted(nested)[:MOST]))))
    files = [path for pattern in WRITTEN for path in sorted(folder.glob(pattern))]
    title = _title(plugin) if plugin else ""
    for path in files[:MOST]:
        yield _part(path, partial(frontmatter.read, path, agents, plugin=plugin, title=title, inert=inert))
    if len(files) > MOST:
        yield Found(warnings=(f"{folder}: has {len(files)} skills and agents, of which {MOST} are read",))


def _part(path: Path, read: Callable[[], Found]) -> Found:
    """One file among others: what is wrong with it is a warning."""
    try:
        return read()
    except (OSError, ConfigError, ValueError) as error:
        return failed(path, error)


def _together(parts: Iterable[Found]) -> Found:
    found = list(parts)
    return Found(
        hooks=tuple(hook for one in found for hook in one.hooks),
        warnings=tuple(warning for one in found for warning in one.warnings),
        watched=tuple(dict.fromkeys(path for one in found for path in one.watched)),
    )


def _root(path: Path) -> Path | None:
    """The plugin's folder that this is, or is in."""
    folders = (path, *path.parents) if path.is_dir() else tuple(path.parents)
    named = next((folder for folder in folders[:5] if (folder / MANIFEST).is_file()), None)
    return named or (path if path.is_dir() and (path / USUAL).is_file() else None)


def _title(root: Path) -> str:
    """What the plugin is called, which stands before the names of its skills and agents."""
    try:
        name = load_json((root / MANIFEST).read_bytes(), str(root / MANIFEST), limit=claude_code.SIZE).value["name"]
    except (OSError, ConfigError, KeyError, TypeError):
        return root.name
    return name if isinstance(name, str) and name else root.name
