"""Start at login: an XDG autostart file, a LaunchAgent, or a value of the Run key; off until the user turns it on.

An entry is written whole and read back before success is reported; what is not ours is never touched.
"""

from __future__ import annotations

import enum
import os
import plistlib
import subprocess
import sys
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from pathlib import Path

import msgspec

from tray.desktop import systemd
from tray.desktop.macos import LAUNCHD_SOCKET
from tray.desktop.systemd import UserManager, user_manager
from tray.desktop.windows import RunKey
from tray.errors import FULL, MAKE_ROOM, HooktrayError
from tray.execution.isolation import isolated_command
from tray.files import user_file
from tray.language import say
from tray.paths import Paths
from tray.sources.configuration import write_atomic

FILE = "hooktray.desktop"
MARK = "X-Hooktray=true"
LABEL = "app.hooktray.tray"
VALUE = "Hooktray"
SPECIAL = ('"', "`", "$", "\\")  # what a quoted argument of an Exec line escapes

# $0 is the interpreter of our environment; the words after it are the isolated start. When the environment was made
# anew for another Python, that start's folders are gone, and Hooktray starts by the environment's own means.
START = '[ -f "$4" ] && [ -x "$1" ] && exec "$@"; shift 5; exec "$0" -I -m tray "$@"'


class LoginState(enum.StrEnum):
    ON = "on"
    OFF = "off"
    OTHER = "other"  # there is an entry, and it does not start this Hooktray


def desktop_file(argv: Sequence[str]) -> str:
    """A Desktop Entry; its Exec line is quoted twice, as an argument and as a string."""
    command = " ".join(_argument(word) for word in argv).replace("\\", "\\\\")
    return (
        "[Desktop Entry]\nType=Application\nVersion=1.4\nName=Hooktray\n"
        "Comment=One tray for every coding agent's hooks\n"
        f"Exec={command}\nTerminal=false\nStartupNotify=false\n{MARK}\n"
    )


def _argument(word: str) -> str:
    if "\n" in word:
        raise HooktrayError(say("a path with a line break cannot be started at login"))
    escaped = "".join(f"\\{letter}" if letter in SPECIAL else letter for letter in word.replace("%", "%%"))
    return f'"{escaped}"'


def restarting_file(argv: Sequence[str]) -> str:
    """A Desktop Entry that restarts the service of systemd, and starts the tray itself where that fails."""
    return desktop_file(("/bin/sh", "-c", systemd.START + 'exec "$@"', "sh", *argv))


class LoginFile(msgspec.Struct, frozen=True):
    """An entry that is a file of its own; `text` gives its content for a command."""

    path: Path
    text: Callable[[Sequence[str]], str] = desktop_file
    mark: str = MARK  # is in what we write, and in nothing else

    @property
    def where(self) -> str:
        return str(self.path)

    def read(self) -> str | None:
        try:
            return user_file(self.path).decode("utf-8", "replace")
        except FileNotFoundError:
            return None

    def write(self, text: str) -> None:
        self.path.parent.mkdir(parents=True, exist_ok=True)
        write_atomic(self.path, text.encode(), mode=0o644)

    def remove(self) -> None:
        self.path.unlink(missing_ok=True)


class RunValue(msgspec.Struct, frozen=True):
    """An entry that is a value in the registry. Its name is its mark, so whatever is there is ours."""

    registry: RunKey
    where: str = r"HKEY_CURRENT_USER\Software\Microsoft\Windows\CurrentVersion\Run\Hooktray"
    mark: str = f"{VALUE}="

    def text(self, argv: Sequence[str]) -> str:
        return f"{VALUE}={subprocess.list2cmdline(argv)}"

    def read(self) -> str | None:
        value = self.registry.get(VALUE)
        return None if value is None else f"{VALUE}={value}"

    def write(self, text: str) -> None:
        self.registry.set(VALUE, text.removeprefix(f"{VALUE}="))

    def remove(self) -> None:
        if self.registry.get(VALUE) is not None:
            self.registry.delete(VALUE)


LoginEntry = LoginFile | RunValue  # one place where a system keeps what it starts at login


class Autostart(msgspec.Struct, frozen=True):
    """The entries of this Hooktray: that of the desktop and, with systemd, the units that wait for an event."""

    entries: tuple[LoginEntry, ...]
    paths: Paths
    manager: UserManager | None = None

    @property
    def where(self) -> str:
        return self.entries[0].where

    def state(self) -> LoginState:
        found = [self._read(entry) for entry in self.entries]
        if not any(found):
            return LoginState.OFF
        wanted = [entry.text(self.command()) for entry in self.entries]
        return LoginState.ON if found == wanted else LoginState.OTHER

    def command(self) -> tuple[str, ...]:
        """The command of the entries. It looks for our packages, so it is called only when it is needed."""
        return command(self.paths)

    def is_on(self) -> bool:
        try:
            return self.state() is LoginState.ON
        except HooktrayError:  # the menu is drawn all the same
            return False

    def turn(self, on: bool, *, is_running: bool = True) -> None:
        """Write the entries or remove them, then read them back; raises HooktrayError when that failed.

        `is_running`: a tray runs already, and has the socket that systemd would listen at.
        """
        for entry in self.entries:
            found = self._read(entry)
            if found is not None and entry.mark not in found:
                raise HooktrayError(
                    say("{place}: this entry is not from Hooktray", place=entry.where),
                    hint=say("move it away, then try again"),
                )
        if self.manager is not None and not on:
            self.manager.disable()
        for entry in self.entries:
            self._turn(entry, on)
        if self.manager is not None and on:
            self.manager.enable(start=not is_running)
        elif self.manager is not None:
            self.manager.reload()

    def _turn(self, entry: LoginEntry, on: bool) -> None:
        try:
            if on:
                entry.write(entry.text(self.command()))
            else:
                entry.remove()
        except OSError as error:
            raise _failed(entry, error) from error
        if self._read(entry) != (entry.text(self.command()) if on else None):
            raise _failed(entry, None)

    def _read(self, entry: LoginEntry) -> str | None:
        try:
            return entry.read()
        except OSError as error:
            raise _failed(entry, error) from error


def _failed(entry: LoginEntry, error: OSError | None) -> HooktrayError:
    why = (error.strerror or str(error)) if error else say("it does not say what was written")
    return HooktrayError(
        say("{place}: start at login could not be set: {why}", place=entry.where, why=why),
        hint=MAKE_ROOM if error and error.errno in FULL else say("check the permissions there"),
    )


def launch_agent(path: Path, argv: Sequence[str]) -> str:
    """A property list, in force from the next login on. launchd(8) listens at `path` while no tray runs."""
    words = {
        "Label": LABEL,
        "LimitLoadToSessionType": "Aqua",
        "ProgramArguments": list(argv),
        "RunAtLoad": True,
        "Sockets": {LAUNCHD_SOCKET: {"SockPathMode": 0o600, "SockPathName": str(path)}},
    }
    return plistlib.dumps(words).decode()


def autostart(paths: Paths, environment: Mapping[str, str] = os.environ) -> Autostart:
    """The entries for this system."""
    manager = service_manager(paths, environment)
    return Autostart(login_entries(paths.socket, environment, manager), paths, manager)


def service_manager(paths: Paths, environment: Mapping[str, str] = os.environ) -> UserManager | None:
    """What listens for the tray while it is not running, where it has to be asked: the user's systemd."""
    if sys.platform != "linux":
        return None
    return user_manager(_config_folder(environment), paths.socket, environment)


def login_entries(
    path: Path,
    environment: Mapping[str, str],
    manager: UserManager | None = None,
    platform: str = sys.platform,
) -> tuple[LoginEntry, ...]:
    """The desktop's entry first. `path` is that of the tray's socket."""
    if platform == "win32":
        return (RunValue(RunKey()),)
    if platform == "darwin":
        plist = Path(environment.get("HOME") or Path.home()) / "Library" / "LaunchAgents" / f"{LABEL}.plist"
        return (LoginFile(plist, partial(launch_agent, path), LABEL),)
    file = _config_folder(environment) / "autostart" / FILE
    if manager is None:
        return (LoginFile(file),)
    return (
        LoginFile(file, restarting_file),
        LoginFile(manager.folder / systemd.SERVICE, systemd.service_unit, systemd.MARK),
        LoginFile(manager.folder / systemd.SOCKET, lambda _: systemd.socket_unit(path), systemd.MARK),
    )


def _config_folder(environment: Mapping[str, str]) -> Path:
    folder = environment.get("XDG_CONFIG_HOME", "")
    if Path(folder).is_absolute():
        return Path(folder)
    return Path(environment.get("HOME") or Path.home()) / ".config"


def command(paths: Paths) -> tuple[str, ...]:
    """How this Hooktray is started, isolated from its environment; a bundle is its own program."""
    words = (*(("--home", str(paths.home)) if paths.home else ()), "run")
    if getattr(sys, "frozen", False):
        return (_silent("hooktrayw.exe"), *words)
    interpreter, *isolated = isolated_command(*words)
    if sys.platform == "win32":
        return (_silent("pythonw.exe"), *isolated)
    return ("/bin/sh", "-c", START, sys.executable, interpreter, *isolated)


def _silent(name: str) -> str:
    """On Windows the program that opens no console, where it lies beside this one."""
    silent = Path(sys.executable).with_name(name)
    return str(silent) if sys.platform == "win32" and silent.exists() else sys.executable
