"""Kills a user's step with SIGKILL before each of its file changes, and then finishes as a user would.

`python killing.py FOLDER AGENT PLACE NAME PREFIX STEP` prints what differs from the start at the end. It is a process
of its own, because a fork requires a process without threads.
"""

from __future__ import annotations

import os
import shutil
import signal
import sys
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[1]))

from connect.plugins import plugin
from connect.sites import OPERATIONS, Person, tree
from connect.variants import CLAUDE, STARCHILD

from tray.errors import HooktrayError

CHANGES = ("os.rename", "os.remove", "os.mkdir", "os.rmdir", "os.symlink", "tempfile.mkstemp")
PLUGIN = "plugin"  # as a place: X-Code's, instead of a file
MOST = 200  # changes of one step
ENDS = {
    "connect": ("disconnect", "connect disconnect"),
    "disconnect": ("disconnect", "connect disconnect"),
    "import": ("undo disconnect", "import undo disconnect", "disconnect undo"),
    "reconnect": ("disconnect", "reconnect disconnect"),
    "undo": ("undo disconnect", "disconnect undo"),
}
TEXTS = {**STARCHILD, **CLAUDE, "script": b"#!/bin/sh\necho mine\n", "": b""}


def main() -> None:
    folder, agent, place, name, before, step = sys.argv[1:]
    for number in range(1, MOST):
        end = ENDS[step][number % len(ENDS[step])]
        end += " undo" if "import" in before and "undo" not in end else ""
        root = Path(folder) / str(number)
        person = _prepared(root, agent, place, TEXTS[name])
        original = tree(person.home), tree(person.site.paths.config.parent)
        for one in before.split():
            OPERATIONS[one](person)
        killed = _killed(person, step, number)
        for problem in _finished(person, end.split() if killed else [step, *end.split()]):
            print(f"{step} killed at {number}, then {end}: {problem}")
        found = tree(person.home), tree(person.site.paths.config.parent)
        if found != original:
            print(f"{step} killed at {number}, then {end}: {_difference(original, found)}")
        shutil.rmtree(root)
        if not killed:
            print(f"{number - 1} kills", file=sys.stderr)
            return


def _prepared(root: Path, agent: str, place: str, text: bytes) -> Person:
    person = Person(root, agent)
    if place == PLUGIN:
        plugin(person, "lint")
    elif place:
        file = person.home / place
        file.parent.mkdir(parents=True)
        file.write_bytes(text)
        file.chmod(0o755 if text.startswith(b"#!") else 0o600)
    return person


def _killed(person: Person, step: str, number: int) -> bool:
    """Whether the step ended by our signal; else it came to its end, in a process that is over."""
    pid = os.fork()
    if pid == 0:
        left = number

        def count(event: str, _: tuple[object, ...]) -> None:
            nonlocal left
            if event in CHANGES:
                left -= 1
                if left == 0:
                    os.kill(os.getpid(), signal.SIGKILL)

        sys.addaudithook(count)
        OPERATIONS[step](person)
        os._exit(0)
    return os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]) == -signal.SIGKILL


def _finished(person: Person, steps: Sequence[str]) -> Iterator[str]:
    """What went wrong; that there is nothing to import or to put back any more is none."""
    for step in steps:
        try:
            OPERATIONS[step](person)
        except HooktrayError as error:
            if not ("nothing to put back" in str(error) or "imported before" in str(error)):
                yield f"{step}: {error}"


def _difference(before: Sequence[Mapping[str, object]], after: Sequence[Mapping[str, object]]) -> str:
    names = {name for old, new in zip(before, after, strict=True) for name in {*old, *new}}
    both = [
        (name, old.get(name), new.get(name)) for old, new in zip(before, after, strict=True) for name in sorted(names)
    ]
    return "; ".join(f"{name}: {old} became {new}" for name, old, new in both if old != new)[:1500]


if __name__ == "__main__":
    main()
