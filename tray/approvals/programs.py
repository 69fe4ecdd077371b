"""What a command line would run: each program, script and line of code in it has to be here when it is approved.

What is not here could be put into the agent's folder later, by the agent. So an approval refuses such a word, and
names another way to write it.
"""

from __future__ import annotations

import os
import re
from collections.abc import Collection, Iterator, Mapping, Sequence
from itertools import pairwise
from pathlib import PurePath

from tray.errors import HooktrayError
from tray.execution.environment import INJECTIONS
from tray.execution.script import (
    INTERPRETERS,
    SHELL,
    VERSION,
    ProgramSource,
    interpreter_name,
    parse_invocation,
)
from tray.protection.file_effects import READERS, WRITERS
from tray.shell import split
from tray.shell.evaluate import Code
from tray.shell.expand import MARKS, Texts, under
from tray.text.words import word_set

WRAPPERS_WITH_ARGUMENT = word_set("aws-vault chamber direnv flock")  # the command is behind a word of their own
ALL_WRAPPERS = split.WRAPPERS | word_set(
    "builtin caffeinate chrt coproc dbus-run-session dotenv fakeroot firejail flock genv gnice gtimeout ltrace "
    "numactl prlimit setpriv strace systemd-run taskset unshare valgrind watch"
)
OWN_VALUES = {  # options whose value is not a command
    "env": word_set("-C -S -u --chdir --split-string --unset"),
    **dict.fromkeys(("doas", "sudo"), word_set("-g -u --group --user")),
    "flock": word_set("-c --command"),
}
FIND_ACTIONS = word_set("-exec -execdir -ok -okdir")  # of find
EVALUATORS = word_set("eval trap")
SOURCE_COMMANDS = word_set(". source")
AWKS = word_set("awk gawk mawk nawk")
EDITORS = word_set("emacs ex nvim vi view vim vimdiff")
# The options whose value is a file with a program for them.
FILE_OPTIONS = {
    **dict.fromkeys(AWKS | {"sed"}, ("-f", "--file")),
    **dict.fromkeys(EDITORS, ("-S", "-l", "--load", "--script")),
    **dict.fromkeys(("gmake", "make"), ("-f", "--file", "--makefile")),
    "enable": ("-f",),
    "hash": ("-p",),
    "java": ("-jar",),
    "just": ("-f", "--justfile"),
    "task": ("-t", "--taskfile"),
}
# Words of these with which they start a program.
STARTING_WORDS = {
    **dict.fromkeys(
        EDITORS, re.compile(r"\+?:?(?:sil\w*!?\s*)?(?:%?\w{0,4}\s*)?!|.*\b(?:luafile|so|source)\s+\S|.*\bsystem\(")
    ),
    "env": re.compile("--split-string="),
    "sed": re.compile(r"\d*e\s"),
    "tar": re.compile("--checkpoint-action=exec"),
}
STARTERS = word_set("at batch entr hyperfine parallel screen script ssh tmux xterm")  # their words may be a command
REPEATERS = word_set("find parallel xargs")  # their command gets words that the line does not show
# Options of these whose value is a line for a shell.
CODE_OPTIONS = {
    **dict.fromkeys(word_set("flock mise runuser script su"), re.compile(r"-[a-zA-Z]*c|--command")),
    **dict.fromkeys(word_set("npm npx"), re.compile("-c|--call")),
    "env": re.compile(r"-\w*S|--split-string"),
    "nix-shell": re.compile("--command|--run"),
}
# They run a command in an environment of their own, with its programs; and the words after which the command follows.
RUNNERS: Mapping[str, Collection[str]] = {
    **dict.fromkeys(word_set("asdf aws-vault bundle chamber direnv fnm nodenv nvm pyenv rbenv"), ("exec",)),
    **dict.fromkeys(
        word_set(
            "conda devbox doppler dotenvx hatch infisical mamba micromamba op pdm pipenv pixi poetry rye uv volta"
        ),
        ("run",),
    ),
    **dict.fromkeys(word_set("bunx npx uvx"), ()),
    **dict.fromkeys(word_set("pnpm yarn"), ("exec", "dlx")),
    **dict.fromkeys(word_set("mise npm"), ("exec", "x")),
    "nix": ("-c", "--command"),
}
NAMED_FIRST = WRAPPERS_WITH_ARGUMENT | word_set("doppler fnm infisical mise op")  # or the command is behind `--`
RUNNER_VALUES = word_set(
    "-C -e -n -p -w --cwd --directory --env-file --extra --group --package --project --python --with"
)
RUNTIMES = word_set(
    "Rscript bun deno elixir elvish escript expect fish guile julia lua luajit nu osascript pwsh run-parts tclsh "
    "ts-node tsx xonsh zx"
)
OTHER_SHELLS = word_set("elvish fish nu pwsh xonsh")
COMPILERS = word_set("cargo crystal dotnet go java kotlin swift")  # they make the program that they run
RUNTIME_CODE = word_set("-c -Command -e --eval eval")  # the next word is code for a runtime
CODE = re.compile(r"""[\s("']""")  # in code, and in few paths
LOADING = word_set("--import --init-file --loader --rcfile --require -r")
STARTING_CODE = re.compile(
    r"""(?<![.\w])(?:load|include(?:_once)?|require_\w+|dofile|loadfile)\b\s*\(?\s*["'$]|^\d*e\s|action=exec|split-string="""
    r"""|\b(?:exec\w*|system|popen|spawn\w*|subprocess|eval|runpy|import_module|__import__|qx|getline)\b|\bdo\s*["'][\w.]*/"""
    r"""|=!|(?i:pager|editor|sshcommand|hookspath|textconv|helper|fsmonitor|external)=|\bimport\s*\(|\bimport\b[^;()\n]*["']\.{0,2}/|\bdo\s+shell\s+script\b|\brequire\b(?!\(?\s*["'][\w:]+["'])|`|\|\s*["']"""
)
NUMBER = re.compile(r"\.?\d[\d.]*[smhd]?")
ASSIGNMENT = re.compile(r"[A-Za-z_]\w*\+?=")
SCRIPT = re.compile(
    r"[^\s*?\[\]{}]*\.(?:awk|bash|bat|cjs|cmd|cts|exe|fish|jar|js|jsx|ksh|lua|mjs|mts|php|pl|ps1|psm1|py|pyz|r|rb|sh|tcl"
    r"|ts|tsx|zsh)",
    re.IGNORECASE,
)
PLACERS = word_set("cp curl dd install ln mv patch rsync sed tee wget")  # they write the files that their words name
NON_EXECUTING = READERS | WRITERS | word_set("curl git wget")  # what they name they do not run
# Variables whose first word is a program.
COMMAND_VARIABLES = word_set(
    "BROWSER EDITOR GIT_ASKPASS GIT_EDITOR GIT_EXTERNAL_DIFF GIT_PAGER GIT_SEQUENCE_EDITOR GIT_SSH GIT_SSH_COMMAND "
    "PAGER PROMPT_COMMAND SSH_ASKPASS VISUAL"
)
# Variables whose value makes a program load code.
LOADING_VARIABLES = (
    INJECTIONS
    | COMMAND_VARIABLES
    | word_set(
        "DYLD_INSERT_LIBRARIES DYLD_LIBRARY_PATH LD_LIBRARY_PATH LD_PRELOAD "
        "PATH PERL5LIB PERL5OPT PYTHONHOME PYTHONPATH PYTHONSTARTUP"
    )
)
# Those whose value is a file or a folder, not options.
STARTED_FILES = word_set(
    "BASH_ENV CLASSPATH ENV LD_LIBRARY_PATH NODE_PATH PERL5LIB PYTHONPATH PYTHONSTARTUP RUBYLIB ZDOTDIR"
)
QUOTED_HINT = "put the line into a script, or name the file outside of the quotes"
MISSING_HINT = "write its whole path, or put it there first"


class MissingError(HooktrayError):
    """What a hook would run is not there."""


def reads_code(argv: Sequence[str]) -> bool:
    """True if these words start an interpreter that runs its input."""
    found = (parse_invocation(argv[position:]) for position, is_script in program_positions(argv, 0) if not is_script)
    return any(one is not None and one.source is ProgramSource.STDIN for one in found)


def reads_shell_code(argv: Sequence[str]) -> bool:
    """True if these words start a shell that runs its input."""
    return reads_code(argv) and any(is_shell(argv[position]) for position, _ in program_positions(argv, 0))


def find_code(argv: Sequence[str]) -> Iterator[Code]:
    """Yields lines for a shell among the words: of `sh -c`, `eval`, `trap`, `su -c`, `env -S`."""
    last = len(argv) - 1
    takes_more = any(PurePath(word).name in REPEATERS for word in argv)
    for position, is_script in program_positions(argv, 0):
        name, found = PurePath(argv[position]).name, parse_invocation(argv[position:])
        pattern = CODE_OPTIONS.get(name)
        options = [at for at in range(position + 1, last) if pattern and pattern.fullmatch(argv[at])]
        if is_script:
            continue
        if name in EVALUATORS and position < last:
            yield Code(first=position + 1, last=last if name == "eval" else position + 1)
        elif options:
            yield Code(first=options[0] + 1, last=options[0] + 1)
        elif found and found.source is ProgramSource.CODE and found.place > 0 and is_shell(name):
            at = position + found.place
            yield Code(first=at, last=at, arguments=tuple(argv[at + 1 :]), takes_more=takes_more)


def foreign_code(argv: Sequence[str]) -> Iterator[int]:
    """Yields the positions of words that are code for an interpreter other than a shell."""
    for position, is_script in program_positions(argv, 0):
        name, found = PurePath(argv[position]).name, None if is_script else parse_invocation(argv[position:])
        is_other = interpreter_name(argv[position]) and not is_shell(argv[position])
        if found and found.source is ProgramSource.CODE and found.place > 0 and is_other:
            yield position + found.place
        elif name in RUNTIMES or name == "git":
            options = RUNTIME_CODE if name in RUNTIMES else ("-c",)
            yield from (at for at in range(position + 2, len(argv)) if argv[at - 1] in options)
        elif (pattern := STARTING_WORDS.get(name)) and not is_script:
            yield from (at for at in range(position + 1, len(argv)) if pattern.match(argv[at]))
        elif name in AWKS and not is_script:
            yield from (at for at in range(position + 1, len(argv)) if not argv[at].startswith("-"))


def starts_others(code: str) -> bool:
    """True if code in another language may run files that it names."""
    return STARTING_CODE.search(code) is not None


def is_shell(program: str) -> bool:
    return INTERPRETERS.get(VERSION.sub("", PurePath(program).name)) is SHELL


def program_positions(argv: Sequence[str], at: int) -> Iterator[tuple[int, bool]]:
    """The positions of the words that name what is run, as far as known; True for a file that another one runs."""
    if at >= len(argv):
        return
    yield at, False
    next_word = argv[at + 1] if at + 1 < len(argv) else ""
    if MARKS & set(argv[at]) and (interpreter_name(next_word) or PurePath(next_word).name in ALL_WRAPPERS):
        yield from program_positions(argv, at + 1)  # such as `$TIMEOUT sh ./x`
        return
    name, found = PurePath(argv[at]).name, parse_invocation(argv[at:])
    if name in ALL_WRAPPERS:
        for position in _wrapped_positions(argv, at + 1, skip=name in WRAPPERS_WITH_ARGUMENT):
            if argv[position - 1] not in OWN_VALUES.get(name, ()):
                yield from program_positions(argv, position)
    elif name == "find":
        for position in (position for position, word in enumerate(argv) if position > at and word in FIND_ACTIONS):
            yield from program_positions(argv, position + 1)
    elif name in RUNNERS and (start := _runner_start(argv, at, RUNNERS[name])):
        for position in _wrapped_positions(
            argv, start, skip=name in WRAPPERS_WITH_ARGUMENT and argv[start - 1] != "--"
        ):
            found_there = program_positions(argv, position) if argv[position - 1] not in RUNNER_VALUES else ()
            yield from ((one, is_script or bool(SCRIPT.fullmatch(argv[one]))) for one, is_script in found_there)
    elif argv[at] in SOURCE_COMMANDS:
        yield from ((position, True) for position in range(at + 1, min(at + 2, len(argv))))
    elif found is not None:
        behind = at + found.place if found.place > 0 else len(argv)
        yield from ((position, True) for position in range(at + 1, behind) if _is_loaded(argv, position))
        yield from ((behind, True),) if found.source is ProgramSource.SCRIPT else ()
    elif name in FILE_OPTIONS:
        for position in range(at + 1, len(argv)):
            option, equals, _ = argv[position].partition("=")
            if argv[position - 1] in FILE_OPTIONS[name] or (equals and option in FILE_OPTIONS[name]):
                yield position, True
    elif name not in NON_EXECUTING:
        first = name in RUNTIMES  # its first path is a script with any ending
        for position in range(at + 1, len(argv)):
            is_code = argv[position - 1] in RUNTIME_CODE and CODE.search(argv[position])
            is_path = first and "/" in argv[position] and not (is_code or argv[position].startswith("-"))
            first = first and not is_path
            if is_path or SCRIPT.fullmatch(argv[position]):
                yield position, True


def _runner_start(argv: Sequence[str], at: int, verbs: Collection[str]) -> int:
    """Returns the position of the command that this program runs; 0 if it runs none."""
    if not verbs:
        return at + 1
    start = next((position + 1 for position in range(at + 1, len(argv)) if argv[position] in verbs), 0)
    if PurePath(argv[at]).name in NAMED_FIRST and "--" in argv[start:]:
        return argv.index("--", start) + 1
    return start


def is_searched_elsewhere(argv: Sequence[str], position: int) -> bool:
    """True if this program is looked up by another one in an environment of its own, such as `uv run python`."""
    return any(PurePath(word).name in RUNNERS for word in argv[:position])


def _is_loaded(argv: Sequence[str], position: int) -> bool:
    """True if an interpreter runs this file before its script: `node -r ./x`, `bash --rcfile x`."""
    option, equals, _ = argv[position].partition("=")
    if equals:
        return option in LOADING and "/" in argv[position]
    word = argv[position]
    is_path = (
        word.startswith((".", "/", "~")) or MARKS & set(word) or argv[position - 1] in ("--init-file", "--rcfile")
    )
    return argv[position - 1] in LOADING and "/" in word and bool(is_path)  # `node -r dotenv/config` names a package


def _wrapped_positions(argv: Sequence[str], at: int, *, skip: bool) -> Iterator[int]:
    """Where the command of a runner may begin: behind options, which may have a value, numbers and assignments."""
    after_option = False
    for position in range(at, len(argv)):
        word = argv[position]
        if word.startswith("-"):
            after_option = word != "--"
        elif not (ASSIGNMENT.match(word) or NUMBER.fullmatch(word)):
            if not skip:
                yield position
                if not after_option:
                    return
            skip, after_option = False, False
        else:
            after_option = False


def start_folder(argv: Sequence[str], folders: Texts) -> Texts:
    """Returns the folders in which a program starts behind these words: `env -C DIR` changes the folder first."""
    for option, value in pairwise(argv):
        if option in ("-C", "--chdir") and "env" in map(os.path.basename, argv):
            return under(folders, value)
    return folders


def names_relative_code(name: str, word: str) -> bool:
    """True if the value of a variable that makes programs load code is in the folder where the hook starts."""
    text = word.partition("=")[2] if split.SETTING.fullmatch(word) else word
    if name in COMMAND_VARIABLES:
        text = (text.split() or [""])[0]
    needs_path = name == "ENV" or name in COMMAND_VARIABLES  # `ENV=test` is a usual setting of programs
    is_file = name in STARTED_FILES | COMMAND_VARIABLES and ("/" in text or not needs_path)
    return is_file and bool(text) and text[0] not in "/~" and not MARKS & set(text)


def require_safe_imports(argv: Sequence[str]) -> None:
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
