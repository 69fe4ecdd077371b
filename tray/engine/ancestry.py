"""Who started whom: the processes above one, as the kernel knows them."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise
from pathlib import PurePath

# How relay.conf has the one-shot engine started: PYTHON -I -m tray once …
ONCE = ("-I", "-m", "tray", "once")
TEST = "HOOKTRAY_TEST"  # what `hooktray test` gives its relay, and what the hooks of a test are given by us
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


if sys.platform == "linux":  # asked on every event that asks a hook: psutil would take ten times as long

    def _parent(pid: int) -> int:
        return int(_read(f"/proc/{pid}/stat").rpartition(b")")[2].split(None, 2)[1])

    def _command(pid: int) -> tuple[str, ...]:
        line = _read(f"/proc/{pid}/cmdline")
        return tuple(os.fsdecode(word) for word in line.split(b"\0")[:-1])

    def _read(path: str) -> bytes:
        with open(path, "rb", buffering=0) as file:  # noqa: PTH123 - Path takes longer than the kernel
            return file.read()

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


def descends_from_hook(pid: int, own: int, above: Callable[[int], Iterable[Ancestor]] = ancestors) -> bool:
    """Whether a relay was started by a hook: hooks are children of the tray, or of a one-shot engine."""
    if pid <= 0:
        return False
    return any(found.pid == own or found.command[1:5] == ONCE for found in above(pid))


def from_test(pid: int, environment: Iterable[str], above: Callable[[int], Iterable[Ancestor]] = ancestors) -> bool:
    """Whether `hooktray test` started this relay. The variable only saves the look: a project could set it."""
    if TEST not in environment:
        return False
    parent = next(iter(above(pid)), None)
    return parent is not None and _tests(parent.command)


def _tests(command: Sequence[str]) -> bool:
    """`hooktray test`, or `python -m tray test`, with whatever options before the verb."""
    if "test" not in command:
        return False
    before = command[: command.index("test")]
    ours = any(PurePath(word).stem == "hooktray" for word in before[:2])
    return ours or ("-m", "tray") in pairwise(before)
