"""Socket activation by systemd: a user socket and service, so that an agent's event starts the tray outside of it.

    ~/.config/systemd/user/hooktray.socket   ListenStream=<the tray's socket>; enabled in sockets.target
    ~/.config/systemd/user/hooktray.service  ExecStart=<the command of the login entry>

See systemd.socket(5), systemd.service(5) and, for quoting, systemd.syntax(7).
"""

from __future__ import annotations

import logging
import shutil
import subprocess
from collections.abc import Mapping, Sequence
from pathlib import Path

import msgspec

from tray.errors import HooktrayError
from tray.files import user_file
from tray.language import say

SOCKET, SERVICE = "hooktray.socket", "hooktray.service"
MARK = "X-Hooktray=true"  # systemd ignores keys that begin with X-
TIMEOUT = 20.0  # seconds for one systemctl
STOP_TIMEOUT = 30  # seconds for the tray to end: hooks that an agent waits for have 10 of them
# What the desktop knows and the manager may not; then the service is started anew, so that it has an icon.
START = (
    "systemctl --user import-environment DISPLAY WAYLAND_DISPLAY XAUTHORITY XDG_CURRENT_DESKTOP XDG_SESSION_TYPE"
    f" 2>/dev/null; systemctl --user restart {SERVICE} 2>/dev/null && exit 0; "
)

log = logging.getLogger(__name__)


class UserManager(msgspec.Struct, frozen=True):
    """The user's systemd, asked through systemctl."""

    program: str
    folder: Path  # of the user's units
    path: Path  # of the tray's socket

    def enable(self, *, start: bool) -> None:
        """After the units were written. `start` listens at once; a tray that runs already would lose its socket."""
        self._run("daemon-reload")
        self._run("enable", SOCKET)
        if start:
            self._run("start", SOCKET)

    def disable(self) -> None:
        """Before the units are removed."""
        if (self.folder / SOCKET).exists():
            self._run("disable", SOCKET)
            self._run("stop", SOCKET)

    def reload(self) -> None:
        self._run("daemon-reload")

    def stop_listening(self) -> bool:
        """Until the next login no event starts the tray. False when systemd does not listen for it."""
        if not self.listens_for_us:
            return False
        try:
            self._run("stop", SOCKET)
        except HooktrayError as error:
            log.warning("%s", error.message)
            return False
        return True

    @property
    def listens_for_us(self) -> bool:
        """Whether the unit on disk is about this tray's socket."""
        try:
            text = user_file(self.folder / SOCKET).decode("utf-8", "replace")
        except OSError:
            return False
        return f"ListenStream={_specifier(str(self.path))}\n" in text

    def _run(self, *words: str) -> None:
        line = f"systemctl --user {' '.join(words)}"
        try:
            subprocess.run(
                [self.program, "--user", *words], check=True, capture_output=True, text=True, timeout=TIMEOUT
            )
        except (OSError, subprocess.SubprocessError) as error:
            why = str(error)
            if isinstance(error, subprocess.CalledProcessError):
                why = error.stderr.strip() or f"exit {error.returncode}"
            raise HooktrayError(say("`{line}` failed: {why}", line=line, why=why[:300])) from error


def user_manager(config: Path, path: Path, environment: Mapping[str, str]) -> UserManager | None:
    """The user's systemd; None where it does not run, or cannot listen at the path of our socket."""
    runtime = environment.get("XDG_RUNTIME_DIR", "")
    if not runtime or not (Path(runtime) / "systemd" / "private").exists():
        return None
    program = shutil.which("systemctl", path=environment.get("PATH"))  # `shutil` is loaded at its first use
    if not program:
        return None
    if len(str(path).encode()) > 107 or not str(path).isprintable():  # what a unit's ListenStream can hold
        return None
    return UserManager(program, config / "systemd" / "user", path)


def socket_unit(path: Path) -> str:
    return (
        "[Unit]\nDescription=Hooktray: waits for the first event of a coding agent\n\n"
        f"[Socket]\nListenStream={_specifier(str(path))}\nSocketMode=0600\nDirectoryMode=0700\n{MARK}\n\n"
        "[Install]\nWantedBy=sockets.target\n"
    )


def service_unit(argv: Sequence[str]) -> str:
    """KillMode=mixed: only the tray gets SIGTERM, and ends its hooks itself."""
    command = " ".join(_word(word) for word in argv)
    return (
        "[Unit]\nDescription=Hooktray: one tray for every coding agent's hooks\n"
        "PartOf=graphical-session.target\nAfter=graphical-session.target\n\n"
        f"[Service]\nType=exec\nExecStart={command}\nKillMode=mixed\nTimeoutStopSec={STOP_TIMEOUT}\n"
        f"Restart=on-abnormal\n{MARK}\n"
    )


def _word(word: str) -> str:
    if "\n" in word:
        raise HooktrayError(say("a path with a line break cannot be started at login"))
    escaped = _specifier(word).replace("$", "$$").replace("\\", "\\\\").replace('"', '\\"')
    return f'"{escaped}"'


def _specifier(text: str) -> str:
    return text.replace("%", "%%")
