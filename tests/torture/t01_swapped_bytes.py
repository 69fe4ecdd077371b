"""T01: the script is swapped between the check and the run; what runs is always what was approved."""

from __future__ import annotations

import contextlib
import hashlib
import os
import subprocess
import sys
import threading
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from time import monotonic

from house import House

from torture.frame import Tally
from tray.approvals.command_resolver import CommandResolver
from tray.errors import HooktrayError
from tray.execution.command import Job, run
from tray.store.ledger import ApprovedHook

TITLE = "the script is swapped between check and run"
GOOD = "#!/bin/sh\necho good\n"
EVIL = "#!/bin/sh\necho evil\n"
REFUSED = b"did not start"
GOOD_OUTPUT, EVIL_OUTPUT = b"good\n", b"evil\n"
# Alters a file in place, at the same length, and puts it right again for a little longer than a check takes.
FLIPPER = """
import os, sys, time
path, good, evil = sys.argv[1], sys.argv[2].encode(), sys.argv[3].encode()
evil += b"#" * (len(good) - len(evil) - 1) + b"\\n" * (len(good) > len(evil))
print("ready", flush=True)
while True:
    for text, pause in ((evil, 0.0005), (good, 0.001)):
        try:
            os.chmod(path, 0o700)
            handle = os.open(path, os.O_WRONLY)
            os.pwrite(handle, text, 0)
            os.close(handle)
        except OSError:
            pass
        time.sleep(pause)
"""
TOGETHER = 10
Swap = Callable[[Path, str], None]


def torture(tally: Tally) -> None:
    house = House(tally.folder / "house")
    try:
        for swap in SWAPS:
            _mode(tally, house, swap)
        _copies(tally, house)
    finally:
        house.close()


def _copies(tally: Tally, house: House) -> None:
    """The approved copy itself is altered and put right again, without a pause, while its hook starts.

    That race stays: docs/security.md names it.
    """
    outputs = _flipped(house, "copied", tally.many(5_000, 20_000), enough=tally.many(1, 20_000))
    fell = outputs.count(EVIL_OUTPUT)
    tally.control("check the copy, then run it by its path", fell > 0)
    tally.measured.append(f"copies altered while hooks start: {fell:,} of {len(outputs):,} starts ran altered bytes")


def _flipped(house: House, name: str, starts: int, enough: int) -> list[bytes]:
    """`starts` starts; fewer when so many as `enough` ran altered bytes."""
    _make(house.paths.config.parent / f"{name}.sh", GOOD)
    house.hook(name, on="tool_before", command=f"./{name}.sh")
    approved = next(one for one in house.stores.ledger.in_order() if one.hook.name == name)
    (copy,) = house.stores.copies.paths(approved.digest).values()
    outputs: list[bytes] = []
    with _flipping(Path(copy), GOOD.encode()):
        while len(outputs) < starts and outputs.count(EVIL_OUTPUT) < enough:
            try:
                outputs += _turns(house, approved)
            except HooktrayError:
                outputs.append(REFUSED)
    return outputs


@contextlib.contextmanager
def _flipping(copy: Path, good: bytes) -> Iterator[None]:
    """By a process of its own, which never pauses."""
    argv = [sys.executable, "-c", FLIPPER, str(copy), good.decode(), EVIL]
    with subprocess.Popen(argv, stdout=subprocess.PIPE) as flipper:
        assert flipper.stdout is not None
        flipper.stdout.readline()
        try:
            yield
        finally:
            flipper.kill()


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
                tally.attack(name, said == GOOD_OUTPUT)
        tally.control(f"hash, then run by path ({name})", _by_path_falls(script))


def _turns(house: House, approved: ApprovedHook) -> Sequence[bytes]:
    """As every event does it: the approved copy is checked, and run."""
    covering = CommandResolver(house.stores.copies)
    lines = [covering.argv(approved.hook, approved.digest) for _ in range(TOGETHER)]
    jobs = [Job(argv=argv, cwd="/", environment={"PATH": os.environ["PATH"]}) for argv in lines]
    return [one.stdout for one in run(jobs, monotonic() + 60, None)]


def _by_path_falls(script: Path) -> bool:
    """What others do: look at the file, find it good, and run what lies at its path."""
    good = hashlib.sha256(GOOD.encode()).digest()
    until = monotonic() + 30
    while monotonic() < until:
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
