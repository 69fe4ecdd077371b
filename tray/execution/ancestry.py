"""Who started whom: the processes above one, as the kernel knows them."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Iterable, Iterator, Sequence
from itertools import islice, pairwise
from pathlib import PurePath

from tray.execution.hook_runs import Descent
from tray.execution.isolation import base_interpreter, is_isolated
from tray.execution.process import OPENED_VARIABLE
from tray.execution.process_table import environment, read_entry
from tray.files import content
from tray.lazy_dataclass import dataclass

DEPTH = 64


@dataclass(frozen=True, slots=True)
class Ancestor:
    pid: int
    command: tuple[str, ...] = ()


def ancestors(pid: int) -> Iterator[Ancestor]:
    """The processes above `pid`, nearest first; ends where the system does not let us see further."""
    for _ in range(DEPTH):
        try:
            pid = _parent(pid)
            if pid <= 1:
                return
            yield Ancestor(pid, _command(pid))
        except (OSError, ValueError):
            return


if sys.platform == "linux":  # psutil would take ten times as long

    def _parent(pid: int) -> int:
        entry = read_entry(pid)
        if entry is None:
            raise ProcessLookupError(pid)
        return entry.parent

    def _command(pid: int) -> tuple[str, ...]:
        line = content(f"/proc/{pid}/cmdline")
        return tuple(os.fsdecode(word) for word in line.split(b"\0")[:-1])

else:

    def _parent(pid: int) -> int:
        import psutil

        try:
            return psutil.Process(pid).ppid()
        except psutil.Error as error:
            raise ProcessLookupError(pid) from error

    def _command(pid: int) -> tuple[str, ...]:
        import psutil

        try:
            return tuple(psutil.Process(pid).cmdline())
        except psutil.Error as error:
            raise ProcessLookupError(pid) from error

    def _program(pid: int) -> str:
        import psutil

        try:
            return psutil.Process(pid).exe()
        except psutil.Error as error:
            raise ProcessLookupError(pid) from error


def is_own_program(pid: int) -> bool:
    """Whether it runs the very program that we run: words of a command line are anybody's to choose."""
    try:
        if sys.platform == "linux":  # also a program that was replaced since
            theirs, own = os.stat(f"/proc/{pid}/exe"), "/proc/self/exe"  # noqa: PTH116
        else:
            theirs, own = os.stat(_program(pid)), sys.executable  # noqa: PTH116
    except OSError:
        return False
    return _is_file(theirs, own) or _is_file(theirs, base_interpreter())


def _is_file(found: os.stat_result, path: str) -> bool:
    try:
        return os.path.samestat(found, os.stat(path))  # noqa: PTH116
    except OSError:
        return False


def descends_from(
    pid: int,
    own: int,
    ancestors_of: Callable[[int], Iterable[Ancestor]] = ancestors,
    is_own_program_of: Callable[[int], bool] = is_own_program,
) -> bool:
    """Whether the process with the number `own`, or a one-shot engine, is above this one."""
    return _direct_child(pid, own, ancestors_of, is_own_program_of) is not None


def descends_from_hook(
    pid: int,
    own: int,
    ancestors_of: Callable[[int], Iterable[Ancestor]] = ancestors,
    is_opened: Callable[[int], bool] = lambda pid: has_variable(pid, OPENED_VARIABLE),
    is_own_program_of: Callable[[int], bool] = is_own_program,
) -> bool:
    """Whether a relay was started by a hook: a child of ours, unless we opened it for the person."""
    below = _direct_child(pid, own, ancestors_of, is_own_program_of)
    return below is not None and not is_opened(below)


def _direct_child(
    pid: int, own: int, ancestors_of: Callable[[int], Iterable[Ancestor]], is_own_program_of: Callable[[int], bool]
) -> int | None:
    """The one directly below us on the way down to `pid`."""
    found = descent(pid, own, ancestors_of, is_own_program_of)
    return None if found is None else found.chain[-1]


def descent(
    pid: int,
    own: int,
    ancestors_of: Callable[[int], Iterable[Ancestor]] = ancestors,
    is_own_program_of: Callable[[int], bool] = is_own_program,
) -> Descent | None:
    """How `pid` descends from the process `own` or from a one-shot engine; None if it does not."""
    chain = [pid]
    for found in ancestors_of(pid) if pid > 0 else ():
        is_one_shot = is_isolated(found.command, "once") and is_own_program_of(found.pid)
        if found.pid == own or is_one_shot:
            return Descent(tuple(chain), found.pid != own)
        chain.append(found.pid)
    return None


def has_variable(pid: int, name: str) -> bool:
    """Whether this process was started with such a variable, by the kernel."""
    return any(one.startswith(f"{name}=".encode()) for one in environment(pid).split(b"\0"))


def sent_by_command(
    pid: int,
    verbs: Iterable[str],
    depth: int,
    ancestors_of: Callable[[int], Iterable[Ancestor]] = ancestors,
    is_own_program_of: Callable[[int], bool] = is_own_program,
) -> bool:
    """Whether one of our own commands with such a verb is among the first `depth` processes above this relay."""
    near = islice(ancestors_of(pid), depth)
    return any(any(is_command(one.command, verb) for verb in verbs) and is_own_program_of(one.pid) for one in near)


def is_command(command: Sequence[str], verb: str) -> bool:
    """Whether this is `hooktray VERB`, or `python -m tray VERB`, with whatever options before the verb."""
    if verb not in command:
        return False
    before = command[: command.index(verb)]
    ours = any(PurePath(word).stem == "hooktray" for word in before[:2])
    return ours or ("-m", "tray") in pairwise(before) or is_isolated(command, verb)
