"""The PATH that an approval records: the terminal's that approves, else the last event's, else the login shell's."""

from __future__ import annotations

import os
import subprocess
from collections.abc import Callable, Mapping
from pathlib import Path

SECONDS = 5.0  # that a login shell may take
MARK = "hooktray-path:"
SHELLS = ("bash", "dash", "fish", "ksh", "sh", "zsh")


class SearchPath:
    """`login` is asked at most once, and only when nothing else is known."""

    def __init__(self, environment: Mapping[str, str], login: Callable[[], str] = lambda: "") -> None:
        self._environment, self._login = environment, login
        self._found: str | None = None
        self._event = ""

    def saw_event(self, path: str) -> bool:
        """Remember the PATH of an agent; True when it is another one than before."""
        before, self._event = self._event, path or self._event
        return self._event != before

    def current(self) -> str:
        """The PATH for an approval that no terminal gives."""
        return self._event or self._login_path()

    def _login_path(self) -> str:
        own = self._environment.get("PATH", os.defpath)
        if "TERM" in self._environment:  # we were started from a terminal: that is the login shell's
            return own
        if self._found is None:
            self._found = self._login()
        return os.pathsep.join(dict.fromkeys(filter(None, (*self._found.split(os.pathsep), *own.split(os.pathsep)))))


def login_path(environment: Mapping[str, str]) -> str:
    """What the user's login shell has in PATH; "" when it does not say."""
    shell = environment.get("SHELL", "")
    if os.name == "nt" or Path(shell).name not in SHELLS or not Path(shell).is_absolute():
        return ""
    try:
        done = subprocess.run(
            [shell, "-l", "-i", "-c", f"echo {MARK}; printenv PATH"],
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            timeout=SECONDS,
            check=False,
            cwd=environment.get("HOME", "/"),
            env=environment,
            start_new_session=True,
        )
    except (OSError, subprocess.TimeoutExpired):
        return ""
    _, mark, rest = done.stdout.decode("utf-8", "surrogateescape").rpartition(f"{MARK}\n")
    return rest.split("\n")[0].strip() if mark else ""


def terminal_path(pid: int) -> str:
    """The PATH of the command that a person typed at a terminal; "" where that cannot be seen."""
    try:
        fields = Path(f"/proc/{pid}/environ").read_bytes().split(b"\0")
    except OSError:
        return ""
    return next((os.fsdecode(one[5:]) for one in fields if one.startswith(b"PATH=")), "")
