"""The command line of an approved hook, on the approved bytes and with the very programs that were approved."""

from __future__ import annotations

import contextlib
import os
from collections.abc import Mapping
from pathlib import Path
from types import MappingProxyType

from tray.approvals import shell_hooks
from tray.approvals.command_words import (
    CommandWord,
    Stamp,
    file_sha256,
    is_user_file,
    path_stamp,
    program_of,
    words_of,
)
from tray.approvals.programs import program_positions
from tray.approvals.script_start import script_words
from tray.errors import HooktrayError
from tray.model.hook import Command, Hook
from tray.shell.split import fill
from tray.store.copies import LINKED, Copies, DamagedError, Manifest

MAX_LINES = 128  # command lines that are remembered
NO_PLACEHOLDERS: Mapping[str, str] = MappingProxyType({})


class CommandResolver:
    """Runs hooks from their approved bytes, bound to the very programs that were there when they were approved."""

    def __init__(self, copies: Copies) -> None:
        self._copies = copies
        self._cached_sums: dict[Stamp, str] = {}
        # Command lines with their hook and manifest, valid as long as these are the same.
        self._lines: dict[str, tuple[Hook, Manifest, tuple[str, ...]]] = {}

    def argv(
        self, hook: Hook, name: str, placeholders: Mapping[str, str] = NO_PLACEHOLDERS, search_path: str = ""
    ) -> tuple[str, ...]:
        """Returns the command line on the approved copies. Raises DamagedError; never falls back to the originals.

        `placeholders` are the hook's values for one event, `search_path` the PATH of its approval.
        """
        command = hook.action
        if not isinstance(command, Command):
            return ()
        manifest = self._intact_manifest(hook, name, search_path)
        for path, pinned in manifest.pinned.items():  # a program that is the hook itself, which no copy shows
            is_program = os.path.isabs(path) and pinned != LINKED  # noqa: PTH117
            if is_program and pinned != self._cached_sha256(path):
                raise DamagedError(f"{path} is another program than when {hook.name} was approved")
        known = self._lines.get(name)
        if known is not None and known[0] is hook and known[1] is manifest and not placeholders:
            return known[2]
        programs = {one: path for one, path in manifest.pinned.items() if not os.path.isabs(one)}  # noqa: PTH117
        argv = _line(hook, command, self._copies.paths(name), placeholders, programs)
        if not placeholders:
            if len(self._lines) >= MAX_LINES:
                self._lines.clear()
            self._lines[name] = hook, manifest, argv
        return argv

    def _intact_manifest(self, hook: Hook, name: str, search_path: str) -> Manifest:
        """What the copy consists of; altered files are put back from the spare bytes or from the hook's files."""
        try:
            return self._copies.check(name)
        except DamagedError:
            with contextlib.suppress(DamagedError):
                return self._copies.restore(name)
            from tray.approvals.inspection import read_bundle  # few copies are damaged

            with contextlib.suppress(HooktrayError, OSError, ValueError):
                bundle = read_bundle(hook, search_path)
                if bundle.digest == name:
                    self._copies.save(bundle)
                    return self._copies.check(name)
            raise

    def copy(self, name: str, original: str) -> str:
        """Where the copy of a file or folder lies within the bundle; "" for no folder."""
        return str(self._copies.path(name, original)) if original else ""

    def _cached_sha256(self, path: str) -> str:
        """The program's SHA-256; read again only when the file may be another one by the kernel's marks."""
        stamp = path_stamp(path)
        if stamp is None:
            return "gone"
        if stamp not in self._cached_sums:
            self._cached_sums[stamp] = file_sha256(path)
        return self._cached_sums[stamp]


def _line(
    hook: Hook,
    command: Command,
    copies: Mapping[str, str],
    placeholders: Mapping[str, str],
    programs: Mapping[str, str],
) -> tuple[str, ...]:
    program = program_of(hook, command)
    if command.shell:
        return (program, "-c", shell_hooks.rewrite_line(hook, command, copies, programs))
    argv = [*(script_words(copies[program], programs) if program in copies else (program,))]
    words = list(words_of(hook, command))
    run = {position for position, _ in program_positions([word.text for word in words], 0)} if programs else set()
    for position, word in enumerate(words[1:], start=1):
        if word.path in copies:
            argv.append(word.prefix + copies[word.path])
        elif position in run and word.text in programs:
            argv.append(programs[word.text])
        else:
            argv.append(_data_word(word, placeholders, command))
    return tuple(argv)


def _data_word(word: CommandWord, placeholders: Mapping[str, str], command: Command) -> str:
    """Returns a word that names data with the user's own path, which is right in every folder."""
    named = word.text.removeprefix(word.prefix)
    is_relative = not command.format and named.startswith(("./", "../"))  # other formats: below the agent's folder
    if named.startswith("~/") or (is_relative and "${" not in named):
        return word.prefix + word.path
    if is_user_file(word.path) and not Path(named).is_absolute():
        return word.prefix + word.path
    return fill(word.text, placeholders)
