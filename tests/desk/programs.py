"""The processes of a desk: each started with a log, all ended by pid, none left behind."""

from __future__ import annotations

import os
import signal
import subprocess
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import IO

from desk.wait import Overdue, wait

MARK = "DESK_FOLDER"  # in the environment of every process of a desk, inherited by what they start
GRACE = 10.0  # seconds between asking a process to end and killing it

Output = int | IO[bytes] | None


class Programs:
    """Starts processes in sessions of their own and ends them, with everything that they started."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self._mark = f"{MARK}={folder}".encode()
        self._started: list[tuple[subprocess.Popen[bytes], Path]] = []
        self._last: list[subprocess.Popen[bytes]] = []

    def start(
        self,
        argv: Sequence[str | Path],
        environment: Mapping[str, str],
        *,
        cwd: Path | None = None,
        stdin: Output = subprocess.DEVNULL,
        stdout: Output = None,
        stderr: Output = None,
        pass_fds: Sequence[int] = (),
        last: bool = False,
    ) -> subprocess.Popen[bytes]:
        """A new process; what is not redirected goes to its log; a `last` one is ended after all others."""
        path = self.folder / "log" / f"{len(self._started):02}-{Path(argv[0]).name}.log"
        with path.open("wb") as log:
            process = subprocess.Popen(
                [str(word) for word in argv],
                env={**environment, MARK: str(self.folder)},
                cwd=cwd or self.folder,
                stdin=stdin,
                stdout=log if stdout is None else stdout,
                stderr=log if stderr is None else stderr,
                pass_fds=pass_fds,
                start_new_session=True,
            )
        self._started.append((process, path))
        if last:
            self._last.append(process)
        return process

    def log(self, process: subprocess.Popen[bytes]) -> str:
        return next(path.read_text(errors="replace") for known, path in self._started if known is process)

    def started(self) -> list[subprocess.Popen[bytes]]:
        return [process for process, _ in self._started]

    def pids(self) -> list[int]:
        """Every living process of this desk, also those that its bus or its programs started."""
        return [
            int(entry.name) for entry in Path("/proc").iterdir() if entry.name.isdigit() and self._ours(entry.name)
        ]

    def stop(self, *processes: subprocess.Popen[bytes]) -> None:
        """End these, all at once; the process group of one that does not go is killed."""
        for process in processes:
            if process.poll() is None:
                process.terminate()
        for process in processes:
            try:
                process.wait(GRACE)
            except subprocess.TimeoutExpired:
                os.killpg(process.pid, signal.SIGKILL)
                process.wait(GRACE)
            _close(process)

    def end(self) -> None:
        """End everything: what was started, what that started, and what others wait for last."""
        self.stop(*(process for process in reversed(self.started()) if process not in self._last))
        self.sweep(*(process.pid for process in self._last))
        self.stop(*self._last)
        self.sweep()

    def sweep(self, *spared: int) -> None:
        """End what is left, except the spared pids."""
        for number in (signal.SIGTERM, signal.SIGKILL):
            for pid in set(self.pids()) - set(spared):
                self._signal(pid, number)
            try:
                wait(lambda: not set(self.pids()) - set(spared), GRACE, "the desk's processes end")
            except Overdue:
                if number == signal.SIGKILL:
                    raise
            else:
                return

    def _ours(self, pid: str) -> bool:
        try:
            return self._mark in Path("/proc", pid, "environ").read_bytes().split(b"\0")
        except OSError:  # gone, or not ours to read
            return False

    def _signal(self, pid: int, number: int) -> None:
        try:
            handle = os.pidfd_open(pid)
        except ProcessLookupError:
            return
        try:
            if self._ours(str(pid)):  # the handle is open: the pid can no longer become another process's
                signal.pidfd_send_signal(handle, number)
        except ProcessLookupError:
            pass
        finally:
            os.close(handle)


def _close(process: subprocess.Popen[bytes]) -> None:
    for pipe in (process.stdin, process.stdout, process.stderr):
        if pipe is not None:
            pipe.close()
