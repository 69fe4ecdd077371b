"""Compares the programs of an approved hook with what was approved, before each of its starts.

A program that only the system can replace is known by its place. Any other is known by its bytes.
"""

from __future__ import annotations

import hashlib
import os
import sys
import time
from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import lru_cache
from pathlib import PurePath

from tray.approvals.command_words import SYSTEM_FOLDERS
from tray.errors import HooktrayError
from tray.files import content
from tray.lazy_dataclass import dataclass
from tray.store.pins import Pins, Program, Stamp

MAX_LINKS = 20
SETTLED_NS = 2_000_000_000  # nanoseconds after which no change can leave a stamp as it was
SYSTEM = "system"


class ProgramChangedError(HooktrayError):
    """A program of an approved hook is another one now, or is gone."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ProgramChange:
    """A program that is not what was approved. `now` is what a person may approve in its place; None for nothing."""

    name: str
    path: str  # when it was first approved
    now: Program | None


def find_program(name: str, folders: Iterable[str]) -> str:
    """The first program of this name; "" for none."""
    if os.path.isabs(name):  # noqa: PTH117
        return name if _is_program(name) else ""
    return next((path for folder in folders if _is_program(path := os.path.join(folder, name))), "")  # noqa: PTH118


def identify(path: str) -> Program | None:
    """What identifies this program now; None when it is not there."""
    at, stamp = path, _stamp(path)
    if stamp is None:
        return None
    for _ in range(MAX_LINKS):
        if not is_user_writable(at):
            return Program(path=path, identity=SYSTEM if at == path else f"{SYSTEM} {at}")
        if not os.path.islink(at):  # noqa: PTH114
            break
        at = os.path.normpath(os.path.join(os.path.dirname(at), os.readlink(at)))  # noqa: PTH115, PTH118, PTH120
    try:
        return Program(path=path, identity=f"sha256 {hashlib.sha256(content(at)).hexdigest()}", stamp=stamp)
    except OSError:
        return None


@lru_cache(maxsize=1024)
def is_user_writable(path: str) -> bool:
    """Whether this user can put something else at this path: the file, or a folder above it, is theirs to change."""
    if sys.platform == "win32" or os.geteuid() == 0:
        return not f"{path}/".startswith(SYSTEM_FOLDERS)
    above = [path] if not os.path.islink(path) else []  # noqa: PTH114
    above += [str(one) for one in PurePath(path).parents]
    return any(_is_ours(one) for one in above)


def _is_ours(path: str) -> bool:
    if sys.platform == "win32":
        return True
    try:
        return os.access(path, os.W_OK) or os.stat(path).st_uid == os.geteuid()  # noqa: PTH116
    except OSError:
        return False


@dataclass(frozen=True, slots=True, kw_only=True)
class _Unchanged:
    """What was found right, for as long as the stamps of what was looked at are the same."""

    pins: Pins
    programs: Mapping[str, str]
    watched: tuple[str, ...]
    stamps: tuple[Stamp | None, ...]


class ProgramChecker:
    """Compares the programs of hooks with what was approved; reads no file whose stamp it knows."""

    def __init__(self) -> None:
        self._identities: dict[tuple[str, Stamp], Program | None] = {}
        self._unchanged: dict[int, _Unchanged] = {}

    def programs(self, pins: Pins, hook: str) -> Mapping[str, str]:
        """The path of each program by its name. Raises ProgramChangedError."""
        known = self._unchanged.get(id(pins))
        if known is not None and known.pins is pins and tuple(map(_stamp, known.watched)) == known.stamps:
            return known.programs
        change = next(self.changes(pins), None)
        if change is not None:
            raise ProgramChangedError(_cause(change, hook), hint="approve the program in the tray's menu")
        return self._remember(pins)

    def is_watched(self, pins: Pins) -> bool:
        """Whether its programs must be checked again; False if only the system can replace them."""
        known = self._unchanged.get(id(pins))
        return known is None or known.pins is not pins or bool(known.watched)

    def is_unchanged(self, pins: Pins) -> bool:
        """Whether all programs are what was approved."""
        try:
            self.programs(pins, "")
        except ProgramChangedError:
            return False
        return True

    def changes(self, pins: Pins, search: Sequence[str] = ()) -> Iterator[ProgramChange]:
        """The programs that are not what was approved. Those that are gone are looked for in `search`, too."""
        folders = pins.path.split(os.pathsep)
        seen: set[str] = set()
        for name, path in pins.programs.items():
            if path in seen:
                continue
            approved = pins.approved.get(path)
            expected = approved.path if approved else path
            is_moved = expected != path  # a person approved it at another place
            found = expected if is_moved or os.path.isabs(name) else find_program(name, folders)  # noqa: PTH117
            if not found and approved is None:
                continue  # its start fails by itself, if it is needed at all
            now = self._identify(expected, approved) if found == expected else None
            if now is not None and (approved is None or now.identity == approved.identity):
                continue
            seen.add(path)
            there = found if found and _is_program(found) else find_program(PurePath(name).name, (*folders, *search))
            yield ProgramChange(name=PurePath(name).name, path=path, now=identify(there) if there else None)

    def _identify(self, path: str, approved: Program | None) -> Program | None:
        stamp = _stamp(path)
        if stamp is None:
            return None
        if approved is None or approved.stamp == stamp:
            return approved or Program(path=path)
        key = (path, stamp)
        if key not in self._identities:
            self._identities[key] = identify(path)
        return self._identities[key]

    def _remember(self, pins: Pins) -> Mapping[str, str]:
        """Until one of the folders and files that count for it changes."""
        programs = {name: program_path(pins, path) for name, path in pins.programs.items()}
        folders = [folder for folder in pins.path.split(os.pathsep) if folder and is_user_writable(folder)]
        last = max((_position(pins, path) for path in pins.programs.values()), default=-1)
        before = [folder for folder in folders if pins.path.split(os.pathsep).index(folder) <= last]
        watched = (*before, *(one.path for one in pins.approved.values()))
        stamps = tuple(map(_stamp, watched))
        if all(stamp is None or time.time_ns() - stamp[3] > SETTLED_NS for stamp in stamps):
            if len(self._unchanged) > 1024:
                self._unchanged.clear()
            self._unchanged[id(pins)] = _Unchanged(pins=pins, programs=programs, watched=watched, stamps=stamps)
        return programs


def program_path(pins: Pins, path: str) -> str:
    """Where a program is that was approved at `path`."""
    approved = pins.approved.get(path)
    return approved.path if approved else path


def hook_path(pins: Pins, agent_path: str) -> str:
    """The PATH of a hook: the folders of programs that moved, those that were approved, and only then the agent's."""
    folders: dict[str, None] = {}
    for path, one in pins.approved.items():
        if one.path != path:
            folders[os.path.dirname(one.path)] = None  # noqa: PTH120
    folders |= dict.fromkeys(pins.path.split(os.pathsep))
    if pins.is_open:
        folders |= dict.fromkeys(agent_path.split(os.pathsep))
    folders.pop("", None)
    return os.pathsep.join(folders)


def _position(pins: Pins, path: str) -> int:
    folders = pins.path.split(os.pathsep)
    folder = os.path.dirname(path)  # noqa: PTH120
    return folders.index(folder) if folder in folders else -1


def _cause(change: ProgramChange, hook: str) -> str:
    if change.now is None:
        return f"{change.path} is gone: {hook} needs {change.name}"
    if change.now.path != change.path:
        return f"{change.name} was {change.path} when {hook} was approved, and is {change.now.path} now"
    return f"{change.path} is another program than when {hook} was approved"


def _is_program(path: str) -> bool:
    return os.path.isfile(path) and os.access(path, os.X_OK)  # noqa: PTH113


def _stamp(path: str) -> Stamp | None:
    try:
        status = os.stat(path)  # noqa: PTH116
    except (OSError, ValueError):
        return None
    return (status.st_ino, status.st_size, status.st_mtime_ns, status.st_ctime_ns)
