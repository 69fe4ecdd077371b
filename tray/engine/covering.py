"""What an approval covers of a command line: which words name files, what is read of them, and how the copies run."""

from __future__ import annotations

import contextlib
import hashlib
import os
import re
import shlex
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from itertools import islice
from pathlib import Path

from tray.engine.runners.script import interprets, runs_module, script_of
from tray.errors import HooktrayError
from tray.model.hook import Command, Hook
from tray.store.copies import Copies, DamagedError, Unit

SIZE = 20 * 1024 * 1024  # bytes of one hook's files together
COUNT = 2000
# Programs of the system are named in the definition and run where they stand: its package manager owns them.
SYSTEM = ("/usr/", "/bin/", "/sbin/", "/lib/", "/lib64/", "/nix/", "/System/", "/Library/", "C:\\Windows\\")

Sign = tuple[str, int, int, int, int]


@dataclass(frozen=True, slots=True)
class Word:
    """One word of a command line. `path` is the file that it, or the part after its `=`, would name."""

    text: str
    prefix: str
    path: str


class Covering:
    """Runs hooks from their copies, bound to the very programs that were there when they were approved."""

    def __init__(self, copies: Copies) -> None:
        self._copies = copies
        self._sums: dict[Sign, str] = {}

    def argv(self, hook: Hook, name: str) -> tuple[str, ...]:
        """The command line of the unit's own bytes. Raises DamagedError; never falls back to the original."""
        if not isinstance(hook.action, Command):
            return ()
        manifest = self._copies.check(name)
        words = list(_words(hook.action))
        program = words[0].path
        if manifest.pinned.get(program, "") not in ("", self._sum(program)):
            raise DamagedError(f"{program} is another program than when {hook.name} was approved")
        argv = [self._word(word, name, manifest.files) for word in words]
        if program not in manifest.files:
            if program not in manifest.pinned and not program.startswith(SYSTEM):
                raise DamagedError(f"{program} was not there when {hook.name} was approved")
            argv[0] = program
        return tuple(argv)

    def _word(self, word: Word, name: str, files: Mapping[str, str]) -> str:
        if word.path in files:
            return f"{word.prefix}{self._copies.path(name, word.path)}"
        return os.path.expanduser(word.text) if word.text.startswith("~/") else word.text  # noqa: PTH111

    def _sum(self, path: str) -> str:
        """The program's SHA-256; read again only when the kernel says that the file may be another one."""
        sign = _sign(path)
        if sign is None:
            return "gone"
        if sign not in self._sums:
            self._sums[sign] = _sum(path)
        return self._sums[sign]


def survey(hook: Hook) -> Unit:
    """Read every file that belongs to the hook, once. Raises HooktrayError when one is missing or too large."""
    contents: dict[str, bytes] = {}
    left = SIZE
    for path in _belonging(hook):
        content = _read(path, left)
        left -= len(content)
        contents[path] = content
    executable = frozenset(path for path in contents if os.access(path, os.X_OK))
    pinned = {}
    if isinstance(hook.action, Command):
        program = _program(hook.action)
        if program not in contents and not program.startswith(SYSTEM):
            pinned[program] = _sum(program)
    return Unit(hook=hook, contents=contents, executable=executable, pinned=pinned)


def signature(hook: Hook) -> tuple[Sign, ...]:
    """A cheap sign that the files may have changed; the kernel's ctime cannot be set back, unlike mtime."""
    if not isinstance(hook.action, Command):
        return ()
    paths = {word.path for word in _words(hook.action)}
    with contextlib.suppress(HooktrayError):
        paths.update(islice(_listed(hook, hook.action), COUNT))
    return tuple(sign for path in sorted(paths) if (sign := _sign(path)))


def _belonging(hook: Hook) -> Iterator[str]:
    """The files to copy: the program when it is a script, every word that names a file, and the listed ones."""
    if not isinstance(hook.action, Command):
        return
    _must_be_there(hook.action)
    first, *others = _words(hook.action)
    if not interprets(first.path):
        others.insert(0, first)
    yield from (word.path for word in others if _is_ours(word.path))
    for count, path in enumerate(_listed(hook, hook.action)):
        if count >= COUNT:
            raise HooktrayError(f"{hook.name}: more than {COUNT} files", hint="name fewer files under `files:`")
        if _is_ours(path):
            yield path


def _must_be_there(command: Command) -> None:
    """What would be run has to be here to be read; else the agent's own folder could supply it later."""
    program = _program(command)
    if not program or not os.path.isfile(program):  # noqa: PTH113 - Path.is_file raises for some names
        first = shlex.split(command.line)[0]
        raise HooktrayError(f"{first}: there is no such program", hint="write its path, or put it there first")
    argv = [program, *shlex.split(command.line)[1:]]
    if runs_module(argv):
        raise HooktrayError("python -m runs what the agent's folder holds", hint="name the script, or write -I -m")
    script = script_of(argv)
    if script and not os.path.isfile(_absolute(script, command.folder)):  # noqa: PTH113
        raise HooktrayError(f"{script}: there is no such file", hint=f"it is looked up in {command.folder}")


def _words(command: Command) -> Iterator[Word]:
    for index, text in enumerate(shlex.split(command.line)):
        if index == 0:
            yield Word(text, "", _program(command))
            continue
        prefix, named = re.fullmatch(r"(-{1,2}[\w-]+=)?(.*)", text, re.DOTALL).groups(default="")  # type: ignore[union-attr]
        yield Word(text, prefix, _absolute(named, command.folder) if named else "")


def _program(command: Command) -> str:
    """The file that the first word is; "" when it is a bare name that was found nowhere."""
    first = shlex.split(command.line)[0]
    if command.interpreter or ("/" not in first and "\\" not in first):
        return command.interpreter
    return _absolute(first, command.folder)


def _listed(hook: Hook, command: Command) -> Iterator[str]:
    for pattern in hook.files:
        whole = Path(_absolute(pattern, command.folder))
        fixed = Path(*_plain_parts(whole))
        rest = whole.relative_to(fixed)
        try:
            yield from (str(path) for path in ([fixed] if rest == Path() else fixed.glob(str(rest))))
        except (OSError, ValueError, NotImplementedError) as error:
            raise HooktrayError(f"files: {pattern}: {error}", hint="write a pattern such as `lib/*.py`") from error


def _plain_parts(pattern: Path) -> Iterator[str]:
    for part in pattern.parts:
        if any(sign in part for sign in "*?["):
            return
        yield part


def _is_ours(path: str) -> bool:
    return os.path.isfile(path) and not path.startswith(SYSTEM)  # noqa: PTH113


def _absolute(word: str, folder: str) -> str:
    return os.path.normpath(os.path.join(folder, os.path.expanduser(word)))  # noqa: PTH111, PTH118


def _read(path: str, left: int) -> bytes:
    try:
        with Path(path).open("rb") as file:
            content = file.read(left + 1)
    except OSError as error:
        raise HooktrayError(f"{path}: cannot be read: {error.strerror}", hint="make it readable for you") from error
    if len(content) > left:
        raise HooktrayError(f"{path}: the hook's files are over {SIZE} bytes", hint="name fewer files under `files:`")
    return content


def _sum(path: str) -> str:
    try:
        return hashlib.sha256(Path(path).read_bytes()).hexdigest()
    except OSError as error:
        raise HooktrayError(f"{path}: cannot be read: {error.strerror}", hint="use another program") from error


def _sign(path: str) -> Sign | None:
    try:
        status = os.stat(path)  # noqa: PTH116 - Path() refuses some words
    except (OSError, ValueError):
        return None
    return (path, status.st_ino, status.st_size, status.st_mtime_ns, status.st_ctime_ns)
