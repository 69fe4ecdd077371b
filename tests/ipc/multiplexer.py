"""A tmux server with shells in it: whoever may talk to it types into them, and reads what they show."""

from __future__ import annotations

import subprocess
from pathlib import Path

from desk import wait
from live import Live

SLOW = 90.0  # seconds: a busy machine hashes slowly


class Multiplexer:
    """One server; each window is a shell in which `hooktray` is our command."""

    def __init__(self, live: Live, folder: Path) -> None:
        self._folder = folder
        program = folder / "path" / "hooktray"
        program.parent.mkdir()
        program.write_text(f'#!/bin/sh\nexec {" ".join(map(str, live.argv()))} "$@"\n')
        program.chmod(0o755)
        self._environment = {
            "PATH": f"{program.parent}:/usr/local/bin:/usr/bin:/bin",
            "HOME": str(folder),
            "TMUX_TMPDIR": str(folder),
            "LC_ALL": "C.UTF-8",
            "TERM": "xterm",
            "PS1": "$ ",
        }

    def open(self, window: str, *argv: str) -> None:
        verb = ["new-session", "-d", "-s", "all", "-n"] if window == "person" else ["new-window", "-d", "-n"]
        self.tmux(*verb, window, *(argv or ("/bin/sh",)))

    def tmux(self, *argv: str) -> str:
        command = ["tmux", "-f", "/dev/null", *argv]
        return subprocess.run(
            command, env=self._environment, cwd=self._folder, capture_output=True, text=True, timeout=SLOW, check=True
        ).stdout

    def type(self, text: str, window: str = "person") -> None:
        self.tmux("send-keys", "-t", f"all:{window}", "-l", text)
        self.tmux("send-keys", "-t", f"all:{window}", "Enter")

    def screen(self, window: str = "person") -> str:
        """All that it shows and has shown, lines put together again."""
        return self.tmux("capture-pane", "-p", "-J", "-S", "-", "-t", f"all:{window}")

    def wait(self, text: str, window: str = "person", count: int = 1) -> None:
        wait(lambda: self.screen(window).count(text) >= count, SLOW, f"{text!r} is shown")

    def processes(self) -> list[int]:
        """The server and its shells."""
        found = self.tmux("display-message", "-p", "#{pid}").split()
        return [int(found[0]), *map(int, self.tmux("list-panes", "-a", "-F", "#{pane_pid}").split())]

    def close(self) -> None:
        subprocess.run(
            ["tmux", "kill-server"], env=self._environment, cwd=self._folder, capture_output=True, check=False
        )
