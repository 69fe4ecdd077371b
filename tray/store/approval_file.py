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
import os
import re
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path, PurePath
from typing import NotRequired, TypedDict, TypeGuard

import msgspec

from tray.errors import ConfigError, HooktrayError, store_error
from tray.files import user_file
from tray.model.hook import Command, Hook, digest, restore
from tray.store.copies import Bundle
from tray.store.ledger import ApprovedHook
from tray.strict.document import Document
from tray.strict.json_reader import load_json


class ExportedFile(TypedDict):
    path: str
    sha256: str
    bytes: NotRequired[object]


class ExportedHook(TypedDict):
    """A hook of a file, whose keys have been checked, and not what its lists hold."""

    definition: str
    digest: str
    at: float
    way: str
    position: list[int]
    pinned: dict[str, object]
    files: list[object]


Kinds = Mapping[str, type | tuple[type, ...]]

FORMAT = "hooktray-approvals"
VERSION = 1
IMPORTED = "imported-approvals.json"  # beside the database
SIZE = 64 * 1024 * 1024  # bytes of a file
MAX_HOOKS = 2_000
KINDS: Kinds = {
    "definition": str, "digest": str, "at": (int, float), "way": str, "position": list, "pinned": dict, "files": list,
}  # fmt: skip
FILE_KINDS: Kinds = {"path": str, "sha256": str}
NOT_OURS = "give the file that `hooktray approvals export FILE` wrote; nothing was imported"
ALTERED = "export it once more; nothing was imported"


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
    files = [
        {"path": path, "sha256": sha256, "executable": path in one.executable, **_bytes(one.contents.get(path))}
        for path, sha256 in sorted(one.files.items())
    ]
    return {
        "definition": one.approved.hook.definition,
        "digest": one.approved.digest,
        "at": one.approved.at,
        "way": one.approved.channel,
        "position": list(one.approved.position),
        "pinned": dict(one.pinned),
        "files": files,
    }


def _bytes(content: bytes | None) -> Mapping[str, str]:
    return {} if content is None else {"bytes": base64.b64encode(content).decode()}


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
    hooks, before = value.get("hooks"), value.get("home")
    if not isinstance(hooks, list) or not isinstance(before, str):
        raise _error(document, ("hooks",), "expected `hooks`, a list, and `home`, a folder")
    if len(hooks) > MAX_HOOKS:
        raise _error(document, ("hooks",), f"{len(hooks)} hooks, {MAX_HOOKS} are allowed")
    exports = [_parse_hook(document, index, one) for index, one in enumerate(hooks)]
    _refuse_twice(document, exports)
    return tuple(_moved(one, before, home) for one in exports)


def import_approvals(database: Path, exports: Sequence[Export]) -> None:
    """Keeps them as proposals and drops those of an earlier import. Raises StoreError."""
    _write(database.with_name(IMPORTED), render(exports, ""))


def read_imported(path: Path) -> Mapping[str, ApprovedHook]:
    """Returns the imported approvals, by key; none of them is in force. Nothing if the file was altered."""
    try:
        return {one.approved.hook.key: one.approved for one in parse(read(path), str(path), "")}
    except HooktrayError:
        return {}


def _parse_hook(document: Document, index: int, value: object) -> Export:
    at: tuple[str | int, ...] = ("hooks", index)
    if not _is_hook(value):
        raise _kind_error(document, at, value, KINDS)
    try:
        hook = restore(value["definition"])
    except (ValueError, RecursionError) as error:
        raise _error(document, (*at, "definition"), "is not a definition of a hook") from error
    position = value["position"]
    if [type(number) for number in position] != [int, int] or not _is_plain(hook):
        raise _error(document, at, "is not an approval as Hooktray writes it")
    files = dict(_files(document, (*at, "files"), value["files"]))
    pinned = {str(path): str(sha256) for path, sha256 in value["pinned"].items()}
    if digest(hook.definition, files, pinned) != value["digest"]:
        raise ConfigError(f"{document.location((*at, 'digest'))}: {hook.name!r:.60}: was altered", hint=ALTERED)
    approved = ApprovedHook(
        hook=hook, digest=value["digest"], position=(position[0], position[1]), at=value["at"], channel=value["way"]
    )
    return Export(approved=approved, files=files, pinned=pinned)


def _files(document: Document, at: tuple[str | int, ...], values: Sequence[object]) -> Iterator[tuple[str, str]]:
    """Each file's path and SHA-256, after its bytes were compared."""
    seen: set[str] = set()
    for index, one in enumerate(values):
        place = (*at, index)
        if not _is_file(one):
            raise _kind_error(document, place, one, FILE_KINDS)
        path = one["path"]
        if not PurePath(path).is_absolute() or ".." in PurePath(path).parts or "\0" in path:
            raise _error(document, (*place, "path"), f"{path!r:.80} is not a full path")
        if path in seen:
            raise _error(document, (*place, "path"), f"{path!r:.80} is given twice")
        seen.add(path)
        if "bytes" in one and _sha256(one["bytes"]) != one["sha256"]:
            raise ConfigError(f"{document.location(place)}: {path!r:.80}: its bytes were altered", hint=ALTERED)
        yield path, one["sha256"]


def _sha256(text: object) -> str:
    if not isinstance(text, str):
        return ""
    try:
        return hashlib.sha256(base64.b64decode(text, validate=True)).hexdigest()
    except (binascii.Error, ValueError):
        return ""


def _is_hook(value: object) -> TypeGuard[ExportedHook]:
    return isinstance(value, dict) and not _wrong_key(value, KINDS)


def _is_file(value: object) -> TypeGuard[ExportedFile]:
    return isinstance(value, dict) and not _wrong_key(value, FILE_KINDS)


def _wrong_key(value: Mapping[str, object], kinds: Kinds) -> str:
    """The first key that is missing or of another kind; "" for none."""
    wrong = (
        name
        for name, kind in kinds.items()
        if not isinstance(value.get(name), kind) or isinstance(value.get(name), bool)
    )
    return next(wrong, "")


def _kind_error(document: Document, at: tuple[str | int, ...], value: object, kinds: Kinds) -> ConfigError:
    if not isinstance(value, dict):
        return _error(document, at, "expected an object")
    name = _wrong_key(value, kinds)
    return _error(document, (*at, name), f"`{name}` is missing or of another kind")


def _refuse_twice(document: Document, exports: Sequence[Export]) -> None:
    keys = [one.approved.hook.key for one in exports]
    twice = next((index for index, key in enumerate(keys) if key in keys[:index]), None)
    if twice is not None:
        raise _error(document, ("hooks", twice), f"the hook {keys[twice]!r:.120} is given twice")


def _error(document: Document, at: tuple[str | int, ...], what: str) -> ConfigError:
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
    approved = one.approved
    return Export(
        approved=ApprovedHook(
            hook=hook,
            digest=digest(hook.definition, files, pinned),
            position=approved.position,
            at=approved.at,
            channel=approved.channel,
        ),
        files=files,
        pinned=pinned,
    )


def _replaced(folder: re.Pattern[str], text: str, home: str) -> str:
    return home.join(folder.split(text))


def _is_plain(hook: Hook) -> bool:
    """Whether the fields that proposals are compared with are texts; a definition can be any JSON."""
    action = hook.action
    words = [hook.name, hook.source.path, hook.source.kind]
    if isinstance(action, Command):
        words += [action.line, action.folder, action.interpreter]
    return all(isinstance(word, str) for word in words)


def _write(path: Path, text: bytes) -> None:
    """A file for its owner only, whole or not at all. Raises StoreError."""
    draft = path.with_name(f".{path.name}.{os.getpid()}")
    try:
        with open(os.open(draft, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600), "wb") as file:  # noqa: PTH123
            file.write(text)
            file.flush()
            os.fsync(file.fileno())
        draft.replace(path)
    except OSError as error:
        draft.unlink(missing_ok=True)
        raise store_error(path, error) from error
