"""Which words of a hook's line are run, and which name data: only what is run is replaced by its approved copy."""

from __future__ import annotations

import os
import re
import shutil
from collections.abc import Iterator, Sequence
from pathlib import PurePath

from tray.engine import shell_line
from tray.engine.approval.dependencies import PROGRAMS, Entry
from tray.engine.approval.placeholders import declared
from tray.engine.approval.supplied import SCRIPT, SYSTEM, absolute, programs, takes_code_from_stdin
from tray.engine.runners.script import HEAD, How, interprets, told
from tray.model.hook import Command, Hook

BINARY = (b"\x7fELF", b"MZ", b"\xca\xfe\xba\xbe", b"\xcf\xfa\xed\xfe", b"\xce\xfa\xed\xfe")
DEVICES = "/dev/"


def in_words(argv: Sequence[str], command: Command) -> Iterator[Entry]:
    """The scripts among the words of a line that no shell reads; its first word is the program's path."""
    for place, is_script in programs(argv, 0):
        word = argv[place]
        if is_script or place == 0 or "/" in word or "\\" in word:
            by_name = place == 0 and bool(command.interpreter)
            program = _interpreter(argv, place) if is_script else ""
            yield from _entry(absolute(word, command.folder), program, by_name=by_name)


def in_shell(hook: Hook, command: Command) -> Iterator[Entry]:
    """The same for a line for a shell. Raises ValueError when a quote is not closed."""
    found = shell_line.words(command.line, declared(hook, command))
    for group in shell_line.commands(found):
        argv = [word.text for word in group]
        for place, is_script in programs(argv, 0):
            word = group[place]
            if word.plain and (is_script or "/" in word.text):
                program = _interpreter(argv, place) if is_script else ""
                yield from _entry(absolute(word.text, command.folder), program)
        plain = [word.text for word in group if not word.redirected]
        if plain and takes_code_from_stdin(plain):
            yield from _read(group, found, command.folder)


def _entry(path: str, program: str, *, by_name: bool = False) -> Iterator[Entry]:
    """A file of the user's own that is run; files of the system's package manager are left out."""
    if os.path.isfile(path) and not path.startswith(SYSTEM):  # noqa: PTH113
        yield Entry(path=path, program=program, copied=bool(program) or _is_copied(path, by_name=by_name))


def _is_copied(path: str, *, by_name: bool) -> bool:
    """Whether a program is copied: a script is, a binary or an interpreter is bound to its digest.

    So is a link that a package manager put on the PATH: the script that it leads to finds its own files from there.
    """
    if interprets(path) or PurePath(path).name in PROGRAMS:
        return False
    if by_name and os.path.dirname(os.path.realpath(path)) != os.path.realpath(os.path.dirname(path)):  # noqa: PTH120
        return False
    try:
        with open(path, "rb") as file:  # noqa: PTH123
            head = file.read(HEAD)
    except OSError:
        return True  # reading it raises the error
    return not head.startswith(BINARY) and b"\0" not in head


def data(words: Sequence[tuple[str, str]], run: set[str]) -> Iterator[tuple[str, str]]:
    """Of words with the paths that they may name, those that name data: not run, and a file or written as a path."""
    for text, path in words:
        if not path or path in run or path.startswith((*SYSTEM, DEVICES)) or "://" in text:
            continue
        written = re.search(r"(?:^|=)[\"']?(?:\.\.?/|~/|/)", text) and not SCRIPT.fullmatch(text)
        if written or os.path.isfile(path):  # noqa: PTH113
            yield text, path


def _read(group: Sequence[shell_line.Word], found: Sequence[shell_line.Word], folder: str) -> Iterator[Entry]:
    """What an interpreter reads as its program: the files behind `<`, or those that the rest of the line gives it."""
    others = (word for word in found if word.command != group[0].command)
    for word in (*others, *(word for word in group if word.redirected == "<")):
        if word.plain and not word.written and (word.redirected or "/" in word.text) and "://" not in word.text:
            yield from _entry(absolute(word.text, folder), group[0].text)


def _interpreter(argv: Sequence[str], place: int) -> str:
    """The interpreter that runs the script at this place, where a word names it."""
    for start in range(place):
        if any(at == start for at, _ in programs(argv, 0)):
            found = told(argv[start:])
            if found is not None and found.how is How.SCRIPT and start + found.place == place:
                word = _name(argv[start:])
                return word if "/" in word else shutil.which(word) or word
    return PurePath(argv[0]).name


def _name(argv: Sequence[str]) -> str:
    if PurePath(argv[0]).name != "env":
        return argv[0]
    return next((word for word in argv[1:] if "=" not in word and not word.startswith("-")), argv[0])
