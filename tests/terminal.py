"""A program in a terminal of its own, and a shell there in which `hooktray` runs."""

from __future__ import annotations

import os
import re
import shlex
import struct
import subprocess
import sys
import threading
from collections.abc import Sequence
from pathlib import Path

from desk import wait

if sys.platform != "win32":
    import fcntl
    import pty
    import termios

SLOW = 90.0  # seconds: a busy machine hashes slowly


class Terminal:
    """A program in a terminal of its own; what it draws is read and kept."""

    def __init__(self, argv: Sequence[str | Path], cwd: Path, env: dict[str, str]) -> None:
        self._master, slave = pty.openpty()
        fcntl.ioctl(slave, termios.TIOCSWINSZ, struct.pack("HHHH", 40, 120, 0, 0))
        self.process = subprocess.Popen(
            argv, cwd=cwd, env=env, stdin=slave, stdout=slave, stderr=slave, start_new_session=True
        )
        os.close(slave)
        self.drawn = bytearray()
        self._reader = threading.Thread(target=self._read)
        self._reader.start()

    def type(self, keys: str) -> None:
        os.write(self._master, keys.encode())

    @property
    def text(self) -> str:
        """What was drawn, without the colours and jumps."""
        return re.sub(rb"\x1b\[[0-9;?<>=]*[a-zA-Z]", b"", bytes(self.drawn)).decode("utf-8", "replace")

    @property
    def echoes(self) -> bool:
        """Whether what is typed is shown; a program that turns this off may drop what was typed before."""
        return bool(termios.tcgetattr(self._master)[3] & termios.ECHO)

    def wait(self, text: str, count: int = 1) -> None:
        wait(lambda: self.text.count(text) >= count, SLOW, f"{text!r} in {self.text!r}")

    def close(self) -> None:
        if self.process.poll() is None:
            self.process.kill()
        self.process.wait(60)
        self._reader.join(20)
        os.close(self._master)

    def _read(self) -> None:
        while True:
            try:
                part = os.read(self._master, 65536)
            except OSError:  # the other end is closed
                return
            if not part:
                return
            self.drawn += part


class Shell:
    """A shell in a terminal that this very process holds, as an editor does."""

    def __init__(self, command: Sequence[str], folder: Path, *argv: str) -> None:
        environment = {
            "PATH": "/usr/sbin:/usr/bin:/sbin:/bin",
            "HOME": str(folder),
            "LC_ALL": "C.UTF-8",
            "TERM": "xterm",
        }
        self._command = shlex.join(command)
        self._terminal = Terminal(["setsid", "--ctty", "--wait", *argv], folder, environment)

    def runs(self, *words: str) -> None:
        self._terminal.type(f"{self._command} {shlex.join(words)}\n")

    def types(self, text: str) -> None:
        self._terminal.type(f"{text}\n")

    def wait(self, text: str, count: int = 1) -> None:
        self._terminal.wait(text, count)

    @property
    def text(self) -> str:
        return self._terminal.text

    def close(self) -> None:
        self.types("exit")
        self._terminal.process.wait(SLOW)
        self._terminal.close()
