"""What can be wrong with the relay that agents run, and the cures. It starts no process and writes nothing.

`meta` of the database has the digest of the relay that was installed, under `relay`, and the text of the table, under
`relay.table`: files that differ were altered by another program.
"""

from __future__ import annotations

import enum
import hashlib
import os
import stat
import sys
from collections.abc import Iterable, Mapping
from pathlib import Path

import msgspec

from tray import relay_program
from tray.agents import relay_table
from tray.agents.relay_table import TableContent
from tray.errors import StoreError
from tray.files import content, user_file
from tray.paths import Paths
from tray.store.db import Database

RELAY, TABLE = "relay", "relay.table"  # the rows of `meta`
READ = "SELECT key, value FROM meta WHERE key IN (?, ?)"
ELF_HEAD = 20  # bytes: up to the processor that a program is for


class RelayCause(enum.StrEnum):
    """What is wrong with the installed relay or its table."""

    MISSING = "is missing"
    ALTERED = "was altered"
    OTHER = "is not the one of this version"
    FOLDER = "is a folder"
    NOT_EXECUTABLE = "is not executable"
    NOEXEC = "is on a file system that runs no programs (noexec)"
    ARCHITECTURE = "is a program for another processor"
    TABLE_MISSING = "is missing, so the relay does not know where the tray is"
    TABLE_ALTERED = "was altered, so the relay may not know where the tray is or which tools are guarded"
    ELSEWHERE = "leads to another Hooktray"


PUT_BACK = "`hooktray run` or `hooktray connect` puts it back; find out who changes it"
REMEDIES = {
    RelayCause.FOLDER: "move it away; then `hooktray connect` puts the relay there",
    RelayCause.NOEXEC: (
        "use a folder on another file system: `hooktray --home DIR connect`, and start the tray with the same "
        "--home; or mount this one with exec"
    ),
}


class RelayProblem(msgspec.Struct, frozen=True, kw_only=True):
    """`place` is the file; `detail` the state folder that the table names instead of ours."""

    cause: RelayCause
    place: Path
    detail: str = ""

    @property
    def text(self) -> str:
        return " ".join(filter(None, (f"{self.place} {self.cause.value}", self.detail and f"({self.detail})")))

    @property
    def remedy(self) -> str:
        return REMEDIES.get(self.cause, PUT_BACK)


def obstacle(program: Path) -> RelayProblem | None:
    """Returns why this machine cannot start the program; None if it can. Starts nothing."""
    cause = _obstacle(program)
    return RelayProblem(cause=cause, place=program) if cause else None


def _obstacle(program: Path) -> RelayCause | None:
    try:
        mode = program.stat().st_mode
    except OSError:
        return RelayCause.MISSING
    if not stat.S_ISREG(mode):
        return RelayCause.FOLDER if stat.S_ISDIR(mode) else RelayCause.MISSING
    if sys.platform == "win32":
        return None
    if sys.platform == "linux" and os.statvfs(program).f_flag & os.ST_NOEXEC:
        return RelayCause.NOEXEC
    if not os.access(program, os.X_OK):
        return RelayCause.NOT_EXECUTABLE
    try:
        theirs, own = (content(str(one), ELF_HEAD) for one in (program, sys.executable))
    except OSError:
        return None  # a program may be executable without being readable
    is_other = theirs[:4] == own[:4] == b"\x7fELF" and theirs[4:6] + theirs[18:] != own[4:6] + own[18:]
    return RelayCause.ARCHITECTURE if is_other else None


def problems(paths: Paths, database: Database) -> tuple[RelayProblem, ...]:
    """What is wrong with the relay that agents run; nothing where none was installed, or the last agent disconnected.

    It starts no process and writes nothing.
    """
    saved = saved_rows(database)
    if not saved and not paths.relay_table.exists():
        return ()
    found = (*_relay_causes(paths, saved), *_table_causes(paths, saved))
    places = dict.fromkeys((RelayCause.TABLE_MISSING, RelayCause.TABLE_ALTERED), paths.relay_table)
    elsewhere = [
        RelayProblem(cause=RelayCause.ELSEWHERE, place=paths.relay_table, detail=state)
        for state in [other_state(paths)]
        if state
    ]
    return (*(RelayProblem(cause=cause, place=places.get(cause, paths.relay)) for cause in found), *elsewhere)


def is_installed(paths: Paths, database: Database) -> bool:
    """Whether a relay was installed and not removed since."""
    return bool(saved_rows(database)) or read_table(paths).state == str(paths.state)


def _relay_causes(paths: Paths, saved: Mapping[str, str]) -> Iterable[RelayCause]:
    files = _installed_files(paths)
    if not files:
        yield RelayCause.FOLDER if paths.relay.is_dir() and not paths.relay.is_symlink() else RelayCause.MISSING
        return
    digest = relay_digest(files.values())
    if saved.get(RELAY, digest) != digest:
        yield RelayCause.ALTERED
    elif files not in (relay_program.native_files(), relay_program.portable_files()):
        yield RelayCause.OTHER
    if found := obstacle(paths.relay):
        yield found.cause


def _table_causes(paths: Paths, saved: Mapping[str, str]) -> Iterable[RelayCause]:
    text = file_content(paths.relay_table)
    if text is None:
        yield RelayCause.TABLE_MISSING
    elif not other_state(paths) and saved.get(TABLE, "").encode() not in (b"", text):
        yield RelayCause.TABLE_ALTERED


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
