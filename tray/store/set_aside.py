"""Marks damaged database files, and keeps files that no longer count under other names."""

from __future__ import annotations

import os
import re
import time
from pathlib import Path

from tray.files import identity
from tray.store.checkpoint import delete_checkpoints

MARKER_SUFFIX = ".bad"
FILE_SUFFIXES = ("", "-wal", "-shm")
OTHER_VERSION = ".version"  # in the name of a file set aside because of its version
SET_ASIDE_SUFFIX = re.compile(r"\.(altered|damaged|replaced|version\d+)-\d{8}-\d{6}(-\d+)?$")


def mark(path: Path) -> None:
    """Note for every process that the file at the path is damaged. Raises OSError."""
    _marker(path).write_text(_marker_text(path))


def is_marked(path: Path) -> bool:
    """Whether any process found damage in the file that is at the path now."""
    try:
        return _marker(path).read_text() == _marker_text(path)
    except (OSError, ValueError):
        return False


def set_aside(path: Path, now: float, kind: str) -> Path | None:
    """Renames the file and returns its new path; returns None if it is missing or empty."""
    delete_checkpoints(path.parent)
    _marker(path).unlink(missing_ok=True)
    if not os.path.lexists(path) or not path.lstat().st_size:
        for suffix in FILE_SUFFIXES:  # SQLite would take the log of the earlier file for that of the new one
            path.with_name(path.name + suffix).unlink(missing_ok=True)
        return None
    name = f"{path.name}.{kind}-{time.strftime('%Y%m%d-%H%M%S', time.gmtime(now))}"
    kept = path.with_name(name)
    number = 1
    while kept.exists():
        number += 1
        kept = path.with_name(f"{name}-{number}")
    for suffix in reversed(FILE_SUFFIXES):  # the log first: a crash must not leave it beside the new file
        part = path.with_name(path.name + suffix)
        if os.path.lexists(part):
            part.replace(kept.with_name(kept.name + suffix))
    return kept


def files_set_aside(path: Path) -> list[Path]:
    """Returns the files that were set aside, oldest first."""
    found = (file for file in path.parent.glob(f"{path.name}.*") if SET_ASIDE_SUFFIX.search(file.name))
    return sorted(found, key=lambda file: file.name.partition("-")[2])


def _marker(path: Path) -> Path:
    return path.with_name(path.name + MARKER_SUFFIX)


def _marker_text(path: Path) -> str:
    """Returns what identifies the file in which damage was found, so that the mark counts for no other file."""
    return str(identity(path))
