"""Finds imports of a Python script that are not installed for its interpreter, without running it."""

from __future__ import annotations

import ast
import os
import re
import sys
from collections.abc import Collection, Iterable, Iterator
from functools import lru_cache
from pathlib import Path

from tray.files import user_file

REMOVED_MODULES = {"asynchat", "asyncore", "distutils", "imp", "smtpd"}  # of older standard libraries
STANDARD = frozenset(sys.stdlib_module_names) | REMOVED_MODULES
# Signs that the script loads modules from elsewhere: PEP 723, or a search path of its own.
OTHER_PLACES = ("# /// script", "sys.path", "addsitedir")


def missing_imports(
    script: str, text: str, program: str, covered: Collection[str]
) -> Iterator[tuple[str, int, bool]]:
    """Yields modules that a script needs and that are missing: name, line, and True if the user's packages have it.

    Raises SyntaxError or ValueError when Python cannot read it.
    """
    tree = ast.parse(text)
    folders = {_folder(script), *(_folder(path) for path in covered)}
    installed = None if any(mark in text for mark in OTHER_PLACES) else _installed_for(program)
    for node in tree.body:
        names = [one.name for one in node.names] if isinstance(node, ast.Import) else []
        if isinstance(node, ast.ImportFrom) and node.module:
            if node.level:
                if not _holds([Path(script).parents[node.level - 1]], node.module):
                    yield node.module, node.lineno, False
                continue
            names = [node.module]
        for name in names:
            root = name.split(".")[0]
            if root in STANDARD or _holds(folders, name):
                continue
            if _holds([_folder(script)], root):
                yield name, node.lineno, False
            elif installed is not None and not _holds(installed, root):
                yield name, node.lineno, _holds(_user_packages(program), root)


def _holds(folders: Iterable[Path | str], module: str) -> bool:
    """True if one of the folders has this module: a file with any ending, or a folder."""
    name = module.replace(".", "/")
    return any(any(Path(folder).glob(pattern)) for folder in folders for pattern in (name, f"{name}.*"))


def _folder(path: str) -> str:
    return os.path.dirname(path)  # noqa: PTH120


@lru_cache(maxsize=64)
def _installed_for(program: str) -> tuple[Path, ...] | None:
    """Returns the folders of this interpreter's packages; None if its path does not show them."""
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
    return (*folders, *_linked(folders))


def _user_packages(program: str) -> Iterator[Path]:
    """Yields the folders of `pip install --user` for this interpreter; a virtual environment has none."""
    if not Path(program).parent.parent.joinpath("pyvenv.cfg").is_file():
        yield from _packages(Path.home() / ".local")


def _packages(prefix: Path) -> Iterator[Path]:
    for pattern in ("lib/python3*/site-packages", "lib/python3*/dist-packages", "Lib/site-packages"):
        yield from prefix.glob(pattern)


def _linked(folders: Iterable[Path]) -> Iterator[Path]:
    """Yields the folders that `.pth` files add."""
    for file in (file for folder in folders for file in folder.glob("*.pth")):
        try:
            lines = user_file(file).decode("utf-8", "replace").splitlines()
        except OSError:
            continue
        yield from (
            Path(file.parent, line.strip()) for line in lines if line.strip() and not line.startswith(("#", "import"))
        )
