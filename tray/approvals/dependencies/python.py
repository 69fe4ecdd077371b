"""Python scripts: their imports, the folders they add to the search path, and the files they name."""

from __future__ import annotations

import ast
import glob
import os
import re
import sys
from collections.abc import Iterable, Iterator
from functools import lru_cache
from pathlib import Path
from typing import NamedTuple

from tray.approvals.dependencies.analysis import (
    InclusionKind,
    Reference,
    Script,
    ScriptAnalysis,
    ScriptProblem,
    ScriptProblemKind,
    join_path,
    may_name_file,
)
from tray.files import user_file

# Of the standard library of older interpreters.
REMOVED_MODULES = {"asynchat", "asyncore", "distutils", "imp", "smtpd"}
STANDARD = frozenset(sys.stdlib_module_names) | REMOVED_MODULES
INLINE = re.compile(r"^# /// script\s*$", re.MULTILINE)  # PEP 723: what it declares is installed when it runs
PATH_PRESERVING = {
    "Path", "PurePath", "abspath", "absolute", "as_posix", "fspath", "normpath", "realpath", "resolve", "str",
}  # fmt: skip
LISTING = {"glob", "iterdir", "listdir", "rglob", "scandir", "walk"}
WRITING = {"mkdir", "touch", "unlink", "write_bytes", "write_text"}
CAUGHT_ERRORS = {"BaseException", "Exception", "ImportError", "ModuleNotFoundError"}
MAX_VALUES = 8  # that a name may have
SUFFIXES = (".py", ".so", ".pyd")


class PathValue(NamedTuple):
    """A text that an expression may have. `is_own`: it begins with the path of the script itself."""

    text: str
    is_own: bool


def analyse(script: Script) -> ScriptAnalysis:
    """Raises SyntaxError or ValueError when Python cannot read it."""
    tree = ast.parse(script.text)
    names = _ValueTable(script, tree)
    added = tuple(dict.fromkeys(_search_path_entries(tree, names)))
    folders = tuple(value.text for value in added if value.is_own)
    uncopied = tuple(value.text for value in added if not value.is_own and Path(value.text).is_absolute())
    modules = _ModuleFinder(
        script, (*script.folders, *folders), unknown=bool(uncopied) or bool(INLINE.search(script.text))
    )
    for node, certain in _imports(tree.body):
        modules.add_import(node, certain=certain)
    for name, line in _dynamic_imports(tree):
        modules.find(name, line, certain=False)
    written = frozenset(_path(script, value) for value in _written_paths(tree, names))
    references = [reference for reference in _named_files(script, tree, names) if reference.path not in written]
    return ScriptAnalysis(
        references=(*modules.references, *references),
        problems=tuple(modules.problems),
        written_files=written,
        uncopied=uncopied,
        folders=folders,
        uses_own_path=any(isinstance(node, ast.Name) and node.id == "__file__" for node in ast.walk(tree)),
    )


class _ValueTable:
    """The values of names and expressions, as far as literals and `__file__` show them."""

    def __init__(self, script: Script, tree: ast.Module) -> None:
        self._known: dict[str, tuple[PathValue, ...]] = {"__file__": (PathValue(script.path, is_own=True),)}
        assigned = [node for node in ast.walk(tree) if isinstance(node, ast.Assign | ast.AnnAssign) and node.value]
        for node in sorted(assigned, key=lambda node: node.lineno):
            targets = node.targets if isinstance(node, ast.Assign) else [node.target]
            for name in (target.id for target in targets if isinstance(target, ast.Name)):
                values = self.of(node.value) if node.value else ()
                self._known[name] = (*self._known.get(name, ()), *values)[:MAX_VALUES]

    def of(self, node: ast.expr) -> tuple[PathValue, ...]:
        match node:
            case ast.Constant(value=str(text)):
                return (PathValue(text, is_own=False),)
            case ast.Name(id=name):
                return self._known.get(name, ())
            case ast.JoinedStr(values=parts):
                return self._joined(parts)
            case ast.FormattedValue(value=inner):
                return self.of(inner)
            case ast.BinOp(left=left, op=ast.Div() | ast.Add() as sep, right=right):
                return self._pairs(left, right, "/" if isinstance(sep, ast.Div) else "")
            case ast.Attribute(value=inner, attr="parent"):
                return tuple(_parent_value(value) for value in self.of(inner))
            case ast.Subscript(value=ast.Attribute(value=inner, attr="parents"), slice=ast.Constant(value=int(n))):
                return tuple(_parent_value(value, n + 1) for value in self.of(inner)) if 0 <= n < MAX_VALUES else ()
            case ast.Call():
                return self._called(node)
        return ()

    def _called(self, node: ast.Call) -> tuple[PathValue, ...]:
        name, receiver = _function(node)
        first = [node.args[0]] if node.args else [receiver] if receiver is not None else []
        if name in PATH_PRESERVING and first:
            return self._folded(node.args, "/") if name in ("Path", "PurePath") else self.of(first[0])
        if name == "dirname" and first:
            return tuple(_parent_value(value) for value in self.of(first[0]))
        if name == "expanduser" and first:
            return tuple(PathValue(_expanded(value.text), value.is_own) for value in self.of(first[0]))
        if name == "home" and not node.args:
            return (PathValue(str(Path.home()), is_own=False),)
        if name == "joinpath" and receiver is not None:
            return self._folded([receiver, *node.args], "/")
        if name == "join" and _is_path(receiver):
            return self._folded(node.args, "/")
        return ()

    def _pairs(self, left: ast.expr, right: ast.expr, sep: str) -> tuple[PathValue, ...]:
        return tuple(_join_values(one, other, sep) for one in self.of(left) for other in self.of(right))[:MAX_VALUES]

    def _joined(self, parts: Iterable[ast.expr]) -> tuple[PathValue, ...]:
        return self._folded(parts, "")

    def _folded(self, parts: Iterable[ast.expr], sep: str) -> tuple[PathValue, ...]:
        found: tuple[PathValue, ...] = ()
        for index, part in enumerate(parts):
            values = self.of(part)
            joined = (_join_values(one, other, sep) for one in found for other in values)
            found = tuple(joined)[:MAX_VALUES] if index else values
        return found


class _ModuleFinder:
    """The files that the imports of a script load, and the imports that were not found."""

    def __init__(self, script: Script, folders: tuple[str, ...], *, unknown: bool) -> None:
        self._script, self._folders = script, folders
        self._unknown = unknown  # modules may come from where we do not look
        self.references: list[Reference] = []
        self.problems: list[ScriptProblem] = []

    def add_import(self, node: ast.Import | ast.ImportFrom, *, certain: bool) -> None:
        if isinstance(node, ast.Import):
            for alias in node.names:
                self.find(alias.name, node.lineno, certain=certain)
            return
        names = [alias.name for alias in node.names if alias.name != "*"]
        if not node.level:
            self.find(node.module or "", node.lineno, certain=certain, inside=names)
            return
        folder = self._script.folder
        for _ in range(node.level - 1):
            folder = os.path.dirname(folder)  # noqa: PTH120
        self._local(
            folder, (node.module or "").split(".") if node.module else [], node.lineno, names, certain=certain
        )

    def find(self, name: str, line: int, *, certain: bool, inside: Iterable[str] = ()) -> None:
        first, *rest = name.split(".")
        for folder in dict.fromkeys(self._folders):
            if _is_there(folder, first):
                self._local(folder, [first, *rest], line, inside, certain=certain)
                return
        if first in STANDARD or not first or self._unknown:
            return
        installed = installed_for(self._script.program) if self._script.program else None
        if installed is not None and not any(_is_there(folder, first) for folder in installed):
            is_users = any(_is_there(str(folder), first) for folder in _user_packages(self._script.program))
            kind = ScriptProblemKind.USER_PACKAGE if is_users else ScriptProblemKind.MODULE
            self._add_problem(name, line, certain=certain, kind=kind)

    def _local(self, folder: str, parts: list[str], line: int, inside: Iterable[str], *, certain: bool) -> None:
        """A module below this folder: each package on the way, the module, and what is imported from it."""
        for index, part in enumerate(parts):
            file, below = _module(folder, part), join_path(folder, part)
            if not file and not Path(below).is_dir():
                # In a package, it may be a name that the package defines; a module that has none is known to lack it.
                self._add_problem(".".join(parts), line, certain=certain and not (index and file))
                return
            self._add_reference(file, line)
            folder = below
        self._add_reference(_package(folder), line)
        for name in inside:
            self._add_reference(_module(folder, name), line)

    def _add_reference(self, file: str, line: int) -> None:
        if file:
            self.references.append(Reference(path=file, kind=InclusionKind.IMPORTED, line=line))

    def _add_problem(
        self, name: str, line: int, *, certain: bool, kind: ScriptProblemKind = ScriptProblemKind.MODULE
    ) -> None:
        problem = ScriptProblem(kind=kind, name=name, script=self._script.path, line=line, certain=certain)
        self.problems.append(problem)


def _imports(body: Iterable[ast.stmt], *, certain: bool = True) -> Iterator[tuple[ast.Import | ast.ImportFrom, bool]]:
    """Each import, and whether the script needs it: not in a function, a condition, or a `try` that catches."""
    for node in body:
        if isinstance(node, ast.Import | ast.ImportFrom):
            yield node, certain
        elif isinstance(node, ast.If) and "TYPE_CHECKING" in ast.dump(node.test):
            yield from _imports(node.orelse, certain=certain)
        else:
            caught = isinstance(node, ast.Try) and any(map(_catches, node.handlers))
            plain = isinstance(node, ast.With) or (isinstance(node, ast.Try) and not caught)
            for field in ("body", "orelse", "finalbody"):
                yield from _imports(getattr(node, field, ()), certain=certain and plain)
            for inner in (*getattr(node, "handlers", ()), *getattr(node, "cases", ())):
                yield from _imports(inner.body, certain=False)


def _catches(handler: ast.ExceptHandler) -> bool:
    named = ast.walk(handler.type) if handler.type else ()
    return handler.type is None or any(isinstance(node, ast.Name) and node.id in CAUGHT_ERRORS for node in named)


def _dynamic_imports(tree: ast.Module) -> Iterator[tuple[str, int]]:
    for node in ast.walk(tree):
        if (
            isinstance(node, ast.Call)
            and _function(node)[0] in ("import_module", "__import__", "run_module")
            and node.args
        ):
            first = node.args[0]
            if isinstance(first, ast.Constant) and isinstance(first.value, str) and not first.value.startswith("."):
                yield first.value, node.lineno


def _search_path_entries(tree: ast.Module, names: _ValueTable) -> Iterator[PathValue]:
    """The folders of `sys.path.insert` and `sys.path.append`."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Call) and node.args and isinstance(node.func, ast.Attribute):
            if node.func.attr in ("insert", "append") and ast.unparse(node.func.value) in ("sys.path", "path"):
                yield from (
                    PathValue(os.path.normpath(value.text), value.is_own) for value in names.of(node.args[-1])
                )
            elif node.func.attr == "addsitedir":
                yield from names.of(node.args[0])


def _named_files(script: Script, tree: ast.Module, names: _ValueTable) -> Iterator[Reference]:
    """The existing files that an expression names, and the folders whose files the script lists."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Call) and _function(node)[0] in LISTING:
            receiver = _function(node)[1]
            first = receiver if receiver is not None and names.of(receiver) else node.args[0] if node.args else None
            for value in names.of(first) if first is not None else ():
                folder = value.text.split("*")[0]
                if value.is_own and os.path.isdir(folder):  # noqa: PTH112 - a text from outside
                    yield Reference(path=os.path.normpath(folder), kind=InclusionKind.FOLDER, line=node.lineno)
        if isinstance(node, ast.Call | ast.BinOp | ast.JoinedStr | ast.Constant):
            for value in names.of(node):
                if (
                    value.is_own or (may_name_file(value.text) and not Path(value.text).is_absolute())
                ) and script.exists(path := _path(script, value)):
                    yield Reference(path=path, kind=InclusionKind.NAMED, line=node.lineno)


def _written_paths(tree: ast.Module, names: _ValueTable) -> Iterator[PathValue]:
    for node in ast.walk(tree):
        if not isinstance(node, ast.Call):
            continue
        name, receiver = _function(node)
        if name == "open":
            arguments = (*node.args, *(word.value for word in node.keywords))
            mode = [argument for argument in arguments if isinstance(argument, ast.Constant)]
            if any(isinstance(one.value, str) and re.fullmatch(r"[rbtU]*[wax+][rbt+]*", one.value) for one in mode):
                of = receiver if receiver is not None and names.of(receiver) else node.args[0] if node.args else None
                yield from names.of(of) if of is not None else ()
        elif name in WRITING and receiver is not None:
            yield from names.of(receiver)


def _path(script: Script, value: PathValue) -> str:
    return join_path(script.folder, value.text)


def _function(node: ast.Call) -> tuple[str, ast.expr | None]:
    """The name that is called, and the expression before its dot."""
    if isinstance(node.func, ast.Attribute):
        return node.func.attr, node.func.value
    return (node.func.id if isinstance(node.func, ast.Name) else ""), None


def _is_path(receiver: ast.expr | None) -> bool:
    return receiver is not None and ast.unparse(receiver) in ("os.path", "path", "osp", "posixpath")


def _join_values(one: PathValue, other: PathValue, sep: str) -> PathValue:
    if sep and Path(other.text).is_absolute():
        return other
    return PathValue(f"{one.text.rstrip('/') if sep else one.text}{sep}{other.text}", one.is_own)


def _parent_value(value: PathValue, times: int = 1) -> PathValue:
    text = value.text
    for _ in range(times):
        text = os.path.dirname(os.path.normpath(text))  # noqa: PTH120
    return PathValue(text, value.is_own)


def _expanded(text: str) -> str:
    return os.path.expanduser(text)  # noqa: PTH111


def _module(folder: str, name: str) -> str:
    """The file of a module or package in this folder; "" when there is none."""
    if not name.isidentifier():
        return ""
    for file in (f"{name}/__init__.py", *(f"{name}{ending}" for ending in SUFFIXES)):
        if os.path.isfile(path := join_path(folder, file)):  # noqa: PTH113
            return path
    return next(iter(sorted(glob.glob(f"{glob.escape(join_path(folder, name))}.*.so"))), "")  # noqa: PTH207


def _is_there(folder: str, name: str) -> bool:
    """Whether a folder holds this module, package, or a package without a file of its own."""
    return bool(_module(folder, name)) or os.path.isdir(join_path(folder, name))  # noqa: PTH112


def _package(folder: str) -> str:
    path = join_path(folder, "__init__.py")
    return path if os.path.isfile(path) else ""  # noqa: PTH113


@lru_cache(maxsize=64)
def installed_for(program: str) -> tuple[str, ...] | None:
    """Where this interpreter has its packages; None when its place does not show that."""
    prefix = Path(program).parent.parent
    config = prefix / "pyvenv.cfg"
    folders = list(_packages(prefix))
    try:
        text = user_file(config).decode() if config.is_file() else ""
    except (OSError, ValueError):
        return None
    if not text or re.search(r"include-system-site-packages\s*=\s*true", text, re.IGNORECASE):
        real = Path(os.path.realpath(program)).parent.parent
        folders += [*_packages(real), *(_packages(real / "local") if real == Path("/usr") else ())]
    if not folders or any(any(folder.glob("__editable__*.pth")) for folder in folders):
        return None
    return tuple(map(str, (*folders, *_linked(folders))))


def _user_packages(program: str) -> Iterator[Path]:
    """Where `pip install --user` puts packages for this interpreter; a virtual environment has no such place."""
    if not Path(program).parent.parent.joinpath("pyvenv.cfg").is_file():
        yield from _packages(Path.home() / ".local")


def _packages(prefix: Path) -> Iterator[Path]:
    for pattern in ("lib/python3*/site-packages", "lib/python3*/dist-packages", "Lib/site-packages"):
        yield from prefix.glob(pattern)


def _linked(folders: Iterable[Path]) -> Iterator[Path]:
    """The folders that `.pth` files add."""
    for file in (file for folder in folders for file in folder.glob("*.pth")):
        try:
            lines = user_file(file).decode("utf-8", "replace").splitlines()
        except OSError:
            continue
        yield from (
            Path(file.parent, line.strip()) for line in lines if line.strip() and not line.startswith(("#", "import"))
        )
