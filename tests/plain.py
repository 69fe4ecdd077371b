"""Where a tray can run without a desktop: the same few names as the desk has."""

from __future__ import annotations

import contextlib
import os
import signal
import subprocess
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import TypeVar

from desk import wait
from desk.wait import DEADLINE

T = TypeVar("T")


class Plain:
    """Starts programs with an environment that knows neither display nor bus, and ends them."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.environment = {"PATH": os.environ["PATH"], "HOME": str(folder), "LC_ALL": "C.UTF-8"}
        self._started: list[subprocess.Popen[bytes]] = []

    def start(self, argv: Sequence[str | Path], env: Mapping[str, str] | None = None) -> subprocess.Popen[bytes]:
        with (self.folder / "output").open("ab") as output:
            process = subprocess.Popen(
                argv,
                env={**self.environment, **(env or {})},
                cwd=self.folder,
                stdin=subprocess.DEVNULL,
                stdout=output,
                stderr=output,
            )
        self._started.append(process)
        return process

    def run(
        self,
        argv: Sequence[str | Path],
        env: Mapping[str, str] | None = None,
        *,
        input: bytes = b"",
        timeout: float = 60,
    ) -> subprocess.CompletedProcess[bytes]:
        return subprocess.run(
            argv,
            env={**self.environment, **(env or {})},
            cwd=self.folder,
            input=input,
            capture_output=True,
            timeout=timeout,
            check=False,
        )

    def wait(self, condition: Callable[[], T | None], deadline: float = DEADLINE, what: str = "the condition") -> T:
        return wait(condition, deadline, what)

    def close(self) -> None:
        for process in self._started:
            if process.poll() is None:
                process.send_signal(signal.SIGCONT)
                process.terminate()
        for process in self._started:
            process.wait(DEADLINE)


@contextlib.contextmanager
def read_only(folder: Path) -> Iterator[Sequence[str]]:
    """Nothing can be made in there by a program behind the words given, by which root loses its privileges, too."""
    folder.chmod(0o500)
    try:
        yield () if os.getuid() else ("setpriv", "--inh-caps=-all", "--bounding-set=-all")
    finally:
        folder.chmod(0o700)
