"""What a static look finds wrong with a hook before it is approved; nothing of the hook runs for that.

The only programs that it starts are shells with `-n`, which read a script and do not execute it.
"""

from __future__ import annotations

import contextlib
import os
import shlex
import shutil
import subprocess
from collections.abc import Iterator
from pathlib import Path

from tray.engine.approval.covering import Survey, entries_of, examine
from tray.engine.approval.dependencies import SHELLS, shebang
from tray.engine.approval.dependencies.reading import Lack, Lacking
from tray.engine.runners.script import HEAD
from tray.errors import HooktrayError
from tray.language import phrase, say
from tray.model.hook import Command, Hook

PATIENCE = 5.0  # seconds for a shell to read a script
READING = {  # how each shell reads a script without running it, and without any file of its own
    "ash": ("-n",),
    "bash": ("--noprofile", "--norc", "-n"),
    "dash": ("-n",),
    "ksh": ("-n",),
    "sh": ("-n",),
}
PLACES = ("/bin", "/usr/bin", "/usr/local/bin", "/opt/homebrew/bin")
FOUND = {
    Lacking.FILE: phrase("`{name}` is not there, and {script} loads it"),
    Lacking.INTERPRETER: phrase("`{name}` is not installed, and {script} begins with it"),
    Lacking.LARGE: phrase("the package `{name}`, which {script} imports, is too large to be copied"),
    Lacking.MODE: phrase("{script} is not executable"),
    Lacking.MODULE: phrase("the import `{name}` of {script} was not found"),
    Lacking.PACKAGE: phrase("the package `{name}`, which {script} imports, was not found"),
    Lacking.SYNTAX: phrase("{script} cannot be read: {name}"),
}
CURES = {
    Lacking.FILE: phrase("put the file there, or name it under `files:`"),
    Lacking.INTERPRETER: phrase("install it, or correct the first line"),
    Lacking.LARGE: phrase("bundle the script into one file"),
    Lacking.MODE: phrase("run `chmod +x {quoted}`"),
    Lacking.MODULE: phrase("put the file beside the script and name it under `files:`, or install the package"),
    Lacking.PACKAGE: phrase("install it in node_modules beside the script, or bundle the script into one file"),
    Lacking.SYNTAX: phrase("correct that line"),
}


def problems(survey: Survey) -> tuple[Lack, ...]:
    """What the hook lacks, as far as files show."""
    hook = survey.unit.hook
    if not isinstance(hook.action, Command):
        return ()
    return (*survey.look.lacks, *_started(survey), *_syntax(survey))


def unworkable(survey: Survey) -> str:
    """Why a hook cannot work, and what to do; "" when nothing shows that it cannot."""
    return next((describe(lack) for lack in problems(survey) if lack.sure), "")


def cannot_work(hook: Hook) -> str:
    """The same for a hook that was not surveyed yet; also why it could not be approved."""
    try:
        return unworkable(examine(hook))
    except HooktrayError as error:
        return ": ".join(filter(None, (error.message, error.hint)))
    except (OSError, ValueError) as error:
        return str(error)


def describe(lack: Lack) -> str:
    """One finding with its cure, in one line."""
    return f"{finding(lack)}: {cure(lack)}"


def finding(lack: Lack) -> str:
    """What is wrong, and where."""
    place = f"{lack.script}:{lack.line}" if lack.line else lack.script
    return say(FOUND[lack.what], name=lack.name, script=place)


def cure(lack: Lack) -> str:
    """What to do about it."""
    return say(CURES[lack.what], quoted=shlex.quote(lack.script))


def _started(survey: Survey) -> Iterator[Lack]:
    """Scripts that the line starts by their own names: they need their mode and their interpreter."""
    hook = survey.unit.hook
    assert isinstance(hook.action, Command)
    if os.name == "nt":
        return
    with contextlib.suppress(ValueError):
        for entry in entries_of(hook, hook.action):
            if entry.program or not entry.copied or entry.path not in survey.unit.contents:
                continue
            if entry.path not in survey.unit.executable:
                yield Lack(what=Lacking.MODE, name=entry.path, script=entry.path)
            program = shebang(survey.unit.contents[entry.path][:HEAD])
            if program and not (Path(program).exists() if "/" in program else shutil.which(program)):
                # The agent may bring another PATH than ours.
                sure = "/" in program
                yield Lack(what=Lacking.INTERPRETER, name=program, script=entry.path, line=1, sure=sure)


def _syntax(survey: Survey) -> Iterator[Lack]:
    """The syntax errors that the shells of its scripts report; the survey found those of Python."""
    hook = survey.unit.hook
    assert isinstance(hook.action, Command)
    with contextlib.suppress(ValueError):
        for entry in entries_of(hook, hook.action):
            content = survey.unit.contents.get(entry.path, b"")
            name = Path(entry.program or shebang(content[:HEAD])).name
            if name in READING and (error := _refused(name, content)):
                yield Lack(what=Lacking.SYNTAX, name=error, script=entry.path, sure=name in SHELLS)


def _refused(shell: str, content: bytes) -> str:
    """The first error that a shell reports of a script; it reads the bytes on stdin and executes none of them."""
    program = next((f"{place}/{shell}" for place in PLACES if os.access(f"{place}/{shell}", os.X_OK)), "")
    if not program:
        return ""
    try:
        done = subprocess.run(
            [program, *READING[shell]],
            input=content,
            capture_output=True,
            timeout=PATIENCE,
            check=False,
            cwd="/",
            env={"LC_ALL": "C", "PATH": "/usr/bin:/bin"},  # without ENV and BASH_ENV it reads no startup file
        )
    except (OSError, subprocess.TimeoutExpired):
        return ""
    errors = done.stderr.decode("utf-8", "replace").strip().splitlines()
    return errors[0].removeprefix(f"{program}: ") if done.returncode and errors else ""
