"""The approved bytes: private copies of a hook's files, kept whole, checked at each use, and mended when damaged."""

from __future__ import annotations

import contextlib
import errno
import functools
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
from pathlib import Path

import msgspec

from tray.errors import HooktrayError
from tray.files import content
from tray.model.hook import Hook, digest, restore

MANIFEST = "manifest.json"
FILES = "files"
SPARE = "spare"  # a second copy of the bytes, by their SHA-256: what a hook alters is restored from it
# What a hook may leave in its folder, as no language loads it unasked; anything else there counts as damage.
DATA_SUFFIXES = frozenset(
    (".csv", ".db", ".json", ".jsonl", ".lock", ".log", ".md", ".ndjson", ".out", ".pid", ".sqlite", ".sqlite3",
     ".state", ".tmp", ".tsv", ".txt")
)  # fmt: skip
CONFIG_FILES = frozenset({"bunfig.json", "deno.json", "jsconfig.json", "package.json", "tsconfig.json"})
DRAFT = ".draft-"
EXISTS_ERRORS = (errno.EEXIST, errno.ENOTEMPTY, errno.ENOTDIR)  # of systems, when the path is taken
DRAFT_SECONDS = 600.0  # that a draft may take to be written
SETTLED_NS = 2_000_000_000  # nanoseconds
DAMAGED_HINT = "the tray mends it from the file, if that is still what was approved; else approve the hook again"


LINKED = "linked"  # in place of a SHA-256: a folder of packages to which the copy links
Stamp = tuple[int, int, int, int]


class Bundle(msgspec.Struct, frozen=True, kw_only=True, dict=True):
    """What one approval covers: a definition, the bytes of its files, and the programs it is bound to."""

    hook: Hook
    contents: Mapping[str, bytes] = {}  # absolute path -> bytes, copied and run as a copy
    executable: frozenset[str] = frozenset()
    # Programs and folders that are not copied: a name with its path, a program with its SHA-256, a folder as LINKED.
    pinned: Mapping[str, str] = {}

    @property
    def file_digests(self) -> dict[str, str]:
        return {path: hashlib.sha256(whole).hexdigest() for path, whole in self.contents.items()}

    @functools.cached_property
    def digest(self) -> str:
        return digest(self.hook.definition, self.file_digests, self.pinned)

    @property
    def covered(self) -> tuple[str, ...]:
        return tuple(sorted(self.contents))


class Manifest(msgspec.Struct, frozen=True, kw_only=True):
    """What a saved bundle consists of."""

    definition: str
    files: Mapping[str, str]  # absolute path of the original -> SHA-256
    pinned: Mapping[str, str]


class VerifiedCopy(msgspec.Struct, frozen=True, kw_only=True):
    """A saved bundle as it was last verified."""

    raw: bytes  # of its manifest
    manifest: Manifest
    paths: Mapping[str, str]  # absolute path of the original -> path of the copy
    links: Mapping[str, str]  # path of a link in the copy -> the folder that it leads to
    root: str  # of its files
    folders: dict[str, Stamp] = {}  # while these are the same, nothing was put in


class DamagedError(HooktrayError):
    """An approved copy is missing or is not what was approved."""


class Copies:
    """The folder of private copies, one folder per digest, each file below its own absolute path."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self._verified: dict[str, VerifiedCopy] = {}
        self._saving = threading.Lock()

    def save(self, bundle: Bundle) -> str:
        """Write the bundle's files, whole or not at all; a whole copy stays, a damaged one is mended or replaced."""
        name = bundle.digest
        with self._saving:
            if not self._is_intact(bundle, name) and not (
                self._restore_files(name) and self._is_intact(bundle, name)
            ):
                try:
                    self._write(bundle, name)
                except OSError as error:  # that of a full disk names no file
                    error.filename = error.filename or str(self.folder)
                    raise
        return name

    def restore(self, name: str) -> Manifest:
        """The approved bytes of a bundle, put back where something altered them. Raises DamagedError.

        Data that the hook wrote beside them stays; any other file that was not approved is removed.
        """
        with self._saving:
            self._restore_files(name)
        return self.check(name)

    def written_files(self, name: str) -> tuple[str, ...]:
        """The files that the hook has written into its folder, as paths below that."""
        try:
            verified = self._verified_copy(name)
            found = _all_files(verified, {})
        except (DamagedError, OSError):
            return ()
        written = (path for path in found - set(verified.paths.values()) if _is_data(path))
        return tuple(sorted(os.path.relpath(path, verified.root) for path in written))

    def carry_over(self, before: str, after: str) -> None:
        """Take what a hook wrote beside its earlier copy along to its new one."""
        for path in self.written_files(before):
            source, target = (Path(self.folder, name, FILES, path) for name in (before, after))
            with contextlib.suppress(OSError):
                if target.parent.is_dir() and not target.exists():
                    shutil.copy2(source, target)

    def _is_intact(self, bundle: Bundle, name: str) -> bool:
        """Whether a whole copy is there; a script that may run since does so without a new approval."""
        try:
            self.check(name)
            for path in bundle.executable:
                self.path(name, path).chmod(0o500)
        except (DamagedError, FileNotFoundError, NotADirectoryError):  # or another process takes it away to mend it
            return False
        return True

    def check(self, name: str) -> Manifest:
        """The bundle's manifest, after each of its bytes was compared. Raises DamagedError."""
        verified = self._verified_copy(name)
        try:
            for path, expected in verified.manifest.files.items():
                if hashlib.sha256(content(verified.paths[path])).hexdigest() != expected:
                    raise self._damaged(name, f"{path} was altered")
            known = verified.folders
            is_unchanged = bool(known) and all(_stamp(folder) == stamp for folder, stamp in known.items())
            foreign = not is_unchanged and self._has_foreign_file(verified)
        except OSError as error:
            raise self._damaged(name, str(error)) from error
        if foreign:
            raise self._damaged(name, "there is a file in it that was not approved")
        return verified.manifest

    def bundle(self, name: str) -> Bundle:
        """The bundle as it was approved, with its bytes. Raises DamagedError."""
        manifest = self.check(name)
        try:
            contents = {path: content(copy) for path, copy in self.paths(name).items()}
            executable = {path for path, copy in self.paths(name).items() if os.lstat(copy).st_mode & 0o100}
            hook = restore(manifest.definition)
        except (OSError, ValueError) as error:
            raise self._damaged(name, str(error)) from error
        return Bundle(hook=hook, contents=contents, executable=frozenset(executable), pinned=manifest.pinned)

    def paths(self, name: str) -> Mapping[str, str]:
        """Where the copies of a bundle's files are, by their originals."""
        return self._verified_copy(name).paths

    def _verified_copy(self, name: str) -> VerifiedCopy:
        """The bundle as its manifest describes it, which is parsed once, as long as its bytes stay the same."""
        try:
            raw = content(f"{self.folder}/{name}/{MANIFEST}")
        except OSError as error:
            raise self._damaged(name, f"it cannot be read: {error}") from error
        verified = self._verified.get(name)
        if verified is not None and verified.raw == raw:
            return verified
        try:
            fields = json.loads(raw)
            manifest = Manifest(definition=fields["definition"], files=fields["files"], pinned=fields["pinned"])
        except (ValueError, KeyError, TypeError) as error:
            raise self._damaged(name, f"it cannot be read: {error}") from error
        if digest(manifest.definition, manifest.files, manifest.pinned) != name:
            raise self._damaged(name, "its list of files was altered")
        paths = {path: str(self.path(name, path)) for path in manifest.files}
        links = {str(self.path(name, path)): path for path, value in manifest.pinned.items() if value == LINKED}
        root = str(self.folder / name / FILES)
        verified = VerifiedCopy(raw=raw, manifest=manifest, paths=paths, links=links, root=root)
        self._verified[name] = verified
        return verified

    def _has_foreign_file(self, verified: VerifiedCopy) -> bool:
        """Whether a file was not approved; if none, the folders' stamps prove it until one changes."""
        verified.folders.clear()
        stamps: dict[str, Stamp] = {}
        found = _all_files(verified, stamps)
        links = {path for path in verified.links if _is_link(path, verified.links)}
        ours = {*verified.paths.values(), *links}
        is_whole = found >= ours and len(links) == len(verified.links)
        foreign = not is_whole or any(not _is_data(path) for path in found - ours)
        # Stamps count once no later change can look the same: the kernel's clock for files is coarse. On Windows they
        # never count, as a program can set every time of a folder.
        now = time.time_ns()
        is_settled = sys.platform != "win32" and all(abs(now - one[3]) > SETTLED_NS for one in stamps.values())
        if not foreign and is_settled:
            verified.folders.update(stamps)
        return foreign

    def _restore_files(self, name: str) -> bool:
        """Whether the spare bytes are still those that were approved, and everything is put back from them."""
        try:
            verified = self._verified_copy(name)
            for path, expected in verified.manifest.files.items():
                self._restore_file(name, verified.paths[path], expected)
            found = _all_files(verified, {})
            for path in found - set(verified.paths.values()):
                if not _is_data(path) and not _is_link(path, verified.links):
                    os.unlink(path)  # noqa: PTH108 - as a text, like its neighbours
            _write_links(verified.links)
        except (DamagedError, OSError):
            return False
        return True

    def _restore_file(self, name: str, path: str, expected: str) -> None:
        with contextlib.suppress(OSError):
            if not os.path.islink(path) and hashlib.sha256(content(path)).hexdigest() == expected:  # noqa: PTH114
                return
        spare = self.folder / name / SPARE / expected
        whole = content(str(spare))
        if hashlib.sha256(whole).hexdigest() != expected:
            raise self._damaged(name, "its spare bytes were altered")
        handle, draft = tempfile.mkstemp(prefix=DRAFT, dir=self.folder / name)
        with os.fdopen(handle, "wb") as file:
            file.write(whole)
        Path(draft).chmod(spare.stat().st_mode & 0o500)
        Path(path).parent.mkdir(parents=True, exist_ok=True)
        Path(draft).replace(path)

    def path(self, name: str, original: str) -> Path:
        """Where the copy of `original` is within the bundle called `name`."""
        return self.folder / name / _below(original)

    def with_originals(self, name: str, text: str) -> str:
        """The text with the user's own files in the place of our copies of them."""
        with contextlib.suppress(HooktrayError, OSError):
            for original, copy in self.paths(name).items():
                text = text.replace(copy, original)
        return text

    def prune(self, wanted: Collection[str]) -> None:
        """Remove the copies that are no longer used, and drafts that were never finished."""
        for folder in self.folder.iterdir():
            is_being_written = False
            with contextlib.suppress(OSError):  # another process may write a draft
                is_young = abs(time.time() - folder.lstat().st_mtime) < DRAFT_SECONDS
                is_being_written = is_young and folder.name.startswith(DRAFT)
            if folder.name not in wanted and not is_being_written:
                _remove(folder)

    def _write(self, bundle: Bundle, name: str) -> None:
        self.folder.mkdir(mode=0o700, exist_ok=True)  # it may have been deleted while no tray ran
        draft = Path(tempfile.mkdtemp(prefix=DRAFT, dir=self.folder))
        try:
            for path, whole in bundle.contents.items():
                copy = draft / _below(path)
                copy.parent.mkdir(parents=True, exist_ok=True)
                copy.write_bytes(whole)
                copy.chmod(0o500 if path in bundle.executable else 0o400)
                spare = draft / SPARE / hashlib.sha256(whole).hexdigest()
                spare.parent.mkdir(exist_ok=True)
                if not spare.exists():
                    spare.write_bytes(whole)
                    spare.chmod(0o400)
                if path in bundle.executable:
                    spare.chmod(0o500)
            _write_links({str(draft / _below(path)): path for path, one in bundle.pinned.items() if one == LINKED})
            manifest = {
                "definition": bundle.hook.definition,
                "files": bundle.file_digests,
                "pinned": dict(bundle.pinned),
            }
            (draft / MANIFEST).write_text(json.dumps(manifest, sort_keys=True), encoding="utf-8")
            self._publish(draft, bundle, name)
        finally:
            _remove(draft)

    def _publish(self, draft: Path, bundle: Bundle, name: str) -> None:
        """Into its place, unless another process was quicker: a whole copy stays, whoever's it is."""
        target = self.folder / name
        while True:
            try:
                draft.rename(target)
                return
            except OSError as error:
                if error.errno not in EXISTS_ERRORS:
                    raise
            if self._is_intact(bundle, name):
                return
            replaced = Path(tempfile.mkdtemp(prefix=DRAFT, dir=self.folder))
            try:
                with contextlib.suppress(FileNotFoundError):  # whoever else mends it
                    target.rename(replaced / name)
            finally:
                _remove(replaced)

    @staticmethod
    def _damaged(name: str, what: str) -> DamagedError:
        return DamagedError(f"the approved copy {name[:8]} is damaged: {what}", hint=DAMAGED_HINT)


def _remove(folder: Path) -> None:
    if folder.is_symlink() or folder.is_file():
        folder.unlink()
    else:
        if sys.platform == "win32":  # which removes nothing that may only be read
            for path in folder.rglob("*"):
                path.chmod(0o700)
        shutil.rmtree(folder, ignore_errors=True)


def _write_links(links: Mapping[str, str]) -> None:
    for path, folder in links.items():
        if not os.path.lexists(path):
            Path(path).parent.mkdir(parents=True, exist_ok=True)
            Path(path).symlink_to(folder, target_is_directory=True)


def _is_link(path: str, links: Mapping[str, str]) -> bool:
    """True for the approved link to a folder of packages."""
    return path in links and os.path.islink(path) and os.readlink(path) == links[path]  # noqa: PTH114, PTH115


def _is_data(path: str) -> bool:
    """Whether a file that was not approved can stay beside approved ones: no program loads it by itself."""
    name = os.path.basename(path)  # noqa: PTH119 - at each use of a hook
    if os.path.splitext(name)[1].lower() not in DATA_SUFFIXES or name in CONFIG_FILES:  # noqa: PTH122
        return False
    return stat.S_ISREG(os.lstat(path).st_mode) and not os.access(path, os.X_OK)


def _below(path: str) -> Path:
    """An absolute path as a relative one, so that files keep their layout towards each other."""
    return Path(FILES) / re.sub(r"^([A-Za-z]):", r"\1", path).lstrip("/\\")


# What follows runs at each use of a hook, where Path.rglob takes longer than the kernel does.
def _all_files(verified: VerifiedCopy, stamps: dict[str, Stamp]) -> set[str]:
    return set(_files(verified.root, stamps)) if os.path.lexists(verified.root) else set()


def _files(folder: str, stamps: dict[str, Stamp]) -> Iterator[str]:
    """Whatever is below a folder and not a folder itself. A link counts as a file, wherever it leads."""
    stamps[folder] = _stamp(folder)
    with os.scandir(folder) as entries:
        for entry in entries:
            if entry.is_dir(follow_symlinks=False):
                yield from _files(entry.path, stamps)
            else:
                yield entry.path


def _stamp(folder: str) -> Stamp:
    """It changes with whatever is put into the folder or taken out; only on Windows can a program set it back."""
    status = os.lstat(folder)
    return status.st_dev, status.st_ino, status.st_mtime_ns, status.st_ctime_ns
