"""What we last wrote into the database, kept beside it: a change of only the database is noticed.

There are two lines while a change is being written, so that whichever of them a crash leaves is ours.
"""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

from tray.errors import store_error
from tray.files import write_private

LEDGER = "ledger.head"  # a line for the last row: its number, its link, and the link of the first one
SWITCH = "switch.head"  # the digest of what we last wrote


def read_checkpoint(path: Path) -> tuple[str, ...]:
    """The lines; none when nothing was noted, or the note is gone."""
    try:
        text = path.read_text(encoding="utf-8")  # Python would have to import the decoder of ASCII
    except (OSError, ValueError):
        return ()
    return tuple(text.split("\n")[:-1]) if text.isascii() else ()


def has_approvals(folder: Path) -> bool:
    """Whether a row of the ledger was noted: there was a database with decisions in it."""
    return any(line and not line.startswith("0 ") for line in read_checkpoint(folder / LEDGER))


def delete_checkpoints(folder: Path) -> None:
    """Deletes the notes about a database that is gone, so that they are not compared with the next one."""
    for one in (LEDGER, SWITCH):
        (folder / one).unlink(missing_ok=True)


def write_checkpoint(path: Path, lines: Iterable[str]) -> None:
    """On the disk when it returns. Raises StoreError."""
    try:
        write_private(path, "".join(f"{line}\n" for line in lines).encode("ascii"))
    except OSError as error:
        raise store_error(path, error) from error
