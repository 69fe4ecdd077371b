"""What can be wrong with the relay that agents run, and the cures."""

from __future__ import annotations

import enum
import os
import stat
import sys
from pathlib import Path

import msgspec

from tray.files import content

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
