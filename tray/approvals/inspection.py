"""What an approval covers: the scripts that a command line runs, and the files that belong to them.

`shell_hooks.py` reads lines for a shell, and `covered_files.py` finds the files beside what a line runs. A word that
names any other file is data and stays unchanged.
"""

from __future__ import annotations

import contextlib
import os
import re
import shutil
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import islice, takewhile
from pathlib import Path, PurePath

import msgspec

from tray.agents.placeholders import declared_values
from tray.approvals import covered_files, shell_hooks
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
from tray.approvals.covered_files import LINKED_FOLDERS, CoveredFiles, FileContents
from tray.approvals.programs import SCRIPT, MissingError, is_searched_elsewhere, program_positions
from tray.approvals.script_files import is_interpreter
from tray.approvals.script_start import parse_shebang
from tray.approvals.search_path import is_user_writable
from tray.errors import HooktrayError
from tray.execution.script import HEAD, ProgramSource, parse_invocation
from tray.files import file_head
from tray.model.hook import Command, Hook
from tray.shell.split import fill
from tray.store.copies import LINKED, Bundle

MAX_FILES = 2000
BINARY = (b"\x7fELF", b"MZ", b"\xca\xfe\xba\xbe", b"\xcf\xfa\xed\xfe", b"\xce\xfa\xed\xfe")
DEVICES = "/dev/"


class EntryPoint(msgspec.Struct, frozen=True, kw_only=True):
    """A file that the line of a hook runs. `program` is the interpreter in front of it, if there is one."""

    path: str
    program: str = ""
    is_copied: bool = True  # False for binaries, interpreters and a package manager's files


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
    reader = FileContents()
    entries = _entries(hook, command)
    listed = list(islice(_listed(hook, command), MAX_FILES + 1))
    if len(listed) > MAX_FILES:
        raise HooktrayError(f"{hook.name}: more than {MAX_FILES} files", hint="name fewer files under `files:`")
    listed = list(filter(is_user_file, listed))
    if command.shell:
        named = list(shell_hooks.named_paths(hook, command))
    else:
        named = [(word.text, word.path) for word in words_of(hook, command)][1:]
    run = {entry.path for entry in entries} | set(listed) | {program_of(hook, command)}
    data = dict(data_words(named, run))
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
    # An entry that is the hook itself but not a script is approved by its bytes, and runs from its place.
    programs_run = (entry.path for entry in entries if not entry.is_copied and not is_interpreter(entry.path))
    own = {path: file_sha256(path) for path in programs_run if is_user_writable(path)}
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
        yield from (field.text for field in shell_hooks.bare_programs(hook, command))
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
        if hook.action.shell:
            paths.update(shell_hooks.paths(hook, hook.action))
        else:
            paths.update(word.path for word in words_of(hook, hook.action))
    with contextlib.suppress(HooktrayError):
        paths.update(islice(_listed(hook, hook.action), MAX_FILES))
    return tuple(stamp for path in sorted(paths) if (stamp := path_stamp(path)))


def _entries(hook: Hook, command: Command) -> tuple[EntryPoint, ...]:
    """Returns the user's own files that the line runs, each once; files of system packages are left out."""
    found: dict[str, EntryPoint] = {}
    for path, program, by_name in _run_files(hook, command):
        if path not in found and is_user_file(path):
            is_managed = not LINKED_FOLDERS.isdisjoint(PurePath(path).parts)
            is_copied = not is_managed and (bool(program) or _is_script(path, by_name=by_name))
            found[path] = EntryPoint(path=path, program=program, is_copied=is_copied)
    return tuple(found.values())


def _run_files(hook: Hook, command: Command) -> Iterator[tuple[str, str, bool]]:
    """Yields each path that the line runs, the interpreter before it, and True if a search by name found it."""
    if command.shell:
        for one in shell_hooks.runs(shell_hooks.script_of(hook, command), command.folder):
            if one.path:
                yield one.path, _interpreter(one.argv, one.position) if one.is_script else "", False
        return
    values = declared_values(hook, command)
    argv = [program_of(hook, command), *(fill(word, values) for word in split_line(command.line)[1:])]
    for position, is_script in program_positions(argv, 0):
        word = argv[position]
        if is_script or position == 0 or "/" in word or "\\" in word:
            program = _interpreter(argv, position) if is_script else ""
            yield absolute(word, command.folder), program, position == 0 and bool(command.interpreter)


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
        fixed = Path(*takewhile(lambda part: not set(part) & set("*?["), whole.parts))
        rest = whole.relative_to(fixed)
        try:
            yield from (str(path) for path in ([fixed] if rest == Path() else fixed.glob(str(rest))))
        except (OSError, ValueError, NotImplementedError) as error:
            raise HooktrayError(f"files: {pattern}: {error}", hint="write a pattern such as `lib/*.py`") from error


def _is_script(path: str, *, by_name: bool) -> bool:
    """True if a program is a script of the user's own, and neither a binary nor an interpreter.

    A link that a package manager put on the PATH does not count: the script there finds its files from its own place.
    """
    if is_interpreter(path):
        return False
    if by_name and os.path.dirname(os.path.realpath(path)) != os.path.realpath(os.path.dirname(path)):  # noqa: PTH120
        return False
    try:
        head = file_head(path, HEAD)
    except OSError:
        return True  # reading it raises the error
    return not head.startswith(BINARY) and b"\0" not in head


def data_words(words: Sequence[tuple[str, str]], run: set[str]) -> Iterator[tuple[str, str]]:
    """Of words with the paths that they may name, those that name data: not run, and a file or written as a path."""
    for text, path in words:
        if not path or path in run or path.startswith((*SYSTEM_FOLDERS, DEVICES)) or "://" in text:
            continue
        written = re.search(r"(?:^|=)[\"']?(?:\.\.?/|~/|/)", text) and not SCRIPT.fullmatch(text)
        if written or os.path.isfile(path):  # noqa: PTH113
            yield text, path


def _interpreter(argv: Sequence[str], position: int) -> str:
    """The interpreter that runs the script at this place, where a word names it."""
    for start in range(position):
        if any(at == start for at, _ in program_positions(argv, 0)):
            found = parse_invocation(argv[start:])
            if found is not None and found.source is ProgramSource.SCRIPT and start + found.place == position:
                word = argv[start]
                if PurePath(word).name == "env":
                    behind = argv[start + 1 :]
                    word = next((one for one in behind if "=" not in one and not one.startswith("-")), word)
                return word if "/" in word else shutil.which(word) or word
    return PurePath(argv[0]).name
