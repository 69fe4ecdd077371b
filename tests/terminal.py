"""A program in a terminal of its own."""

from __future__ import annotations

import fcntl
import os
import pty
import re
import struct
import subprocess
import termios
import threading
from collections.abc import Sequence
from pathlib import Path


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
