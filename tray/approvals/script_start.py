"""Starts an approved script from its copy, by the interpreter that its first line named at the approval."""

from __future__ import annotations

import os
import re
import shlex
from collections.abc import Mapping
from pathlib import PurePath

import msgspec

from tray.execution.script import ASSIGNMENT, HEAD, VERSION

ENV_VALUES = {"-C", "-u", "--chdir", "--unset"}  # options of env whose value is the next word
SPLIT = re.compile(r"(?:-S|--split-string(?:=|\s+))\s*(.*)", re.DOTALL)
# What keeps an interpreter that we start from reading files of the user's own, where that changes nothing else.
ISOLATION = {"zsh": ("-f",)}


class Shebang(msgspec.Struct, frozen=True, kw_only=True):
    """A first line: the words before the script, and which of them is the interpreter (-1 where that is not known).

    With `is_searched` the interpreter is a name that `env` looks up.
    """

    words: tuple[str, ...] = ()
    place: int = -1
    is_searched: bool = False

    @property
    def interpreter(self) -> str:
        return self.words[self.place] if self.place >= 0 else ""


def parse_shebang(head: bytes) -> Shebang:
    """What the kernel, and `env`, make of a script's first line."""
    if not head.startswith(b"#!"):
        return Shebang()
    line = head[:HEAD].split(b"\n")[0][2:].decode("utf-8", "surrogateescape").strip(" \t")
    program, _, argument = (part.strip(" \t") for part in line.partition(" "))
    if PurePath(program).name != "env":
        return Shebang(words=tuple(filter(None, (program, argument))), place=0 if program else -1)
    found = SPLIT.fullmatch(argument)
    try:
        words = (program, *(shlex.split(found[1]) if found and not set(found[1]) & set("$\\#") else (argument,)))
    except ValueError:
        words = (program, argument)
    at = 1  # where the name of the program is among the words of env
    while at < len(words) and (words[at].startswith("-") or ASSIGNMENT.match(words[at])):
        if words[at].startswith(("-S", "--split")):
            return Shebang(words=words, is_searched=True)
        at += 2 if words[at] in ENV_VALUES else 1
    return Shebang(words=words, place=at if at < len(words) and words[at] else -1, is_searched=True)


def start_words(shebang: Shebang, programs: Mapping[str, str]) -> tuple[str, ...]:
    """Returns the words before the script, with the approved program; () if the kernel is to find it."""
    name = shebang.interpreter
    options = ISOLATION.get(VERSION.sub("", PurePath(name).name), ())
    program = programs.get(name, "") if shebang.is_searched else name if options else ""
    if not program:
        return ()
    before = shebang.words[: shebang.place] if shebang.is_searched and shebang.place > 1 else ()
    return (*before, program, *options, *shebang.words[shebang.place + 1 :])


def script_words(copy: str, programs: Mapping[str, str]) -> tuple[str, ...]:
    """Returns the words that start a script by its own name: the approved program, then its copy."""
    if not os.access(copy, os.X_OK):
        return (copy,)
    with open(copy, "rb") as file:  # noqa: PTH123
        return (*start_words(parse_shebang(file.read(HEAD)), programs), copy)
