"""Finds the processes above one, as the kernel shows them."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterable, Iterator, Sequence
from itertools import islice, pairwise
from pathlib import PurePath

import msgspec

from tray.execution.hook_runs import Descent
from tray.execution.isolation import base_interpreter, is_isolated
from tray.execution.process_table import command_line, program_path, read_entry

DEPTH = 64
MAX_PARENTS = 1024  # of relays


class Ancestor(msgspec.Struct, frozen=True):
    pid: int
    command: tuple[str, ...] = ()


def ancestors(pid: int) -> Iterator[Ancestor]:
    """Yields the processes above `pid`, nearest first, as far as the system shows them."""
    for _ in range(DEPTH):
        entry = read_entry(pid)
        if entry is None or entry.parent <= 1:
            return
        pid = entry.parent
        yield Ancestor(pid, command_line(pid))


def is_own_program(pid: int) -> bool:
    """True if it runs the same interpreter file as this process. A command line can be forged."""
    if sys.platform == "linux":  # these links lead to the file also after it was replaced
        theirs, own = f"/proc/{pid}/exe", "/proc/self/exe"
    else:
        theirs, own = program_path(pid), sys.executable
    return _is_same_file(theirs, own) or _is_same_file(theirs, base_interpreter())


def _is_same_file(one: str, other: str) -> bool:
    try:
        return os.path.samefile(one, other)  # noqa: PTH121
    except OSError:
        return False


def descent(pid: int, own: int) -> Descent | None:
    """Returns how `pid` descends from the process `own` or from a one-shot engine; None if it does not."""
    chain = [pid]
    for one in ancestors(pid) if pid > 0 else ():
        if one.pid == own:
            return Descent(tuple(chain), is_below_one_shot=False)
        if is_isolated(one.command, "once") and is_own_program(one.pid):
            return Descent(tuple(chain), is_below_one_shot=True)
        chain.append(one.pid)
    return None


class HookAncestry:
    """Finds how a relay descends from the process `own`, and remembers the parents of relays that do not.

    A process that does not descend from us never will: the kernel gives orphans to us only from below us. A parent is
    known by its number and its start, as the system reuses numbers.
    """

    def __init__(self, own: int) -> None:
        self._own = own
        self._unrelated: set[tuple[int, float]] = set()

    def descent(self, pid: int) -> Descent | None:
        """None when neither we nor a one-shot engine is above the relay."""
        relay = read_entry(pid)
        parent = read_entry(relay.parent) if relay else None
        if relay and parent and (relay.parent, parent.start) in self._unrelated:
            return None
        found = descent(pid, self._own)
        if found is None and relay and parent and relay == read_entry(pid):  # its parent is still the same
            if len(self._unrelated) >= MAX_PARENTS:
                self._unrelated.clear()
            self._unrelated.add((relay.parent, parent.start))
        return found


def sent_by_command(pid: int, verbs: Iterable[str], depth: int) -> bool:
    """True if a Hooktray command with such a verb is among the first `depth` processes above this relay."""
    above = islice(ancestors(pid), depth)
    return any(any(is_command(one.command, verb) for verb in verbs) and is_own_program(one.pid) for one in above)


def is_command(command: Sequence[str], verb: str) -> bool:
    """True for `hooktray VERB` and `python -m tray VERB`, with any options before the verb."""
    if verb not in command:
        return False
    before = command[: command.index(verb)]
    ours = any(PurePath(word).stem == "hooktray" for word in before[:2])
    return ours or ("-m", "tray") in pairwise(before) or is_isolated(command, verb)
