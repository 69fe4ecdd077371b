"""Reads a sound pack: a folder with `openpeon.json`, the format of the Coding Event Sound Pack Specification 1.

    {"cesp_version": "1.0", "name": "peon", "display_name": "Orc Peon", "version": "1.0.0", "license": "CC-BY-NC-4.0",
     "categories": {"task.complete": {"sounds": [{"file": "sounds/Done.mp3", "label": "Done"}]}}}

A pack is foreign: each file is checked before it is played, and for what is wrong our own sound is played.
https://github.com/PeonPing/openpeon/blob/main/spec/cesp-v1.md
"""

from __future__ import annotations

import hashlib
import os
import re
import stat
from collections.abc import Iterator, Mapping
from pathlib import Path, PurePosixPath

import msgspec

from tray.errors import ConfigError
from tray.settings import ready_for_threads
from tray.text import sanitise

MANIFEST = "openpeon.json"
MANIFEST_LIMIT = 256 * 1024  # bytes
FILE_LIMIT = 1024 * 1024  # bytes of a sound, by the specification
PACK_LIMIT = 50 * 1024 * 1024  # bytes of all sounds, by the specification
SOUNDS_LIMIT = 1000  # sounds of a pack
NAME = re.compile(r"[a-z0-9][a-z0-9_-]{0,63}")
FILE = re.compile(r"[A-Za-z0-9._-]+(?:/[A-Za-z0-9._-]+)*")
# The first bytes of each format, by the ending of the file.
FORMATS: Mapping[str, tuple[bytes, ...]] = {
    ".mp3": (b"ID3", b"\xff\xfb", b"\xff\xf3", b"\xff\xf2"),
    ".ogg": (b"OggS",),
    ".wav": (b"RIFF",),
}


class _Author(msgspec.Struct, frozen=True):
    name: str = ""


class PackSound(msgspec.Struct, frozen=True):
    """One sound of a pack, as its manifest has it."""

    file: str
    sha256: str = ""


class _Category(msgspec.Struct, frozen=True):
    sounds: tuple[PackSound, ...] = ()


@ready_for_threads
class _Manifest(msgspec.Struct, frozen=True):
    cesp_version: str
    name: str
    display_name: str
    version: str
    categories: dict[str, _Category]
    license: str = ""
    author: _Author = _Author()
    category_aliases: dict[str, str] = {}


class SoundPack(msgspec.Struct, frozen=True, kw_only=True):
    """A pack whose manifest is good; of its files nothing is known yet."""

    folder: Path
    name: str
    version: str
    license: str  # "" = the pack names none
    author: str
    sounds: Mapping[str, tuple[PackSound, ...]]  # by category

    @property
    def line(self) -> str:
        """For people: what it is, by whom, and under which licence."""
        by = f" by {self.author}" if self.author else ""
        return f"{self.name} {self.version}{by}, licence: {self.license or 'none named'}"


def read_pack(path: str) -> SoundPack:
    """The pack in a folder, or of an `openpeon.json`. Raises ConfigError."""
    named = Path(path).expanduser()
    if not named.is_absolute():
        raise ConfigError(f"{sanitise(path, 80)}: not a whole path", hint="write it from / or ~ on")
    file = named if named.name == MANIFEST else named / MANIFEST
    manifest = _manifest(file)
    if not re.fullmatch(r"1(?:\.\d+)*", manifest.cesp_version):
        version = sanitise(manifest.cesp_version, 20)
        raise ConfigError(f"{file}: cesp_version: {version} is not known", hint="use a pack of version 1")
    if not NAME.fullmatch(manifest.name):
        what = f"{file}: name: `{sanitise(manifest.name, 60)}` is not a pack's name"
        raise ConfigError(what, hint="it has small letters, digits, - and _")
    if sum(len(one.sounds) for one in manifest.categories.values()) > SOUNDS_LIMIT:
        raise ConfigError(f"{file}: more than {SOUNDS_LIMIT} sounds", hint="use a smaller pack")
    return SoundPack(
        folder=file.parent,
        name=sanitise(manifest.display_name, 60) or manifest.name,
        version=sanitise(manifest.version, 30),
        license=sanitise(manifest.license, 60),
        author=sanitise(manifest.author.name, 60),
        sounds=_by_category(manifest),
    )


def problems(pack: SoundPack) -> Iterator[str]:
    """What keeps sounds of a pack from being played, each with its file."""
    total = 0
    for sound in dict.fromkeys(one for sounds in pack.sounds.values() for one in sounds):
        try:
            total += len(load(pack, sound))
        except ConfigError as error:
            yield error.message
    if total > PACK_LIMIT:
        yield f"{pack.folder}: its sounds have more than {PACK_LIMIT // 1024 // 1024} MB"


def load(pack: SoundPack, sound: PackSound) -> bytes:
    """The bytes of one sound. Raises ConfigError, unless it is what the specification lets a pack hold."""
    path = pack.folder / sound.file
    shown = f"{pack.folder}/{sanitise(sound.file, 80)}"
    hint = "our own sound is played instead; correct the pack, or use another one"
    known = FORMATS.get(PurePosixPath(sound.file).suffix.lower())
    if not FILE.fullmatch(sound.file) or ".." in sound.file.split("/"):
        raise ConfigError(f"{shown}: not a path inside of the pack", hint=hint)
    if known is None:
        raise ConfigError(f"{shown}: not one of {', '.join(FORMATS)}", hint=hint)
    content = _content(path, pack.folder, FILE_LIMIT, shown, hint)
    if not content.startswith(known):
        raise ConfigError(f"{shown}: not the sound file that its name says", hint=hint)
    if sound.sha256 and hashlib.sha256(content).hexdigest() != sound.sha256.lower():
        raise ConfigError(f"{shown}: other bytes than the pack's `sha256` says", hint=hint)
    return content


def _content(path: Path, folder: Path, limit: int, shown: str, hint: str) -> bytes:
    """Of a regular file in the folder itself: never of a device, a pipe, or what a link leads to outside."""
    try:
        inside = Path(os.path.realpath(path)).is_relative_to(os.path.realpath(folder))
        descriptor = os.open(path, os.O_RDONLY | getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_BINARY", 0))
        with os.fdopen(descriptor, "rb") as file:
            status = os.fstat(file.fileno())
            if not inside or not stat.S_ISREG(status.st_mode):
                raise ConfigError(f"{shown}: not a file of the pack's own", hint=hint)
            if status.st_size > limit:
                raise ConfigError(f"{shown}: has {status.st_size} bytes, more than {limit}", hint=hint)
            return file.read(limit)
    except (OSError, ValueError) as error:
        why = getattr(error, "strerror", None) or error
        raise ConfigError(f"{shown}: cannot be read: {why}", hint=hint) from error


def _manifest(file: Path) -> _Manifest:
    hint = f"`sound_pack` is a folder with an `{MANIFEST}`, or that file"
    text = _content(file, file.parent, MANIFEST_LIMIT, str(file), hint)
    try:
        return msgspec.json.decode(text, type=_Manifest)
    except (msgspec.DecodeError, RecursionError, UnicodeDecodeError) as error:
        what = f"{file}: {sanitise(str(error), 160)}"
        raise ConfigError(what, hint="it must be a manifest as the CESP specification 1.0 has it") from error


def _by_category(manifest: _Manifest) -> Mapping[str, tuple[PackSound, ...]]:
    """Under the specification's names: an alias counts for a category that the pack does not have itself."""
    found = {name: one.sounds for name, one in manifest.categories.items()}
    for alias, name in manifest.category_aliases.items():
        if alias in found:
            found.setdefault(name, found[alias])
    return found
