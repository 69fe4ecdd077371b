"""The PATH of hooks: which one an approval records, and the programs that are found on it."""

from __future__ import annotations

import contextlib
import os
import subprocess
import sys
from collections.abc import Mapping
from functools import lru_cache
from pathlib import Path, PurePath

from tray.approvals.command_words import SYSTEM_FOLDERS

LOGIN_SECONDS = 5.0  # for a login shell to answer
LOGIN_MARK = "hooktray-path:"
LOGIN_SHELLS = ("bash", "dash", "fish", "ksh", "sh", "zsh")  # shells that can print their PATH


@lru_cache(maxsize=1024)
def is_user_writable(path: str) -> bool:
    """True if this user can replace the file at this path, by rights to it or to a folder above it."""
    if sys.platform == "win32" or os.geteuid() == 0:
        return not f"{path}/".startswith(SYSTEM_FOLDERS)
    above = [path] if not os.path.islink(path) else []  # noqa: PTH114
    above += [str(one) for one in PurePath(path).parents]
    for one in above:
        with contextlib.suppress(OSError):
            if os.access(one, os.W_OK) or os.stat(one).st_uid == os.geteuid():  # noqa: PTH116
                return True
    return False


class SearchPath:
    """The PATH that an approval records: the terminal's that approves, else the last event's, else the login shell's.

    The login shell is asked at most once, and only if nothing else is known.
    """

    def __init__(self, environment: Mapping[str, str]) -> None:
        self._environment = environment
        self._found: str | None = None
        self.event_path = ""  # of the last event that had one

    def saw_event(self, path: str) -> bool:
        """Remember the PATH of an agent. Returns True if it has changed."""
        before, self.event_path = self.event_path, path or self.event_path
        return self.event_path != before

    def current(self) -> str:
        """Returns the PATH for an approval outside a terminal."""
        if self.event_path:
            return self.event_path
        own = self._environment.get("PATH", os.defpath)
        if "TERM" in self._environment:  # we were started from a terminal: that is the login shell's
            return own
        if self._found is None:
            self._found = login_path(self._environment)
        return os.pathsep.join(dict.fromkeys(filter(None, (*self._found.split(os.pathsep), *own.split(os.pathsep)))))


def login_path(environment: Mapping[str, str]) -> str:
    """Returns the PATH of the user's login shell; "" if it is unknown."""
    shell = environment.get("SHELL", "")
    if os.name == "nt" or Path(shell).name not in LOGIN_SHELLS or not Path(shell).is_absolute():
        return ""
    try:
        done = subprocess.run(
            [shell, "-l", "-i", "-c", f"echo {LOGIN_MARK}; printenv PATH"],
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            timeout=LOGIN_SECONDS,
            check=False,
            cwd=environment.get("HOME", "/"),
            env=environment,
            start_new_session=True,
        )
    except (OSError, subprocess.TimeoutExpired):
        return ""
    _, mark, rest = done.stdout.decode("utf-8", "surrogateescape").rpartition(f"{LOGIN_MARK}\n")
    return rest.split("\n")[0].strip() if mark else ""


def terminal_path(pid: int) -> str:
    """Returns the PATH of the command that a person typed at a terminal; "" if it cannot be read."""
    try:
        fields = Path(f"/proc/{pid}/environ").read_bytes().split(b"\0")
    except OSError:
        return ""
    return next((os.fsdecode(one[5:]) for one in fields if one.startswith(b"PATH=")), "")
