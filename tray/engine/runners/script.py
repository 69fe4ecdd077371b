"""Tells a hook that is broken from a hook that says no: is there anything to run, and if not, what is missing?

CPython answers a missing script with exit code 2, which would read as a refusal; so we look before the spawn.
"""

from __future__ import annotations

import errno
import os
import re
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import takewhile
from pathlib import Path

HEAD = 256  # bytes; the kernel reads no more of an interpreter line
ASSIGNMENT = re.compile(r"[A-Za-z_]\w*=")
VERSION = re.compile(r"[\d.]*(\.exe)?$")


@dataclass(frozen=True, slots=True)
class Grammar:
    """How an interpreter's words are read: letters (and long options) with inline code, and those with a value."""

    inline: str
    value: str = ""
    long_inline: frozenset[str] = frozenset()
    long_value: frozenset[str] = frozenset()


SHELL = Grammar(inline="cs", value="oO", long_value=frozenset({"--rcfile", "--init-file"}))
NODE = Grammar(
    inline="ep",
    value="rC",
    long_inline=frozenset({"--eval", "--print"}),
    long_value=frozenset({"--require", "--import", "--loader", "--env-file", "--conditions"}),
)
INTERPRETERS = {
    "bash": SHELL,
    "dash": SHELL,
    "ksh": SHELL,
    "node": NODE,
    "nodejs": NODE,
    "perl": Grammar(inline="eE", value="IMmiFCDlx"),
    "php": Grammar(inline="rBRE", value="cdzt"),
    "pypy": Grammar(inline="cm", value="WX"),
    "python": Grammar(inline="cm", value="WX"),
    "pythonw": Grammar(inline="cm", value="WX"),
    "ruby": Grammar(inline="e", value="IrCEFKxi"),
    "sh": SHELL,
    "zsh": SHELL,
}
ATTACHED = {"perl": "MmiFCDlx", "ruby": "KFxi"}  # their value never is the next word


def missing(argv: Sequence[str], cwd: str) -> str:
    """Why this line cannot run, as far as the file system knows; "" when everything it names is there."""
    if not argv or not argv[0]:
        return "not found: the command is empty"
    if _is_path(argv[0]) and not _there(cwd, argv[0]):
        return f"not found: {argv[0]}"
    script = script_of(argv)
    if script and not _there(cwd, script):
        return f"script not found: {script}"
    return ""


def script_of(argv: Sequence[str]) -> str:
    """The file that a well-known interpreter is told to run; "" when the line has none, or has its code inline."""
    name, words = _interpreter(argv)
    grammar = INTERPRETERS.get(name)
    if grammar is None:
        return ""
    while words:
        word = words.pop(0)
        if word == "--":
            word = words.pop(0) if words else ""
        elif word.startswith(("-", "+")):
            takes = _takes(word, grammar, ATTACHED.get(name, ""))
            if takes is None:
                return ""
            del words[:takes]
            continue
        return word if _is_path(word) or Path(word).suffix else ""
    return ""


def interprets(program: str) -> str:
    """The name of the well-known interpreter that this program is; "" when it is none."""
    name = VERSION.sub("", Path(program).name)
    return name if name in INTERPRETERS else ""


def runs_module(argv: Sequence[str]) -> bool:
    """Whether Python is told to run a module (-m) that the working directory may supply, which -I would rule out."""
    name, words = _interpreter(argv)
    options = list(takewhile(lambda word: word.startswith("-") and not word.startswith("--"), words))
    letters = "".join(option[1:] for option in options)
    return name.startswith(("python", "pypy")) and "m" in letters and "I" not in letters


def refused(argv: Sequence[str], cwd: str, error: OSError | ValueError) -> str:
    """What the system's refusal to start this line means."""
    program = argv[0]
    if not isinstance(error, OSError):
        return f"could not start {program!r}: {error}"
    if error.filename == cwd and program != cwd:
        return f"working directory cannot be entered: {cwd}"
    if error.errno == errno.E2BIG:
        return "arguments and environment are too large for this system"
    head = _head(cwd, program)
    if error.errno == errno.ENOEXEC:
        return (
            f"not a program for this machine: {program}"
            if b"\0" in head
            else f"no interpreter line (#!) in {program}"
        )
    if head.startswith(b"#!") and error.errno in (errno.ENOENT, errno.EACCES, errno.ENOTDIR, errno.ELOOP):
        return _broken_interpreter(program, cwd, head, error)
    if error.errno in (errno.EACCES, errno.EPERM):
        return f"not executable: {program}"
    if error.errno in (errno.ENOENT, errno.ENOTDIR):
        return f"not found: the loader that {program} needs" if head else f"not found: {program}"
    return f"could not start {program}: {error.strerror}"


def _broken_interpreter(program: str, cwd: str, head: bytes, error: OSError) -> str:
    words = head[2:].split(b"\n")[0].lstrip(b" \t").split(b" ")
    interpreter = words[0].decode(errors="replace")
    if error.errno != errno.EACCES:
        return (
            f"interpreter not found: {interpreter!r}, named by {program}"  # quoted: it may end in a carriage return
        )
    if _executable(Path(cwd, program)):
        return f"interpreter not executable: {interpreter!r}, named by {program}"
    return f"not executable: {program}"


def _interpreter(argv: Sequence[str]) -> tuple[str, list[str]]:
    words = list(argv)
    if Path(words[0]).name == "env":
        words = words[1:]
        while words and ASSIGNMENT.match(words[0]):
            words.pop(0)
    if not words:
        return "", []
    return VERSION.sub("", Path(words[0]).name), words[1:]


def _takes(option: str, grammar: Grammar, attached: str) -> int | None:
    """How many of the following words belong to this option; None when the code is inline or comes on stdin."""
    if option == "-":
        return None
    if option.startswith("--"):
        name, equals, _ = option.partition("=")
        if name in grammar.long_inline:
            return None
        return 1 if name in grammar.long_value and not equals else 0
    for place, letter in enumerate(option[1:], start=2):
        if letter in grammar.inline:
            return None
        if letter in grammar.value:
            return 1 if place == len(option) and letter not in attached else 0
    return 0


def _is_path(word: str) -> bool:
    return "/" in word or "\\" in word


def _there(cwd: str, word: str) -> bool:
    try:
        os.stat(os.path.join(cwd, word))  # noqa: PTH116, PTH118 - at every spawn, where Path takes longer than the kernel
    except (OSError, ValueError):
        return False
    return True


def _head(cwd: str, program: str) -> bytes:
    try:
        with Path(cwd, program).open("rb") as file:
            return file.read(HEAD)
    except (OSError, ValueError):
        return b""


def _executable(path: Path) -> bool:
    try:
        return bool(path.stat().st_mode & 0o111)
    except OSError:
        return False
