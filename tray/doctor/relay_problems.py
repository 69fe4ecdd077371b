"""What can be wrong with the relay that agents run, and the cures. It starts no process and writes nothing.

`meta` of the database has the digest of the relay that was installed, under `relay`, and the text of the table, under
`relay.table`: files that differ were altered by another program.
"""

from __future__ import annotations

import hashlib
import os
import stat
import sys
from collections.abc import Iterable, Mapping
from pathlib import Path

from tray import relay_program
from tray.agents import relay_table
from tray.agents.relay_table import TableContent
from tray.doctor.finding import Cause, Finding
from tray.errors import StoreError
from tray.files import content, user_file
from tray.paths import Paths
from tray.store.db import Database

RELAY, TABLE = "relay", "relay.table"  # the rows of `meta`
READ = "SELECT key, value FROM meta WHERE key IN (?, ?)"
ELF_HEAD = 20  # bytes: up to the processor that a program is for


def obstacle(program: Path) -> Finding | None:
    """Returns why this machine cannot start the program; None if it can. Starts nothing."""
    cause = _obstacle(program)
    return _finding(cause, program) if cause else None


def _obstacle(program: Path) -> Cause | None:
    try:
        mode = program.stat().st_mode
    except OSError:
        return Cause.RELAY_MISSING
    if not stat.S_ISREG(mode):
        return Cause.RELAY_FOLDER if stat.S_ISDIR(mode) else Cause.RELAY_MISSING
    if sys.platform == "win32":
        return None
    if sys.platform == "linux" and os.statvfs(program).f_flag & os.ST_NOEXEC:
        return Cause.RELAY_NOEXEC
    if not os.access(program, os.X_OK):
        return Cause.RELAY_NOT_EXECUTABLE
    try:
        theirs, own = (content(str(one), ELF_HEAD) for one in (program, sys.executable))
    except OSError:
        return None  # a program may be executable without being readable
    is_other = theirs[:4] == own[:4] == b"\x7fELF" and theirs[4:6] + theirs[18:] != own[4:6] + own[18:]
    return Cause.RELAY_ARCHITECTURE if is_other else None


def problems(paths: Paths, database: Database) -> tuple[Finding, ...]:
    """What is wrong with the relay that agents run; nothing where none was installed, or the last agent disconnected.

    It starts no process and writes nothing.
    """
    saved = saved_rows(database)
    if not saved and not paths.relay_table.exists():
        return ()
    relay = (_finding(cause, paths.relay) for cause in _relay_causes(paths, saved))
    return (*relay, *_table_findings(paths, saved))


def is_installed(paths: Paths, database: Database) -> bool:
    """Whether a relay was installed and not removed since."""
    return bool(saved_rows(database)) or read_table(paths).state == str(paths.state)


def _relay_causes(paths: Paths, saved: Mapping[str, str]) -> Iterable[Cause]:
    files = _installed_files(paths)
    if not files:
        yield Cause.RELAY_FOLDER if paths.relay.is_dir() and not paths.relay.is_symlink() else Cause.RELAY_MISSING
        return
    digest = relay_digest(files.values())
    if saved.get(RELAY, digest) != digest:
        yield Cause.RELAY_ALTERED
    elif files not in (relay_program.native_files(), relay_program.portable_files()):
        yield Cause.RELAY_OTHER
    if cause := _obstacle(paths.relay):
        yield cause


def _table_findings(paths: Paths, saved: Mapping[str, str]) -> Iterable[Finding]:
    text, state = file_content(paths.relay_table), other_state(paths)
    if text is None:
        yield _finding(Cause.RELAY_TABLE_MISSING, paths.relay_table)
    elif state:
        yield _finding(Cause.RELAY_ELSEWHERE, paths.relay_table, state=state)
    elif saved.get(TABLE, "").encode() not in (b"", text):
        yield _finding(Cause.RELAY_TABLE_ALTERED, paths.relay_table)


def _finding(cause: Cause, file: Path, **values: object) -> Finding:
    return Finding(cause=cause, name="relay", values={"file": file, **values})


def other_state(paths: Paths) -> str:
    """The state folder that the table names, when it is not ours."""
    named = read_table(paths).state
    return "" if named in ("", str(paths.state)) else named


def read_table(paths: Paths) -> TableContent:
    return relay_table.read(file_content(paths.relay_table) or b"")


def _installed_files(paths: Paths) -> Mapping[str, bytes]:
    """The relay as it is at its place; empty without the program itself."""
    found = {name: file_content(paths.relay_folder / name) for name in relay_names()}
    files = {name: content for name, content in found.items() if content is not None}
    return files if paths.relay.name in files else {}


def relay_names() -> tuple[str, ...]:
    return relay_program.NAME, relay_program.PORTABLE_RELAY.name


def file_content(path: Path) -> bytes | None:
    try:
        return user_file(path) if stat.S_ISREG(path.lstat().st_mode) else None
    except OSError:
        return None


def relay_digest(contents: Iterable[bytes]) -> str:
    return hashlib.sha256(b"".join(hashlib.sha256(one).digest() for one in contents)).hexdigest()


def saved_rows(database: Database) -> Mapping[str, str]:
    """What was installed; nothing when the database does not say."""
    try:
        with database.connect() as connection:
            return {row["key"]: str(row["value"]) for row in connection.execute(READ, (RELAY, TABLE))}
    except StoreError:
        return {}
