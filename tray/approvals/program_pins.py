"""Which programs a hook runs by name, found once, at the approval; program_check.py compares them at each start."""

from __future__ import annotations

import os
import subprocess
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path, PurePath

from tray.approvals.command_words import program_of
from tray.approvals.inspection import Inspection, entries_of
from tray.approvals.program_check import SYSTEM, find_program, identify, is_user_writable
from tray.approvals.programs import program_positions
from tray.approvals.script_start import parse_shebang
from tray.approvals.shell_hooks import BUILTINS, bare_commands
from tray.execution.script import HEAD
from tray.files import file_head
from tray.lazy_dataclass import dataclass, replace
from tray.lazy_pattern import lazy_pattern
from tray.model.hook import Command, Hook
from tray.store.pins import Pins

WORD = lazy_pattern(r"[A-Za-z_][\w.+-]{0,39}")
MAX_WORDS = 2000  # of one hook's scripts that are looked for among the programs
DEPTH = 3  # of programs that are scripts for other programs
LOGIN_SECONDS = 5.0  # that a login shell may take
LOGIN_MARK = "hooktray-path:"
LOGIN_SHELLS = ("bash", "dash", "fish", "ksh", "sh", "zsh")  # that understand the question for their PATH


@dataclass(frozen=True, slots=True, kw_only=True)
class ProgramNames:
    """The names that a hook's line and scripts use. The hook cannot start without the `required` ones."""

    required: tuple[str, ...] = ()
    mentioned: tuple[str, ...] = ()


def program_names(inspection: Inspection) -> ProgramNames:
    """The programs that the line and the first lines name, and the words that may be programs."""
    hook = inspection.bundle.hook
    if not isinstance(hook.action, Command):
        return ProgramNames()
    required: dict[str, None] = {}
    try:
        for entry in entries_of(hook, hook.action):
            if name := parse_shebang(inspection.bundle.contents.get(entry.path, b"")[:HEAD]).interpreter:
                required[name] = None
        required |= dict.fromkeys(_line_names(hook, hook.action))
    except ValueError:
        return ProgramNames()
    words: dict[str, None] = {}
    for text in (hook.action.line, *(_text(whole) for whole in inspection.bundle.contents.values())):
        words |= dict.fromkeys(WORD.findall(text))
    mentioned = (word for word in words if word not in BUILTINS and word not in required)
    return ProgramNames(required=tuple(required), mentioned=tuple(mentioned)[:MAX_WORDS])


def program_words(inspection: Inspection) -> tuple[str, ...]:
    """The names of programs in the line and in the scripts: those that are required, and all words that may be."""
    names = program_names(inspection)
    return tuple(dict.fromkeys((*(PurePath(name).name for name in names.required), *names.mentioned)))


def _line_names(hook: Hook, command: Command) -> Iterator[str]:
    program = program_of(hook, command)
    if command.shell:
        yield program
        yield from bare_commands(hook, command)
        return
    if command.interpreter:
        yield command.interpreter
    words = command.line.split()
    yield from (words[at] for at, _ in program_positions(words, 0) if at and "/" not in words[at])


def _text(whole: bytes) -> str:
    return "" if b"\0" in whole[:HEAD] else whole.decode("utf-8", "replace")


def propose(names: ProgramNames, path: str) -> Pins:
    """What these names mean on this PATH, and the PATH that the hook gets.

    Folders that you can write to come last, unless the hook uses a program in them: what appears in the others
    later hides no program of the system.
    """
    folders = [folder for folder in dict.fromkeys(path.split(os.pathsep)) if os.path.isabs(folder)]  # noqa: PTH117
    own = [folder for folder in folders if is_user_writable(folder)]
    programs = {name: found for name in names.required if (found := find_program(name, folders))}
    there = {name for folder in own for name in _listed(folder)}
    used = {name: found for name in names.mentioned if name in there and (found := find_program(name, folders))}
    for _ in range(DEPTH):
        known = {**programs, **used}
        names_of_scripts = (name for one in known.values() if (name := _script_program(one)) and name not in known)
        used |= {name: one for name in names_of_scripts if (one := find_program(name, folders))}
    pinned = {os.path.dirname(found) for found in (*programs.values(), *used.values())}  # noqa: PTH120
    first = [folder for folder in folders if folder not in own or folder in pinned]
    if any(folder in own for folder in first):
        shadowed = ((name, find_program(name, folders)) for name in names.mentioned if name not in used)
        used |= {name: found for name, found in shadowed if found}
    approved = {found: identify(found) for found in programs.values()}
    return Pins(
        path=os.pathsep.join((*first, *(folder for folder in folders if folder not in first))),
        programs={**programs, **used},
        approved={found: one for found, one in approved.items() if one and one.identity != SYSTEM},
    )


def opened(pins: Pins) -> Pins:
    """The same for a hook that was approved before PATHs were recorded: what it found so far it goes on finding."""
    return replace(pins, is_open=True)


def _listed(folder: str) -> list[str]:
    try:
        return os.listdir(folder)  # noqa: PTH208
    except OSError:
        return []


def _script_program(path: str) -> str:
    """The name that a script's first line has `env` look up."""
    try:
        shebang = parse_shebang(file_head(path, HEAD))
    except OSError:
        return ""
    return shebang.interpreter if shebang.is_searched else ""


class SearchPath:
    """The PATH that an approval records: the terminal's that approves, else the last event's, else the login shell's.

    `login` is asked at most once, and only when nothing else is known.
    """

    def __init__(self, environment: Mapping[str, str], login: Callable[[], str] = lambda: "") -> None:
        self._environment, self._login = environment, login
        self._found: str | None = None
        self.event_path = ""  # of the last event that had one

    def saw_event(self, path: str) -> bool:
        """Remember the PATH of an agent; True when it is another one than before."""
        before, self.event_path = self.event_path, path or self.event_path
        return self.event_path != before

    def current(self) -> str:
        """The PATH for an approval that no terminal gives."""
        return self.event_path or self._login_path()

    def _login_path(self) -> str:
        own = self._environment.get("PATH", os.defpath)
        if "TERM" in self._environment:  # we were started from a terminal: that is the login shell's
            return own
        if self._found is None:
            self._found = self._login()
        return os.pathsep.join(dict.fromkeys(filter(None, (*self._found.split(os.pathsep), *own.split(os.pathsep)))))


def login_path(environment: Mapping[str, str]) -> str:
    """What the user's login shell has in PATH; "" when it does not say."""
    shell = environment.get("SHELL", "")
    if os.name == "nt" or Path(shell).name not in LOGIN_SHELLS or not Path(shell).is_absolute():
        return ""
    try:
        done = subprocess.run(
            [shell, "-l", "-i", "-c", f"echo {LOGIN_MARK}; printenv PATH"],
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            timeout=LOGIN_SECONDS,
            check=False,
            cwd=environment.get("HOME", "/"),
            env=environment,
            start_new_session=True,
        )
    except (OSError, subprocess.TimeoutExpired):
        return ""
    _, mark, rest = done.stdout.decode("utf-8", "surrogateescape").rpartition(f"{LOGIN_MARK}\n")
    return rest.split("\n")[0].strip() if mark else ""


def terminal_path(pid: int) -> str:
    """The PATH of the command that a person typed at a terminal; "" where that cannot be seen."""
    try:
        fields = Path(f"/proc/{pid}/environ").read_bytes().split(b"\0")
    except OSError:
        return ""
    return next((os.fsdecode(one[5:]) for one in fields if one.startswith(b"PATH=")), "")
