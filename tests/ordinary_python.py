"""Reports unusual Python in tray/. `tests/check` runs it and fails if it reports anything.

It reports writes to `sys.modules`, assignments to attributes of a library's module or class, `exec`, `eval`,
`compile`, private names of libraries, and more than the limits allow of imports inside functions, of functions that
only pass a call on, and of functions that are handed over.
"""

from __future__ import annotations

import ast
import sys
from collections.abc import Collection, Iterator, Mapping
from pathlib import Path
from typing import NamedTuple

ROOT = Path(__file__).parent.parent
MODULES = sorted(ROOT.glob("tray/**/*.py"))
MOST_IMPORTS = 100
MOST_FORWARDERS = 150  # lambdas, partial objects, and nested functions of one line
MOST_CALLABLES = 120  # parameters and fields that hold a function
# Attributes that a library documents for assignment.
HOOKS = {
    "logging.raiseExceptions": "The one-shot engine writes nothing but its answer to the agent's screen.",
    "threading.excepthook": "The tray ends if one of its threads has ended for want of memory.",
}
DOCUMENTED = ("os._exit",)  # names with an underscore that a library documents
# The files that use private names of a library: `tray/desktop/pystray_icon.py` and at most three others.
MOST_PRIVATE_NAMES = 4
PRIVATE_NAMES = {
    "tray/dbus_socket.py": "dbus-fast closes its connection when the socket is full; only its writer has the socket.",
    "tray/desktop/pystray_icon.py": "pystray has no other access to its X11 connection and its menu on Windows.",
    "tray/notify/sound.py": "miniaudio never closes its context, which keeps five descriptors open for each sound.",
    "tray/relay.py": "It imports `_signal` and `_socket`: the public modules would double an event's processor time.",
}
# The files that assign to an attribute of a library's class.
ASSIGNMENTS = {
    "tray/notify/push/sender.py": "Apprise reports no HTTP status, and requests shows each answer nowhere else.",
}
FUNCTIONS = (ast.FunctionDef, ast.AsyncFunctionDef, ast.Lambda)
WRITES = {
    f"sys.modules.{name}"
    for name in ("__delitem__", "__setitem__", "clear", "pop", "popitem", "setdefault", "update")
}


class Finding(NamedTuple):
    line: int
    rule: str
    code: str


MODULE_WRITE = "writes to sys.modules"
ASSIGNMENT = "assigns to an attribute of a library's module or class"
EXECUTION = "runs text as Python"
PRIVATE = "uses a private name of a library"
EXCEPTIONS: Mapping[str, Mapping[str, str]] = {ASSIGNMENT: ASSIGNMENTS, PRIVATE: PRIVATE_NAMES}


def is_private(name: str) -> bool:
    return any(part.startswith("_") and not part.startswith("__") for part in name.split("."))


def is_ours(module: str) -> bool:
    return module.partition(".")[0] in ("tray", "")


def defined(tree: ast.Module) -> set[str]:
    """Returns the private names that a module defines: functions, classes, and attributes of its own classes.

    A Protocol defines none, because it describes a class of somebody else.
    """
    found = set()
    for node in ast.walk(tree):
        if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)):
            found.add(node.name)
        if isinstance(node, ast.Attribute) and isinstance(node.ctx, ast.Store) and is_self(node.value):
            found.add(node.attr)
        if isinstance(node, ast.ClassDef) and not any("Protocol" in ast.unparse(base) for base in node.bases):
            targets = [each for part in node.body if isinstance(part, ast.Assign) for each in part.targets]
            targets += [part.target for part in node.body if isinstance(part, ast.AnnAssign)]
            found |= {each.id for each in targets if isinstance(each, ast.Name)}
    return {name for name in found if is_private(name)}


def is_self(node: ast.AST) -> bool:
    return isinstance(node, ast.Name) and node.id in ("self", "cls")


def is_one_line(function: ast.FunctionDef | ast.AsyncFunctionDef) -> bool:
    body = [
        part for part in function.body if not (isinstance(part, ast.Expr) and isinstance(part.value, ast.Constant))
    ]
    return len(body) == 1 and isinstance(body[0], (ast.Expr, ast.Return))


def names_of(annotation: ast.expr) -> set[str]:
    """Returns the names in an annotation, also if it is written as a text."""
    if isinstance(annotation, ast.Constant) and isinstance(annotation.value, str):
        annotation = ast.parse(annotation.value, mode="eval").body
    return {node.id for node in ast.walk(annotation) if isinstance(node, ast.Name)}


class Module:
    """One module and what it imports. `known` are the private names that all of tray/ defines."""

    def __init__(self, text: str, known: Collection[str] = ()) -> None:
        self.tree = ast.parse(text)
        self.own = defined(self.tree)
        self.known = {*known, *self.own}
        self.imported: dict[str, str] = {}  # what each name of a library stands for, with dots
        self.ours: set[str] = {node.name for node in ast.walk(self.tree) if isinstance(node, ast.ClassDef)}
        for node in ast.walk(self.tree):
            if isinstance(node, ast.ImportFrom):
                names = [alias.asname or alias.name for alias in node.names]
                if node.level or is_ours(node.module or ""):
                    self.ours |= set(names)
                else:
                    origins = (f"{node.module}.{alias.name}" for alias in node.names)
                    self.imported |= dict(zip(names, origins, strict=True))
            elif isinstance(node, ast.Import):
                for alias in node.names:
                    top = alias.name if alias.asname else alias.name.partition(".")[0]
                    if not is_ours(alias.name):
                        self.imported[alias.asname or top] = top

    def origin(self, node: ast.AST) -> str:
        """Returns what an expression is in a library, as in `os.path.join`, else ""."""
        if isinstance(node, ast.Name):
            return self.imported.get(node.id, "")
        if isinstance(node, ast.Attribute) and (base := self.origin(node.value)):
            return f"{base}.{node.attr}"
        return ""

    def findings(self) -> Iterator[Finding]:
        for parent in ast.walk(self.tree):
            if isinstance(parent, ast.ClassDef):
                yield from self._inherited(parent)
        for node in ast.walk(self.tree):
            for rule in self._broken(node):
                yield Finding(getattr(node, "lineno", 0), rule, ast.unparse(node))

    def _broken(self, node: ast.AST) -> Iterator[str]:
        if isinstance(node, (ast.Attribute, ast.Subscript)) and not isinstance(node.ctx, ast.Load):
            whole = node if isinstance(node, ast.Attribute) else node.value
            if self.origin(whole) == "sys.modules":
                yield MODULE_WRITE
            elif isinstance(node, ast.Attribute) and self.origin(node.value) and self.origin(node) not in HOOKS:
                yield ASSIGNMENT
        if isinstance(node, ast.Call):
            yield from self._broken_call(node)
        if isinstance(node, ast.Attribute) and self._is_foreign(node.value, node.attr):
            yield PRIVATE
        if isinstance(node, ast.Import) and any(is_private(alias.name) for alias in node.names):
            yield PRIVATE
        if isinstance(node, ast.ImportFrom) and not is_ours(node.module or ""):
            names = (node.module or "", *(alias.name for alias in node.names))
            if any(is_private(name) for name in names):
                yield PRIVATE

    def _broken_call(self, node: ast.Call) -> Iterator[str]:
        function = node.func
        if self.origin(function) in WRITES:
            yield MODULE_WRITE
        name = function.id if isinstance(function, ast.Name) else self.origin(function).removeprefix("builtins.")
        if name in ("compile", "eval", "exec"):
            yield EXECUTION
        if name in ("delattr", "setattr") and not is_self(node.args[0]):  # a reader cannot see whose attribute it is
            yield ASSIGNMENT
        if name in ("delattr", "getattr", "hasattr", "setattr"):
            owner, attribute = node.args[:2]
            if isinstance(attribute, ast.Constant) and self._is_foreign(owner, str(attribute.value)):
                yield PRIVATE

    def _is_foreign(self, owner: ast.AST, name: str) -> bool:
        """True if this private name is a library's: its owner is imported, or this module does not define it."""
        if not is_private(name):
            return False
        if origin := self.origin(owner):
            return f"{origin}.{name}" not in DOCUMENTED
        return name not in self.own and not is_self(owner) and ast.unparse(owner) != "super()"

    def _inherited(self, parent: ast.ClassDef) -> Iterator[Finding]:
        """Yields the private names of `self` and `super()` that neither this module nor a parent of ours defines."""
        bases = [base.value if isinstance(base, ast.Subscript) else base for base in parent.bases]
        inherits = any(isinstance(base, ast.Name) and base.id in self.ours for base in bases)
        for node in ast.walk(parent):
            if not isinstance(node, ast.Attribute) or not is_private(node.attr):
                continue
            is_super = ast.unparse(node.value) == "super()"
            known = self.known if inherits else set() if is_super else self.own
            if (is_super or is_self(node.value)) and node.attr not in known:
                yield Finding(node.lineno, PRIVATE, ast.unparse(node))

    def forwarders(self) -> int:
        """Counts the lambdas, the partial objects and the nested functions of one line."""
        functions = (ast.FunctionDef, ast.AsyncFunctionDef)
        inner = {
            node
            for outer in ast.walk(self.tree)
            if isinstance(outer, functions)
            for node in ast.walk(outer)
            if isinstance(node, functions) and node is not outer
        }
        calls = (node.func for node in ast.walk(self.tree) if isinstance(node, ast.Call))
        partials = [one for one in calls if self.origin(one) == "functools.partial"]
        lambdas = [node for node in ast.walk(self.tree) if isinstance(node, ast.Lambda)]
        return len(lambdas) + len(partials) + sum(is_one_line(node) for node in inner)

    def callables(self, aliases: Collection[str]) -> int:
        """Counts the parameters and fields that hold a function. `aliases` are the names of such types."""
        found: list[ast.expr | None] = []
        for node in ast.walk(self.tree):
            if isinstance(node, ast.arguments):
                found += [one.annotation for one in (*node.posonlyargs, *node.args, *node.kwonlyargs)]
            elif isinstance(node, ast.ClassDef):
                found += [part.annotation for part in node.body if isinstance(part, ast.AnnAssign)]
        return sum(bool(names_of(one) & {"Callable", *aliases}) for one in found if one is not None)

    def callable_types(self) -> Iterator[str]:
        """Yields the names that stand for a function type: `Name = Callable[...]`, or a Protocol with `__call__`."""
        for node in self.tree.body:
            if isinstance(node, ast.Assign) and isinstance(node.value, ast.Subscript):
                if ast.unparse(node.value.value) == "Callable":
                    yield ast.unparse(node.targets[0])
            elif isinstance(node, ast.ClassDef) and any("Protocol" in ast.unparse(base) for base in node.bases):
                methods = {part.name for part in node.body if isinstance(part, ast.FunctionDef)}
                if "__call__" in methods:
                    yield node.name

    def imports_in_functions(self) -> int:
        inside = (
            node for function in ast.walk(self.tree) if isinstance(function, FUNCTIONS) for node in ast.walk(function)
        )
        return len({node for node in inside if isinstance(node, (ast.Import, ast.ImportFrom))})


def problems(texts: Mapping[str, str]) -> Iterator[str]:
    """Yields each finding with its path, each exception that is not needed any more, and counts over a limit."""
    known = {name for text in texts.values() for name in defined(ast.parse(text))}
    modules = {path: Module(text, known) for path, text in texts.items()}
    excepted = {rule: set[str]() for rule in EXCEPTIONS}
    for path, module in modules.items():
        for line, rule, code in sorted(module.findings()):
            if path in EXCEPTIONS.get(rule, ()):
                excepted[rule].add(path)
            else:
                yield f"{path}:{line}: {rule}: {code}"
    for rule, files in EXCEPTIONS.items():
        yield from (f"{path}: no longer {rule}: remove it from the exceptions" for path in {*files} - excepted[rule])
    if len(PRIVATE_NAMES) > MOST_PRIVATE_NAMES:
        yield f"{len(PRIVATE_NAMES)} files use private names of libraries, at most {MOST_PRIVATE_NAMES}"
    count = sum(module.imports_in_functions() for module in modules.values())
    if count > MOST_IMPORTS:
        yield f"{count} imports inside functions, at most {MOST_IMPORTS}"
    forwarders = sum(module.forwarders() for module in modules.values())
    if forwarders > MOST_FORWARDERS:
        yield f"{forwarders} lambdas, partial objects and nested functions of one line, at most {MOST_FORWARDERS}"
    aliases = {name for module in modules.values() for name in module.callable_types()}
    callables = sum(module.callables(aliases) for module in modules.values())
    if callables > MOST_CALLABLES:
        yield f"{callables} parameters and fields that hold a function, at most {MOST_CALLABLES}"


def main() -> int:
    found = list(problems({path.relative_to(ROOT).as_posix(): path.read_text(encoding="utf-8") for path in MODULES}))
    print("\n".join(found) or "tray/ is ordinary Python")
    return int(bool(found))


if __name__ == "__main__":
    sys.exit(main())
