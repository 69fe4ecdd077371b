"""What failed when it was tried after its approval: one small file that the tray writes and every command reads."""

from __future__ import annotations

import json
import threading
from collections.abc import Mapping
from pathlib import Path

from tray.files import write_private

FILE_NAME = "tried.json"
_WRITE_LOCK = threading.Lock()  # the trials of hooks that were approved together end at the same time
MAX_SIZE = 256 * 1024  # bytes; nothing that we write is as long


class TrialResults:
    """The failures by hook, each for one approved digest. A file that cannot be read holds none."""

    def __init__(self, folder: Path) -> None:
        self._path = folder / FILE_NAME

    @property
    def stamp(self) -> object:
        """Changes with the file."""
        try:
            found = self._path.stat()
        except OSError:
            return None
        return found.st_ino, found.st_size, found.st_mtime_ns

    def failures(self) -> Mapping[tuple[str, str], tuple[str, str]]:
        """The cause and the remedy for each hook's key and digest."""
        try:
            with self._path.open("rb") as file:
                found = json.loads(file.read(MAX_SIZE))
            return {
                (str(key), str(digest)): (str(cause), str(*remedy[:1]))
                for key, (digest, cause, *remedy) in found.items()
            }
        except (OSError, ValueError, TypeError, AttributeError):
            return {}

    def record(self, key: str, digest: str, cause: str, remedy: str = "") -> None:
        """Replace what is known of one hook; a `cause` of "" means that it works."""
        with _WRITE_LOCK:
            known = {one: (other, *why) for (one, other), why in self.failures().items() if one != key}
            if cause:
                known[key] = (digest, cause, remedy)
            write_private(self._path, json.dumps(known, ensure_ascii=False).encode())
