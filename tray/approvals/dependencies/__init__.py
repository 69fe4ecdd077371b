"""What a hook's scripts need beside themselves, found by reading them and never by running anything.

`scan` reads the scripts that a hook's line runs, then what those import, and so on. Each language is a module with
`analyse`; LANGUAGES lists them.
"""

from __future__ import annotations

import importlib
import os
from collections import deque
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from pathlib import Path, PurePath

from tray.approvals.command_words import SYSTEM_FOLDERS
from tray.approvals.dependencies.analysis import (
    InclusionKind,
    Reference,
    Script,
    ScriptAnalysis,
    ScriptProblem,
    ScriptProblemKind,
    join_path,
)
from tray.execution.script import HEAD, VERSION
from tray.files import file_head
from tray.lazy_dataclass import dataclass, field
from tray.lazy_pattern import lazy_pattern

MAX_SIZE = 20 * 1024 * 1024  # bytes of one hook's files together
MAX_FILES = 2000
MAX_SCRIPT_SIZE = 1024 * 1024  # bytes of a script that is read for what it loads
MAX_SCRIPTS = 300  # that are read for one hook
SKIPPED_FOLDERS = {
    ".git", ".hg", ".mypy_cache", ".pytest_cache", ".ruff_cache", ".svn", ".venv", "__pycache__", "logs",
    "node_modules", "venv",
}  # fmt: skip
LOG_SUFFIXES = {".db", ".jsonl", ".lock", ".log", ".ndjson", ".out", ".pid", ".pyc", ".sqlite", ".sqlite3", ".tmp"}
LANGUAGES = {"javascript": "javascript", "other": "generic", "python": "python", "shell": "shell"}  # their modules
SHELLS = ("ash", "bash", "dash", "ksh", "sh", "zsh")
PROGRAMS = {
    **dict.fromkeys(("python", "pythonw", "pypy", "uv", "uvx", "pipx"), "python"),
    **dict.fromkeys(SHELLS, "shell"),
    **dict.fromkeys(("bun", "deno", "node", "nodejs", "npx", "ts-node", "tsx"), "javascript"),
}
SUFFIXES = {
    **dict.fromkeys((".py", ".pyw"), "python"),
    **dict.fromkeys((".bash", ".ksh", ".sh", ".zsh"), "shell"),
    **dict.fromkeys((".cjs", ".cts", ".js", ".jsx", ".mjs", ".mts", ".ts", ".tsx"), "javascript"),
    **dict.fromkeys((".awk", ".fish", ".lua", ".php", ".pl", ".pm", ".ps1", ".r", ".rb", ".tcl"), "other"),
}
ENV = lazy_pattern(r"^env(?:\s+-\S+)*\s+(?:\w+=\S*\s+)*(\S+)")


@dataclass(frozen=True, slots=True, kw_only=True)
class EntryPoint:
    """A file that the line of a hook runs. `program` is the interpreter in front of it, where there is one."""

    path: str
    program: str = ""
    is_copied: bool = True  # else it is bound to its digest: a binary, or an interpreter


@dataclass(frozen=True, slots=True, kw_only=True)
class Inclusion:
    """Why a file belongs to a hook, and which line of which script is the cause."""

    kind: InclusionKind
    script: str = ""
    line: int = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class Dependencies:
    """What the static analysis found."""

    files: Mapping[str, Inclusion] = field(default_factory=dict)
    problems: tuple[ScriptProblem, ...] = ()
    uncopied: tuple[str, ...] = ()  # code that a script loads from a fixed place: no copy is used
    data_files: tuple[str, ...] = ()  # files that a script names and that are data: it writes them, or they are logs
    watched_folders: tuple[str, ...] = ()  # folders where something may appear that changes all this


def scan(
    entries: Iterable[EntryPoint], folder: str, *, data: Collection[str], content: Callable[[str], bytes]
) -> Dependencies:
    """Read the scripts of one hook, which is declared in `folder`. `data` are files that its line names as data."""
    scanner = _Scan(folder, data, content)
    for entry in entries:
        scanner.add_entry_point(entry)
    return scanner.result()


def boundary(script: str, folder: str) -> str:
    """The folder above which nothing belongs to a script: never the user's home, nor any folder above it."""
    own = os.path.dirname(script)  # noqa: PTH120
    hooks = hooks_folder(script)
    above = [str(one) for one in PurePath(script).parents if os.path.exists(f"{one}/.git")]  # noqa: PTH110
    wanted = [*above, *([os.path.dirname(hooks)] if hooks else ()), *([folder] if _is_within(script, folder) else ())]  # noqa: PTH120
    return min((one for one in wanted if not _too_wide(one)), key=len, default=own)


def hooks_folder(script: str) -> str:
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
    return (
        PROGRAMS.get(named) or SUFFIXES.get(PurePath(path).suffix.lower()) or ("other" if head[:2] == b"#!" else "")
    )


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
    return one.suffix.lower() in LOG_SUFFIXES or one.name.startswith(".env") or one.name == ".DS_Store"


class _Scan:
    """Follows the scripts of a line to all that they load."""

    def __init__(self, folder: str, data: Collection[str], content: Callable[[str], bytes]) -> None:
        self._folder, self._data, self._content = folder, data, content
        self._files: dict[str, Inclusion] = {}
        self._problems: dict[tuple[ScriptProblemKind, str], ScriptProblem] = {}
        self._uncopied: dict[str, None] = {}
        self._data_files: dict[str, None] = {}
        self._watched_folders: dict[str, None] = {}
        self._written: set[str] = set()
        self._size = 0

    def add_entry_point(self, entry: EntryPoint) -> None:
        """Read this script and all that it loads; add its whole folder of hooks if it needs anything in it."""
        self._files[entry.path] = Inclusion(kind=InclusionKind.RUN)
        root = boundary(entry.path, self._folder)
        program = entry.program or _find_interpreter(shebang(self._head(entry.path)))
        waiting: deque[tuple[str, tuple[str, ...]]] = deque([(entry.path, (_folder(entry.path),))])
        seen, needs = {entry.path}, False
        while waiting and len(seen) <= MAX_SCRIPTS:
            path, folders = waiting.popleft()
            analysis = self._read(path, folders, root, program, first=path == entry.path)
            folders = tuple(dict.fromkeys((*folders, *(one for one in analysis.folders if _is_within(one, root)))))
            needs = needs or analysis.uses_own_path or bool(analysis.references)
            for reference in analysis.references:
                for one in self._follow(reference, path, root):
                    if one not in seen:
                        seen.add(one)
                        # A script that is only named runs by itself: its language looks beside it first.
                        waiting.append(
                            (one, folders if reference.kind is InclusionKind.IMPORTED else (_folder(one), *folders))
                        )
        hooks = hooks_folder(entry.path)
        if hooks and needs:
            self._watched_folders[hooks] = None
            self._add_folder_files(hooks, Inclusion(kind=InclusionKind.HOOKS))

    def result(self) -> Dependencies:
        files = {
            path: reason
            for path, reason in self._files.items()
            if path not in self._written or reason.kind is InclusionKind.RUN
        }
        return Dependencies(
            files=files,
            problems=tuple(self._problems.values()),
            uncopied=tuple(self._uncopied),
            data_files=tuple(
                dict.fromkeys((*self._data_files, *filter(os.path.isfile, sorted(self._written - files.keys()))))
            ),
            watched_folders=tuple(self._watched_folders),
        )

    def _head(self, path: str) -> bytes:
        try:
            return file_head(path, HEAD)
        except OSError:
            return b""

    def _read(self, path: str, folders: tuple[str, ...], root: str, program: str, *, first: bool) -> ScriptAnalysis:
        head = self._head(path)
        name = language(path, head, program if first else "")
        if not name or (size := os.path.getsize(path)) > MAX_SCRIPT_SIZE or not size:  # noqa: PTH202
            return ScriptAnalysis()
        text = self._content(path).decode("utf-8", "replace").removeprefix("\ufeff")
        interpreter = program if _program(program) in PROGRAMS else ""
        script = Script(path=path, text=text, folders=folders, root=root, program=interpreter)
        try:
            analysis = _analyser(name)(script)
        except (SyntaxError, ValueError, RecursionError) as error:
            line = getattr(error, "lineno", 0) or 0
            what = f"{getattr(error, 'msg', '') or error}"
            self._add_problem(
                ScriptProblem(kind=ScriptProblemKind.SYNTAX, name=what, script=path, line=line, certain=False)
            )
            return ScriptAnalysis(uses_own_path=True)
        self._written |= analysis.written_files
        self._uncopied |= dict.fromkeys(analysis.uncopied)
        for problem in analysis.problems:
            self._add_problem(problem)
            self._watched_folders |= dict.fromkeys((*folders, *analysis.folders, script.folder))
        return analysis

    def _follow(self, reference: Reference, script: str, root: str) -> Iterator[str]:
        """Add what a script uses, as far as it is below the root; yields what is to be read next."""
        if reference.path == script:
            return
        if not _is_within(reference.path, root) or reference.path.startswith(SYSTEM_FOLDERS):
            if reference.kind is InclusionKind.IMPORTED:
                self._uncopied[reference.path] = None
            return
        reason = Inclusion(kind=reference.kind, script=script, line=reference.line)
        if reference.kind is InclusionKind.PACKAGE:
            self._package(reference, script, root)
        elif reference.kind is InclusionKind.FOLDER:
            self._add_folder(reference.path, script, reason)
        elif reference.kind is InclusionKind.IMPORTED or not self._is_data(reference.path):
            self._add(reference.path, reason, imported=reference.kind is InclusionKind.IMPORTED)
            yield reference.path
        else:
            self._data_files[reference.path] = None

    def _add_folder(self, folder: str, script: str, reason: Inclusion) -> None:
        """A folder that a script lists, except one above its own or above its folder of hooks: that is a project."""
        own = hooks_folder(script) or _folder(script)
        if _too_wide(folder) or (folder != own and _is_within(own, folder)):
            self._data_files[folder] = None
            return
        self._watched_folders[folder] = None
        self._add_folder_files(folder, reason)

    def _add_folder_files(self, folder: str, reason: Inclusion) -> None:
        """All files of a folder; none but those that a script names when they are too many, or too large together."""
        files = [path for path in _files_below(folder) if not self._is_data(path) and path not in self._files]
        size = sum(os.path.getsize(path) for path in (*files, *filter(os.path.isfile, self._files)))  # noqa: PTH202
        if len(files) + len(self._files) > MAX_FILES or size > MAX_SIZE:
            self._data_files[folder] = None
            return
        for path in _files_below(folder):
            if path in self._files or os.access(path, os.R_OK):
                self._add(path, reason)
            else:
                self._data_files[path] = None

    def _package(self, reference: Reference, script: str, root: str) -> None:
        """A package of node_modules with all that it depends on, if that is not too large."""
        from tray.approvals.dependencies import javascript

        folders, missing = javascript.packages(reference.path, root)
        files = [path for folder in folders for path in _files_below(folder, skipped={".git"})]
        size = sum(os.path.getsize(path) for path in files if os.path.isfile(path))  # noqa: PTH113, PTH202
        if len(files) > MAX_FILES or size > MAX_SIZE:
            name = reference.path.rpartition("node_modules/")[2]
            self._add_problem(
                ScriptProblem(kind=ScriptProblemKind.LARGE, name=name, script=script, line=reference.line)
            )
            return
        for name in missing:
            self._add_problem(
                ScriptProblem(
                    kind=ScriptProblemKind.PACKAGE, name=name, script=script, line=reference.line, certain=False
                )
            )
        for path in files:
            self._files.setdefault(path, Inclusion(kind=InclusionKind.PACKAGE, script=script, line=reference.line))

    def _add(self, path: str, reason: Inclusion, *, imported: bool = False) -> None:
        if not imported and self._is_data(path):
            self._data_files[path] = None
        elif not path.startswith(SYSTEM_FOLDERS):
            self._files.setdefault(path, reason)

    def _is_data(self, path: str) -> bool:
        return path in self._data or path in self._written or is_log(path)

    def _add_problem(self, problem: ScriptProblem) -> None:
        known = self._problems.get((problem.kind, problem.name))
        if known is None or (problem.certain and not known.certain):
            self._problems[problem.kind, problem.name] = problem


def _analyser(name: str) -> Callable[[Script], ScriptAnalysis]:
    """Imported when a script is read: to start an approved hook needs none of them."""
    module = importlib.import_module(f"tray.approvals.dependencies.{LANGUAGES[name]}")
    analyse: Callable[[Script], ScriptAnalysis] = module.analyse
    return analyse


def _folder(path: str) -> str:
    return os.path.dirname(path)  # noqa: PTH120 - of texts, which need not be paths


def _program(name: str) -> str:
    return VERSION.sub("", PurePath(name).name)


def _find_interpreter(program: str) -> str:
    """The interpreter that a first line names, as far as it is found now."""
    import shutil

    return program if program.startswith("/") or not program else shutil.which(program) or program


def _is_within(path: str, folder: str) -> bool:
    return path == folder or path.startswith(f"{folder.rstrip('/')}{os.sep}")


def _too_wide(folder: str) -> bool:
    """Whether a folder holds more than a hook: the root, the user's home or what is above it, the temporary files."""
    import tempfile

    wide = {os.sep, tempfile.gettempdir()}
    for home in {str(Path.home()), os.path.realpath(Path.home())}:
        wide |= {home, *map(str, PurePath(home).parents)}
    return folder in wide or folder.startswith(SYSTEM_FOLDERS)


def _files_below(root: str, skipped: Collection[str] = SKIPPED_FOLDERS) -> Iterator[str]:
    """The files of a folder; no more than one too many."""
    count = 0
    for folder, inner, names in os.walk(root):
        inner[:] = sorted(set(inner) - set(skipped))
        for name in sorted(names):
            if count > MAX_FILES:
                return
            path = join_path(folder, name)
            if os.path.isfile(path):  # noqa: PTH113
                count += 1
                yield path
