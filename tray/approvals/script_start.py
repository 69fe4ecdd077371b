"""How an approved script is started: by its interpreter, on a sealed descriptor where its place does not matter."""

from __future__ import annotations

import os
import re
import shlex
from collections.abc import Callable, Mapping, Sequence
from pathlib import PurePath

from tray.approvals import own_location
from tray.approvals.command_words import words_of
from tray.execution.script import HEAD, VERSION, ProgramSource, parse_invocation
from tray.execution.sealed_script import SealedScript
from tray.lazy_dataclass import dataclass
from tray.lazy_pattern import lazy_pattern
from tray.model.hook import Command, Hook

ASSIGNMENT = lazy_pattern(r"[A-Za-z_]\w*=")
ENV_VALUES = {"-C", "-u", "--chdir", "--unset"}  # options of env whose value is the next word
SPLIT = lazy_pattern(r"(?:-S|--split-string(?:=|\s+))\s*(.*)", re.DOTALL)
# What keeps an interpreter that we start from reading files of the user's own, where that changes nothing else.
ISOLATION = {"zsh": ("-f",)}


@dataclass(frozen=True, slots=True, kw_only=True)
class ScriptStart:
    """The words for an approved script in a line: as its program, and as the script of an interpreter."""

    as_program: tuple[str, ...]
    as_script: tuple[str, ...]


Starts = Callable[[str], ScriptStart | None]


@dataclass(frozen=True, slots=True, kw_only=True)
class Shebang:
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
    return Shebang(words=words, place=_env_place(words), is_searched=True)


def _env_place(words: Sequence[str]) -> int:
    """Where the name of the program is among the words of env."""
    at = 1
    while at < len(words) and (words[at].startswith("-") or ASSIGNMENT.match(words[at])):
        if words[at] in ENV_VALUES:
            at += 1
        elif words[at].startswith(("-S", "--split")):
            return -1
        at += 1
    return at if at < len(words) and words[at] else -1


def start_words(shebang: Shebang, programs: Mapping[str, str]) -> tuple[str, ...]:
    """The words before the script, with the pinned program; () where the kernel is to find it, or to complain."""
    name = shebang.interpreter
    program = programs.get(name, "" if shebang.is_searched else name)
    words = shebang.words
    if not name:
        return ()
    if not program:  # nothing is pinned: env looks for it
        return words if _runs(words[0]) else ()
    if not _runs(program):
        return ()
    options = (*ISOLATION.get(_name(name), ()), *words[shebang.place + 1 :])
    before = words[: shebang.place] if shebang.is_searched and shebang.place > 1 else ()
    return (*before, program, *options)


@dataclass(frozen=True, slots=True, kw_only=True)
class ScriptSource:
    """What is known of an approved script. `named` is the interpreter that its line names before it.

    `named` is "" for a script that is started by its own name, and None where the line uses it in any other way.
    """

    copy: str
    shebang: Shebang
    is_executable: bool
    named: str | None

    @property
    def interpreter(self) -> str:
        """The name of what reads it."""
        return _name(self.named or self.shebang.interpreter)


def script_source(hook: Hook, command: Command, path: str, copy: str) -> ScriptSource:
    with open(copy, "rb") as file:  # noqa: PTH123 - at the first use of each hook
        head = file.read(HEAD)
    return ScriptSource(
        copy=copy,
        shebang=parse_shebang(head),
        is_executable=os.access(copy, os.X_OK),
        named=_named_interpreter(hook, command, path),
    )


def script_start(source: ScriptSource, programs: Mapping[str, str], sealed: SealedScript | None) -> ScriptStart:
    """The words for a script. Without a descriptor and a pinned program they are its copy's path."""
    words = start_words(source.shebang, programs) if source.is_executable else ()
    if sealed is not None:
        options = own_location.descriptor_options(source.interpreter)
        return ScriptStart(as_program=(*words, *options, sealed.path), as_script=(*options, sealed.path))
    interpreter = source.shebang.interpreter
    is_ours = interpreter in programs or _name(interpreter) in ISOLATION
    return ScriptStart(as_program=(*words, source.copy) if is_ours else (source.copy,), as_script=(source.copy,))


def can_be_sealed(hook: Hook, command: Command, source: ScriptSource, whole: bytes) -> bool:
    """Whether this only file of a hook is started directly, and does not use its own place."""
    if command.plugin or hook.files or source.named is None:
        return False
    if not source.named and not (source.is_executable and start_words(source.shebang, {})):
        return False
    return not own_location.uses_location(source.interpreter, whole)


def _named_interpreter(hook: Hook, command: Command, path: str) -> str | None:
    """The interpreter's word before this script; "" when the script is the program, None for any other place."""
    try:
        groups = _shell_words(hook, command) if command.shell else [_argv_words(hook, command)]
    except ValueError:
        return None
    found = [(group, at) for group in groups for at, (_, one) in enumerate(group) if one == path]
    if len(found) != 1:
        return None
    group, at = found[0]
    words = [text for text, _ in group]
    if at == 0:
        return ""
    invocation = parse_invocation(words)
    if invocation is None or invocation.source is not ProgramSource.SCRIPT or invocation.place != at:
        return None
    return next(
        word for index, word in enumerate(words) if not (index == 0 and _name(word) == "env") and "=" not in word
    )


def _shell_words(hook: Hook, command: Command) -> list[list[tuple[str, str]]]:
    from tray.approvals.shell_hooks import command_words  # takes long to import, and not every hook is a shell line

    return command_words(hook, command)


def _argv_words(hook: Hook, command: Command) -> list[tuple[str, str]]:
    return [(word.path if index == 0 else word.text, word.path) for index, word in enumerate(words_of(hook, command))]


def _name(program: str) -> str:
    return VERSION.sub("", PurePath(program).name)


def _runs(program: str) -> bool:
    return os.path.isabs(program) and os.path.isfile(program) and os.access(program, os.X_OK)  # noqa: PTH113, PTH117
