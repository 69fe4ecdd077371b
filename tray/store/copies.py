"""The approved bytes: every file a hook's command names, read once, kept as a private copy, and run from there."""

from __future__ import annotations

import hashlib
import json
import os
import re
import shlex
import shutil
import tempfile
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path

from tray.errors import HooktrayError
from tray.model.hook import Command, Hook, digest

SIZE = 20 * 1024 * 1024  # bytes of one hook's files together
COUNT = 2000
MANIFEST = "manifest.json"
# Programs of the system are named in the definition and not copied: they belong to its package manager.
SYSTEM = ("/usr/", "/bin/", "/sbin/", "/lib/", "/lib64/", "/nix/", "/System/", "/Library/", "C:\\Windows\\")


@dataclass(frozen=True, slots=True, kw_only=True)
class Unit:
    """What one approval covers: a definition and the bytes of its files, as they were read."""

    hook: Hook
    digest: str
    contents: Mapping[str, bytes] = field(default_factory=dict)  # absolute path -> bytes
    executable: frozenset[str] = frozenset()

    @property
    def covered(self) -> tuple[str, ...]:
        return tuple(sorted(self.contents))


class DamagedError(HooktrayError):
    """An approved copy is missing or is not what was approved."""


class Copies:
    """The folder of private copies, one folder per digest, each file below its own absolute path."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder

    def keep(self, unit: Unit) -> None:
        """Write the unit's files, whole or not at all; a copy that is there already stays."""
        if (self.folder / unit.digest / MANIFEST).exists():
            return
        draft = Path(tempfile.mkdtemp(prefix=".draft-", dir=self.folder))
        listing = {}
        for path, content in unit.contents.items():
            copy = draft / _below(path)
            copy.parent.mkdir(parents=True, exist_ok=True)
            copy.write_bytes(content)
            copy.chmod(0o500 if path in unit.executable else 0o400)
            listing[path] = hashlib.sha256(content).hexdigest()
        manifest = {"definition": unit.hook.definition, "files": listing}
        (draft / MANIFEST).write_text(json.dumps(manifest, sort_keys=True), encoding="utf-8")
        self._settle(draft, self.folder / unit.digest)

    def _settle(self, draft: Path, final: Path) -> None:
        try:
            draft.rename(final)
        except OSError:  # somebody kept the same unit first; its name is its content
            shutil.rmtree(draft, ignore_errors=True)

    def path(self, name: str, original: str) -> Path:
        """Where the copy of `original` lies within the unit called `name`."""
        return self.folder / name / _below(original)

    def files(self, name: str) -> dict[str, str]:
        """The unit's files and their SHA-256, each checked against its bytes now. Raises DamagedError."""
        try:
            manifest = json.loads((self.folder / name / MANIFEST).read_text(encoding="utf-8"))
            listing: dict[str, str] = manifest["files"]
            if digest(manifest["definition"], listing) != name:
                raise DamagedError(f"approved copy {name[:8]}: its list of files was altered", hint=CURE)
            for path, expected in listing.items():
                if hashlib.sha256(self.path(name, path).read_bytes()).hexdigest() != expected:
                    raise DamagedError(f"approved copy {name[:8]}: {path} was altered", hint=CURE)
        except (OSError, ValueError, KeyError, TypeError) as error:
            raise DamagedError(f"approved copy {name[:8]} cannot be read: {error}", hint=CURE) from error
        return listing

    def argv(self, hook: Hook, name: str) -> tuple[str, ...]:
        """The command line that runs the unit's own bytes. Raises DamagedError, never falls back to the original."""
        if not isinstance(hook.action, Command):
            return ()
        files = self.files(name)
        words = [self._word(word, hook.action, name, files) for word in words_of(hook.action)]
        if hook.action.interpreter:
            words[0] = hook.action.interpreter
        return tuple(words)

    def _word(self, word: str, command: Command, name: str, files: Mapping[str, str]) -> str:
        named = absolute(word, command.folder)
        if named in files:
            return str(self.path(name, named))
        return os.path.expanduser(word) if word.startswith("~/") else word  # noqa: PTH111


CURE = "approve the hook again in the tray's menu"


def survey(hook: Hook) -> Unit:
    """Read every file that belongs to the hook, once. Raises HooktrayError when they are too many or too large."""
    contents: dict[str, bytes] = {}
    executable = set()
    left = SIZE
    for path in _belonging(hook):
        content = _read(path, left)
        if content is None:
            continue
        left -= len(content)
        contents[str(path)] = content
        if os.access(path, os.X_OK):
            executable.add(str(path))
        if len(contents) > COUNT:
            raise HooktrayError(f"{hook.name}: more than {COUNT} files", hint="name fewer files under `files:`")
    sums = {path: hashlib.sha256(content).hexdigest() for path, content in contents.items()}
    return Unit(hook=hook, digest=digest(hook.definition, sums), contents=contents, executable=frozenset(executable))


def signature(hook: Hook) -> tuple[tuple[str, int, int, int, int], ...]:
    """A cheap sign that the files may have changed; the kernel's ctime cannot be set back, unlike mtime."""
    found = []
    for path in _belonging(hook):
        try:
            status = path.stat()
        except OSError:
            continue
        found.append((str(path), status.st_ino, status.st_size, status.st_mtime_ns, status.st_ctime_ns))
    return tuple(found)


def words_of(command: Command) -> list[str]:
    return shlex.split(command.line)


def absolute(word: str, folder: str) -> str:
    """A word of a command as the absolute path it would name."""
    return os.path.normpath(os.path.join(folder, os.path.expanduser(word)))  # noqa: PTH111, PTH118


def _belonging(hook: Hook) -> Iterator[Path]:
    if not isinstance(hook.action, Command):
        return
    words = words_of(hook.action)
    for index, word in enumerate(words):
        if index == 0 and hook.action.interpreter:
            continue
        path = Path(absolute(word, hook.action.folder))
        if path.is_file() and not str(path).startswith(SYSTEM):
            yield path
    for pattern in hook.files:
        yield from _matching(Path(absolute(pattern, hook.action.folder)))


def _matching(pattern: Path) -> Iterator[Path]:
    fixed = Path(*_plain_parts(pattern))
    rest = pattern.relative_to(fixed)
    found = [fixed] if rest == Path() else sorted(fixed.glob(str(rest)))
    yield from (path for path in found if path.is_file())


def _plain_parts(pattern: Path) -> Iterator[str]:
    for part in pattern.parts:
        if any(sign in part for sign in "*?["):
            return
        yield part


def _read(path: Path, left: int) -> bytes | None:
    try:
        with path.open("rb") as file:
            content = file.read(left + 1)
    except OSError:
        return None  # it cannot be read by us, so it cannot run either: the approval shows that it is not covered
    if len(content) > left:
        raise HooktrayError(f"{path}: the hook's files are over {SIZE} bytes", hint="name fewer files under `files:`")
    return content


def _below(path: str) -> Path:
    """An absolute path as a relative one, so that files keep their layout towards each other."""
    return Path("files") / re.sub(r"^([A-Za-z]):", r"\1", path).lstrip("/\\")
