"""Hooks that are lines for a shell: which of their words name files, and the same line on the approved copies."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator, Mapping, Sequence

from tray.engine import shell_line
from tray.engine.approval.placeholders import declared
from tray.engine.approval.supplied import (
    SCRIPT,
    absolute,
    interprets_python,
    line_must_be_here,
    must_be_here,
    opens,
    programs,
    takes_code_from_stdin,
)
from tray.engine.shell_line import inner
from tray.errors import HooktrayError
from tray.model.hook import Command, Hook

WORDS_OF_THE_SHELL = """
. : [ [[ break case cd continue do done echo elif else esac eval exit export false fi for function if in local printf
pwd read return set shift source test then trap true type umask unset until wait while { }
"""
BUILTINS = frozenset(WORDS_OF_THE_SHELL.split())


def paths(hook: Hook, command: Command) -> Iterator[str]:
    """Every path that a word may name. Raises ValueError when a quote is not closed."""
    return (path for word in _words(hook, command) if (path := _path(word, command)))


def named(hook: Hook, command: Command) -> Iterator[tuple[str, str]]:
    """Each word that may name a file, also one that is written to, with its path."""
    for word in _words(hook, command):
        if word.plain and word.redirected != "<<<" and word.named and "\0" not in word.named and not word.leads:
            yield word.raw, absolute(word.named, command.folder)


def covered(hook: Hook, command: Command, copies: Mapping[str, str]) -> str:
    """The line with the copy's place wherever a word names a file that has one, and with the whole path of data."""

    def copy(word: shell_line.Word) -> str | None:
        path = _path(word, command)
        if path in copies:
            return shell_line.quoted(word, copies[path])
        relative = path and not word.named.startswith(("/", "~"))
        return shell_line.quoted(word, path) if relative and os.path.isfile(path) else None  # noqa: PTH113

    names = declared(hook, command).keys() | {"CLAUDE_PROJECT_DIR", "cwd"}
    return shell_line.rewritten(command.line, _words(hook, command), copy, names - {"HOME"})


def must_be_there(hook: Hook, command: Command) -> None:
    """What the line runs has to be here to be read. Raises HooktrayError."""
    places = declared(hook, command)
    try:
        found, texts = shell_line.read(command.line, places)
        inside = [
            one for part in (*(word.raw for word in found if opens(word)), *_open(texts)) for one in inner(part)
        ]
    except ValueError as error:
        raise HooktrayError(f"{hook.name}: {error}", hint="close the quotes in its command") from error
    for group in shell_line.commands(found):
        known = {word.text for word in group if word.plain}
        must_be_here([word.text for word in group], command.folder, known.__contains__)
        for place, _ in programs([word.text for word in group], 0):
            _not_of_the_project(group[place])
        given = [text.text for text in texts if text.command == group[0].command]
        _read_by(group, [word for word in found if word.command != group[0].command], given, command.folder)
    for one in inside:
        line_must_be_here(one, command.folder)
    _must_find_programs_elsewhere(found)


def uncovered(hook: Hook, command: Command) -> tuple[str, ...]:
    """The words of the line that run or make something which the approval does not hold."""
    try:
        found, texts = shell_line.read(command.line, declared(hook, command))
        inside = [one for text in texts if not text.held for one in inner(text.text)]
    except ValueError:
        return ()
    names = {
        first.text: None
        for first, *_ in shell_line.commands(found)
        if first.plain and "/" not in first.text and first.text not in BUILTINS
    }
    unclear = {word.raw: None for word in found if not word.plain and not word.written}
    missing = {word.raw: None for word in found if SCRIPT.fullmatch(word.text) and not _there(word, command)}
    return (*names, *unclear, *missing, *(f"$({one})" for one in inside))


def _there(word: shell_line.Word, command: Command) -> bool:
    """Whether it is a file now, or a word that cannot be a program: one that is written to, or not plain."""
    return word.written or not word.plain or os.path.isfile(absolute(word.named, command.folder))  # noqa: PTH113


def _open(texts: Iterable[shell_line.Text]) -> Iterator[str]:
    return (text.text for text in texts if not text.held)


def _read_by(
    group: Sequence[shell_line.Word], others: Iterable[shell_line.Word], given: Iterable[str], folder: str
) -> None:
    """What an interpreter reads as its program: a text behind `<<`, or what the rest of the line gives it."""
    argv = [word.text for word in group if not word.redirected]
    if not argv or not takes_code_from_stdin(argv):
        return
    for text in given:
        if interprets_python(argv[0]) and "import" in text and not any("I" in word for word in argv[1:]):
            raise HooktrayError("python imports from the agent's folder first", hint="write python3 -I -")
        if not interprets_python(argv[0]):
            line_must_be_here(text, folder)
    for word in (*others, *(word for word in group if word.redirected == "<")):
        if word.plain and "/" in word.text and "://" not in word.text and not word.written:
            must_be_here((".", word.text), folder)


def _must_find_programs_elsewhere(found: Iterable[shell_line.Word]) -> None:
    for word in found:
        name, _, value = word.text.partition("=")
        if name in ("PATH", "PATH+") and any(part[:1] not in ("/", "$", "~") for part in value.split(":")):
            raise HooktrayError(f"{word.raw}: programs would come from the agent's folder", hint="write whole paths")


def _not_of_the_project(word: shell_line.Word) -> None:
    """The user's own settings may not run what any project puts there: nobody approved that."""
    for name in ("CLAUDE_PROJECT_DIR", "cwd", "PWD"):
        if not word.plain and any(text in word.raw for text in (f"${{{name}}}", f"${name}")):
            raise HooktrayError(
                f"{word.raw}: each project would bring its own program",
                hint="name the file by its path, or declare the hook in the project's own settings",
            )


def _words(hook: Hook, command: Command) -> list[shell_line.Word]:
    return shell_line.words(command.line, declared(hook, command))


def _path(word: shell_line.Word, command: Command) -> str:
    """The file that the word would name; "" for what the shell looks up by name, writes to, or makes up itself."""
    bare = word.leads and "/" not in word.text
    if not word.plain or word.written or word.redirected == "<<<" or bare or not word.named or "\0" in word.named:
        return ""
    return absolute(word.named, command.folder)
