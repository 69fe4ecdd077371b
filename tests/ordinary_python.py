"""Reports unusual Python in tray/. `tests/check` runs it and fails if it reports anything.

It reports writes to `sys.modules`, assignments to attributes of a library's module or class, `exec`, `eval`,
`compile` and private names of libraries.
"""

from __future__ import annotations

import ast
import sys
from collections.abc import Collection, Iterator, Mapping
from pathlib import Path

ROOT = Path(__file__).parent.parent
# Attributes that a library documents for assignment, and names with an underscore that it documents.
DOCUMENTED = ("logging.raiseExceptions", "threading.excepthook", "os._exit")
MODULE_WRITE = "writes to sys.modules"
ASSIGNMENT = "assigns to an attribute of a library's module or class"
EXECUTION = "runs text as Python"
PRIVATE = "uses a private name of a library"
EXCEPTIONS = {
    ("tray/dbus_socket.py", PRIVATE),  # dbus-fast closes its connection when the socket is full
    ("tray/desktop/pystray_icon.py", PRIVATE),  # no other access to its X11 connection and its menu on Windows
    ("tray/notify/push/sender.py", ASSIGNMENT),  # Apprise reports no HTTP status
    ("tray/notify/sound.py", PRIVATE),  # miniaudio never closes its context, which keeps five descriptors open
    ("tray/relay.py", PRIVATE),  # the public modules of `_signal` and `_socket` double an event's processor time
}
WRITES = {f"sys.modules.{name}" for name in ("clear", "pop", "popitem", "setdefault", "update")}


def is_private(name: str) -> bool:
    return any(part.startswith("_") and not part.startswith("__") for part in name.split("."))


def is_ours(module: str) -> bool:
    return module.partition(".")[0] in ("tray", "")


def is_self(node: ast.AST) -> bool:
    return ast.unparse(node) in ("self", "cls", "super()")


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


class Module:
    """One module and what it imports. `known` are the private names that all of tray/ defines."""

    def __init__(self, text: str, known: Collection[str] = ()) -> None:
        self.tree = ast.parse(text)
        self.own = defined(self.tree)
        self.known = {*known, *self.own}
        self.imported: dict[str, str] = {}  # what each name of a library stands for, with dots
        for node in ast.walk(self.tree):
            if isinstance(node, ast.ImportFrom) and not node.level and not is_ours(node.module or ""):
                self.imported |= {one.asname or one.name: f"{node.module}.{one.name}" for one in node.names}
            elif isinstance(node, ast.Import):
                for one in node.names:
                    top = one.name if one.asname else one.name.partition(".")[0]
                    self.imported |= {} if is_ours(one.name) else {one.asname or top: top}

    def findings(self) -> Iterator[tuple[int, str, str]]:
        """Yields the line, the rule and the code of each."""
        for node in ast.walk(self.tree):
            for rule in self._broken(node):
                yield getattr(node, "lineno", 0), rule, ast.unparse(node)

    def _origin(self, node: ast.AST) -> str:
        """Returns what an expression is in a library, as in `os.path.join`, else ""."""
        if isinstance(node, ast.Name):
            return self.imported.get(node.id, "")
        if isinstance(node, ast.Attribute) and (base := self._origin(node.value)):
            return f"{base}.{node.attr}"
        return ""

    def _broken(self, node: ast.AST) -> Iterator[str]:
        if isinstance(node, (ast.Attribute, ast.Subscript)) and not isinstance(node.ctx, ast.Load):
            if "sys.modules" in (self._origin(node), self._origin(node.value)):
                yield MODULE_WRITE
            elif self._origin(node) not in ("", *DOCUMENTED):
                yield ASSIGNMENT
        if isinstance(node, ast.Attribute) and self._is_foreign(node.value, node.attr):
            yield PRIVATE
        if isinstance(node, ast.Import) and any(is_private(one.name) for one in node.names):
            yield PRIVATE
        if isinstance(node, ast.ImportFrom) and not is_ours(node.module or ""):
            names = (str(node.module), *(one.name for one in node.names))
            if any(map(is_private, names)):
                yield PRIVATE
        if isinstance(node, ast.Call):
            yield from self._broken_call(node)

    def _broken_call(self, node: ast.Call) -> Iterator[str]:
        function = node.func
        if self._origin(function) in WRITES:
            yield MODULE_WRITE
        name = function.id if isinstance(function, ast.Name) else self._origin(function).removeprefix("builtins.")
        if name in ("compile", "eval", "exec"):
            yield EXECUTION
        if name in ("delattr", "setattr") and not is_self(node.args[0]):  # a reader cannot see whose attribute it is
            yield ASSIGNMENT
        if name in ("delattr", "getattr", "hasattr", "setattr"):
            owner, attribute = node.args[:2]
            if isinstance(attribute, ast.Constant) and self._is_foreign(owner, str(attribute.value)):
                yield PRIVATE

    def _is_foreign(self, owner: ast.AST, name: str) -> bool:
        """True if this private name is a library's: its owner is imported, or tray/ does not define it."""
        if origin := self._origin(owner):
            return is_private(name) and f"{origin}.{name}" not in DOCUMENTED
        return is_private(name) and name not in (self.known if is_self(owner) else self.own)


def problems(texts: Mapping[str, str]) -> Iterator[str]:
    """Yields each finding with its path, and each exception that is not needed any more."""
    known = {name for text in texts.values() for name in defined(ast.parse(text))}
    needed = set()
    for path, text in texts.items():
        for line, rule, code in sorted(Module(text, known).findings()):
            needed.add((path, rule))
            if (path, rule) not in EXCEPTIONS:
                yield f"{path}:{line}: {rule}: {code}"
    yield from (f"{path}: no longer {rule}: remove the exception" for path, rule in EXCEPTIONS - needed)


def main() -> int:
    modules = sorted(ROOT.glob("tray/**/*.py"))
    found = list(problems({path.relative_to(ROOT).as_posix(): path.read_text(encoding="utf-8") for path in modules}))
    print("\n".join(found) or "tray/ is ordinary Python")
    return int(bool(found))


if __name__ == "__main__":
    sys.exit(main())
