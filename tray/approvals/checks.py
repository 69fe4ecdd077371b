"""What a static analysis finds wrong with a hook before it is approved; nothing of the hook runs for that.

The only programs that it starts are shells with `-n`, which read a script and do not execute it.
"""

from __future__ import annotations

import ast
import contextlib
import os
import re
import subprocess
import sys
from collections.abc import Collection, Iterable, Iterator
from functools import lru_cache
from pathlib import Path

import msgspec

from tray.approvals.command_words import folder_of
from tray.approvals.covered_files import ScriptProblem, ScriptProblemKind
from tray.approvals.inspection import EntryPoint, Inspection, inspect
from tray.approvals.script_files import SHELLS, language
from tray.approvals.script_start import parse_shebang
from tray.errors import HooktrayError
from tray.execution.environment import USER_PACKAGES
from tray.execution.script import HEAD
from tray.files import user_file
from tray.language import say
from tray.model.hook import Command, Hook, Prompt

TIMEOUT = 5.0  # seconds for a shell to read a script
SYNTAX_OPTIONS = {  # how each shell reads a script without running it, and without any file of its own
    "ash": ("-n",),
    "bash": ("--noprofile", "--norc", "-n"),
    "dash": ("-n",),
    "ksh": ("-n",),
    "sh": ("-n",),
}
SHELL_FOLDERS = ("/bin", "/usr/bin", "/usr/local/bin", "/opt/homebrew/bin")

REMOVED_MODULES = {"asynchat", "asyncore", "distutils", "imp", "smtpd"}  # of older standard libraries
STANDARD = frozenset(sys.stdlib_module_names) | REMOVED_MODULES
# Signs that the script loads modules from elsewhere: PEP 723, or a search path of its own.
OTHER_PLACES = ("# /// script", "sys.path", "addsitedir")


def problems(inspection: Inspection) -> tuple[ScriptProblem, ...]:
    """What is missing or wrong, as far as files show."""
    if not isinstance(inspection.bundle.hook.action, Command):
        return ()
    return (*missing_files(inspection), *_mode_problems(inspection), *_syntax_problems(inspection))


def missing_files(inspection: Inspection) -> Iterator[ScriptProblem]:
    """What its scripts load and that is not there; finding that starts no program."""
    bundle = inspection.bundle
    yield from (one for one in inspection.found.problems if one.name not in bundle.contents)
    for entry in inspection.entries:
        content = bundle.contents.get(entry.path, b"")
        if content and language(entry.path, content[:HEAD]) == "python":
            yield from _python_problems(inspection, entry, content)


class ImportCheck(msgspec.Struct, frozen=True):
    """Checks, before a hook is imported, that it can work and can be approved."""

    has_model: bool = True  # for hooks that ask one

    def problem(self, hook: Hook) -> str:
        """Returns why the hook cannot work, and what to do; "" if nothing shows that it cannot."""
        if isinstance(hook.action, Prompt) and not self.has_model:
            return say("it asks a model, and no `llm:` of hooktray.yaml is confirmed")
        try:
            return next((str(problem) for problem in problems(inspect(hook)) if problem.certain), "")
        except HooktrayError as error:
            return ": ".join(filter(None, (error.message, error.hint)))
        except (OSError, ValueError) as error:
            return str(error)


def _mode_problems(inspection: Inspection) -> Iterator[ScriptProblem]:
    """Scripts that the line starts by their own names: they need their mode and their interpreter."""
    if os.name == "nt":
        return
    for entry in inspection.entries:
        if entry.program or not entry.is_copied or entry.path not in inspection.bundle.contents:
            continue
        if entry.path not in inspection.bundle.executable:
            yield ScriptProblem(kind=ScriptProblemKind.MODE, name=entry.path, script=entry.path)
        program = parse_shebang(inspection.bundle.contents[entry.path][:HEAD]).interpreter
        if program and not (Path(program).exists() if "/" in program else program in inspection.bundle.pinned):
            # The agent may bring another PATH than ours.
            certain = "/" in program
            yield ScriptProblem(
                kind=ScriptProblemKind.INTERPRETER, name=program, script=entry.path, line=1, certain=certain
            )


def _syntax_problems(inspection: Inspection) -> Iterator[ScriptProblem]:
    """The syntax errors of its scripts that a shell with `-n` reports."""
    for entry in inspection.entries:
        content = inspection.bundle.contents.get(entry.path, b"")
        name = Path(entry.program or parse_shebang(content[:HEAD]).interpreter).name
        error = _syntax_error(name, content) if name in SYNTAX_OPTIONS else ""
        if error:
            yield ScriptProblem(kind=ScriptProblemKind.SYNTAX, name=error, script=entry.path, certain=name in SHELLS)


def _python_problems(inspection: Inspection, entry: EntryPoint, content: bytes) -> Iterator[ScriptProblem]:
    """Its imports that are not found, and its syntax errors; its Python may be another version than ours."""
    program = entry.program or parse_shebang(content[:HEAD]).interpreter
    bundle, text = inspection.bundle, content.decode("utf-8", "replace").removeprefix("\ufeff")
    try:
        for name, line, is_users in _missing_imports(
            entry.path, text, bundle.pinned.get(program, program), bundle.contents
        ):
            kind = ScriptProblemKind.USER_PACKAGE if is_users else ScriptProblemKind.MODULE
            if not is_users or USER_PACKAGES not in bundle.hook.env:
                yield ScriptProblem(kind=kind, name=name, script=entry.path, line=line)
    except (SyntaxError, ValueError, RecursionError, MemoryError) as error:
        what, line = f"{getattr(error, 'msg', '') or error}", getattr(error, "lineno", 0) or 0
        yield ScriptProblem(kind=ScriptProblemKind.SYNTAX, name=what, script=entry.path, line=line, certain=False)


def _syntax_error(shell: str, content: bytes) -> str:
    """The first error that a shell reports of a script; it reads the bytes on stdin and executes none of them."""
    program = next((f"{folder}/{shell}" for folder in SHELL_FOLDERS if os.access(f"{folder}/{shell}", os.X_OK)), "")
    if not program:
        return ""
    try:
        done = subprocess.run(
            [program, *SYNTAX_OPTIONS[shell]],
            input=content,
            capture_output=True,
            timeout=TIMEOUT,
            check=False,
            cwd="/",
            env={"LC_ALL": "C", "PATH": "/usr/bin:/bin"},  # without ENV and BASH_ENV it reads no startup file
        )
    except (OSError, subprocess.TimeoutExpired):
        return ""
    errors = done.stderr.decode("utf-8", "replace").strip().splitlines()
    return errors[0].removeprefix(f"{program}: ") if done.returncode and errors else ""


def _missing_imports(
    script: str, text: str, program: str, covered: Collection[str]
) -> Iterator[tuple[str, int, bool]]:
    """Yields modules that a script needs and that are missing: name, line, and True if the user's packages have it.

    Raises SyntaxError or ValueError when Python cannot read it.
    """
    tree = ast.parse(text)
    folders = {folder_of(script), *(folder_of(path) for path in covered)}
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
            if _holds([folder_of(script)], root):
                yield name, node.lineno, False
            elif installed is not None and not _holds(installed, root):
                # `pip install --user` is for all interpreters but those of virtual environments.
                is_virtual = Path(program).parent.parent.joinpath("pyvenv.cfg").is_file()
                yield name, node.lineno, not is_virtual and _holds(_packages(Path.home() / ".local"), root)


def _holds(folders: Iterable[Path | str], module: str) -> bool:
    """True if one of the folders has this module: a file with any ending, or a folder."""
    name = module.replace(".", "/")
    return any(any(Path(folder).glob(pattern)) for folder in folders for pattern in (name, f"{name}.*"))


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
    for file in [file for folder in folders for file in folder.glob("*.pth")]:  # each line of these adds a folder
        with contextlib.suppress(OSError):
            lines = map(str.strip, user_file(file).decode("utf-8", "replace").splitlines())
            folders += [Path(file.parent, one) for one in lines if one and not one.startswith(("#", "import"))]
    return tuple(folders)


def _packages(prefix: Path) -> Iterator[Path]:
    for pattern in ("lib/python3*/site-packages", "lib/python3*/dist-packages", "Lib/site-packages"):
        yield from prefix.glob(pattern)
