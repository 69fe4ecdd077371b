"""What an approval covers: the scripts that a command line runs, and the files that belong to them.

`shell_hooks.py` reads lines for a shell, `entry_points.py` finds what a line runs, and `covered_files.py` the
files beside that. A word that names any other file is data and stays unchanged.
"""

from __future__ import annotations

import contextlib
import os
import shutil
from collections.abc import Iterable, Iterator, Mapping
from itertools import islice
from pathlib import Path

import msgspec

from tray.agents.placeholders import declared_values, fill
from tray.approvals import covered_files, entry_points, shell_hooks
from tray.approvals.command_words import (
    Stamp,
    absolute,
    file_sha256,
    is_user_file,
    path_stamp,
    program_of,
    split_line,
    words_of,
)
from tray.approvals.covered_files import CoveredFiles
from tray.approvals.entry_points import EntryPoint
from tray.approvals.programs import MissingError, is_searched_elsewhere, program_positions
from tray.approvals.script_files import is_interpreter
from tray.approvals.script_start import parse_shebang
from tray.approvals.search_path import is_user_writable
from tray.errors import HooktrayError
from tray.execution.script import HEAD
from tray.files import file_head
from tray.model.hook import Command, Hook
from tray.store.copies import LINKED, Bundle

MAX_SIZE = 20 * 1024 * 1024  # bytes of one hook's files together
MAX_FILES = 2000


class Inspection(msgspec.Struct, frozen=True, kw_only=True):
    """What an approval of a hook would cover, and what it would not."""

    bundle: Bundle
    entries: tuple[EntryPoint, ...] = ()  # the files that the line runs
    found: CoveredFiles = msgspec.field(default_factory=CoveredFiles)
    data_words: tuple[str, ...] = ()  # words of the line that name data
    uncovered: tuple[str, ...] = ()  # files and folders that it runs, loads or names, and that are not copied
    search_path: str = ""  # the PATH that the hook gets
    missing_programs: tuple[str, ...] = ()  # names that are not found on it
    stamps: tuple[Stamp, ...] = ()  # of all that it depends on, from before it was read

    @property
    def watched_paths(self) -> tuple[str, ...]:
        """The files and folders whose change changes the inspection, besides those of the line."""
        programs = (path if os.path.isabs(path) else name for name, path in self.bundle.pinned.items())  # noqa: PTH117
        return tuple(dict.fromkeys((*self.bundle.contents, *self.found.watched, *programs)))


def read_bundle(hook: Hook, search_path: str = "") -> Bundle:
    """Read every file that belongs to the hook, once. Raises HooktrayError when one is missing or too large."""
    return inspect(hook, search_path).bundle


def inspect(hook: Hook, search_path: str = "", known: Mapping[str, str] | None = None) -> Inspection:
    """Returns what an approval would cover and what it would not. Raises HooktrayError.

    Programs are looked up on `search_path`, or on our own PATH; those that are `known` stay while they exist.
    """
    if not isinstance(hook.action, Command):
        return Inspection(bundle=Bundle(hook=hook))
    command, path = hook.action, search_path or os.environ.get("PATH", os.defpath)
    stamps = file_stamps(hook)
    if not command.shell:
        _require_program(hook, command)
    shell_hooks.require_line(hook, command)
    reader = _Contents()
    entries = tuple(_entries(hook, command))
    listed = tuple(one for one in _limited(hook, command) if is_user_file(one))
    run = {entry.path for entry in entries} | set(listed) | {program_of(hook, command)}
    data = dict(entry_points.data_words(_word_paths(hook, command), run))
    found = covered_files.find(
        (entry.path for entry in entries if entry.is_copied),
        command.folder,
        plugin=command.plugin,
        has_files=bool(hook.files),
        data=set(data.values()),
        contents=reader,
    )
    files = tuple(dict.fromkeys((*listed, *found.files)))
    if len(files) > MAX_FILES:
        raise HooktrayError(
            f"{hook.name}: more than {MAX_FILES} files", hint="move the hook into a folder of its own"
        )
    contents = {one: reader.content(one) for one in files}
    names = dict.fromkeys((*_shebang_names(entries, contents), *_line_names(hook, command)))
    programs = {name: there for name in names if (there := _program(name, path, known or {}))}
    own = {entry.path: file_sha256(entry.path) for entry in entries if _is_own_program(entry)}
    links = dict.fromkeys(found.links, LINKED)
    return Inspection(
        bundle=Bundle(
            hook=hook,
            contents=contents,
            executable=frozenset(one for one in contents if os.access(one, os.X_OK)),
            pinned={**programs, **own, **links},
        ),
        entries=entries,
        found=found,
        data_words=tuple(data),
        uncovered=_uncovered(hook, command, entries, (*programs.values(), *links, *found.outside, *data.values())),
        search_path=path,
        missing_programs=tuple(name for name in names if name not in programs),
        stamps=(*stamps, *reader.stamps),
    )


def _uncovered(hook: Hook, command: Command, entries: Iterable[EntryPoint], others: Iterable[str]) -> tuple[str, ...]:
    """Returns the uncovered paths that the user can change, without those that only the system can replace."""
    run = (program_of(hook, command), *(entry.path for entry in entries if not entry.is_copied))
    copied = {entry.path for entry in entries if entry.is_copied}
    whole = (path for path in (*run, *others) if os.path.isabs(path))  # noqa: PTH117
    paths = dict.fromkeys(one for path in whole for one in (path, os.path.realpath(path)))
    return tuple(path.replace(os.sep, "/") for path in paths if path not in copied and is_user_writable(path))


def _is_own_program(entry: EntryPoint) -> bool:
    """True if the entry is the hook itself but not a script: its bytes are approved, and it runs from its place."""
    return not entry.is_copied and not is_interpreter(entry.path) and is_user_writable(entry.path)


def _program(name: str, search_path: str, known: Mapping[str, str]) -> str:
    before = known.get(name, "")
    return before if os.access(before, os.X_OK) else shutil.which(name, path=search_path) or ""


def _shebang_names(entries: Iterable[EntryPoint], contents: Mapping[str, bytes]) -> Iterator[str]:
    """Yields the names that `env` would look up for the scripts of the line."""
    for entry in entries:
        shebang = parse_shebang(contents.get(entry.path, b"")[:HEAD])
        if shebang.is_searched and shebang.interpreter and "/" not in shebang.interpreter:
            yield shebang.interpreter


def _line_names(hook: Hook, command: Command) -> Iterator[str]:
    """Yields the programs that the line names, without its first word, which the definition has."""
    if command.shell:
        yield from shell_hooks.bare_commands(hook, command)
        return
    words = split_line(command.line)
    found = (at for at, is_script in program_positions(words, 0) if at and not is_script)
    yield from (words[at] for at in found if "/" not in words[at] and not is_searched_elsewhere(words, at))


def file_stamps(hook: Hook, also: Iterable[str] = ()) -> tuple[Stamp, ...]:
    """Cheap stamps that show whether the files may have changed; the kernel's ctime cannot be set back, unlike mtime.

    `also` are the paths that the last inspection depended on.
    """
    if not isinstance(hook.action, Command):
        return ()
    paths: set[str] = {hook.action.interpreter, *also}
    with contextlib.suppress(HooktrayError, ValueError):
        paths.update(_named(hook, hook.action))
    with contextlib.suppress(HooktrayError):
        paths.update(islice(_listed(hook, hook.action), MAX_FILES))
    return tuple(stamp for path in sorted(paths) if (stamp := path_stamp(path)))


def _entries(hook: Hook, command: Command) -> Iterator[EntryPoint]:
    """The files that its line runs, each once."""
    if command.shell:
        found = entry_points.in_shell(hook, command)
    else:
        argv = [
            program_of(hook, command),
            *(fill(word, declared_values(hook, command)) for word in split_line(command.line)[1:]),
        ]
        found = entry_points.in_argv(argv, command)
    seen: set[str] = set()
    for entry in found:
        if entry.path not in seen:
            seen.add(entry.path)
            yield entry


class _Contents:
    """The bytes of a hook's files, each read once and all together within the limit."""

    def __init__(self) -> None:
        self._left = MAX_SIZE
        self._known: dict[str, bytes] = {}
        self.stamps: list[Stamp] = []

    def content(self, path: str) -> bytes:
        if path not in self._known:
            stamp = path_stamp(path)
            self.stamps += [stamp] if stamp else []
            self._known[path] = _read(path, self._left)
            self._left -= len(self._known[path])
        return self._known[path]


def _word_paths(hook: Hook, command: Command) -> list[tuple[str, str]]:
    """Each word that may name a file, with its path."""
    if command.shell:
        return list(shell_hooks.named_paths(hook, command))
    return [(word.text, word.path) for word in words_of(hook, command)][1:]


def _limited(hook: Hook, command: Command) -> Iterator[str]:
    for count, path in enumerate(_listed(hook, command)):
        if count >= MAX_FILES:
            raise HooktrayError(f"{hook.name}: more than {MAX_FILES} files", hint="name fewer files under `files:`")
        yield path


def _named(hook: Hook, command: Command) -> Iterator[str]:
    """Every path that a word of the line may name."""
    if command.shell:
        return shell_hooks.paths(hook, command)
    return (word.path for word in words_of(hook, command))


def _require_program(hook: Hook, command: Command) -> None:
    """Raises MissingError unless the program exists: otherwise the agent's folder could supply it later."""
    program = program_of(hook, command)
    if not program or not os.path.isfile(program):  # noqa: PTH113 - Path.is_file raises for some names
        first = fill(split_line(command.line)[0], declared_values(hook, command))
        raise MissingError(f"{first}: there is no such program", hint="write its path, or put it there first")


def _listed(hook: Hook, command: Command) -> Iterator[str]:
    """Yields the files that the hook's `files:` names."""
    for pattern in hook.files:
        whole = Path(absolute(pattern, command.folder))
        fixed = Path(*_plain_parts(whole))
        rest = whole.relative_to(fixed)
        try:
            yield from (str(path) for path in ([fixed] if rest == Path() else fixed.glob(str(rest))))
        except (OSError, ValueError, NotImplementedError) as error:
            raise HooktrayError(f"files: {pattern}: {error}", hint="write a pattern such as `lib/*.py`") from error


def _plain_parts(pattern: Path) -> Iterator[str]:
    for part in pattern.parts:
        if any(char in part for char in "*?["):
            return
        yield part


def _read(path: str, left: int) -> bytes:
    try:
        content = file_head(path, left + 1)
    except OSError as error:
        raise HooktrayError(f"{path}: cannot be read: {error.strerror}", hint="make it readable for you") from error
    if len(content) > left:
        raise HooktrayError(
            f"{path}: the hook's files are over {MAX_SIZE} bytes", hint="name fewer files under `files:`"
        )
    return content
