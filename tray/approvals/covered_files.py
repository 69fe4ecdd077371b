"""The files of a hook beside those that its line runs: its folder of hooks, and what its scripts load.

These files are copied with the scripts. The hook names other files under `files:`.
"""

from __future__ import annotations

import enum
import os
import shlex
import sys
import tempfile
from collections import deque
from collections.abc import Collection, Iterable, Iterator
from itertools import islice
from pathlib import Path, PurePath

import msgspec

from tray.agents.relay_command import SHIM_START
from tray.approvals import script_files
from tray.approvals.command_words import SYSTEM_FOLDERS, Stamp, folder_of, path_stamp
from tray.approvals.script_files import SCRIPT_SIZE, language, script_text
from tray.errors import HooktrayError
from tray.execution.script import HEAD
from tray.files import file_head
from tray.language import phrase, say

MAX_SIZE = 20 * 1024 * 1024  # bytes of one hook's files together
FOLDER_FILES, FOLDER_SIZE = 200, 5 * 1024 * 1024  # limits of a folder that is copied whole
LINKED_FOLDERS = frozenset({"node_modules", ".venv", "venv"})  # too large to be copied: the copy links to them
SKIPPED_FOLDERS = LINKED_FOLDERS | {
    ".cache", ".git", ".hg", ".mypy_cache", ".pytest_cache", ".ruff_cache", ".svn", "__pycache__", "logs",
}  # fmt: skip
ENTRY_FILE = "hooktray.json"  # of ours, in a folder of hooks
LOG_SUFFIXES = {".db", ".jsonl", ".lock", ".log", ".ndjson", ".out", ".pid", ".pyc", ".sqlite", ".sqlite3", ".tmp"}


class ScriptProblemKind(enum.Enum):
    """A kind of problem: its message and its remedy."""

    FILE = (
        phrase("`{name}` is not there, and {script} loads it"),
        phrase("put the file there, or name it under `files:`"),
    )
    INTERPRETER = (
        phrase("`{name}` is not installed, and {script} begins with it"),
        phrase("install it, or correct the first line"),
    )
    MODE = (phrase("{script} is not executable"), phrase("run `chmod +x {quoted}`"))
    MODULE = (
        phrase("the import `{name}` of {script} was not found"),
        phrase("put the file beside the script, or install the package for the interpreter that runs the script"),
    )
    SYNTAX = (phrase("{script} cannot be read: {name}"), phrase("correct that line"))
    USER_PACKAGE = (
        phrase(
            "`{name}`, which {script} imports, is installed for your user only, and hooks do not load such packages"
        ),
        phrase(
            "write `env: [PYTHONUSERBASE]` into the hook, or let the script's first line name the Python of a "
            "virtual environment that has the package"
        ),
    )


class ScriptProblem(msgspec.Struct, frozen=True, kw_only=True):
    """One thing that is missing or wrong. With `certain` the script cannot work without it."""

    kind: ScriptProblemKind
    name: str
    script: str
    line: int = 0
    certain: bool = True

    @property
    def message(self) -> str:
        """What is wrong, and where."""
        place = f"{self.script}:{self.line}" if self.line else self.script
        return say(self.kind.value[0], name=self.name, script=place)

    @property
    def remedy(self) -> str:
        return say(self.kind.value[1], quoted=shlex.quote(self.script))

    def __str__(self) -> str:
        """In one line, with its remedy."""
        return f"{self.message}: {self.remedy}"


class CoveredFiles(msgspec.Struct, frozen=True, kw_only=True):
    """The files that are copied with the scripts of a hook, and those that are not."""

    files: tuple[str, ...] = ()
    links: tuple[str, ...] = ()  # folders of packages; the copy links to them
    outside: tuple[str, ...] = ()  # code that a script loads from a fixed place
    problems: tuple[ScriptProblem, ...] = ()
    watched: tuple[str, ...] = ()  # folders in which covered files may appear


class FileContents:
    """The bytes of a hook's files, each read once and all together within the limit."""

    def __init__(self) -> None:
        self._left = MAX_SIZE
        self._known: dict[str, bytes] = {}
        self.stamps: list[Stamp] = []

    def content(self, path: str) -> bytes:
        """Raises HooktrayError if the file cannot be read, or if the files are too large."""
        if path not in self._known:
            stamp = path_stamp(path)
            self.stamps += [stamp] if stamp else []
            try:
                content = file_head(path, self._left + 1)
            except OSError as error:
                why = f"{path}: cannot be read: {error.strerror}"
                raise HooktrayError(why, hint="make it readable for you") from error
            if len(content) > self._left:
                why = f"{path}: the hook's files are over {MAX_SIZE} bytes"
                raise HooktrayError(why, hint="name fewer files under `files:`")
            self._known[path] = content
            self._left -= len(content)
        return self._known[path]


def find(
    entries: Iterable[str],
    folder: str,
    *,
    plugin: str = "",
    has_files: bool = False,
    data: Collection[str] = (),
    contents: FileContents,
) -> CoveredFiles:
    """Returns what belongs to the scripts of one hook, which is declared in `folder`.

    `data` are files that its line names as data. With `has_files` the hook lists its files, and no folder is copied
    whole. Raises HooktrayError if a folder is too large.
    """
    search = _Search(folder, data, contents)
    if plugin and not has_files and _may_be_whole(plugin):
        search.add_folder(plugin)
    for path in entries:
        search.add_entry(path, "" if has_files else hooks_folder(path))
    return search.result()


def boundary(script: str, folder: str) -> str:
    """Returns the top folder whose files may belong to a script: never the user's home or a folder above it."""
    hooks = hooks_folder(script)
    above = [str(one) for one in PurePath(script).parents if os.path.exists(f"{one}/.git")]  # noqa: PTH110
    wanted = [*above, *([os.path.dirname(hooks)] if hooks else ()), *([folder] if _is_within(script, folder) else ())]  # noqa: PTH120
    return min((one for one in wanted if not _too_wide(one)), key=len, default=folder_of(script))


def hooks_folder(script: str) -> str:
    """Returns the nearest folder called `hooks` around a script, within its repository; "" for none."""
    for one in PurePath(script).parents:
        if one.name == "hooks" and one.parent.name != ".git" and _may_be_whole(str(one)):
            return str(one)
        if os.path.exists(one / ".git"):  # noqa: PTH110
            break
    return ""


def folder_files(root: str) -> Iterator[str]:
    """Yields the files of a folder, without logs, caches, packages and secrets (`.env`)."""
    for folder, inner, names in os.walk(root):
        inner[:] = sorted(set(inner) - SKIPPED_FOLDERS)
        for name in sorted(names):
            path = os.path.join(folder, name)  # noqa: PTH118
            if not is_log(path) and os.path.isfile(path):  # noqa: PTH113
                yield path


def is_log(path: str) -> bool:
    """True if the name is that of a file which programs write, or of `.env`, which holds secrets."""
    one = PurePath(path)
    return one.suffix.lower() in LOG_SUFFIXES or one.name.startswith(".env") or one.name == ".DS_Store"


class _Search:
    """Follows the scripts of a line to all files that they load."""

    def __init__(self, folder: str, data: Collection[str], contents: FileContents) -> None:
        self._folder, self._data, self._contents = folder, data, contents
        self._files: dict[str, None] = {}
        self._texts: dict[str, str] = {}  # of the scripts among them
        self._named: dict[str, None] = {}  # named but not loaded: data, if a script writes it
        self._links: dict[str, None] = {}
        self._outside: dict[str, None] = {}
        self._watched: dict[str, None] = {}
        self._problems: dict[str, ScriptProblem] = {}

    def add_folder(self, folder: str) -> list[str]:
        """Add a whole folder of hooks. Raises HooktrayError if it is too large."""
        files = list(islice((one for one in folder_files(folder) if not _is_entry(one, folder)), FOLDER_FILES + 1))
        size = sum(map(os.path.getsize, files))
        if len(files) > FOLDER_FILES or size > FOLDER_SIZE:
            limit = f"{FOLDER_FILES} files" if len(files) > FOLDER_FILES else f"{FOLDER_SIZE // 1024**2} MB"
            hint = "write `files:` into the hook, or move it into a folder of its own"
            raise HooktrayError(f"{folder}: the hook's folder has more than {limit}", hint=hint)
        self._watched |= dict.fromkeys((folder, *(folder_of(path) for path in files)))
        self._named |= dict.fromkeys(files)
        return files

    def add_entry(self, script: str, hooks: str) -> None:
        """Add this script, its folder of hooks, and all files that they load."""
        root = boundary(script, self._folder)
        self._files[script] = None
        waiting = deque([script, *(self.add_folder(hooks) if hooks else ())])
        seen: set[str] = set()
        folders: dict[str, None] = {folder_of(script): None}  # where Python looks for modules
        while waiting:
            path = waiting.popleft()
            if path in seen:
                continue
            seen.add(path)
            for found in self._read(path, root, folders):
                if found not in seen:
                    waiting.append(found)

    def result(self) -> CoveredFiles:
        texts = self._texts.values()
        written = {path for path in self._named if any(script_files.writes(text, path) for text in texts)}
        named = (path for path in self._named if path not in written and path not in self._data)
        files = tuple(dict.fromkeys((*self._files, *named)))
        links = (link for link in self._links if not any(_is_within(path, link) for path in files))
        return CoveredFiles(
            files=files,
            links=tuple(links) if sys.platform != "win32" else (),
            outside=(*self._outside, *sorted(written)),
            problems=tuple(self._problems.values()),
            watched=tuple(self._watched),
        )

    def _read(self, path: str, root: str, folders: dict[str, None]) -> Iterator[str]:
        """Yields the files that one script loads or names. Loaded files are covered, whatever writes to them."""
        head = file_head(path, HEAD)
        kind = language(path, head)
        if not kind or os.path.getsize(path) > SCRIPT_SIZE:  # noqa: PTH202
            return
        text = self._texts[path] = script_text(kind, self._contents.content(path))
        self._add_links(kind, path, root)
        if kind == "python":
            for one in script_files.search_path(path, text):
                (folders if _is_within(one, root) else self._outside).setdefault(one)
        self._outside |= dict.fromkeys(one for one in script_files.fixed_files(text) if not is_log(one))
        loaded = list(self._loaded(kind, path, text, root, folders))
        self._files |= dict.fromkeys(loaded)
        named: dict[str, None] = {}
        for one in script_files.named(path, text):
            files = islice(folder_files(one), FOLDER_FILES) if os.path.isdir(one) else (one,)  # noqa: PTH112
            named |= dict.fromkeys(file for file in files if _belongs(file, root) and not is_log(file))
        self._named |= named
        yield from (*loaded, *named)

    def _loaded(self, kind: str, path: str, text: str, root: str, folders: Collection[str]) -> Iterator[str]:
        """Yields the loaded files that are copied, and notes the others."""
        for one in script_files.loaded(kind, path, text, folders):
            if one.is_missing:
                self._watched[folder_of(path)] = None
                self._problems[one.path] = ScriptProblem(
                    kind=ScriptProblemKind.FILE, name=one.path, script=path, line=one.line, certain=one.certain
                )
            elif one.is_fixed or not _is_within(one.path, root):
                self._outside[one.path] = None
            elif _belongs(one.path, root):
                yield one.path
        if kind == "javascript" and (file := script_files.package_file(path, root)):
            yield file

    def _add_links(self, kind: str, path: str, root: str) -> None:
        """Add the folders of packages beside a script, and for JavaScript those above it."""
        for number, one in enumerate(map(str, PurePath(path).parents)):
            for name in sorted(LINKED_FOLDERS if number == 0 else {"node_modules"} if kind == "javascript" else ()):
                if os.path.isdir(f"{one}/{name}"):  # noqa: PTH112
                    self._links[f"{one}/{name}"] = None
            if one == root:
                return


def _is_entry(path: str, folder: str) -> bool:
    """Whether `connect` wrote this file of a folder: an approved hook stays so when its agent is connected."""
    return path == os.path.join(folder, ENTRY_FILE) or file_head(path, len(SHIM_START)) == SHIM_START.encode()  # noqa: PTH118


def _is_within(path: str, folder: str) -> bool:
    return path == folder or path.startswith(f"{folder.rstrip('/')}{os.sep}")


def _belongs(path: str, root: str) -> bool:
    """True if a file below the root is copied: it is not in a folder of packages, to which the copy links."""
    return _is_within(path, root) and LINKED_FOLDERS.isdisjoint(PurePath(path).parts)


def _may_be_whole(folder: str) -> bool:
    """True if a folder can be copied whole: it holds no settings of an agent or of the user, and is not too wide."""
    return not PurePath(folder).name.startswith(".") and not _too_wide(folder)


def _too_wide(folder: str) -> bool:
    """True for the root, the user's home, the folders above it, and the folder of temporary files."""
    wide = {os.sep, tempfile.gettempdir()}
    for home in {str(Path.home()), os.path.realpath(Path.home())}:
        wide |= {home, *map(str, PurePath(home).parents)}
    return folder in wide or folder.startswith(SYSTEM_FOLDERS)
