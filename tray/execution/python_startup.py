"""Files of our environment that run code at each start of its Python, and that no installed package brought."""

from __future__ import annotations

import base64
import csv
import hashlib
import os
from collections.abc import Iterator, Sequence
from pathlib import Path

import msgspec

from tray.execution.isolation import package_folders
from tray.files import file_head, user_file

CUSTOMIZERS = ("sitecustomize", "usercustomize")
# What the makers of environments write without a list of their files: virtualenv, pipx, uv.
KNOWN = {"_virtualenv.pth": b"import _virtualenv"}
SIZE_LIMIT = 1 << 20  # bytes that are read of one


class StartupFile(msgspec.Struct, frozen=True):
    """A file that Python runs at each start of this environment."""

    path: str
    changed: bool  # a package brought it, and it is another one now


def unexpected_startup_files(folders: Sequence[str] = ()) -> tuple[StartupFile, ...]:
    """Those in the folders of our packages, where the user, and so an agent, can write.

    The isolated processes, the one-shot engine and the tray at login, run none of them; the `hooktray` command does.
    """
    return tuple(found for folder in folders or package_folders() for found in _unexpected(Path(folder)))


def _unexpected(folder: Path) -> Iterator[StartupFile]:
    if folder.name not in ("site-packages", "dist-packages") or not os.access(folder, os.W_OK):
        return
    names = [path for path in sorted(folder.iterdir()) if path.suffix == ".pth" or _is_customizer(path)]
    if not names:
        return
    recorded = dict(_records(folder))
    for path in names:
        digest = recorded.get(path.name)
        if digest is None:
            is_known = path.name in KNOWN and not path.is_symlink()
            if not is_known or file_head(path, SIZE_LIMIT).strip() != KNOWN[path.name]:
                yield StartupFile(str(path), changed=False)
        elif digest and digest != _digest(path):
            yield StartupFile(str(path), changed=True)


def _is_customizer(path: Path) -> bool:
    return path.name.partition(".")[0] in CUSTOMIZERS and (
        path.is_dir() or path.suffix in (".py", ".pyc", ".so", ".pyd")
    )


def _records(folder: Path) -> Iterator[tuple[str, str]]:
    """The files directly in the folder that its packages brought, each with its digest; "" where none was noted."""
    for record in folder.glob("*.dist-info/RECORD"):
        with record.open(encoding="utf-8", errors="replace", newline="") as file:
            for row in csv.reader(file):
                if row and "/" not in row[0] and len(row) > 1:
                    yield row[0], row[1].removeprefix("sha256=")


def _digest(path: Path) -> str:
    try:
        content = user_file(path)
    except OSError:
        return ""
    return base64.urlsafe_b64encode(hashlib.sha256(content).digest()).rstrip(b"=").decode()
