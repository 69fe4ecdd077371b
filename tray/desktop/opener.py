"""Opens a file in the user's own viewer, as each desktop does it, and remembers what it started for that."""

from __future__ import annotations

import sys
import threading
from pathlib import Path

from tray.desktop import linux, macos, windows
from tray.execution.process_table import read_entry


class Opener:
    """Identifies a process that it started by id and start time, as the system reuses ids."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._started: dict[int, float] = {}

    def open(self, path: Path) -> None:
        """Return at once; raises HooktrayError where nothing can open a file."""
        if sys.platform == "win32":
            windows.open_file(path)
        elif sys.platform == "darwin":
            macos.open_file(path)
        else:
            self._remember(linux.open_file(path))

    def open_text(self, path: Path, text: str) -> None:
        """Write a private file and open it; raises HooktrayError where nothing can open a file."""
        path.parent.mkdir(mode=0o700, exist_ok=True)
        path.write_text(text, encoding="utf-8")
        self.open(path)

    def started(self, pid: int) -> bool:
        """Whether this process was started to open a file for the user. What it starts is below it (Linux)."""
        return self._started.get(pid, 0.0) == _start_time(pid) != 0.0

    def _remember(self, pid: int) -> None:
        with self._lock:
            living = {one: birth for one, birth in self._started.items() if _start_time(one) == birth}
            self._started = {**living, pid: _start_time(pid)}


def _start_time(pid: int) -> float:
    """When the process was started, as the kernel counts; 0 when it has ended."""
    entry = read_entry(pid)
    return entry.start if entry else 0.0
