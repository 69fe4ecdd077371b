"""T01: the script is swapped between the check and the run; what runs is always what was approved."""

from __future__ import annotations

import contextlib
import hashlib
import os
import subprocess
import threading
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from time import monotonic

from house import House

from torture.frame import Tally
from tray.approvals.inspection import CommandResolver
from tray.execution.command import Job, run
from tray.store.ledger import ApprovedHook

TITLE = "the script is swapped between check and run"
GOOD = "#!/bin/sh\necho good\n"
EVIL = "#!/bin/sh\necho evil\n"
TOGETHER = 10
Swap = Callable[[Path, str], None]


def torture(tally: Tally) -> None:
    house = House(tally.folder / "house")
    try:
        for swap in SWAPS:
            _mode(tally, house, swap)
    finally:
        house.close()


def _mode(tally: Tally, house: House, swap: Swap) -> None:
    name = swap.__name__
    folder = house.paths.config.parent / name
    folder.mkdir()
    script = folder / "guard.sh"
    _make(script, GOOD)
    house.hook(name, on="tool_before", command=f"./{name}/guard.sh")
    approved = next(one for one in house.stores.ledger.in_order() if one.hook.name == name)
    with _swapping(swap, script):
        for _ in range(tally.many(4, 1000)):
            for said in _turns(house, approved):
                tally.attack(name, said == b"good\n")
        tally.control(f"hash, then run by path ({name})", _by_path_falls(script))


def _turns(house: House, approved: ApprovedHook) -> Sequence[bytes]:
    """As every event does it: the approved copy is checked, and run."""
    covering = CommandResolver(house.stores.copies)
    jobs = [
        Job(argv=covering.argv(approved.hook, approved.digest), cwd="/", environment={"PATH": os.environ["PATH"]})
        for _ in range(TOGETHER)
    ]
    return [one.stdout for one in run(jobs, monotonic() + 60, None)]


def _by_path_falls(script: Path) -> bool:
    """What others do: look at the file, find it good, and run what lies at its path."""
    good = hashlib.sha256(GOOD.encode()).digest()
    for _ in range(3000):
        with contextlib.suppress(OSError):
            if hashlib.sha256(script.read_bytes()).digest() == good:
                done = subprocess.run([script], capture_output=True, check=False, timeout=60)
                if done.stdout == b"evil\n":
                    return True
    return False


@contextlib.contextmanager
def _swapping(swap: Swap, script: Path) -> Iterator[None]:
    over = threading.Event()

    def go() -> None:
        while not over.wait(0.0003):
            for text in (EVIL, GOOD):
                with contextlib.suppress(OSError):
                    swap(script, text)
                over.wait(0.0003)

    thread = threading.Thread(target=go)
    thread.start()
    try:
        yield
    finally:
        over.set()
        thread.join()


def _make(path: Path, text: str) -> None:
    path.write_text(text)
    path.chmod(0o755)


def by_rename(script: Path, text: str) -> None:
    other = script.with_suffix(".new")
    _make(other, text)
    other.replace(script)


def in_place(script: Path, text: str) -> None:
    handle = os.open(script, os.O_WRONLY)
    try:
        os.pwrite(handle, text.encode(), 0)
    finally:
        os.close(handle)


def by_link(script: Path, text: str) -> None:
    goal = script.with_name(f"{hashlib.sha256(text.encode()).hexdigest()[:6]}.sh")
    if not goal.exists():
        _make(goal, text)
    link = script.with_suffix(".link")
    link.unlink(missing_ok=True)
    link.symlink_to(goal)
    link.replace(script)


def by_folder(script: Path, text: str) -> None:
    other = script.parent.with_name(f"{script.parent.name}-other")
    if not other.exists():
        other.mkdir()
        _make(other / script.name, EVIL)
    aside = script.parent.with_name(f"{script.parent.name}-aside")
    script.parent.rename(aside)
    other.rename(script.parent)
    aside.rename(other)


SWAPS: tuple[Swap, ...] = (by_rename, in_place, by_link, by_folder)
