"""Distinguishes a broken hook from a hook that refuses: is there anything to run, and if not, what is missing?

CPython answers a missing script with exit code 2, which would read as a refusal; so we look before the spawn.
"""

from __future__ import annotations

import enum
import errno
import os
import re
import shlex
from collections.abc import Sequence
from functools import lru_cache
from pathlib import Path

import msgspec

from tray.files import file_head
from tray.text.words import compiled

NOT_EXECUTABLE = "not executable: "  # with the script's path
LINES = 1024  # command lines that are remembered: they are looked at before every spawn
SEPARATORS = frozenset("/\\")  # a word with one of them is a path
HEAD = 256  # bytes; the kernel reads no more of an interpreter line
ASSIGNMENT = re.compile(r"[A-Za-z_]\w*=")
PYTHON = re.compile(r"pythonw?[\d.]*(\.exe)?")
UNOPENED = b"can't open file"  # in the message of a Python that has not found its script
CANNOT_OPEN = re.compile(
    r"""[^\r\n]*python[^\r\n]*: can't open file ['"]([^\r\n]*)['"]: \[Errno 2\] No such file or directory"""
)
ERROR_LIMIT = 4096  # characters examined at either end of a program's stderr
# The lines in which shells, interpreters and argument parsers report their own errors.
OWN_ERROR = r"""(?imx)^(?:
        \S[^\n]{0,300}?:\ ?(?:line\ )?\d+:\ .*(?:syntax\ error|parse\ error|unexpected\ (?:eof|end)
            |parameter\ not\ set|unbound\ variable|not\ found$|cannot\ open|can't\ open|bad\ substitution
            |operator\ expected|expression\ expected|unexpected\ operator|expecting\ primary|division\ by\ (?:0|zero)
            |illegal\ (?:number|option)|invalid\ (?:number|option)|numeric\ argument\ required|bad\ array\ subscript
            |not\ a\ valid\ identifier|readonly\ variable|read\ only|not\ in\ a\ function|used\ in\ a\ function
            |too\ many\ arguments|missing\ `?\]|no\ such\ file|permission\ denied$|write\ error|unknown\ condition
            |command\ not\ found:
            |\d+\ (?:killed|segmentation\ fault|aborted|terminated|bus\ error)\b)
        | \S[^:\n]*:\ .*(?:no\ such\ file\ or\ directory(?::\ \S+)?$|can't\ open\ file|cannot\ execute
            |\b(?:invalid|unrecognized|illegal)\ option\b)
        | \S+:\ error:\ (?:the\ following\ arguments\ are\ required|unrecognized\ arguments|argument\ .+)
        | jq:\ (?:error|unknown|\d+\ compile) | [ef]?grep:\ (?:invalid|missing|unmatched|.+\ is\ a\ directory)
        | sed:\ (?:-e\ expression|file\ \S+\ line) | expr:\ syntax\ error | fatal:\ not\ a\ git\ repository
        | fish:\ Unknown\ command: | zsh:\ (?:no\ such\ option|can't\ open\ input\ file):
        | (?:jq:\ )?(?:parse\ )?error:\ .*(?:\bline\ \d+,\ column|unexpected\ argument|failed\ to\ spawn)
        | (?:[\w.]+:\ )*\w*(?:Syntax|Reference|Type|Import|ModuleNotFound|Name|Attribute|Indentation|Tab)Error
            (?:\ \[\w+\])?:\ .
        | (?:Uncaught\ )?\w*Error(?:\ \[\w+\])?:\ .*\n\s+at\ \S | \S+:\ (?:bad\ option:|No\ module\ named)\ \S
        | \S+:\d+:in\ .+\((?:\w+::)*\w+Error\)$ | ruby:\ .+\(\w+Error\)$ | Unrecognized\ switch:
        | PHP\ (?:Parse|Fatal)\ error: | Could\ not\ open\ input\ file: | thread\ '.+'\ (?:\(\d+\)\ )?panicked\ at
        | Exception\ in\ thread\ " | Unhandled\ exception | Error:\ (?:Could\ not\ find|Unable\ to\ access)\ .
        | error:\ (?:Module|Script)\ not\ found | npm\ (?:err!|error)\ Missing\ script
        | Traceback\ \(most\ recent\ call\ last\):
        | panic:\ .+\n+goroutine\ \d | flag\ provided\ but\ not\ defined: | Usage\ of\ \S+:$
        | Error:\ (?:no\ such\ option|missing\ (?:argument|option)|got\ unexpected|cannot\ find\ module)
        | usage:\ \S | unknown\ option:?\ \S+$
        | .+\bcompilation\ (?:errors|aborted)\b | syntax\ error\ at\ \S+\ line\ \d
        | Can't\ (?:open\ perl\ script|locate\ .+@INC) | .+\ at\ \S+\ line\ \d+(?:,\ near\ .+|\.)$
        | \S*awk:\ .+ | \S*make:\ \*\*\*\ .+
    )"""
COMPOUND = re.compile(r"[;&|<>()`\n]|(?<!\$)\{")  # in a line that may be more than one command
VERSION = re.compile(r"[\d.]*(\.exe)?$")


class ProgramSource(enum.Enum):
    """Where an interpreter has its program from."""

    SCRIPT = enum.auto()
    CODE = enum.auto()  # a word of the line
    MODULE = enum.auto()  # a name that it looks up
    STDIN = enum.auto()


class Invocation(msgspec.Struct, frozen=True):
    """What an interpreter runs: the place of the word for it, -1 for none, and its short options."""

    source: ProgramSource
    place: int
    letters: str


class Grammar(msgspec.Struct, frozen=True):
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
    "ash": SHELL,
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
    "rbash": SHELL,
    "ruby": Grammar(inline="e", value="IrCEFKxi"),
    "sh": SHELL,
    "zsh": SHELL,
}
# By whether it is a shell, and its letter; all others come before code.
CODE_LETTERS = {(True, "s"): ProgramSource.STDIN, (False, "m"): ProgramSource.MODULE}
ATTACHED_VALUES = {"perl": "MmiFCDlx", "ruby": "KFxi"}  # their value never is the next word


def missing_program(argv: Sequence[str], cwd: str) -> str:
    """Why this line cannot run, as far as the file system knows; "" when everything it names is there."""
    if not argv or not argv[0]:
        return "not found: the command is empty"
    if not SEPARATORS.isdisjoint(argv[0]) and not _exists(cwd, argv[0]):
        return f"not found: {argv[0]}"
    script = script_of(tuple(argv))
    if script and not _exists(cwd, script):
        return f"script not found: {script}"
    return ""


def is_unopened_script(line: str, output: str) -> bool:
    """Whether CPython's own message that it cannot open a script is the whole output, and the whole line.

    What a shell does after it, or a program of the user's around it, may have meant the 2 with which CPython ends.
    """
    found = CANNOT_OPEN.fullmatch(output)
    if found is None or COMPOUND.search(line):
        return False
    try:
        argv = tuple(shlex.split(line))
    except ValueError:
        return False
    script = script_of(argv)
    if not script or not PYTHON.fullmatch(Path(argv[_start(argv)]).name):
        return False
    return Path(script).name == Path(found[1]).name


def interpreter_error(stderr: str) -> str:
    """Returns the line in which a program reports that it is broken or was called wrongly; "" for none."""
    looked_at = f"{stderr[:ERROR_LIMIT]}\n{stderr[ERROR_LIMIT:][-ERROR_LIMIT:]}"
    lines = [
        looked_at[found.start() :].partition("\n")[0].strip() for found in compiled(OWN_ERROR).finditer(looked_at)
    ]
    return next((line for line in lines if not line.lower().startswith("usage")), lines[0] if lines else "")


@lru_cache(LINES)
def script_of(argv: tuple[str, ...]) -> str:
    """The file that a well-known interpreter runs; "" when the line has none, or has its code inline."""
    found = parse_invocation(argv)
    if found is None or found.source is not ProgramSource.SCRIPT:
        return ""
    word = argv[found.place]
    return word if Path(word).suffix or not SEPARATORS.isdisjoint(word) else ""


def parse_invocation(argv: Sequence[str]) -> Invocation | None:
    """What a well-known interpreter does; None when the line starts another program."""
    start = _start(argv)
    name = interpreter_name(argv[start]) if start < len(argv) else ""
    grammar = INTERPRETERS.get(name)
    return None if grammar is None else _parse_words(argv, start + 1, grammar, ATTACHED_VALUES.get(name, ""))


def _parse_words(argv: Sequence[str], at: int, grammar: Grammar, attached: str) -> Invocation:
    letters, source = "", ProgramSource.SCRIPT
    while at < len(argv):
        word = argv[at]
        if word == "-" and grammar is not SHELL:
            return Invocation(ProgramSource.STDIN, -1, letters)
        if word in ("-", "--") or not word.startswith(("-", "+")):
            place = at + (word in ("-", "--"))
            if place < len(argv):
                return Invocation(source, place, letters)
            return Invocation(ProgramSource.STDIN, -1, letters)
        option, takes = _option(word, grammar, attached)
        if not word.startswith("--"):
            letters += word[1:].partition("c")[0] if option is ProgramSource.CODE else word[1:]
        if option is ProgramSource.CODE and grammar is SHELL:  # its code is the first word that is not an option
            source = ProgramSource.CODE
        elif option is not None:
            place = at + 1 if takes else at
            has_word = place < len(argv) and option is not ProgramSource.STDIN
            return Invocation(option, place if has_word else -1, letters)
        at += 1 + (takes if option is None else 0)
    return Invocation(ProgramSource.STDIN, -1, letters)


def interpreter_name(program: str) -> str:
    """The name of the well-known interpreter that this program is; "" when it is none."""
    name = VERSION.sub("", Path(program).name)
    return name if name in INTERPRETERS else ""


def start_error(argv: Sequence[str], cwd: str, error: OSError | ValueError) -> str:
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
        if b"\0" in head:
            return f"not a program for this machine: {program}"
        return f"no interpreter line (#!) in {program}"
    if head.startswith(b"#!") and error.errno in (errno.ENOENT, errno.EACCES, errno.ENOTDIR, errno.ELOOP):
        return _broken_interpreter(program, cwd, head, error)
    if error.errno in (errno.EACCES, errno.EPERM):
        return f"{NOT_EXECUTABLE}{program}"
    if error.errno in (errno.ENOENT, errno.ENOTDIR):
        return f"not found: the loader that {program} needs" if head else f"not found: {program}"
    return f"could not start {program}: {error.strerror}"


def _broken_interpreter(program: str, cwd: str, head: bytes, error: OSError) -> str:
    words = head[2:].split(b"\n")[0].lstrip(b" \t").split(b" ")
    interpreter = words[0].decode(errors="replace")
    if error.errno != errno.EACCES:
        # Quoted: it may end in a carriage return.
        return f"interpreter not found: {interpreter!r}, named by {program}"
    if _executable(Path(cwd, program)):
        return f"interpreter not executable: {interpreter!r}, named by {program}"
    return f"{NOT_EXECUTABLE}{program}"


def _start(argv: Sequence[str]) -> int:
    """Where the program's name is: behind `env` and what it sets."""
    start = 0
    if Path(argv[0]).name == "env":
        start = 1
        while start < len(argv) and ASSIGNMENT.match(argv[start]):
            start += 1
    return start


def _option(option: str, grammar: Grammar, attached: str) -> tuple[ProgramSource | None, int]:
    """Which option runs something else than a script, and how many of the following words are its."""
    if option.startswith("--"):
        name, equals, _ = option.partition("=")
        takes = 0 if equals else 1
        if name in grammar.long_inline:
            return ProgramSource.CODE, takes
        return None, takes * (name in grammar.long_value)
    for place, letter in enumerate(option[1:], start=2):
        last = place == len(option)
        if letter in grammar.inline:
            return CODE_LETTERS.get((grammar is SHELL, letter), ProgramSource.CODE), int(last)
        if letter in grammar.value:
            return None, int(last and letter not in attached)
    return None, 0


def _exists(cwd: str, word: str) -> bool:
    try:
        os.stat(os.path.join(cwd, word))  # noqa: PTH116, PTH118 - at every spawn, where Path takes longer than the kernel
    except (OSError, ValueError):
        return False
    return True


def _head(cwd: str, program: str) -> bytes:
    try:
        return file_head(Path(cwd, program), HEAD)
    except (OSError, ValueError):
        return b""


def _executable(path: Path) -> bool:
    try:
        return bool(path.stat().st_mode & 0o111)
    except OSError:
        return False
