"""Hooks that are lines for a shell: which of their words name files, and the same line on the approved copies."""

from __future__ import annotations

import os
import shlex
from collections.abc import Iterable, Iterator, Mapping, Sequence

from tray.agents.placeholders import declared_values, project_placeholders
from tray.approvals.command_words import absolute
from tray.approvals.programs import (
    SCRIPT,
    has_substitution,
    interprets_python,
    program_positions,
    require_line_present,
    require_present,
    takes_code_from_stdin,
)
from tray.approvals.script_start import script_words
from tray.errors import HooktrayError
from tray.lazy_pattern import lazy_pattern
from tray.model.hook import Command, Hook
from tray.shell import split
from tray.shell.split import substitutions
from tray.text.words import word_set

BUILTINS = word_set("""
. : [ [[ break case cd continue do done echo elif else esac eval exit export false fi for function if in local printf
pwd read return set shift source test then trap true type umask unset until wait while { }
""")


# In these a word where a command could be is a pattern, a value or a function's name: the shell's PATH decides there.
UNCLEAR = lazy_pattern(r"\bcase\b|\[\[|\(\(|=\(|\(\s*\)")


def paths(hook: Hook, command: Command) -> Iterator[str]:
    """Every path that a word may name. Raises ValueError when a quote is not closed."""
    return (path for word in _words(hook, command) if (path := _path(word, command)))


def named_paths(hook: Hook, command: Command) -> Iterator[tuple[str, str]]:
    """Each word that may name a file, also one that is written to, with its path."""
    for word in _words(hook, command):
        if (
            word.is_literal
            and word.redirect != "<<<"
            and word.value
            and "\0" not in word.value
            and not word.is_command
        ):
            yield word.raw, absolute(word.value, command.folder)


def rewrite_line(hook: Hook, command: Command, copies: Mapping[str, str], programs: Mapping[str, str]) -> str:
    """The line with the copy of a file that it runs in its place, whole paths of data, and the approved programs."""
    words = _words(hook, command)
    named = {id(word) for word in _bare_programs(command.line, words)}

    def replacement(word: split.ShellWord) -> str | None:
        path = _path(word, command)
        if copy := copies.get(path):
            *before, last = script_words(copy, programs) if word.is_command else (copy,)
            return " ".join((*map(shlex.quote, before), split.quote(word, last)))
        if id(word) in named and word.text in programs:
            return split.quote(word, programs[word.text])
        relative = path and not word.value.startswith(("/", "~"))
        return split.quote(word, path) if relative and os.path.isfile(path) else None  # noqa: PTH113

    names = declared_values(hook, command).keys() | project_placeholders()
    return split.rewrite(command.line, words, replacement, names - {"HOME"})


def require_line(hook: Hook, command: Command) -> None:
    """What the line runs has to be here to be read. Raises HooktrayError."""
    placeholders = declared_values(hook, command)
    try:
        found, texts = split.parse(command.line, placeholders)
        inside = [
            one
            for part in (*(word.raw for word in found if has_substitution(word)), *_expandable(texts))
            for one in substitutions(part)
        ]
    except ValueError as error:
        raise HooktrayError(f"{hook.name}: {error}", hint="close the quotes in its command") from error
    for group in split.commands(found):
        known = {word.text for word in group if word.is_literal}
        require_present([word.text for word in group], command.folder, known.__contains__)
        for position, _ in program_positions([word.text for word in group], 0):
            _reject_project_program(group[position])
        given = [text.text for text in texts if text.command == group[0].command]
        _check_stdin_program(
            group, [word for word in found if word.command != group[0].command], given, command.folder
        )
    for one in inside:
        require_line_present(one, command.folder)
    _reject_relative_path(found)


def uncovered_words(hook: Hook, command: Command) -> tuple[str, ...]:
    """The words of the line that run or make something which the approval does not hold."""
    try:
        found, texts = split.parse(command.line, declared_values(hook, command))
        inside = [one for text in texts if not text.is_literal for one in substitutions(text.text)]
    except ValueError:
        return ()
    names = {
        first.text: None
        for first, *_ in split.commands(found)
        if first.is_literal and "/" not in first.text and first.text not in BUILTINS
    }
    unclear = {word.raw: None for word in found if not word.is_literal and not word.is_output}
    missing = {word.raw: None for word in found if SCRIPT.fullmatch(word.text) and not _exists(word, command)}
    return (*names, *unclear, *missing, *(f"$({one})" for one in inside))


def bare_commands(hook: Hook, command: Command) -> Iterator[str]:
    """The names of the line's programs that the shell looks up. Raises ValueError when a quote is not closed."""
    return (word.text for word in _bare_programs(command.line, _words(hook, command)))


def _bare_programs(line: str, words: list[split.ShellWord]) -> Iterator[split.ShellWord]:
    for group in () if UNCLEAR.search(line) else split.commands(words):
        for position, is_script in program_positions([word.text for word in group], 0):
            word = group[position]
            if word.is_literal and not is_script and "/" not in word.text and word.text not in BUILTINS:
                yield word


def _exists(word: split.ShellWord, command: Command) -> bool:
    """Whether it is a file now, or a word that cannot be a program: one that is written to, or not plain."""
    return word.is_output or not word.is_literal or os.path.isfile(absolute(word.value, command.folder))  # noqa: PTH113


def _expandable(texts: Iterable[split.HereDocument]) -> Iterator[str]:
    return (text.text for text in texts if not text.is_literal)


def _check_stdin_program(
    group: Sequence[split.ShellWord], others: Iterable[split.ShellWord], given: Iterable[str], folder: str
) -> None:
    """What an interpreter reads as its program: a text behind `<<`, or what the rest of the line gives it."""
    argv = [word.text for word in group if not word.redirect]
    if not argv or not takes_code_from_stdin(argv):
        return
    for text in given:
        if interprets_python(argv[0]) and "import" in text and not any("I" in word for word in argv[1:]):
            raise HooktrayError("python imports from the agent's folder first", hint="write python3 -I -")
        if not interprets_python(argv[0]):
            require_line_present(text, folder)
    for word in (*others, *(word for word in group if word.redirect == "<")):
        if word.is_literal and "/" in word.text and "://" not in word.text and not word.is_output:
            require_present((".", word.text), folder)


def _reject_relative_path(found: Iterable[split.ShellWord]) -> None:
    for word in found:
        name, _, value = word.text.partition("=")
        if name in ("PATH", "PATH+") and any(part[:1] not in ("/", "$", "~") for part in value.split(":")):
            raise HooktrayError(f"{word.raw}: programs would come from the agent's folder", hint="write whole paths")


def _reject_project_program(word: split.ShellWord) -> None:
    """The user's own settings may not run what any project puts there: that is not approved."""
    for name in sorted({*project_placeholders(), "PWD"}):
        if not word.is_literal and any(text in word.raw for text in (f"${{{name}}}", f"${name}")):
            raise HooktrayError(
                f"{word.raw}: each project would bring its own program",
                hint="name the file by its path, or declare the hook in the project's own settings",
            )


def _words(hook: Hook, command: Command) -> list[split.ShellWord]:
    return split.words(command.line, declared_values(hook, command))


def _path(word: split.ShellWord, command: Command) -> str:
    """The file that the word would name; "" for what the shell looks up by name, writes to, or makes up itself."""
    bare = word.is_command and "/" not in word.text
    if (
        not word.is_literal
        or word.is_output
        or word.redirect == "<<<"
        or bare
        or not word.value
        or "\0" in word.value
    ):
        return ""
    return absolute(word.value, command.folder)
