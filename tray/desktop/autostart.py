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
from dataclasses import dataclass
from pathlib import Path
from typing import Protocol

from tray.errors import HooktrayError
from tray.execution.isolation import isolated_command
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


class LoginEntry(Protocol):
    """One place where a system keeps what it starts at login."""

    @property
    def where(self) -> str: ...
    @property
    def mark(self) -> str: ...
    def text(self, argv: Sequence[str]) -> str: ...
    def read(self) -> str | None: ...
    def write(self, text: str) -> None: ...
    def remove(self) -> None: ...


@dataclass(frozen=True, slots=True)
class Autostart:
    """The entry of this Hooktray."""

    entry: LoginEntry
    argv: tuple[str, ...]

    def state(self) -> LoginState:
        found = self._read()
        if found is None:
            return LoginState.OFF
        return LoginState.ON if found == self.entry.text(self.argv) else LoginState.OTHER

    def is_on(self) -> bool:
        try:
            return self.state() is LoginState.ON
        except HooktrayError:  # the menu is drawn all the same
            return False

    def turn(self, on: bool) -> None:
        """Write the entry or remove it, then read it back; raises HooktrayError when that failed."""
        found = self._read()
        if found is not None and self.entry.mark not in found:
            raise HooktrayError(
                say("{place}: this entry is not from Hooktray", place=self.entry.where),
                hint=say("move it away, then try again"),
            )
        try:
            if on:
                self.entry.write(self.entry.text(self.argv))
            elif found is not None:
                self.entry.remove()
        except OSError as error:
            raise self._failed(error) from error
        if self.state() is not (LoginState.ON if on else LoginState.OFF):
            raise self._failed(None)

    def _read(self) -> str | None:
        try:
            return self.entry.read()
        except OSError as error:
            raise self._failed(error) from error

    def _failed(self, error: OSError | None) -> HooktrayError:
        why = (error.strerror or str(error)) if error else say("it does not say what was written")
        return HooktrayError(
            say("{place}: start at login could not be set: {why}", place=self.entry.where, why=why),
            hint=say("check the permissions there"),
        )


@dataclass(frozen=True, slots=True)
class LoginFile:
    """An entry that is a file of its own."""

    path: Path
    text: Callable[[Sequence[str]], str]
    mark: str  # is in what we write, and in nothing else

    @property
    def where(self) -> str:
        return str(self.path)

    def read(self) -> str | None:
        try:
            return self.path.read_text(encoding="utf-8", errors="replace")
        except FileNotFoundError:
            return None

    def write(self, text: str) -> None:
        self.path.parent.mkdir(parents=True, exist_ok=True)
        write_atomic(self.path, text.encode(), mode=0o644)

    def remove(self) -> None:
        self.path.unlink(missing_ok=True)


class Registry(Protocol):
    """The values of the user's Run key."""

    def get(self, name: str) -> str | None: ...
    def set(self, name: str, value: str) -> None: ...
    def delete(self, name: str) -> None: ...


@dataclass(frozen=True, slots=True)
class RunValue:
    """An entry that is a value in the registry. Its name is its mark, so whatever is there is ours."""

    registry: Registry
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
        self.registry.delete(VALUE)


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


def launch_agent(argv: Sequence[str]) -> str:
    """A property list; it counts from the next login on."""
    words = {"Label": LABEL, "ProgramArguments": list(argv), "RunAtLoad": True, "LimitLoadToSessionType": "Aqua"}
    return plistlib.dumps(words).decode()


def autostart(paths: Paths, environment: Mapping[str, str] = os.environ) -> Autostart:
    """The entry for this system."""
    return Autostart(login_entry(environment), command(paths))


def login_entry(environment: Mapping[str, str], platform: str = sys.platform) -> LoginEntry:
    home = Path(environment.get("HOME") or Path.home())
    if platform == "win32":
        from tray.desktop.windows import RunKey

        return RunValue(RunKey())
    if platform == "darwin":
        return LoginFile(home / "Library" / "LaunchAgents" / f"{LABEL}.plist", launch_agent, LABEL)
    folder = environment.get("XDG_CONFIG_HOME", "")
    config = Path(folder) if Path(folder).is_absolute() else home / ".config"
    return LoginFile(config / "autostart" / FILE, desktop_file, MARK)


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
