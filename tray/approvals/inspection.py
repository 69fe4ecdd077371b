"""What an approval covers: the scripts that a command line runs and what they load.

`shell_hooks.py` reads lines for a shell, `entry_points.py` finds what a line runs, and `dependencies` what scripts
load. A plugin's hook is approved with the plugin's whole folder. A word that names any other file is data:
it stays as it is.
"""

from __future__ import annotations

import contextlib
import os
from collections.abc import Collection, Iterable, Iterator
from itertools import islice
from pathlib import Path

from tray.agents.placeholders import declared_values, fill
from tray.approvals import entry_points, shell_hooks
from tray.approvals.command_words import (
    SYSTEM_FOLDERS,
    Stamp,
    absolute,
    file_sha256,
    is_user_file,
    path_stamp,
    program_of,
    split_line,
    words_of,
)
from tray.approvals.dependencies import MAX_FILES, MAX_SIZE, Dependencies, EntryPoint, Inclusion, scan
from tray.approvals.dependencies.analysis import InclusionKind
from tray.approvals.programs import MissingError
from tray.errors import HooktrayError
from tray.files import file_head
from tray.lazy_dataclass import dataclass, field, replace
from tray.model.hook import Command, Hook
from tray.store.copies import Bundle

EXCLUDED_FOLDERS = {".git", "__pycache__"}


@dataclass(frozen=True, slots=True, kw_only=True)
class Inspection:
    """What an approval of a hook would cover, why, and what it would not."""

    bundle: Bundle
    dependencies: Dependencies = field(default_factory=Dependencies)
    data_words: tuple[str, ...] = ()  # words of the line that name data
    uncovered: tuple[str, ...] = ()  # files that it runs or names, that no copy is made of and the user can write
    stamps: tuple[Stamp, ...] = ()  # of all that it depends on, from before it was read

    @property
    def watched_paths(self) -> tuple[str, ...]:
        """The files and folders whose change changes the inspection, besides those of the line."""
        files, watched = self.dependencies.files, self.dependencies.watched_folders
        whole = (InclusionKind.HOOKS, InclusionKind.FOLDER)
        folders = (os.path.dirname(path) for path, reason in files.items() if reason.kind in whole)  # noqa: PTH120
        return tuple(dict.fromkeys((*self.bundle.contents, *files, *watched, *folders)))


def read_bundle(hook: Hook) -> Bundle:
    """Read every file that belongs to the hook, once. Raises HooktrayError when one is missing or too large."""
    return inspect(hook).bundle


def inspect(hook: Hook) -> Inspection:
    """The same, with the reason for each file, what the scripts are missing, and what is not covered."""
    if not isinstance(hook.action, Command):
        return Inspection(bundle=Bundle(hook=hook))
    stamps = file_stamps(hook)
    if not hook.action.shell:
        _require_program(hook, hook.action)
    shell_hooks.require_line(hook, hook.action)
    reader = _Contents()
    run_files = tuple(entries_of(hook, hook.action))
    entries = tuple(entry for entry in run_files if entry.is_copied)
    listed = tuple(path for path in _limited(hook, hook.action) if is_user_file(path))
    run = {entry.path for entry in run_files} | set(listed) | {program_of(hook, hook.action)}
    named = tuple(entry_points.data_words(_word_paths(hook, hook.action), run))
    found = scan(entries, hook.action.folder, data={path for _, path in named}, content=reader.content)
    files = {path: Inclusion(kind=InclusionKind.LISTED) for path in listed} | dict(found.files)
    if len(files) > MAX_FILES:
        raise HooktrayError(
            f"{hook.name}: more than {MAX_FILES} files", hint="move the hook into a folder of its own"
        )
    contents = {path: reader.content(path) for path in files}
    executable = frozenset(path for path in contents if os.access(path, os.X_OK))
    programs = (program_of(hook, hook.action), *(entry.path for entry in run_files if not entry.is_copied))
    pinned = {
        path: file_sha256(path) for path in programs if path not in contents and not path.startswith(SYSTEM_FOLDERS)
    }
    return Inspection(
        bundle=Bundle(hook=hook, contents=contents, executable=executable, pinned=pinned),
        dependencies=replace(found, files=files),
        data_words=tuple(dict.fromkeys(text for text, _ in named)),
        uncovered=_writable((*pinned, *found.uncopied, *(path for _, path in named)), contents),
        stamps=(*stamps, *reader.stamps),
    )


def _writable(paths: Iterable[str], covered: Collection[str]) -> tuple[str, ...]:
    """Those that the user can write, also where there is no such file yet."""
    whole = (one for path in paths for one in (os.path.abspath(path), os.path.realpath(path)))  # noqa: PTH100
    others = (path for path in dict.fromkeys(whole) if path not in covered)
    return tuple(
        path.replace(os.sep, "/")
        for path in others
        if not path.startswith(SYSTEM_FOLDERS)
        and (os.access(path, os.W_OK) or os.access(os.path.dirname(path), os.W_OK))  # noqa: PTH120
    )


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


def entries_of(hook: Hook, command: Command) -> Iterator[EntryPoint]:
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
    """What starts has to be here to be read; else the agent's own folder could supply it later."""
    program = program_of(hook, command)
    if not program or not os.path.isfile(program):  # noqa: PTH113 - Path.is_file raises for some names
        first = fill(split_line(command.line)[0], declared_values(hook, command))
        raise MissingError(f"{first}: there is no such program", hint="write its path, or put it there first")


def _listed(hook: Hook, command: Command) -> Iterator[str]:
    """The files of the hook's plugin, and what its `files:` say."""
    if command.plugin:
        yield from _folder(command.plugin)
    for pattern in hook.files:
        whole = Path(absolute(pattern, command.folder))
        fixed = Path(*_plain_parts(whole))
        rest = whole.relative_to(fixed)
        try:
            yield from (str(path) for path in ([fixed] if rest == Path() else fixed.glob(str(rest))))
        except (OSError, ValueError, NotImplementedError) as error:
            raise HooktrayError(f"files: {pattern}: {error}", hint="write a pattern such as `lib/*.py`") from error


def _folder(root: str) -> Iterator[str]:
    """All files of a plugin, but for what git and Python keep there for themselves."""
    for folder, inner, files in os.walk(root):
        inner[:] = sorted(set(inner) - EXCLUDED_FOLDERS)
        yield from (os.path.join(folder, name) for name in sorted(files))  # noqa: PTH118


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
