"""What a hook's scripts need beside themselves, found by reading them and never by running anything.

`look` reads the scripts that a hook's line runs, then what those import, and so on. Each language is a module with
`read`; LANGUAGES lists them.
"""

from __future__ import annotations

import os
import re
import shutil
import tempfile
from collections import deque
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path, PurePath

from tray.engine.approval.dependencies import javascript, other, python, shell
from tray.engine.approval.dependencies.reading import Lack, Lacking, Reading, Script, Use, Why, beside
from tray.engine.approval.supplied import SYSTEM
from tray.engine.runners.script import HEAD, VERSION

SIZE = 20 * 1024 * 1024  # bytes of one hook's files together
COUNT = 2000
LONGEST = 1024 * 1024  # bytes of a script that is read for what it loads
SCRIPTS = 300  # that are read for one hook
SKIPPED = {
    ".git", ".hg", ".mypy_cache", ".pytest_cache", ".ruff_cache", ".svn", ".venv", "__pycache__", "logs",
    "node_modules", "venv",
}  # fmt: skip
LOGS = {".db", ".jsonl", ".lock", ".log", ".ndjson", ".out", ".pid", ".pyc", ".sqlite", ".sqlite3", ".tmp"}
LANGUAGES: Mapping[str, Callable[[Script], Reading]] = {
    "javascript": javascript.read,
    "other": other.read,
    "python": python.read,
    "shell": shell.read,
}
SHELLS = ("ash", "bash", "dash", "ksh", "sh", "zsh")
PROGRAMS = {
    **dict.fromkeys(("python", "pythonw", "pypy", "uv", "uvx", "pipx"), "python"),
    **dict.fromkeys(SHELLS, "shell"),
    **dict.fromkeys(("bun", "deno", "node", "nodejs", "npx", "ts-node", "tsx"), "javascript"),
}
ENDINGS = {
    **dict.fromkeys((".py", ".pyw"), "python"),
    **dict.fromkeys((".bash", ".ksh", ".sh", ".zsh"), "shell"),
    **dict.fromkeys((".cjs", ".cts", ".js", ".jsx", ".mjs", ".mts", ".ts", ".tsx"), "javascript"),
    **dict.fromkeys((".awk", ".fish", ".lua", ".php", ".pl", ".pm", ".ps1", ".r", ".rb", ".tcl"), "other"),
}
ENV = re.compile(r"^env(?:\s+-\S+)*\s+(?:\w+=\S*\s+)*(\S+)")


@dataclass(frozen=True, slots=True, kw_only=True)
class Entry:
    """A file that the line of a hook runs. `program` is the interpreter in front of it, where there is one."""

    path: str
    program: str = ""
    copied: bool = True  # else it is bound to its digest: a binary, or an interpreter


@dataclass(frozen=True, slots=True, kw_only=True)
class Reason:
    """Why a file belongs to a hook, and which line of which script is the cause."""

    why: Why
    script: str = ""
    line: int = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class Look:
    """What a static look found."""

    files: Mapping[str, Reason] = field(default_factory=dict)
    lacks: tuple[Lack, ...] = ()
    live: tuple[str, ...] = ()  # code that a script loads from a fixed place: no copy is used
    left: tuple[str, ...] = ()  # files that a script names and that are data: it writes them, or they are logs
    tried: tuple[str, ...] = ()  # folders where something may appear that changes all this


def look(entries: Iterable[Entry], folder: str, *, data: Collection[str], content: Callable[[str], bytes]) -> Look:
    """Read the scripts of one hook, which is declared in `folder`. `data` are files that its line names as data."""
    walk = _Walk(folder, data, content)
    for entry in entries:
        walk.begin(entry)
    return walk.found()


def boundary(script: str, folder: str) -> str:
    """The folder above which nothing belongs to a script: never the user's home, nor any folder above it."""
    own = os.path.dirname(script)  # noqa: PTH120
    hooks = folder_of_hooks(script)
    above = [str(one) for one in PurePath(script).parents if os.path.exists(f"{one}/.git")]  # noqa: PTH110
    wanted = [*above, *([os.path.dirname(hooks)] if hooks else ()), *([folder] if _within(script, folder) else ())]  # noqa: PTH120
    return min((one for one in wanted if not _too_wide(one)), key=len, default=own)


def folder_of_hooks(script: str) -> str:
    """The folder of hooks that a script is in: one called `hooks` in a dot-folder or one level below; "" for none."""
    for one in PurePath(script).parents:
        near = (one.parent.name, one.parent.parent.name)
        if one.name == "hooks" and ".git" not in near and any(name[:1] == "." for name in near):
            return str(one)
    return ""


def language(path: str, head: bytes, program: str = "") -> str:
    """The language of a script, by the program that runs it, its first line, or its name; "" when it is none."""
    named = _program(program) or _program(shebang(head))
    if b"\0" in head[:HEAD]:
        return ""
    return PROGRAMS.get(named) or ENDINGS.get(PurePath(path).suffix.lower()) or ("other" if head[:2] == b"#!" else "")


def shebang(head: bytes) -> str:
    """The program that a script's first line names, behind `env`; "" without one."""
    if not head.startswith(b"#!"):
        return ""
    words = head[2:].split(b"\n")[0].decode("utf-8", "replace").strip()
    first = words.split(" ")[0]
    if PurePath(first).name == "env":
        found = ENV.match(words[words.find("env") :])
        return found[1] if found else ""
    return first


def is_log(path: str) -> bool:
    """Whether a file is one that programs write, by its name; and `.env`, which holds secrets."""
    one = PurePath(path)
    return one.suffix.lower() in LOGS or one.name.startswith(".env") or one.name == ".DS_Store"


class _Walk:
    """One way from the scripts of a line to all that they load."""

    def __init__(self, folder: str, data: Collection[str], content: Callable[[str], bytes]) -> None:
        self._folder, self._data, self._content = folder, data, content
        self._files: dict[str, Reason] = {}
        self._lacks: dict[tuple[Lacking, str], Lack] = {}
        self._live: dict[str, None] = {}
        self._left: dict[str, None] = {}
        self._tried: dict[str, None] = {}
        self._written: set[str] = set()
        self._size = 0

    def begin(self, entry: Entry) -> None:
        """Read this script and all that it loads; add its whole folder of hooks if it needs anything in it."""
        self._files[entry.path] = Reason(why=Why.RUN)
        root = boundary(entry.path, self._folder)
        program = entry.program or _found(shebang(self._head(entry.path)))
        waiting: deque[tuple[str, tuple[str, ...]]] = deque([(entry.path, (_folder(entry.path),))])
        seen, needs = {entry.path}, False
        while waiting and len(seen) <= SCRIPTS:
            path, folders = waiting.popleft()
            reading = self._read(path, folders, root, program, first=path == entry.path)
            folders = tuple(dict.fromkeys((*folders, *(one for one in reading.folders if _within(one, root)))))
            needs = needs or reading.located or bool(reading.uses)
            for use in reading.uses:
                for one in self._taken(use, path, root):
                    if one not in seen:
                        seen.add(one)
                        # A script that is only named runs by itself: its language looks beside it first.
                        waiting.append((one, folders if use.why is Why.IMPORTED else (_folder(one), *folders)))
        hooks = folder_of_hooks(entry.path)
        if hooks and needs:
            self._tried[hooks] = None
            self._sweep(hooks, Reason(why=Why.HOOKS))

    def found(self) -> Look:
        kept = {
            path: reason for path, reason in self._files.items() if path not in self._written or reason.why is Why.RUN
        }
        return Look(
            files=kept,
            lacks=tuple(self._lacks.values()),
            live=tuple(self._live),
            left=tuple(dict.fromkeys((*self._left, *filter(os.path.isfile, sorted(self._written - kept.keys()))))),
            tried=tuple(self._tried),
        )

    def _head(self, path: str) -> bytes:
        try:
            with Path(path).open("rb") as file:
                return file.read(HEAD)
        except OSError:
            return b""

    def _read(self, path: str, folders: tuple[str, ...], root: str, program: str, *, first: bool) -> Reading:
        head = self._head(path)
        name = language(path, head, program if first else "")
        if not name or (size := os.path.getsize(path)) > LONGEST or not size:  # noqa: PTH202
            return Reading()
        text = self._content(path).decode("utf-8", "replace").removeprefix("\ufeff")
        interpreter = program if _program(program) in PROGRAMS else ""
        script = Script(path=path, text=text, folders=folders, root=root, program=interpreter)
        try:
            reading = LANGUAGES[name](script)
        except (SyntaxError, ValueError, RecursionError) as error:
            line = getattr(error, "lineno", 0) or 0
            what = f"{getattr(error, 'msg', '') or error}"
            self._lack(Lack(what=Lacking.SYNTAX, name=what, script=path, line=line, sure=False))
            return Reading(located=True)
        self._written |= reading.written
        self._live |= dict.fromkeys(reading.live)
        for lack in reading.lacks:
            self._lack(lack)
            self._tried |= dict.fromkeys((*folders, *reading.folders, script.folder))
        return reading

    def _taken(self, use: Use, script: str, root: str) -> Iterator[str]:
        """Add what a script uses, as far as it is below the root; yields what is to be read next."""
        if use.path == script:
            return
        if not _within(use.path, root) or use.path.startswith(SYSTEM):
            if use.why is Why.IMPORTED:
                self._live[use.path] = None
            return
        reason = Reason(why=use.why, script=script, line=use.line)
        if use.why is Why.PACKAGE:
            self._package(use, script, root)
        elif use.why is Why.FOLDER:
            self._listed(use.path, script, reason)
        elif use.why is Why.IMPORTED or not self._is_data(use.path):
            self._add(use.path, reason, imported=use.why is Why.IMPORTED)
            yield use.path
        else:
            self._left[use.path] = None

    def _listed(self, folder: str, script: str, reason: Reason) -> None:
        """A folder that a script lists, except one above its own or above its folder of hooks: that is a project."""
        own = folder_of_hooks(script) or _folder(script)
        if _too_wide(folder) or (folder != own and _within(own, folder)):
            self._left[folder] = None
            return
        self._tried[folder] = None
        self._sweep(folder, reason)

    def _sweep(self, folder: str, reason: Reason) -> None:
        """All files of a folder; none but those that a script names when they are too many, or too large together."""
        files = [path for path in _below(folder) if not self._is_data(path) and path not in self._files]
        size = sum(os.path.getsize(path) for path in (*files, *filter(os.path.isfile, self._files)))  # noqa: PTH202
        if len(files) + len(self._files) > COUNT or size > SIZE:
            self._left[folder] = None
            return
        for path in _below(folder):
            if path in self._files or os.access(path, os.R_OK):
                self._add(path, reason)
            else:
                self._left[path] = None

    def _package(self, use: Use, script: str, root: str) -> None:
        """A package of node_modules with all that it depends on, if that is not too large."""
        folders, missing = javascript.packages(use.path, root)
        files = [path for folder in folders for path in _below(folder, skipped={".git"})]
        size = sum(os.path.getsize(path) for path in files if os.path.isfile(path))  # noqa: PTH113, PTH202
        if len(files) > COUNT or size > SIZE:
            name = use.path.rpartition("node_modules/")[2]
            self._lack(Lack(what=Lacking.LARGE, name=name, script=script, line=use.line))
            return
        for name in missing:
            self._lack(Lack(what=Lacking.PACKAGE, name=name, script=script, line=use.line, sure=False))
        for path in files:
            self._files.setdefault(path, Reason(why=Why.PACKAGE, script=script, line=use.line))

    def _add(self, path: str, reason: Reason, *, imported: bool = False) -> None:
        if not imported and self._is_data(path):
            self._left[path] = None
        elif not path.startswith(SYSTEM):
            self._files.setdefault(path, reason)

    def _is_data(self, path: str) -> bool:
        return path in self._data or path in self._written or is_log(path)

    def _lack(self, lack: Lack) -> None:
        known = self._lacks.get((lack.what, lack.name))
        if known is None or (lack.sure and not known.sure):
            self._lacks[lack.what, lack.name] = lack


def _folder(path: str) -> str:
    return os.path.dirname(path)  # noqa: PTH120 - of texts, which need not be paths


def _program(name: str) -> str:
    return VERSION.sub("", PurePath(name).name)


def _found(program: str) -> str:
    """The interpreter that a first line names, as far as it is found now."""
    return program if program.startswith("/") or not program else shutil.which(program) or program


def _within(path: str, folder: str) -> bool:
    return path == folder or path.startswith(f"{folder.rstrip('/')}{os.sep}")


def _too_wide(folder: str) -> bool:
    """Whether a folder holds more than a hook: the root, the user's home or what is above it, the temporary files."""
    wide = {os.sep, tempfile.gettempdir()}
    for home in {str(Path.home()), os.path.realpath(Path.home())}:
        wide |= {home, *map(str, PurePath(home).parents)}
    return folder in wide or folder.startswith(SYSTEM)


def _below(root: str, skipped: Collection[str] = SKIPPED) -> Iterator[str]:
    """The files of a folder; no more than one too many."""
    count = 0
    for folder, inner, names in os.walk(root):
        inner[:] = sorted(set(inner) - set(skipped))
        for name in sorted(names):
            if count > COUNT:
                return
            path = beside(folder, name)
            if os.path.isfile(path):  # noqa: PTH113
                count += 1
                yield path
