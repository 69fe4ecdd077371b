"""One script of a hook: the files beside it that it loads or names, and whether it writes a file.

PATTERNS lists what loads a file, by language. No script runs.
"""

from __future__ import annotations

import os
import re
from collections.abc import Collection, Iterable, Iterator
from pathlib import PurePath

import msgspec

from tray.agents.placeholders import folder_variables
from tray.approvals.command_words import SYSTEM_FOLDERS, absolute, folder_of
from tray.approvals.script_start import parse_shebang
from tray.execution.script import VERSION, interpreter_name
from tray.files import file_head

SCRIPT_SIZE = 1024 * 1024  # bytes at most of a script that is searched for files
MAX_BASES = 20  # folders named by a script in which its files are looked up
ROUNDS = 3  # of replacing the variables of a shell script by their values
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
    "python": re.compile(
        r"^[ \t]*from[ \t]+(?P<package>\.*[\w.]*)[ \t]+import[ \t]+(?:\((?P<lines>[^)]*)\)|(?P<names>[^\n#;(]+))"
        r"|^[ \t]*import[ \t]+(?P<modules>[\w., \t]+)|\b(?:import_module|__import__)\(\s*['\"](?P<name>[\w.]+)",
        re.MULTILINE,
    ),
    "shell": re.compile(r"(?:^|[\s;&|({!])(?:\.|source)[ \t]+(?P<name>(?:\$\([^()]*\)|[^\s;&|()])+)", re.MULTILINE),
    "javascript": re.compile(
        r"(?:\bfrom\s*|\brequire\s*\(\s*|\bimport\s*\(?\s*)(?P<sign>['\"`])(?P<name>\.{1,2}(?:/[^'\"`\n]*)?)(?P=sign)"
    ),
    "other": re.compile(r"\b(?:require_relative|require|load|include|do)\b\s*\(?\s*['\"](?:\./)?(?P<name>[^'\"\n]+)"),
}
ENDINGS = {
    "javascript": ("", ".js", ".cjs", ".mjs", ".ts", ".tsx", ".json", "/index.js", "/index.mjs", "/index.ts"),
    "other": ("", ".rb", ".pl", ".pm", ".php", ".lua"),
}
# In any language: a name with a folder or an ending. It counts if it is a file beside the script.
TOKEN = re.compile(r"[\w@+.-]*(?:/[\w@+.-]+)+|[\w@+-]+\.[\w.+-]+")
QUOTED = re.compile(r"""(['"])([\w./ -]{1,80})\1""")
COMMENTS = {
    **dict.fromkeys(("python", "shell"), re.compile(r"(?:^|(?<=\s))#[^\n]*")),
    "javascript": re.compile(r"(?<!:)//[^\n]*|/\*.*?\*/", re.DOTALL),
}
JOINED = re.compile(r"""['"]\s*[,/+]\s*['"]""")  # between the parts of one path
LISTING = re.compile(r"\b(?:glob|iterdir|listdir|readdir(?:Sync)?|rglob|scandir|walk)\b")
ABOVE = re.compile(r"\.parents?(?:\.parent|\[1\])|dirname\([^)\n]*dirname\(")
OWN_FOLDER, OWN_FILE = "\x02", "\x03"  # marks in the text of a shell script
IDIOMS = (
    (re.compile(r"\$\{(?:0|BASH_SOURCE(?:\[0\])?)%/\*\}|\$\{0:A:h\}"), OWN_FOLDER),
    (
        re.compile(
            r"\$\{?0\}?|\$\{?BASH_SOURCE(?:\[0\])?\}?|\$\{BASH_SOURCE(?:\[0\])?:-\$0\}|\$\{\(%\):-%x\}|\$\{0:A\}"
        ),
        OWN_FILE,
    ),
    (re.compile(r"\$\((?:g?readlink(?:\s+-f)?|realpath)\s+(?:--\s+)?([\x02\x03][^\s()]*)\)"), r"\1"),
    (re.compile(r"\$\(\s*dirname\s+(?:--\s+)?\x03\s*\)|`dirname\s+(?:--\s+)?\x03`"), OWN_FOLDER),
    (re.compile(r"\$\(\s*dirname\s+(?:--\s+)?(\x02[^\s()]*)\s*\)"), r"\1/.."),
    (
        re.compile(
            r"\$\(\s*(?:CDPATH=\S*\s+)?(?:builtin\s+)?cd\s+(?:-[LP]\s+)?(?:--\s+)?(\x02[^\s()]*)"
            r"[^()]*?(?:&&|;)\s*pwd(?:\s+-[LP])?[^()]*\)"
        ),
        r"\1",
    ),
)
ASSIGNMENT = re.compile(r"(?:^|[\s;&(])([A-Za-z_]\w*)=([^\s;&|()<>]*[/\x02][^\s;&|()<>]*|\x02)")
VARIABLE = re.compile(r"\$\{?(\w+)[^}/\s]*\}?/|\x02/")
TYPED = re.compile(r"js$")  # TypeScript's imports name the compiled file
HOME = re.compile(r"^\$\{?HOME\}?(?=/)")
FIXED = re.compile(r"^(?:~|/|\$)")  # the same file for a script and for its copy
SHELL_WRITES = r"(?:>>?\|?\s*|\b(?:tee|touch|rm)\s+(?:-\w+\s+)*)[^\s;|&<>]*"
CODE_WRITES = re.compile(
    r"open\([^)\n]*['\"][rbt]*[wax+]|\.open\(\s*['\"][wax]|write_(?:text|bytes)|\.touch\(|unlink|\.dump\("
    r"|(?:write|append)File|createWriteStream|sqlite3\.connect"
)
FIXED_TOKEN = re.compile(r"(?<![\w.@+/}$~-])(~|\$\{?(\w+)\}?)?/[\w@+./-]+")


class Load(msgspec.Struct, frozen=True, kw_only=True):
    """A file that a script loads. With `is_fixed` its path is the same for the script and its copy."""

    path: str
    line: int = 0
    is_fixed: bool = False
    is_missing: bool = False
    certain: bool = True  # False: the script may work without it


def is_interpreter(path: str) -> bool:
    """True if the program's name is that of a known interpreter."""
    return bool(interpreter_name(path)) or VERSION.sub("", PurePath(path).name) in PROGRAMS


def language(path: str, head: bytes) -> str:
    """Returns the language of a script, by its first line or its name; "" if it is not a script."""
    if b"\0" in head:
        return ""
    program = VERSION.sub("", PurePath(parse_shebang(head).interpreter).name)
    found = PROGRAMS.get(program) or SUFFIXES.get(PurePath(path).suffix.lower())
    return found or ("other" if head[:2] == b"#!" else "")


def script_text(kind: str, content: bytes) -> str:
    """Returns a script without its comments; a shell script also without quotes and the variables that it sets."""
    text = content.decode("utf-8", "replace").removeprefix("\ufeff")
    if pattern := COMMENTS.get(kind):
        text = pattern.sub("", text)
    if kind != "shell":
        return text
    text = text.replace("\\\n", " ").replace('"', "").replace("'", "")
    for _ in range(ROUNDS):
        for pattern, replacement in IDIOMS:
            text = pattern.sub(replacement, text)
        for name, value in dict(ASSIGNMENT.findall(text)).items():
            text = re.sub(rf"\$(?:\{{{name}\}}|{name}\b)", value.replace("\\", r"\\"), text)
    fixed = _fixed_names()  # any other variable means the script's own folder
    return VARIABLE.sub(lambda variable: variable[0] if variable[1] in fixed else "./", text)


def loaded(kind: str, path: str, text: str, folders: Collection[str]) -> Iterator[Load]:
    """Yields the files that a script loads. Python looks for modules in `folders`, too."""
    if kind == "python":
        own = tuple(dict.fromkeys((*folders, folder_of(path))))
        yield from (Load(path=one) for one in _modules(path, text, own))
        return
    for found in PATTERNS[kind].finditer(text):
        name = found["name"]
        if kind == "shell" and FIXED.match(name):
            name = HOME.sub("~", name)
            yield Load(path=name if "$" in name else absolute(name, "/"), is_fixed=True)
            continue
        names = (*(f"{name}{ending}" for ending in ENDINGS.get(kind, ("",))), TYPED.sub("ts", name))
        file = next(filter(os.path.isfile, (absolute(one, folder_of(path)) for one in names)), "")
        if file:
            yield Load(path=file)
        elif not ("/" in name or found[0].startswith("require_relative")) or set(name) & set("*?[$"):
            continue  # a name without a folder, or one that the script makes up
        elif text.count(PurePath(name).name) == 1:
            line = text.count("\n", 0, found.start("name")) + 1  # a name that comes again is looked for first
            certain = kind != "javascript" or "(" not in found[0] or "try" not in text
            yield Load(path=absolute(name, folder_of(path)), line=line, is_missing=True, certain=certain)


def named(path: str, text: str) -> Iterator[str]:
    """Yields existing files beside a script that it names, and folders whose files it lists."""
    folder = folder_of(path)
    names = dict.fromkeys(found[2] for found in QUOTED.finditer(f"{text}\n{JOINED.sub('/', text)}"))
    bases = [folder, *([folder_of(folder)] if ABOVE.search(text) else [])]
    folders = [one for name in names for base in bases if _is_folder(one := absolute(name, base), folder)]
    if LISTING.search(text):
        yield from folders
    bases += folders[:MAX_BASES]
    for part in (text, JOINED.sub("/", text)):
        for found in TOKEN.finditer(part):
            for one in (absolute(found[0].lstrip("/"), base) for base in bases):
                is_listed = part.startswith("/*", found.end()) and _is_folder(one, folder)
                if is_listed or (one != path and os.path.isfile(one)):  # noqa: PTH113
                    yield one


def fixed_files(text: str) -> Iterator[str]:
    """Yields the files that a script names by an absolute path, which no copy replaces."""
    for found in FIXED_TOKEN.finditer(text):
        name = HOME.sub("~", found[0])
        if "$" in name:
            if found[2] in _fixed_names() and PurePath(name).suffix in SUFFIXES:
                yield name
        elif os.path.isfile(one := absolute(name, "/")) and not one.startswith(SYSTEM_FOLDERS):  # noqa: PTH113
            yield one


def search_path(path: str, text: str) -> Iterator[str]:
    """Yields folders that the script may add to `sys.path`: named ones below its own or the one above."""
    if "sys.path" not in text and "addsitedir" not in text:
        return
    above = folder_of(folder_of(path))
    names = [found[2] for found in QUOTED.finditer(f"{text}\n{JOINED.sub('/', text)}")]
    wanted = (above, *(absolute(name, base) for base in (folder_of(path), above) for name in names))
    yield from filter(os.path.isdir, wanted)


def package_file(path: str, root: str) -> str:
    """Returns the nearest `package.json`, if it sets how Node loads a script; "" for none."""
    for one in PurePath(path).parents:
        file = str(one / "package.json")
        if os.path.isfile(file):  # noqa: PTH113
            text = file_head(file, SCRIPT_SIZE).decode("utf-8", "replace")
            return file if re.search(r'"(?:type|imports|exports)"\s*:', text) else ""
        if str(one) == root:
            break
    return ""


def writes(text: str, path: str) -> bool:
    """True if a script may write a file: by its name, or by a variable that has it."""
    name = re.escape(PurePath(path).name)
    if not re.search(rf"(?<![\w.-]){name}(?![\w.-])", text):
        return False
    if re.search(rf"{SHELL_WRITES}(?<![\w.-]){name}(?![\w.-])", text):
        return True
    words = [name, *re.findall(rf"(\w+)\s*(?::\s*\w+\s*)?=[^=\n][^\n]*{name}", text)]
    pattern = re.compile("|".join(rf"(?<![\w.-]){word}\b" for word in words))
    return any(CODE_WRITES.search(line) and pattern.search(line) for line in text.splitlines())


def _fixed_names() -> Collection[str]:
    return {"HOOK_SOURCE_DIR", "HOME", "PWD", *folder_variables()}


def _modules(path: str, text: str, folders: tuple[str, ...]) -> Iterator[str]:
    """Yields the files of imported Python modules that are beside the script or in `folders`."""
    for found in PATTERNS["python"].finditer(text):
        package, names = found["package"] or "", re.findall(r"\w+", found["lines"] or found["names"] or "")
        if found["modules"] or found["name"]:
            for name in (found["modules"] or found["name"]).split(","):
                yield from _module_files(folders, name.split(" as ")[0].strip())
            continue
        level = len(package) - len(package.lstrip("."))
        base = folder_of(path)
        for _ in range(level - 1):
            base = folder_of(base)
        for name in ("", *names):
            module = ".".join(filter(None, (package.lstrip("."), name)))
            yield from _module_files((base,) if level else folders, module)


def _module_files(folders: Iterable[str], name: str) -> Iterator[str]:
    """Yields the files of a module and of the packages above it, unless it is installed elsewhere."""
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


def _is_folder(path: str, script_folder: str) -> bool:
    """True for an existing folder that does not contain the script."""
    return os.path.isdir(path) and not f"{script_folder}/".startswith(f"{path.rstrip('/')}/")  # noqa: PTH112
