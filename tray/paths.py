"""Where configuration, state, logs and the socket are, and that these folders belong to the user only."""

from __future__ import annotations

import contextlib
import os
import shlex
import stat
import sys
from collections.abc import Mapping, MutableMapping
from pathlib import Path

import msgspec

from tray import relay_program
from tray.errors import FULL, MAKE_ROOM, HooktrayError
from tray.language import say

if sys.platform != "win32":
    import grp
    import pwd

NAME = "hooktray"
RUNTIME = "XDG_RUNTIME_DIR"
ADDRESS_FILE = "tray.addr"  # beside the socket: port and token, where the tray listens on a loopback port
WRITABLE = "make it writable for you, or choose another place with --home DIR"


class Paths(msgspec.Struct, frozen=True, kw_only=True):
    """All places of one installation. `home` is the folder that holds them all, or None for the platform's own."""

    config: Path  # the file hooktray.yaml
    state: Path
    logs: Path
    home: Path | None = None

    @property
    def socket(self) -> Path:
        return self.state / "tray.sock"

    @property
    def address(self) -> Path:
        """What stands for the socket on Windows: a loopback port and its token."""
        return self.socket.with_name(ADDRESS_FILE)

    @property
    def database(self) -> Path:
        return self.state / "hooktray.db"

    @property
    def reviews(self) -> Path:
        """Texts that the user opens."""
        return self.state / "reviews"

    @property
    def copies(self) -> Path:
        return self.state / "copies"

    @property
    def relay_conf(self) -> Path:
        return self.state / "relay.conf"

    @property
    def relay_folder(self) -> Path:
        """Where the installed relay and its table are: outside of every virtual environment."""
        return self.home / "bin" if self.home else _relay_folder()

    @property
    def relay(self) -> Path:
        """The program that agents' settings name."""
        return self.relay_folder / relay_program.NAME

    @property
    def relay_table(self) -> Path:
        return self.relay_folder / "relay.table"

    @property
    def last_good(self) -> Path:
        """The last configuration that could be read, so that a broken one does not take the settings away."""
        return self.state / "last-good.yaml"

    @property
    def relay_options(self) -> tuple[str, str]:
        """The options that lead a relay here, whatever an agent's environment has."""
        return ("--home", str(self.home)) if self.home else ("--state", str(self.state))

    def prepare(self) -> None:
        """Create the folders. Raises HooktrayError if one is not ours, or cannot be closed to other users.

        `locate` follows links that the user made, except that of the configuration, whose path the user knows.
        """
        if is_link(self.config.parent):
            follow(self.config.parent)
        else:
            _own(self.config.parent)
        for folder in (self.state, self.logs, self.copies):
            _own(folder)


def locate(home: str | None = None) -> Paths:
    """`home` (from --home) wins over $HOOKTRAY_HOME, which wins over the platform's own folders."""
    chosen = home or os.environ.get("HOOKTRAY_HOME") or ""
    if chosen:
        root = Path(chosen).expanduser().absolute()
        state, logs = follow(root / "state"), follow(root / "logs")
        return Paths(config=root / "config" / "hooktray.yaml", state=state, logs=logs, home=root)
    from platformdirs import PlatformDirs

    dirs = PlatformDirs(NAME, appauthor=False)
    state, logs = follow(dirs.user_state_path), follow(dirs.user_log_path)
    return Paths(config=dirs.user_config_path / "hooktray.yaml", state=state, logs=logs)


def _relay_folder() -> Path:
    from platformdirs import PlatformDirs

    if sys.platform in ("darwin", "win32"):
        return PlatformDirs("Hooktray", appauthor=False).user_data_path / "bin"
    return PlatformDirs(NAME, appauthor=False).user_data_path / "bin"


def unwritable_error(folder: Path, error: OSError) -> HooktrayError:
    """For a folder of ours in which nothing can be made."""
    is_full = error.errno in FULL
    hint = MAKE_ROOM if is_full else WRITABLE
    return HooktrayError(f"{folder}: nothing can be written there: {error.strerror or error}", hint=hint)


def drop_foreign_runtime(environment: MutableMapping[str, str]) -> str:
    """Take out an $XDG_RUNTIME_DIR that is not ours, as after `su`; returns why, "" when it stays or is not set.

    The libraries for D-Bus and sound look there by themselves, and so do the programs that we start. Our own places,
    the socket among them, never depend on it.
    """
    why = _runtime_problem(environment)
    if not why:
        return ""
    folder = environment.pop(RUNTIME)
    return say(
        "Ignoring {variable}={folder}: {why}. The icon, notifications and sounds need the desktop session of the user"
        " who runs Hooktray.",
        variable=RUNTIME,
        folder=folder,
        why=why,
    )


def _runtime_problem(environment: Mapping[str, str]) -> str:
    """What keeps the folder from meeting the XDG Base Directory Specification; "" for nothing."""
    folder = environment.get(RUNTIME, "")
    if not folder or sys.platform == "win32":
        return ""
    if not os.path.isabs(folder):  # noqa: PTH117 - the words of the environment, as they are
        return say("the path is relative")
    try:
        found = os.stat(folder)  # noqa: PTH116 - Path() refuses some words
    except (OSError, ValueError) as error:
        return say("it cannot be read ({why})", why=getattr(error, "strerror", None) or str(error))
    if not stat.S_ISDIR(found.st_mode):
        return say("it is not a folder")
    if found.st_uid != os.getuid():
        return say("it belongs to user {uid}, not to user {own}", uid=found.st_uid, own=os.getuid())
    if not os.access(folder, os.W_OK | os.X_OK):
        return say("it is not writable")
    return ""


def repository(folder: str) -> str:
    """Returns the folder of the repository around this one, as git prints it; "" if there is none."""
    around = (folder, *map(str, Path(folder).parents))
    return next((one for one in around if os.path.exists(os.path.join(one, ".git"))), "")  # noqa: PTH110, PTH118


def real_path(path: str) -> str:
    """The path by whatever links it is reached; itself when no file can have that name (NUL, half a character)."""
    try:
        return os.path.realpath(path)
    except (OSError, ValueError):
        return path


def is_link(folder: Path) -> bool:
    return os.path.islink(folder)  # noqa: PTH114 - one system call


def follow(folder: Path) -> Path:
    """Returns the target of a link in a folder's place, as GNU stow and chezmoi make them, or the folder itself.

    Raises HooktrayError if another user may write in the target or on the way.
    """
    if not is_link(folder):
        return folder
    real = Path(os.path.realpath(folder))
    try:
        found = real.stat()
    except OSError as error:
        raise HooktrayError(
            f"{folder}: this link leads to {real}: {error.strerror}", hint="make that folder, or remove the link"
        ) from error
    if not stat.S_ISDIR(found.st_mode):
        raise HooktrayError(f"{folder}: this link leads to {real}, which is not a folder", hint="remove the link")
    if sys.platform != "win32" and found.st_uid != os.getuid():
        what = f"{folder}: this link leads to {real}, which belongs to user {found.st_uid}"
        raise HooktrayError(what, hint="lead it to a folder of your own, or use --home DIR")
    _require_private(folder, real)
    return real


def _require_private(folder: Path, real: Path) -> None:
    """Raises HooktrayError if another user may replace the target, or a link that leads there."""
    if sys.platform == "win32":
        return
    at, places = folder, [real, *real.parents]
    while is_link(at):  # ends, because `real` exists
        places += at.parents
        target = at.parent / os.readlink(at)  # noqa: PTH115 - the text of the link
        at = Path(os.path.realpath(target.parent), target.name)
    for place in dict.fromkeys(places):
        found = place.stat()
        is_shared = found.st_mode & stat.S_IWOTH or (found.st_mode & stat.S_IWGRP and not _is_own_group(found.st_gid))
        is_foreign = found.st_uid not in (0, os.getuid())
        if is_foreign or (is_shared and (place == real or not found.st_mode & stat.S_ISVTX)):
            what = f"{folder}: this link leads to {real}, and other users may write in {place}"
            raise HooktrayError(what, hint=f"chmod go-w {shlex.quote(str(place))}, or lead the link elsewhere")


def _is_own_group(gid: int) -> bool:
    """True if only this user is in the group: most systems give each user such a group."""
    if sys.platform != "win32":
        with contextlib.suppress(KeyError):
            user, group = pwd.getpwuid(os.getuid()).pw_name, grp.getgrgid(gid)
            return group.gr_name == user and set(group.gr_mem) <= {user}
    return False


def _own(folder: Path) -> None:
    try:
        folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        found = folder.lstat()
    except OSError as error:
        raise HooktrayError(
            f"{folder}: cannot make this folder: {error.strerror or error}",
            hint=WRITABLE,
        ) from error
    if not stat.S_ISDIR(found.st_mode):
        raise HooktrayError(f"{folder}: is not a real folder", hint="remove the file or link and start again")
    if sys.platform == "win32":
        return  # the profile folder is already closed to other users
    if found.st_uid != os.getuid():
        raise HooktrayError(f"{folder}: belongs to user {found.st_uid}", hint="use a folder of your own: --home DIR")
    if found.st_mode & 0o077:
        folder.chmod(0o700)
