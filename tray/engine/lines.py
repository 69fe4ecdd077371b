"""Hooks that are lines for a shell: which of their words name files, and the same line on the approved copies."""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping, Sequence

from tray.engine import shell_line
from tray.engine.placeholders import declared
from tray.engine.runners.script import runs_module, script_of
from tray.errors import HooktrayError
from tray.model.hook import Command, Hook

SOURCING = frozenset({".", "source"})
WORDS_OF_THE_SHELL = """
. : [ [[ break case cd continue do done echo elif else esac eval exit export false fi for function if in local printf
pwd read return set shift source test then trap true type umask unset until wait while { }
"""
BUILTINS = frozenset(WORDS_OF_THE_SHELL.split())


def paths(hook: Hook, command: Command) -> Iterator[str]:
    """Every path that a word may name. Raises ValueError when a quote is not closed."""
    return (path for word in _words(hook, command) if (path := _path(word, command)))


def covered(hook: Hook, command: Command, copies: Mapping[str, str]) -> str:
    """The line with the copy's place wherever a word names a file that has one."""

    def copy(word: shell_line.Word) -> str | None:
        path = copies.get(_path(word, command))
        return shell_line.quoted(word, path) if path else None

    names = declared(hook, command).keys() | {"CLAUDE_PROJECT_DIR", "cwd"}
    return shell_line.rewritten(command.line, _words(hook, command), copy, names - {"HOME"})


def must_be_there(hook: Hook, command: Command) -> None:
    """What the line runs by its path has to be here to be read. Raises HooktrayError."""
    try:
        found = _words(hook, command)
    except ValueError as error:
        raise HooktrayError(f"{hook.name}: {error}", hint="close the quotes in its command") from error
    for first, *others in shell_line.commands(found):
        if not first.plain:
            _not_of_the_project(first)
            continue
        if "/" in first.text and not os.path.isfile(absolute(first.text, command.folder)):  # noqa: PTH113
            raise HooktrayError(f"{first.text}: there is no such program", hint=f"looked up in {command.folder}")
        if first.text in SOURCING and others and others[0].plain:
            _must_be_file(others[0].text, command.folder)
        known = [word for word in others if word.plain]
        if len(known) == len(others):
            must_have_script([first.text, *(word.text for word in others)], command.folder)
            continue
        for word in others:
            if script_of([first.text, *(each.text for each in others)]) == word.text and not word.plain:
                _not_of_the_project(word)


def uncovered(hook: Hook, command: Command) -> tuple[str, ...]:
    """The words of the line that run or name something which the approval does not hold."""
    try:
        found, texts = shell_line.read(command.line, declared(hook, command))
        inside = [one for text in texts if not text.held for one in shell_line.inner(text.text)]
    except ValueError:
        return ()
    names = {
        first.text: None
        for first, *_ in shell_line.commands(found)
        if first.plain and "/" not in first.text and first.text not in BUILTINS
    }
    unclear = {word.raw: None for word in found if not word.plain and not word.written}
    missing = {word.raw: None for word in found if word.plain and "/" in word.text and not _there(word, command)}
    return (*names, *unclear, *missing, *(f"$({one})" for one in inside))


def must_have_script(argv: Sequence[str], folder: str) -> None:
    """The script that an interpreter is told to run has to be there. Raises HooktrayError."""
    if runs_module(argv):
        raise HooktrayError("python -m runs what the agent's folder holds", hint="name the script, or write -I -m")
    if script := script_of(argv):
        _must_be_file(script, folder)


def absolute(word: str, folder: str) -> str:
    return os.path.normpath(os.path.join(folder, os.path.expanduser(word)))  # noqa: PTH111, PTH118


def _there(word: shell_line.Word, command: Command) -> bool:
    """Whether it is covered, or a file of the system's; what is written to is nobody's program."""
    return word.written or os.path.isfile(_path(word, command))  # noqa: PTH113


def _must_be_file(script: str, folder: str) -> None:
    if not os.path.isfile(absolute(script, folder)):  # noqa: PTH113 - Path.is_file raises for some names
        raise HooktrayError(f"{script}: there is no such file", hint=f"it is looked up in {folder}")


def _not_of_the_project(word: shell_line.Word) -> None:
    """The user's own settings may not run what any project puts there: nobody approved that."""
    for name in ("CLAUDE_PROJECT_DIR", "cwd", "PWD"):
        if any(text in word.raw for text in (f"${{{name}}}", f"${name}")):
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
