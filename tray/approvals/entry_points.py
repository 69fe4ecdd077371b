"""Which words of a hook's line are run, and which name data: only what is run is replaced by its approved copy."""

from __future__ import annotations

import os
import re
import shutil
from collections.abc import Iterator, Sequence
from pathlib import PurePath

import msgspec

from tray.approvals.command_words import SYSTEM_FOLDERS, absolute
from tray.approvals.covered_files import LINKED_FOLDERS
from tray.approvals.programs import SCRIPT, program_positions
from tray.approvals.script_files import is_interpreter
from tray.approvals.shell_hooks import runs, script_of
from tray.execution.script import HEAD, ProgramSource, parse_invocation
from tray.files import file_head
from tray.model.hook import Command, Hook

BINARY = (b"\x7fELF", b"MZ", b"\xca\xfe\xba\xbe", b"\xcf\xfa\xed\xfe", b"\xce\xfa\xed\xfe")
DEVICES = "/dev/"


class EntryPoint(msgspec.Struct, frozen=True, kw_only=True):
    """A file that the line of a hook runs. `program` is the interpreter in front of it, if there is one."""

    path: str
    program: str = ""
    is_copied: bool = True  # False for binaries, interpreters and a package manager's files


def in_argv(argv: Sequence[str], command: Command) -> Iterator[EntryPoint]:
    """The scripts among the words of a line that no shell reads; its first word is the program's path."""
    for position, is_script in program_positions(argv, 0):
        word = argv[position]
        if is_script or position == 0 or "/" in word or "\\" in word:
            by_name = position == 0 and bool(command.interpreter)
            program = _interpreter(argv, position) if is_script else ""
            yield from _entry_point(absolute(word, command.folder), program, by_name=by_name)


def in_shell(hook: Hook, command: Command) -> Iterator[EntryPoint]:
    """The same for a line for a shell. Raises ValueError when a quote is not closed."""
    for one in runs(script_of(hook, command), command.folder):
        if one.path:
            program = _interpreter(one.argv, one.position) if one.is_script else ""
            yield from _entry_point(one.path, program)


def _entry_point(path: str, program: str, *, by_name: bool = False) -> Iterator[EntryPoint]:
    """A file of the user's own that is run; files of the system's package manager are left out."""
    if os.path.isfile(path) and not path.startswith(SYSTEM_FOLDERS):  # noqa: PTH113
        is_managed = not LINKED_FOLDERS.isdisjoint(PurePath(path).parts)
        is_copied = not is_managed and (bool(program) or _is_script(path, by_name=by_name))
        yield EntryPoint(path=path, program=program, is_copied=is_copied)


def _is_script(path: str, *, by_name: bool) -> bool:
    """True if a program is a script of the user's own, and neither a binary nor an interpreter.

    A link that a package manager put on the PATH does not count: the script there finds its files from its own place.
    """
    if is_interpreter(path):
        return False
    if by_name and os.path.dirname(os.path.realpath(path)) != os.path.realpath(os.path.dirname(path)):  # noqa: PTH120
        return False
    try:
        head = file_head(path, HEAD)
    except OSError:
        return True  # reading it raises the error
    return not head.startswith(BINARY) and b"\0" not in head


def data_words(words: Sequence[tuple[str, str]], run: set[str]) -> Iterator[tuple[str, str]]:
    """Of words with the paths that they may name, those that name data: not run, and a file or written as a path."""
    for text, path in words:
        if not path or path in run or path.startswith((*SYSTEM_FOLDERS, DEVICES)) or "://" in text:
            continue
        written = re.search(r"(?:^|=)[\"']?(?:\.\.?/|~/|/)", text) and not SCRIPT.fullmatch(text)
        if written or os.path.isfile(path):  # noqa: PTH113
            yield text, path


def _interpreter(argv: Sequence[str], position: int) -> str:
    """The interpreter that runs the script at this place, where a word names it."""
    for start in range(position):
        if any(at == start for at, _ in program_positions(argv, 0)):
            found = parse_invocation(argv[start:])
            if found is not None and found.source is ProgramSource.SCRIPT and start + found.place == position:
                word = _program_name(argv[start:])
                return word if "/" in word else shutil.which(word) or word
    return PurePath(argv[0]).name


def _program_name(argv: Sequence[str]) -> str:
    if PurePath(argv[0]).name != "env":
        return argv[0]
    return next((word for word in argv[1:] if "=" not in word and not word.startswith("-")), argv[0])
