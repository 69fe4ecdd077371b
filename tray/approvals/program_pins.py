"""Which programs a hook runs by name: found once, when it is approved, and compared before each start.

A program that only the system can replace is known by its place. Any other is known by its bytes.
"""

from __future__ import annotations

import hashlib
import os
import subprocess
import sys
import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import lru_cache
from pathlib import Path, PurePath

from tray.approvals.inspection import Inspection, entries_of, program_of
from tray.approvals.programs import SYSTEM_FOLDERS, program_positions
from tray.approvals.script_start import parse_shebang
from tray.approvals.shell_hooks import BUILTINS, bare_commands
from tray.errors import HooktrayError
from tray.execution.script import HEAD
from tray.files import content
from tray.lazy_dataclass import dataclass, replace
from tray.lazy_pattern import lazy_pattern
from tray.model.hook import Command, Hook
from tray.store.pins import Pins, Program, Stamp

WORD = lazy_pattern(r"[A-Za-z_][\w.+-]{0,39}")
MAX_WORDS = 2000  # of one hook's scripts that are looked for among the programs
MAX_LINKS = 20
DEPTH = 3  # of programs that are scripts for other programs
SETTLED_NS = 2_000_000_000  # nanoseconds after which no change can leave a stamp as it was
SYSTEM = "system"
GONE = "gone"
LOGIN_SECONDS = 5.0  # that a login shell may take
LOGIN_MARK = "hooktray-path:"
LOGIN_SHELLS = ("bash", "dash", "fish", "ksh", "sh", "zsh")  # that understand the question for their PATH


class ProgramChangedError(HooktrayError):
    """A program of an approved hook is another one now, or is gone."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ProgramChange:
    """A program that is not what was approved. `now` is what a person may approve in its place; None for nothing."""

    name: str
    path: str  # when it was first approved
    now: Program | None


@dataclass(frozen=True, slots=True, kw_only=True)
class ProgramNames:
    """The names that a hook's line and scripts use. The hook cannot start without the `required` ones."""

    required: tuple[str, ...] = ()
    mentioned: tuple[str, ...] = ()


def program_names(inspection: Inspection) -> ProgramNames:
    """The programs that the line and the first lines name, and the words that may be programs."""
    hook = inspection.bundle.hook
    if not isinstance(hook.action, Command):
        return ProgramNames()
    required: dict[str, None] = {}
    try:
        for entry in entries_of(hook, hook.action):
            if name := parse_shebang(inspection.bundle.contents.get(entry.path, b"")[:HEAD]).interpreter:
                required[name] = None
        required |= dict.fromkeys(_line_names(hook, hook.action))
    except ValueError:
        return ProgramNames()
    words: dict[str, None] = {}
    for text in (hook.action.line, *(_text(whole) for whole in inspection.bundle.contents.values())):
        words |= dict.fromkeys(WORD.findall(text))
    mentioned = (word for word in words if word not in BUILTINS and word not in required)
    return ProgramNames(required=tuple(required), mentioned=tuple(mentioned)[:MAX_WORDS])


def program_words(inspection: Inspection) -> tuple[str, ...]:
    """The names of programs in the line and in the scripts: those that are required, and all words that may be."""
    names = program_names(inspection)
    return tuple(dict.fromkeys((*(PurePath(name).name for name in names.required), *names.mentioned)))


def _line_names(hook: Hook, command: Command) -> Iterator[str]:
    program = program_of(hook, command)
    if command.shell:
        yield program
        yield from bare_commands(hook, command)
        return
    if command.interpreter:
        yield command.interpreter
    words = command.line.split()
    yield from (words[at] for at, _ in program_positions(words, 0) if at and "/" not in words[at])


def _text(whole: bytes) -> str:
    return "" if b"\0" in whole[:HEAD] else whole.decode("utf-8", "replace")


def propose(names: ProgramNames, path: str) -> Pins:
    """What these names mean on this PATH, and the PATH that the hook gets.

    Folders that you can write to come last, unless the hook uses a program in them: what appears in the others
    later hides no program of the system.
    """
    folders = [folder for folder in dict.fromkeys(path.split(os.pathsep)) if os.path.isabs(folder)]  # noqa: PTH117
    own = [folder for folder in folders if is_user_writable(folder)]
    programs = {name: found for name in names.required if (found := find_program(name, folders))}
    there = {name for folder in own for name in _listed(folder)}
    used = {name: found for name in names.mentioned if name in there and (found := find_program(name, folders))}
    for _ in range(DEPTH):
        known = {**programs, **used}
        names_of_scripts = (name for one in known.values() if (name := _script_program(one)) and name not in known)
        used |= {name: one for name in names_of_scripts if (one := find_program(name, folders))}
    pinned = {os.path.dirname(found) for found in (*programs.values(), *used.values())}  # noqa: PTH120
    first = [folder for folder in folders if folder not in own or folder in pinned]
    if any(folder in own for folder in first):
        shadowed = ((name, find_program(name, folders)) for name in names.mentioned if name not in used)
        used |= {name: found for name, found in shadowed if found}
    approved = {found: identify(found) for found in programs.values()}
    return Pins(
        path=os.pathsep.join((*first, *(folder for folder in folders if folder not in first))),
        programs={**programs, **used},
        approved={found: one for found, one in approved.items() if one and one.identity != SYSTEM},
    )


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


def opened(pins: Pins) -> Pins:
    """The same for a hook that was approved before PATHs were recorded: what it found so far it goes on finding."""
    return replace(pins, is_open=True)


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


def _listed(folder: str) -> list[str]:
    try:
        return os.listdir(folder)  # noqa: PTH208
    except OSError:
        return []


def _script_program(path: str) -> str:
    """The name that a script's first line has `env` look up."""
    try:
        with open(path, "rb") as file:  # noqa: PTH123
            shebang = parse_shebang(file.read(HEAD))
    except OSError:
        return ""
    return shebang.interpreter if shebang.is_searched else ""


def _stamp(path: str) -> Stamp | None:
    try:
        status = os.stat(path)  # noqa: PTH116
    except (OSError, ValueError):
        return None
    return (status.st_ino, status.st_size, status.st_mtime_ns, status.st_ctime_ns)


class SearchPath:
    """The PATH that an approval records: the terminal's that approves, else the last event's, else the login shell's.

    `login` is asked at most once, and only when nothing else is known.
    """

    def __init__(self, environment: Mapping[str, str], login: Callable[[], str] = lambda: "") -> None:
        self._environment, self._login = environment, login
        self._found: str | None = None
        self.event_path = ""  # of the last event that had one

    def saw_event(self, path: str) -> bool:
        """Remember the PATH of an agent; True when it is another one than before."""
        before, self.event_path = self.event_path, path or self.event_path
        return self.event_path != before

    def current(self) -> str:
        """The PATH for an approval that no terminal gives."""
        return self.event_path or self._login_path()

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
    """The PATH of the command that a person typed at a terminal; "" where that cannot be seen."""
    try:
        fields = Path(f"/proc/{pid}/environ").read_bytes().split(b"\0")
    except OSError:
        return ""
    return next((os.fsdecode(one[5:]) for one in fields if one.startswith(b"PATH=")), "")
