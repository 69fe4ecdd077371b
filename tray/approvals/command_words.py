"""The words of a hook's command line, and the files that they name."""

from __future__ import annotations

import hashlib
import os
import re
import shlex
import sys
from collections.abc import Iterator
from functools import lru_cache

import msgspec

from tray.agents.placeholders import declared_values
from tray.errors import HooktrayError
from tray.files import user_file
from tray.model.hook import Command, Hook
from tray.shell.split import fill

CACHED_LINES = 1024  # command lines whose words are remembered: they are asked for at each use
# Programs of the system are named in the definition and run where they are: its package manager owns them.
SYSTEM_FOLDERS = ("/usr/", "/bin/", "/sbin/", "/lib/", "/lib64/", "/nix/", "/System/", "/Library/", "C:\\Windows\\")

Stamp = tuple[str, int, int, int, int]


class CommandWord(msgspec.Struct, frozen=True):
    """One word of a command line. `path` is the file that it, or the part after its `=`, would name."""

    text: str
    prefix: str
    path: str


def words_of(hook: Hook, command: Command) -> Iterator[CommandWord]:
    """The words of a line that no shell reads."""
    placeholders = declared_values(hook, command)
    for index, text in enumerate(split_line(command.line)):
        if index == 0:
            yield CommandWord(text, "", program_of(hook, command))
            continue
        prefix, named = re.fullmatch(r"(-{1,2}[\w-]+=)?(.*)", text, re.DOTALL).groups(default="")  # type: ignore[union-attr]
        yield CommandWord(text, prefix, absolute(fill(named, placeholders), command.folder) if named else "")


@lru_cache(maxsize=CACHED_LINES)
def split_line(line: str) -> tuple[str, ...]:
    return tuple(shlex.split(line))


def program_of(hook: Hook, command: Command) -> str:
    """The file that starts; "" when it is a bare name that was found nowhere."""
    if command.interpreter:
        return command.interpreter
    first = fill(split_line(command.line)[0], declared_values(hook, command))
    return absolute(first, command.folder) if "/" in first or "\\" in first else ""


def absolute(word: str, folder: str) -> str:
    return os.path.normpath(os.path.join(folder, os.path.expanduser(word)))  # noqa: PTH111, PTH118


def folder_of(path: str) -> str:
    return os.path.dirname(path)  # noqa: PTH120 - of texts, which need not be paths


def is_user_file(path: str) -> bool:
    return os.path.isfile(path) and not path.startswith(SYSTEM_FOLDERS)  # noqa: PTH113


def file_sha256(path: str) -> str:
    try:
        return hashlib.sha256(user_file(path, sys.maxsize)).hexdigest()
    except OSError as error:
        raise HooktrayError(f"{path}: cannot be read: {error.strerror}", hint="use another program") from error


def path_stamp(path: str) -> Stamp | None:
    try:
        status = os.stat(path)  # noqa: PTH116 - Path() refuses some words
    except (OSError, ValueError):
        return None
    return (path, status.st_ino, status.st_size, status.st_mtime_ns, status.st_ctime_ns)
