"""The approved bytes: private copies of a hook's files, kept whole, checked at each use, and mended when damaged."""

from __future__ import annotations

import contextlib
import errno
import hashlib
import json
import os
import re
import shutil
import stat
import sys
import tempfile
import threading
import time
from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path

from tray.errors import HooktrayError
from tray.files import content
from tray.model.hook import Hook, digest, restore

MANIFEST = "manifest.json"
FILES = "files"
SPARE = "spare"  # a second copy of the bytes, by their SHA-256: what a hook alters is restored from it
# What a hook may leave in its folder, as no language loads it unasked; anything else there counts as damage.
WRITTEN = frozenset(
    (".csv", ".db", ".json", ".jsonl", ".lock", ".log", ".md", ".ndjson", ".out", ".pid", ".sqlite", ".sqlite3",
     ".state", ".tmp", ".tsv", ".txt")
)  # fmt: skip
CONFIGURES = frozenset({"bunfig.json", "deno.json", "jsconfig.json", "package.json", "tsconfig.json"})
DRAFT = ".draft-"
TAKEN = (errno.EEXIST, errno.ENOTEMPTY, errno.ENOTDIR)  # what a system says when something stands there
LONGEST = 600.0  # seconds that a draft may take to be written
SETTLED = 2_000_000_000  # nanoseconds
CURE = "the tray mends it from the file, if that is still what was approved; else approve the hook again"


Sign = tuple[int, int, int, int]


@dataclass(frozen=True, slots=True, kw_only=True)
class Unit:
    """What one approval covers: a definition, the bytes of its files, and the programs it is bound to."""

    hook: Hook
    contents: Mapping[str, bytes] = field(default_factory=dict)  # absolute path -> bytes, copied and run as a copy
    executable: frozenset[str] = frozenset()
    pinned: Mapping[str, str] = field(default_factory=dict)  # program run where it stands -> SHA-256

    @property
    def sums(self) -> dict[str, str]:
        return {path: hashlib.sha256(whole).hexdigest() for path, whole in self.contents.items()}

    @property
    def digest(self) -> str:
        return digest(self.hook.definition, self.sums, self.pinned)

    @property
    def covered(self) -> tuple[str, ...]:
        return tuple(sorted(self.contents))


@dataclass(frozen=True, slots=True, kw_only=True)
class Manifest:
    """What a kept unit consists of."""

    definition: str
    files: Mapping[str, str]  # absolute path of the original -> SHA-256
    pinned: Mapping[str, str]


@dataclass(frozen=True, slots=True, kw_only=True)
class Kept:
    """A unit as it was last looked at."""

    raw: bytes  # of its manifest
    manifest: Manifest
    places: Mapping[str, str]  # absolute path of the original -> path of the copy
    root: str  # of its files
    folders: dict[str, Sign] = field(default_factory=dict)  # while these are the same, nothing was put in


class DamagedError(HooktrayError):
    """An approved copy is missing or is not what was approved."""


class Copies:
    """The folder of private copies, one folder per digest, each file below its own absolute path."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self._kept: dict[str, Kept] = {}
        self._keeping = threading.Lock()

    def keep(self, unit: Unit) -> str:
        """Write the unit's files, whole or not at all; a whole copy stays, a damaged one is mended or replaced."""
        name = unit.digest
        with self._keeping:
            if not self._stands(unit, name) and not (self._restored(name) and self._stands(unit, name)):
                self._write(unit, name)
        return name

    def restore(self, name: str) -> Manifest:
        """The approved bytes of a unit, put back where something altered them. Raises DamagedError.

        Data that the hook wrote beside them stays; any other file that was not approved is removed.
        """
        with self._keeping:
            self._restored(name)
        return self.check(name)

    def written_files(self, name: str) -> tuple[str, ...]:
        """The files that the hook has written into its folder, as paths below that."""
        try:
            kept = self._known(name)
            found = set(_files(kept.root, {})) if os.path.lexists(kept.root) else set()
        except (DamagedError, OSError):
            return ()
        written = (path for path in found - set(kept.places.values()) if _is_data(path))
        return tuple(sorted(os.path.relpath(path, kept.root) for path in written))

    def carry(self, before: str, after: str) -> None:
        """Take what a hook wrote beside its earlier copy along to its new one."""
        for path in self.written_files(before):
            source, target = (Path(self.folder, name, FILES, path) for name in (before, after))
            with contextlib.suppress(OSError):
                if target.parent.is_dir() and not target.exists():
                    shutil.copy2(source, target)

    def _stands(self, unit: Unit, name: str) -> bool:
        """Whether a whole copy is there; a script that may run since does so without a new approval."""
        try:
            self.check(name)
            for path in unit.executable:
                self.path(name, path).chmod(0o500)
        except (DamagedError, FileNotFoundError, NotADirectoryError):  # or another process takes it away to mend it
            return False
        return True

    def check(self, name: str) -> Manifest:
        """The unit's manifest, after each of its bytes was looked at. Raises DamagedError."""
        kept = self._known(name)
        try:
            for path, expected in kept.manifest.files.items():
                if hashlib.sha256(content(kept.places[path])).hexdigest() != expected:
                    raise self._damaged(name, f"{path} was altered")
            foreign = not _untouched(kept.folders) and self._look_around(kept)
        except OSError as error:
            raise self._damaged(name, str(error)) from error
        if foreign:
            raise self._damaged(name, "there is a file in it that was not approved")
        return kept.manifest

    def unit(self, name: str) -> Unit:
        """The unit as it was approved, with its bytes. Raises DamagedError."""
        manifest = self.check(name)
        try:
            contents = {path: content(copy) for path, copy in self.places(name).items()}
            executable = {path for path, copy in self.places(name).items() if os.lstat(copy).st_mode & 0o100}
            hook = restore(manifest.definition)
        except (OSError, ValueError) as error:
            raise self._damaged(name, str(error)) from error
        return Unit(hook=hook, contents=contents, executable=frozenset(executable), pinned=manifest.pinned)

    def places(self, name: str) -> Mapping[str, str]:
        """Where the copies of a unit's files lie, by their originals."""
        return self._known(name).places

    def _known(self, name: str) -> Kept:
        """The unit as its manifest has it, which is taken apart once, as long as its bytes stay the same."""
        raw = self._raw(name)
        kept = self._kept.get(name)
        if kept is None or kept.raw != raw:
            kept = self._taken_apart(name, raw)
            self._kept[name] = kept
        return kept

    def _taken_apart(self, name: str, raw: bytes) -> Kept:
        try:
            fields = json.loads(raw)
            manifest = Manifest(definition=fields["definition"], files=fields["files"], pinned=fields["pinned"])
        except (ValueError, KeyError, TypeError) as error:
            raise self._damaged(name, f"it cannot be read: {error}") from error
        if digest(manifest.definition, manifest.files, manifest.pinned) != name:
            raise self._damaged(name, "its list of files was altered")
        places = {path: str(self.path(name, path)) for path in manifest.files}
        return Kept(raw=raw, manifest=manifest, places=places, root=str(self.folder / name / FILES))

    def _look_around(self, kept: Kept) -> bool:
        """Whether there is a file that nobody approved; if none, the folders' signs say so until one changes."""
        kept.folders.clear()
        signs: dict[str, Sign] = {}
        found = set(_files(kept.root, signs)) if os.path.lexists(kept.root) else set()
        ours = set(kept.places.values())
        foreign = not found >= ours or any(not _is_data(path) for path in found - ours)
        if not foreign and _settled(signs):
            kept.folders.update(signs)
        return foreign

    def _restored(self, name: str) -> bool:
        """Whether the spare bytes are still those that were approved, and everything is put back from them."""
        try:
            kept = self._known(name)
            for path, expected in kept.manifest.files.items():
                self._put_back(name, kept.places[path], expected)
            found = set(_files(kept.root, {})) if os.path.lexists(kept.root) else set()
            for path in found - set(kept.places.values()):
                if not _is_data(path):
                    os.unlink(path)  # noqa: PTH108 - as a text, like its neighbours
        except (DamagedError, OSError):
            return False
        return True

    def _put_back(self, name: str, place: str, expected: str) -> None:
        with contextlib.suppress(OSError):
            if not os.path.islink(place) and hashlib.sha256(content(place)).hexdigest() == expected:  # noqa: PTH114
                return
        spare = self.folder / name / SPARE / expected
        whole = content(str(spare))
        if hashlib.sha256(whole).hexdigest() != expected:
            raise self._damaged(name, "its spare bytes were altered")
        handle, draft = tempfile.mkstemp(prefix=DRAFT, dir=self.folder / name)
        with os.fdopen(handle, "wb") as file:
            file.write(whole)
        Path(draft).chmod(spare.stat().st_mode & 0o500)
        Path(place).parent.mkdir(parents=True, exist_ok=True)
        Path(draft).replace(place)

    def path(self, name: str, original: str) -> Path:
        """Where the copy of `original` lies within the unit called `name`."""
        return self.folder / name / _below(original)

    def tidy(self, wanted: Collection[str]) -> None:
        """Remove the copies that nobody speaks of any more, and drafts that were never finished."""
        for folder in self.folder.iterdir():
            if folder.name not in wanted and not _is_at_work(folder):
                _remove(folder)

    def _raw(self, name: str) -> bytes:
        try:
            return content(f"{self.folder}/{name}/{MANIFEST}")
        except OSError as error:
            raise self._damaged(name, f"it cannot be read: {error}") from error

    def _write(self, unit: Unit, name: str) -> None:
        draft = Path(tempfile.mkdtemp(prefix=DRAFT, dir=self.folder))
        try:
            for path, whole in unit.contents.items():
                copy = draft / _below(path)
                copy.parent.mkdir(parents=True, exist_ok=True)
                copy.write_bytes(whole)
                copy.chmod(0o500 if path in unit.executable else 0o400)
                _spare(draft / SPARE, whole, runs=path in unit.executable)
            manifest = {"definition": unit.hook.definition, "files": unit.sums, "pinned": dict(unit.pinned)}
            (draft / MANIFEST).write_text(json.dumps(manifest, sort_keys=True), encoding="utf-8")
            self._put(draft, unit, name)
        finally:
            _remove(draft)

    def _put(self, draft: Path, unit: Unit, name: str) -> None:
        """Into its place, unless another process was quicker: a whole copy stays, whoever's it is."""
        place = self.folder / name
        while True:
            try:
                draft.rename(place)
                return
            except OSError as error:
                if error.errno not in TAKEN:
                    raise
            if self._stands(unit, name):
                return
            aside = Path(tempfile.mkdtemp(prefix=DRAFT, dir=self.folder))
            try:
                with contextlib.suppress(FileNotFoundError):  # whoever else mends it
                    place.rename(aside / name)
            finally:
                _remove(aside)

    @staticmethod
    def _damaged(name: str, what: str) -> DamagedError:
        return DamagedError(f"the approved copy {name[:8]} is damaged: {what}", hint=CURE)


def _remove(folder: Path) -> None:
    if folder.is_symlink() or folder.is_file():
        folder.unlink()
    else:
        if sys.platform == "win32":  # which removes nothing that may only be read
            for path in folder.rglob("*"):
                path.chmod(0o700)
        shutil.rmtree(folder, ignore_errors=True)


def _is_at_work(folder: Path) -> bool:
    """Whether another process may still write this draft."""
    with contextlib.suppress(OSError):
        return folder.name.startswith(DRAFT) and abs(time.time() - folder.lstat().st_mtime) < LONGEST
    return False


def _spare(folder: Path, whole: bytes, *, runs: bool) -> None:
    folder.mkdir(exist_ok=True)
    spare = folder / hashlib.sha256(whole).hexdigest()
    if not spare.exists():
        spare.write_bytes(whole)
        spare.chmod(0o400)
    if runs:
        spare.chmod(0o500)


def _is_data(path: str) -> bool:
    """Whether a file that was not approved can stay beside approved ones: no program loads it by itself."""
    name = os.path.basename(path)  # noqa: PTH119 - at each use of a hook
    if os.path.splitext(name)[1].lower() not in WRITTEN or name in CONFIGURES:  # noqa: PTH122
        return False
    return stat.S_ISREG(os.lstat(path).st_mode) and not os.access(path, os.X_OK)


def _below(path: str) -> Path:
    """An absolute path as a relative one, so that files keep their layout towards each other."""
    return Path(FILES) / re.sub(r"^([A-Za-z]):", r"\1", path).lstrip("/\\")


# What follows runs at each use of a hook, where Path.rglob takes longer than the kernel does.
def _files(folder: str, signs: dict[str, Sign]) -> Iterator[str]:
    """Whatever lies below a folder and is no folder itself. A link counts as a file, wherever it leads."""
    signs[folder] = _sign(folder)
    with os.scandir(folder) as entries:
        for entry in entries:
            if entry.is_dir(follow_symlinks=False):
                yield from _files(entry.path, signs)
            else:
                yield entry.path


def _sign(folder: str) -> Sign:
    """The kernel changes it with whatever is put into the folder or taken out, and nobody can set it back."""
    status = os.lstat(folder)
    return status.st_dev, status.st_ino, status.st_mtime_ns, status.st_ctime_ns


def _settled(signs: Mapping[str, Sign]) -> bool:
    """Whether they are so old that no later change can look the same: the kernel's clock for files is coarse."""
    now = time.time_ns()
    return all(abs(now - sign[3]) > SETTLED for sign in signs.values())


def _untouched(folders: Mapping[str, Sign]) -> bool:
    return bool(folders) and all(_sign(folder) == sign for folder, sign in folders.items())
