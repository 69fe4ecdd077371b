"""What a static analysis finds wrong with a hook before it is approved; nothing of the hook runs for that.

The only programs that it starts are shells with `-n`, which read a script and do not execute it.
"""

from __future__ import annotations

import os
import shlex
import subprocess
from collections.abc import Iterator
from pathlib import Path

import msgspec

from tray.approvals.covered_files import ScriptProblem, ScriptProblemKind
from tray.approvals.entry_points import EntryPoint
from tray.approvals.inspection import Inspection, inspect
from tray.approvals.python_imports import missing_imports
from tray.approvals.script_files import SHELLS, language
from tray.approvals.script_start import parse_shebang
from tray.errors import HooktrayError
from tray.execution.environment import USER_PACKAGES
from tray.execution.script import HEAD
from tray.language import phrase, say
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
MESSAGES = {
    ScriptProblemKind.FILE: phrase("`{name}` is not there, and {script} loads it"),
    ScriptProblemKind.INTERPRETER: phrase("`{name}` is not installed, and {script} begins with it"),
    ScriptProblemKind.MODE: phrase("{script} is not executable"),
    ScriptProblemKind.MODULE: phrase("the import `{name}` of {script} was not found"),
    ScriptProblemKind.SYNTAX: phrase("{script} cannot be read: {name}"),
    ScriptProblemKind.USER_PACKAGE: phrase(
        "`{name}`, which {script} imports, is installed for your user only, and hooks do not load such packages"
    ),
}
REMEDIES = {
    ScriptProblemKind.FILE: phrase("put the file there, or name it under `files:`"),
    ScriptProblemKind.INTERPRETER: phrase("install it, or correct the first line"),
    ScriptProblemKind.MODE: phrase("run `chmod +x {quoted}`"),
    ScriptProblemKind.MODULE: phrase(
        "put the file beside the script, or install the package for the interpreter that runs the script"
    ),
    ScriptProblemKind.SYNTAX: phrase("correct that line"),
    ScriptProblemKind.USER_PACKAGE: phrase(
        "write `env: [PYTHONUSERBASE]` into the hook, or let the script's first line name the Python of a virtual "
        "environment that has the package"
    ),
}


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


def blocking_problem(inspection: Inspection) -> str:
    """Why a hook cannot work, and what to do; "" when nothing shows that it cannot."""
    return next((describe(problem) for problem in problems(inspection) if problem.certain), "")


class ImportCheck(msgspec.Struct, frozen=True):
    """Checks, before a hook is imported, that it can work and can be approved."""

    has_model: bool = True  # for hooks that ask one

    def problem(self, hook: Hook) -> str:
        """Returns why the hook cannot work, and what to do; "" if nothing shows that it cannot."""
        if isinstance(hook.action, Prompt) and not self.has_model:
            return say("it asks a model, and no `llm:` of hooktray.yaml is confirmed")
        try:
            return blocking_problem(inspect(hook))
        except HooktrayError as error:
            return ": ".join(filter(None, (error.message, error.hint)))
        except (OSError, ValueError) as error:
            return str(error)


def describe(problem: ScriptProblem) -> str:
    """One problem with its remedy, in one line."""
    return f"{message(problem)}: {remedy(problem)}"


def message(problem: ScriptProblem) -> str:
    """What is wrong, and where."""
    location = f"{problem.script}:{problem.line}" if problem.line else problem.script
    return say(MESSAGES[problem.kind], name=problem.name, script=location)


def remedy(problem: ScriptProblem) -> str:
    """What to do about it."""
    return say(REMEDIES[problem.kind], quoted=shlex.quote(problem.script))


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
        for name, line, is_users in missing_imports(
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
