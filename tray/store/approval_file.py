"""Approvals as a file that travels: what was approved, with its bytes, as JSON. Reading one approves nothing.

{"format": "hooktray-approvals", "version": 1, "home": "/home/you", "hooks": [{"definition": "{…}", "digest": "…",
 "at": 1.0, "way": "tray", "position": [0, 0], "pinned": {}, "files": [{"path": "/…", "sha256": "…",
 "executable": true, "bytes": "<base64>"}]}]}
"""

from __future__ import annotations

import base64
import binascii
import hashlib
import json
import re
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path, PurePath
from typing import Annotated

import msgspec
from msgspec.structs import replace

from tray.errors import ConfigError, HooktrayError, store_error
from tray.files import user_file, write_private
from tray.model.hook import Command, Hook, digest, restore
from tray.store.copies import Bundle
from tray.store.ledger import ApprovedHook
from tray.strict.document import Document, KeyPath
from tray.strict.json_reader import load_json

FORMAT = "hooktray-approvals"
VERSION = 1
IMPORTED = "imported-approvals.json"  # beside the database
SIZE = 64 * 1024 * 1024  # bytes of a file
MAX_HOOKS = 2_000
NOT_OURS = "give the file that `hooktray approvals export FILE` wrote; nothing was imported"
ALTERED = "export it once more; nothing was imported"


class ExportedFile(msgspec.Struct, kw_only=True):
    path: str
    sha256: str
    bytes: object = msgspec.UNSET


class ExportedHook(msgspec.Struct, kw_only=True):
    definition: str
    digest: str
    at: float
    way: str
    position: tuple[int, int]
    pinned: dict[str, str]
    files: list[ExportedFile]


class ExportedHooks(msgspec.Struct, kw_only=True):
    home: str  # of the user who exported them
    hooks: Annotated[list[ExportedHook], msgspec.Meta(max_length=MAX_HOOKS)]


class Export(msgspec.Struct, frozen=True, kw_only=True):
    """One approval as it goes into a file; the bytes may be left out."""

    approved: ApprovedHook
    files: Mapping[str, str]  # absolute path -> SHA-256
    pinned: Mapping[str, str] = {}
    contents: Mapping[str, bytes] = {}
    executable: frozenset[str] = frozenset()


def of_bundle(approved: ApprovedHook, bundle: Bundle) -> Export:
    return Export(
        approved=approved,
        files=bundle.file_digests,
        pinned=bundle.pinned,
        contents=bundle.contents,
        executable=bundle.executable,
    )


def render(exports: Sequence[Export], home: str) -> bytes:
    document = {"format": FORMAT, "version": VERSION, "home": home, "hooks": [_hook(one) for one in exports]}
    return (json.dumps(document, indent=1) + "\n").encode()


def _hook(one: Export) -> Mapping[str, object]:
    encoded = {path: {"bytes": base64.b64encode(content).decode()} for path, content in one.contents.items()}
    files = [
        {"path": path, "sha256": sha256, "executable": path in one.executable, **encoded.get(path, {})}
        for path, sha256 in sorted(one.files.items())
    ]
    return {
        "definition": one.approved.hook.definition,
        "digest": one.approved.digest,
        "at": one.approved.at,
        "way": one.approved.channel,
        "position": one.approved.position,
        "pinned": one.pinned,
        "files": files,
    }


def read(path: Path) -> bytes:
    """The file's bytes. Raises HooktrayError for anything but a file of a size that an export can have."""
    try:
        return user_file(path, SIZE)
    except OSError as error:
        raise HooktrayError(f"{path}: cannot be read: {error.strerror or error}", hint=NOT_OURS) from error


def parse(text: bytes, path: str, home: str) -> tuple[Export, ...]:
    """What the file holds, for this home folder. Raises HooktrayError for whatever no export of ours is."""
    document = load_json(text, path, limit=SIZE)
    value = document.value
    if not isinstance(value, dict) or value.get("format") != FORMAT:
        raise ConfigError(f"{document.location(())}: is not an export of Hooktray's approvals", hint=NOT_OURS)
    version = value.get("version")
    if not isinstance(version, int) or isinstance(version, bool) or version < 1:
        raise _error(document, ("version",), f"expected a number, got {version!r:.40}")
    if version > VERSION:
        what = f"version {version} was written by a newer Hooktray; this one reads version {VERSION}"
        raise ConfigError(f"{document.location(('version',))}: {what}", hint="update Hooktray and import it again")
    try:
        found = msgspec.convert(value, ExportedHooks)
    except msgspec.ValidationError as error:
        what, _, place = str(error).partition(" - at `$.")
        steps = re.findall(r"[^.\[\]`]+", place)
        at = tuple(int(step) if step.isdecimal() else step for step in steps)
        raise _error(document, at, f"{'.'.join(steps)}: {what}" if steps else what) from error
    exports = [_export(document, index, one) for index, one in enumerate(found.hooks)]
    keys = [one.approved.hook.key for one in exports]
    if twice := next((index for index, key in enumerate(keys) if key in keys[:index]), 0):
        raise _error(document, ("hooks", twice), f"the hook {keys[twice]!r:.120} is given twice")
    return tuple(_moved(one, found.home, home) for one in exports)


def import_approvals(database: Path, exports: Sequence[Export]) -> None:
    """Keeps them as proposals and drops those of an earlier import. Raises StoreError."""
    path = database.with_name(IMPORTED)
    try:
        write_private(path, render(exports, ""))
    except OSError as error:
        raise store_error(path, error) from error


def read_imported(path: Path) -> Mapping[str, ApprovedHook]:
    """Returns the imported approvals, by key; none of them is in force. Nothing if the file was altered."""
    try:
        return {one.approved.hook.key: one.approved for one in parse(read(path), str(path), "")}
    except HooktrayError:
        return {}


def _export(document: Document, index: int, one: ExportedHook) -> Export:
    at = ("hooks", index)
    try:
        hook = restore(one.definition)
    except (ValueError, RecursionError) as error:
        raise _error(document, (*at, "definition"), "is not a definition of a hook") from error
    if not _is_plain(hook):
        raise _error(document, at, "is not an approval as Hooktray writes it")
    files = dict(_files(document, (*at, "files"), one.files))
    if digest(hook.definition, files, one.pinned) != one.digest:
        raise ConfigError(f"{document.location((*at, 'digest'))}: {hook.name!r:.60}: was altered", hint=ALTERED)
    approved = ApprovedHook(hook=hook, digest=one.digest, position=one.position, at=one.at, channel=one.way)
    return Export(approved=approved, files=files, pinned=one.pinned)


def _files(document: Document, at: KeyPath, files: Sequence[ExportedFile]) -> Iterator[tuple[str, str]]:
    """Each file's path and SHA-256, after its bytes were compared."""
    seen: set[str] = set()
    for index, one in enumerate(files):
        path, place = one.path, (*at, index)
        if not PurePath(path).is_absolute() or ".." in PurePath(path).parts or "\0" in path:
            raise _error(document, (*place, "path"), f"{path!r:.80} is not a full path")
        if path in seen:
            raise _error(document, (*place, "path"), f"{path!r:.80} is given twice")
        seen.add(path)
        if one.bytes is not msgspec.UNSET and _sha256(one.bytes) != one.sha256:
            raise ConfigError(f"{document.location(place)}: {path!r:.80}: its bytes were altered", hint=ALTERED)
        yield path, one.sha256


def _sha256(text: object) -> str:
    if not isinstance(text, str):
        return ""
    try:
        return hashlib.sha256(base64.b64decode(text, validate=True)).hexdigest()
    except (binascii.Error, ValueError):
        return ""


def _error(document: Document, at: KeyPath, what: str) -> ConfigError:
    return ConfigError(f"{document.location(at)}: {what}", hint=NOT_OURS)


def _moved(one: Export, before: str, home: str) -> Export:
    """The same approval where the person's files are now below another home folder."""
    if before in ("", "/", home):
        return one
    folder = re.compile(rf"(?<![\w./~-]){re.escape(before)}(?=/|$)")

    def rebased(value: object) -> object:
        if isinstance(value, str):
            return _replaced(folder, value, home)
        if isinstance(value, list):
            return list(map(rebased, value))
        return {key: rebased(inner) for key, inner in value.items()} if isinstance(value, dict) else value

    hook = restore(json.dumps(rebased(json.loads(one.approved.hook.definition))))
    files, pinned = (
        {_replaced(folder, path, home): _replaced(folder, value, home) for path, value in each.items()}
        for each in (one.files, one.pinned)
    )
    approved = replace(one.approved, hook=hook, digest=digest(hook.definition, files, pinned))
    return Export(approved=approved, files=files, pinned=pinned)


def _replaced(folder: re.Pattern[str], text: str, home: str) -> str:
    return home.join(folder.split(text))


def _is_plain(hook: Hook) -> bool:
    """Whether the fields that proposals are compared with are texts; a definition can be any JSON."""
    action = hook.action
    words = [hook.name, hook.source.path, hook.source.kind]
    if isinstance(action, Command):
        words += [action.line, action.folder, action.interpreter]
    return all(isinstance(word, str) for word in words)
