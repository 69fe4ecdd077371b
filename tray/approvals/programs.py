"""What a command line would run: each program, script and line of code in it has to be here when it is approved.

What is not here could be put into the agent's folder later, by the agent. So an approval refuses such a word, and
names another way to write it.
"""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Iterator, Sequence
from pathlib import PurePath

from tray.approvals.command_words import SYSTEM_FOLDERS, absolute
from tray.errors import HooktrayError
from tray.execution.script import INTERPRETERS, SHELL, VERSION, ProgramSource, parse_invocation
from tray.lazy_pattern import lazy_pattern
from tray.protection.file_effects import READERS, WRITERS
from tray.shell import split
from tray.text.words import word_set

WRAPPERS_WITH_ARGUMENT = word_set("flock setpriv systemd-run")  # they run the command behind a word of their own
FIND_ACTIONS = word_set("-exec -execdir -ok -okdir")  # of find
EVALUATORS = word_set("eval trap")
SOURCE_COMMANDS = word_set(". source")
FILE_OPTION_PROGRAMS = word_set("awk gawk make mawk nawk sed")  # `-f FILE` is a program to them
NUMBER = lazy_pattern(r"[\d.]+[smhd]?")
ASSIGNMENT = lazy_pattern(r"[A-Za-z_]\w*\+?=")
SCRIPT = lazy_pattern(
    r"[^\s*?\[\]{}]*\.(?:awk|bash|bat|cjs|cmd|cts|exe|fish|jar|js|jsx|ksh|lua|mjs|mts|php|pl|ps1|psm1|py|pyz|r|rb|sh|tcl"
    r"|ts|tsx|zsh)",
    re.IGNORECASE,
)
NON_EXECUTING = READERS | WRITERS | word_set("curl git wget")  # what they name they do not run
DEPTH = 5
QUOTED_HINT = "put the line into a script, or name the file outside of the quotes"
MISSING_HINT = "write its whole path, or put it there first"


class MissingError(HooktrayError):
    """What a hook would run is not there."""


def require_present(argv: Sequence[str], folder: str, known: Callable[[str], bool] = bool, depth: int = 0) -> None:
    """Raise HooktrayError for what this command would run and is not a file. `known` words have no unknown variables.

    With a `depth` it is inside a text, where no word can be replaced by its approved copy.
    """
    for position, is_script in program_positions(argv, 0):
        word = argv[position]
        if not known(word):
            continue
        _require_safe_imports(argv[position:])
        if not (is_script or "/" in word or "\\" in word):
            continue
        path = absolute(word, folder)
        if depth and not path.startswith(SYSTEM_FOLDERS):
            raise HooktrayError(
                f"{word}: named inside a text, where its approved copy cannot stand", hint=QUOTED_HINT
            )
        if not os.path.isfile(path):  # noqa: PTH113 - Path.is_file raises for some names
            what = "file" if is_script else "program"
            raise MissingError(
                f"{word}: there is no such {what}", hint=f"it is looked up in {folder}; {MISSING_HINT}"
            )
    for code in _shell_code(argv):
        require_line_present(code, folder, depth + 1)


def require_line_present(line: str, folder: str, depth: int = 1) -> None:
    """The same for a line that a shell is given inside another one."""
    if depth > DEPTH:
        raise HooktrayError("too many shells inside each other", hint=QUOTED_HINT)
    try:
        found, _ = split.parse(line, {})
        inside = [one for word in found if has_substitution(word) for one in split.substitutions(word.raw)]
    except ValueError as error:
        raise HooktrayError(f"{line[:60]}: {error}", hint="close the quotes in its command") from error
    for group in split.commands(found):
        plain = {word.text for word in group if word.is_literal}
        require_present([word.text for word in group], folder, plain.__contains__, depth)
    for one in inside:
        require_line_present(one, folder, depth + 1)


def has_substitution(word: split.ShellWord) -> bool:
    """Whether the shell may run something to make this word."""
    return not word.is_literal and word.raw[:1] != "'"


def takes_code_from_stdin(argv: Sequence[str]) -> bool:
    """Whether this is an interpreter that runs what it reads."""
    found = parse_invocation(argv) if argv else None
    return found is not None and found.source is ProgramSource.STDIN


def program_positions(argv: Sequence[str], at: int) -> Iterator[tuple[int, bool]]:
    """The positions of the words that name what is run, as far as known; True for a file that another one runs."""
    if at >= len(argv):
        return
    yield at, False
    name, found = PurePath(argv[at]).name, parse_invocation(argv[at:])
    if name in split.WRAPPERS | WRAPPERS_WITH_ARGUMENT:
        for position in _wrapped_positions(argv, at + 1, skip=name in WRAPPERS_WITH_ARGUMENT):
            yield from program_positions(argv, position)
    elif name == "find":
        for position in (position for position, word in enumerate(argv) if position > at and word in FIND_ACTIONS):
            yield from program_positions(argv, position + 1)
    elif argv[at] in SOURCE_COMMANDS:
        yield from ((position, True) for position in range(at + 1, min(at + 2, len(argv))))
    elif found is not None:
        yield from ((at + found.place, True),) if found.source is ProgramSource.SCRIPT else ()
    elif name in FILE_OPTION_PROGRAMS:
        files = (position + 1 for position in range(at + 1, len(argv) - 1) if argv[position] in ("-f", "--file"))
        yield from ((position, True) for position in files)
    elif name not in NON_EXECUTING:
        yield from ((position, True) for position in range(at + 1, len(argv)) if SCRIPT.fullmatch(argv[position]))


def _wrapped_positions(argv: Sequence[str], at: int, *, skip: bool) -> Iterator[int]:
    """Where the command of a runner may begin: behind options, which may have a value, numbers and assignments."""
    after_option = False
    for position in range(at, len(argv)):
        word = argv[position]
        if word.startswith("-"):
            after_option = word != "--"
        elif not (ASSIGNMENT.match(word) or NUMBER.fullmatch(word)):
            yield position
            if not after_option and not skip:
                return
            skip, after_option = False, False
        else:
            after_option = False


def _require_safe_imports(argv: Sequence[str]) -> None:
    """Modules, and what code in a word imports, are looked for in the folder it runs in before anywhere else."""
    found = parse_invocation(argv)
    if found is None or not interprets_python(argv[0]) or {"I", "P"} & set(found.letters):
        return
    if found.source is ProgramSource.MODULE:
        raise HooktrayError("python -m runs what the agent's folder holds", hint="name the script, or write -I -m")
    if found.source is ProgramSource.CODE and "import" in argv[found.place]:
        raise HooktrayError("python -c imports from the agent's folder first", hint="write -I -c, or name a script")


def interprets_python(program: str) -> bool:
    return VERSION.sub("", PurePath(program).name) in ("python", "pythonw", "pypy")


def _shell_code(argv: Sequence[str]) -> Iterator[str]:
    """Lines for a shell among the words: of `sh -c`, `eval`, `trap`."""
    for position, _ in program_positions(argv, 0):
        name, found = PurePath(argv[position]).name, parse_invocation(argv[position:])
        if name in EVALUATORS:
            yield " ".join(argv[position + 1 : position + 2] if name == "trap" else argv[position + 1 :])
        elif found and found.source is ProgramSource.CODE and INTERPRETERS.get(VERSION.sub("", name)) is SHELL:
            yield argv[position + found.place]
