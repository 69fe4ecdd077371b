"""The files of a hook beside those that its line runs: its folder of hooks, and what its scripts load.

A script is read for lines that load a file beside it; PATTERNS has them for each language. Nothing runs for that.
What is found this way is copied with the script. `files:` of the hook names whatever it does not find.
"""

from __future__ import annotations

import enum
import os
import re
import sys
from collections import deque
from collections.abc import Callable, Collection, Iterable, Iterator
from itertools import islice
from pathlib import Path, PurePath

from tray.approvals.command_words import SYSTEM_FOLDERS, absolute
from tray.approvals.script_start import parse_shebang
from tray.errors import HooktrayError
from tray.execution.script import HEAD, VERSION, interpreter_name
from tray.lazy_dataclass import dataclass
from tray.lazy_pattern import lazy_pattern

FOLDER_FILES, FOLDER_SIZE = 200, 5 * 1024 * 1024  # of a folder that is taken whole
SCRIPT_SIZE = 1024 * 1024  # bytes of a script that is read for what it loads
MAX_BASES = 20  # folders that a script names, in which the files that it names are looked for
ROUNDS = 3  # in which variables of a shell script get their values
LINKED_FOLDERS = frozenset({"node_modules", ".venv", "venv"})  # too large to be copied: a copy has a link to them
SKIPPED_FOLDERS = LINKED_FOLDERS | {
    ".cache", ".git", ".hg", ".mypy_cache", ".pytest_cache", ".ruff_cache", ".svn", "__pycache__", "logs",
}  # fmt: skip
LOG_SUFFIXES = {".db", ".jsonl", ".lock", ".log", ".ndjson", ".out", ".pid", ".pyc", ".sqlite", ".sqlite3", ".tmp"}
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
# What loads a file, by language; `name` is the file or module, `names` are modules of a package.
PATTERNS = {
    "python": lazy_pattern(
        r"^[ \t]*from[ \t]+(?P<package>\.*[\w.]*)[ \t]+import[ \t]+(?:\((?P<lines>[^)]*)\)|(?P<names>[^\n#;(]+))"
        r"|^[ \t]*import[ \t]+(?P<modules>[\w., \t]+)|\b(?:import_module|__import__)\(\s*['\"](?P<name>[\w.]+)",
        re.MULTILINE,
    ),
    "shell": lazy_pattern(r"(?:^|[\s;&|({!])(?:\.|source)[ \t]+(?P<name>(?:\$\([^()]*\)|[^\s;&|()])+)", re.MULTILINE),
    "javascript": lazy_pattern(
        r"(?:\bfrom\s*|\brequire\s*\(\s*|\bimport\s*\(?\s*)(?P<sign>['\"`])(?P<name>\.{1,2}(?:/[^'\"`\n]*)?)(?P=sign)"
    ),
    "other": lazy_pattern(
        r"\b(?:require_relative|require|load|include|do)\b\s*\(?\s*['\"](?:\./)?(?P<name>[^'\"\n]+)"
    ),
}
ENDINGS = {
    "javascript": ("", ".js", ".cjs", ".mjs", ".ts", ".tsx", ".json", "/index.js", "/index.mjs", "/index.ts"),
    "other": ("", ".rb", ".pl", ".pm", ".php", ".lua"),
}
# In any language: a name with a folder or an ending. It counts if it is a file beside the script.
TOKEN = lazy_pattern(r"[\w@+.-]*(?:/[\w@+.-]+)+|[\w@+-]+\.[\w.+-]+")
QUOTED = lazy_pattern(r"""(['"])([\w./ -]{1,80})\1""")
COMMENTS = {
    **dict.fromkeys(("python", "shell"), lazy_pattern(r"(?:^|(?<=\s))#[^\n]*")),
    "javascript": lazy_pattern(r"(?<!:)//[^\n]*|/\*.*?\*/", re.DOTALL),
}
JOINED = lazy_pattern(r"""['"]\s*[,/+]\s*['"]""")  # between the parts of one path
LISTING = lazy_pattern(r"\b(?:glob|iterdir|listdir|readdir(?:Sync)?|rglob|scandir|walk)\b")
ABOVE = lazy_pattern(r"\.parents?(?:\.parent|\[1\])|dirname\([^)\n]*dirname\(")
OWN_FOLDER, OWN_FILE = "\x02", "\x03"  # of a shell script, while its text is worked on
IDIOMS = (
    (lazy_pattern(r"\$\{(?:0|BASH_SOURCE(?:\[0\])?)%/\*\}|\$\{0:A:h\}"), OWN_FOLDER),
    (
        lazy_pattern(
            r"\$\{?0\}?|\$\{?BASH_SOURCE(?:\[0\])?\}?|\$\{BASH_SOURCE(?:\[0\])?:-\$0\}|\$\{\(%\):-%x\}|\$\{0:A\}"
        ),
        OWN_FILE,
    ),
    (lazy_pattern(r"\$\((?:g?readlink(?:\s+-f)?|realpath)\s+(?:--\s+)?([\x02\x03][^\s()]*)\)"), r"\1"),
    (lazy_pattern(r"\$\(\s*dirname\s+(?:--\s+)?\x03\s*\)|`dirname\s+(?:--\s+)?\x03`"), OWN_FOLDER),
    (lazy_pattern(r"\$\(\s*dirname\s+(?:--\s+)?(\x02[^\s()]*)\s*\)"), r"\1/.."),
    (
        lazy_pattern(
            r"\$\(\s*(?:CDPATH=\S*\s+)?(?:builtin\s+)?cd\s+(?:-[LP]\s+)?(?:--\s+)?(\x02[^\s()]*)"
            r"[^()]*?(?:&&|;)\s*pwd(?:\s+-[LP])?[^()]*\)"
        ),
        r"\1",
    ),
)
ASSIGNMENT = lazy_pattern(r"(?:^|[\s;&(])([A-Za-z_]\w*)=([^\s;&|()<>]*[/\x02][^\s;&|()<>]*|\x02)")
VARIABLE = lazy_pattern(r"\$\{?(\w+)[^}/\s]*\}?/|\x02/")
TYPED = lazy_pattern(r"js$")  # TypeScript's imports name what it becomes
HOME = lazy_pattern(r"^\$\{?HOME\}?(?=/)")
FIXED = lazy_pattern(r"^(?:~|/|\$)")  # what begins like this is the same place for a script and for its copy
SHELL_WRITES = r"(?:>>?\|?\s*|\b(?:tee|touch|rm)\s+(?:-\w+\s+)*)[^\s;|&<>]*"
CODE_WRITES = lazy_pattern(
    r"open\([^)\n]*['\"][rbt]*[wax+]|\.open\(\s*['\"][wax]|write_(?:text|bytes)|\.touch\(|unlink|\.dump\("
    r"|(?:write|append)File|createWriteStream|sqlite3\.connect"
)


class ScriptProblemKind(enum.Enum):
    """What is missing or wrong."""

    FILE = enum.auto()  # a file that the script loads
    INTERPRETER = enum.auto()  # what its first line names
    MODE = enum.auto()  # it is not executable
    MODULE = enum.auto()  # a module that it imports
    SYNTAX = enum.auto()  # the interpreter cannot read it
    USER_PACKAGE = enum.auto()  # it is among the user's own Python packages, which hooks do not load


@dataclass(frozen=True, slots=True, kw_only=True)
class ScriptProblem:
    """One thing that is missing or wrong. `certain`: the script cannot work without it."""

    kind: ScriptProblemKind
    name: str
    script: str
    line: int = 0
    certain: bool = True


@dataclass(frozen=True, slots=True, kw_only=True)
class CoveredFiles:
    """What is copied with the scripts of a hook, and what is not."""

    files: tuple[str, ...] = ()
    links: tuple[str, ...] = ()  # folders of packages, which a copy has a link to
    outside: tuple[str, ...] = ()  # code that a script loads from a fixed place
    problems: tuple[ScriptProblem, ...] = ()
    watched: tuple[str, ...] = ()  # folders where something may appear that belongs to it


def find(
    entries: Iterable[str],
    folder: str,
    *,
    plugin: str = "",
    has_files: bool = False,
    data: Collection[str] = (),
    content: Callable[[str], bytes],
) -> CoveredFiles:
    """What belongs to the scripts of one hook, which is declared in `folder`.

    `data` are files that its line names as data. With `has_files` the hook lists its files: no folder is taken whole.
    Raises HooktrayError when a folder is too large.
    """
    search = _Search(folder, data, content)
    if plugin and not has_files and _may_be_whole(plugin):
        search.add_folder(plugin)
    for path in entries:
        search.add_entry(path, "" if has_files else hooks_folder(path))
    return search.result()


def boundary(script: str, folder: str) -> str:
    """The folder above which nothing belongs to a script: never the user's home, nor any folder above it."""
    hooks = hooks_folder(script)
    above = [str(one) for one in PurePath(script).parents if os.path.exists(f"{one}/.git")]  # noqa: PTH110
    wanted = [*above, *([os.path.dirname(hooks)] if hooks else ()), *([folder] if _is_within(script, folder) else ())]  # noqa: PTH120
    return min((one for one in wanted if not _too_wide(one)), key=len, default=_folder(script))


def hooks_folder(script: str) -> str:
    """The nearest folder called `hooks` that a script is in, within its repository; "" for none."""
    for one in PurePath(script).parents:
        if one.name == "hooks" and one.parent.name != ".git" and _may_be_whole(str(one)):
            return str(one)
        if os.path.exists(one / ".git"):  # noqa: PTH110
            break
    return ""


def is_interpreter(path: str) -> bool:
    """Whether a program runs scripts: by its name, as far as that is known."""
    return bool(interpreter_name(path)) or VERSION.sub("", PurePath(path).name) in PROGRAMS


def language(path: str, head: bytes) -> str:
    """The language of a script, by its first line or its name; "" when it is none."""
    if b"\0" in head:
        return ""
    program = VERSION.sub("", PurePath(parse_shebang(head).interpreter).name)
    found = PROGRAMS.get(program) or SUFFIXES.get(PurePath(path).suffix.lower())
    return found or ("other" if head[:2] == b"#!" else "")


def folder_files(root: str) -> Iterator[str]:
    """The files of a folder without those that programs write, caches, packages and secrets (`.env`)."""
    for folder, inner, names in os.walk(root):
        inner[:] = sorted(set(inner) - SKIPPED_FOLDERS)
        for name in sorted(names):
            path = os.path.join(folder, name)  # noqa: PTH118
            if not is_log(path) and os.path.isfile(path):  # noqa: PTH113
                yield path


def is_log(path: str) -> bool:
    """Whether a file is one that programs write, by its name; and `.env`, which holds secrets."""
    one = PurePath(path)
    return one.suffix.lower() in LOG_SUFFIXES or one.name.startswith(".env") or one.name == ".DS_Store"


class _Search:
    """Follows the scripts of a line to all that they load."""

    def __init__(self, folder: str, data: Collection[str], content: Callable[[str], bytes]) -> None:
        self._folder, self._data, self._content = folder, data, content
        self._files: dict[str, None] = {}
        self._texts: dict[str, str] = {}  # of the scripts among them
        self._named: dict[str, None] = {}  # files that are named and not loaded: one that is written is data
        self._links: dict[str, None] = {}
        self._outside: dict[str, None] = {}
        self._watched: dict[str, None] = {}
        self._problems: dict[str, ScriptProblem] = {}

    def add_folder(self, folder: str) -> list[str]:
        """Take a whole folder of hooks. Raises HooktrayError when it is too large."""
        files = list(islice(folder_files(folder), FOLDER_FILES + 1))
        size = sum(map(os.path.getsize, files))
        if len(files) > FOLDER_FILES or size > FOLDER_SIZE:
            limit = f"{FOLDER_FILES} files" if len(files) > FOLDER_FILES else f"{FOLDER_SIZE // 1024**2} MB"
            hint = "write `files:` into the hook, or move it into a folder of its own"
            raise HooktrayError(f"{folder}: the hook's folder has more than {limit}", hint=hint)
        self._watched |= dict.fromkeys((folder, *(_folder(path) for path in files)))
        self._named |= dict.fromkeys(files)
        return files

    def add_entry(self, script: str, hooks: str) -> None:
        """Read this script and all that it loads; add its folder of hooks."""
        root = boundary(script, self._folder)
        self._files[script] = None
        waiting = deque([script, *(self.add_folder(hooks) if hooks else ())])
        seen: set[str] = set()
        folders: dict[str, None] = {_folder(script): None}  # where Python looks for modules
        while waiting:
            path = waiting.popleft()
            if path in seen:
                continue
            seen.add(path)
            for found in self._read(path, root, folders):
                if found not in seen:
                    waiting.append(found)

    def result(self) -> CoveredFiles:
        written = {path for path in self._named if any(_is_written(text, path) for text in self._texts.values())}
        named = (path for path in self._named if path not in written and path not in self._data)
        files = tuple(dict.fromkeys((*self._files, *named)))
        links = (link for link in self._links if not any(_is_within(path, link) for path in files))
        return CoveredFiles(
            files=files,
            links=tuple(links) if sys.platform != "win32" else (),
            outside=tuple(self._outside),
            problems=tuple(self._problems.values()),
            watched=tuple(self._watched),
        )

    def _read(self, path: str, root: str, folders: dict[str, None]) -> Iterator[str]:
        """The files that one script loads or names; those that it loads are covered, whatever writes to them."""
        with Path(path).open("rb") as file:
            head = file.read(HEAD)
        kind = language(path, head)
        if not kind or os.path.getsize(path) > SCRIPT_SIZE:  # noqa: PTH202
            return
        text = _normalise(kind, self._content(path).decode("utf-8", "replace"))
        self._texts[path] = text
        self._add_links(kind, path, root)
        loaded = dict.fromkeys(self._loaded(kind, path, text, root, folders))
        inside = [one for one in loaded if _belongs(one, root)]
        self._outside |= dict.fromkeys(one for one in loaded if not _is_within(one, root))
        self._files |= dict.fromkeys(inside)
        named = [one for one in _named(path, text) if _belongs(one, root) and not is_log(one)]
        self._named |= dict.fromkeys(named)
        yield from (*inside, *named)

    def _loaded(self, kind: str, path: str, text: str, root: str, folders: dict[str, None]) -> Iterator[str]:
        if kind == "python":
            self._add_search_path(path, text, root, folders)
            yield from _modules(path, text, tuple(dict.fromkeys((*folders, _folder(path)))))
            return
        for found in PATTERNS[kind].finditer(text):
            name = found["name"]
            if kind == "shell" and FIXED.match(name):
                name = HOME.sub("~", name)
                self._outside[name if "$" in name else absolute(name, "/")] = None
                continue
            names = (*(f"{name}{ending}" for ending in ENDINGS.get(kind, ("",))), TYPED.sub("ts", name))
            candidates = (absolute(one, _folder(path)) for one in names)
            file = next(filter(os.path.isfile, candidates), "")
            if file:
                yield file
            elif text.count(PurePath(name).name) == 1 and not set(name) & set("*?[$"):  # else it looks for it first
                line = text.count("\n", 0, found.start("name")) + 1
                missing = absolute(name, _folder(path))
                self._problems[missing] = ScriptProblem(
                    kind=ScriptProblemKind.FILE, name=missing, script=path, line=line, certain=kind == "shell"
                )
                self._watched[_folder(path)] = None
        if kind == "javascript":
            yield from _package_file(path, root)

    def _add_search_path(self, path: str, text: str, root: str, folders: dict[str, None]) -> None:
        """The folders that `sys.path` may get: those that the script names, below its own or the one above."""
        if "sys.path" not in text and "addsitedir" not in text:
            return
        above = _folder(_folder(path))
        names = [found[2] for found in QUOTED.finditer(f"{text}\n{JOINED.sub('/', text)}")]
        wanted = [above, *(absolute(name, base) for base in (_folder(path), above) for name in names)]
        for one in wanted:
            if os.path.isdir(one):  # noqa: PTH112
                (folders if _is_within(one, root) else self._outside).setdefault(one)

    def _add_links(self, kind: str, path: str, root: str) -> None:
        """The folders of packages beside a script, and for JavaScript those above it."""
        for number, one in enumerate(map(str, PurePath(path).parents)):
            for name in sorted(LINKED_FOLDERS if number == 0 else {"node_modules"} if kind == "javascript" else ()):
                if os.path.isdir(f"{one}/{name}"):  # noqa: PTH112
                    self._links[f"{one}/{name}"] = None
            if one == root:
                return


def _normalise(kind: str, text: str) -> str:
    """A script without its comments; a shell script also without quotes and the variables that it sets."""
    if pattern := COMMENTS.get(kind):
        text = pattern.sub("", text)
    if kind == "shell":
        text = text.replace("\\\n", " ").replace('"', "").replace("'", "")
        for _ in range(ROUNDS):
            for pattern, replacement in IDIOMS:
                text = pattern.sub(replacement, text)
            for name, value in dict(ASSIGNMENT.findall(text)).items():
                text = re.sub(rf"\$(?:\{{{name}\}}|{name}\b)", lambda _, value=value: value, text)  # type: ignore[misc]
        return VARIABLE.sub(lambda found: found[0] if found[1] in _fixed_names() else "./", text)
    return text


def _fixed_names() -> Collection[str]:
    from tray.agents.placeholders import folder_variables

    return {"HOOK_SOURCE_DIR", "HOME", "PWD", *folder_variables()}


def _named(path: str, text: str) -> Iterator[str]:
    """The existing files beside a script that it names, and those of the folders that it lists."""
    folder = _folder(path)
    bases = [folder, *([_folder(folder)] if ABOVE.search(text) else [])]
    named = dict.fromkeys(found[2] for found in QUOTED.finditer(text))
    bases += [one for name in named if _is_folder_beside(one := absolute(name, folder), folder)][:MAX_BASES]
    for part in (text, JOINED.sub("/", text)):
        for found in TOKEN.finditer(part):
            for one in (absolute(found[0].lstrip("/"), base) for base in bases):
                if os.path.isfile(one) and one != path:  # noqa: PTH113
                    yield one
                elif part.startswith("/*", found.end()) and _is_folder_beside(one, folder):
                    yield from islice(folder_files(one), FOLDER_FILES)
        if LISTING.search(part):
            for name in {found[2] for found in QUOTED.finditer(part)}:
                for one in (absolute(name, base) for base in bases):
                    if _is_folder_beside(one, folder):
                        yield from islice(folder_files(one), FOLDER_FILES)


def _is_folder_beside(path: str, folder: str) -> bool:
    return os.path.isdir(path) and not _is_within(folder, path)  # noqa: PTH112


def _modules(path: str, text: str, folders: tuple[str, ...]) -> Iterator[str]:
    """The files of the modules that a Python script imports, of those that are beside it or in `folders`."""
    for found in PATTERNS["python"].finditer(text):
        package, names = found["package"] or "", re.findall(r"\w+", found["lines"] or found["names"] or "")
        if found["modules"] or found["name"]:
            for name in (found["modules"] or found["name"]).split(","):
                yield from _module_files(folders, name.split(" as ")[0].strip())
            continue
        level = len(package) - len(package.lstrip("."))
        base = _folder(path)
        for _ in range(level - 1):
            base = _folder(base)
        for name in ("", *names):
            module = ".".join(filter(None, (package.lstrip("."), name)))
            yield from _module_files((base,) if level else folders, module)


def _module_files(folders: Iterable[str], name: str) -> Iterator[str]:
    """The files of a module and of the packages above it; nothing for one that is installed elsewhere."""
    parts = name.split(".") if name else [""]
    for folder in folders:
        found = False
        for end in range(1, len(parts) + 1):
            path = os.path.join(folder, *parts[:end])  # noqa: PTH118
            for file in (f"{path.rstrip('/')}/__init__.py", f"{path}.py"):
                if os.path.isfile(file):  # noqa: PTH113
                    found = True
                    yield file
        if found:
            return


def _package_file(path: str, root: str) -> Iterator[str]:
    """The nearest `package.json`, if it says how Node loads a script."""
    for one in PurePath(path).parents:
        file = str(one / "package.json")
        if os.path.isfile(file):  # noqa: PTH113
            with Path(file).open(encoding="utf-8", errors="replace") as opened:
                text = opened.read(SCRIPT_SIZE)
            if re.search(r'"(?:type|imports|exports)"\s*:', text):
                yield file
            return
        if str(one) == root:
            return


def _is_written(text: str, path: str) -> bool:
    """Whether a script may write a file: by its name, or by a variable that has it."""
    name = re.escape(PurePath(path).name)
    if not re.search(rf"(?<![\w.-]){name}(?![\w.-])", text):
        return False
    if re.search(rf"{SHELL_WRITES}(?<![\w.-]){name}(?![\w.-])", text):
        return True
    words = [name, *re.findall(rf"(\w+)\s*(?::\s*\w+\s*)?=[^=\n][^\n]*{name}", text)]
    pattern = re.compile("|".join(rf"(?<![\w.-]){word}\b" for word in words))
    return any(CODE_WRITES.search(line) and pattern.search(line) for line in text.splitlines())


def _folder(path: str) -> str:
    return os.path.dirname(path)  # noqa: PTH120 - of texts, which need not be paths


def _is_within(path: str, folder: str) -> bool:
    return path == folder or path.startswith(f"{folder.rstrip('/')}{os.sep}")


def _belongs(path: str, root: str) -> bool:
    """Whether a file below the root is copied: not one in a folder of packages, which a copy has a link to."""
    return _is_within(path, root) and LINKED_FOLDERS.isdisjoint(PurePath(path).parts)


def _may_be_whole(folder: str) -> bool:
    """Whether a folder can be taken whole: no folder with settings of an agent or of the user, nor a wide one."""
    return not PurePath(folder).name.startswith(".") and not _too_wide(folder)


def _too_wide(folder: str) -> bool:
    """Whether a folder holds more than a hook: the root, the user's home or what is above it, the temporary files."""
    import tempfile

    wide = {os.sep, tempfile.gettempdir()}
    for home in {str(Path.home()), os.path.realpath(Path.home())}:
        wide |= {home, *map(str, PurePath(home).parents)}
    return folder in wide or folder.startswith(SYSTEM_FOLDERS)
