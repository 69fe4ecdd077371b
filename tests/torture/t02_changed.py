"""T02: everything that can be changed about an approved hook: each change is seen, and none takes force by itself."""

from __future__ import annotations

import os
import shutil
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from house import House

from torture.frame import Tally
from tray.model.hook import ApprovalState

TITLE = "changed since it was approved"
TEXT = "#!/bin/sh\n. ./lib.sh\necho good\n"
Entry = dict[str, Any]
Mutation = Callable[[Path, Entry, int], None]


def torture(tally: Tally) -> None:
    for number in range(tally.many(3, 1000)):
        root = tally.folder / f"house{number}"
        house = House(root)  # one for each round: whoever holds many looks at all of them whenever one is approved
        try:
            _house(tally, house, number)
        finally:
            house.close()
        shutil.rmtree(root)
    tally.control("looking at size and time alone", _naive_is_fooled(tally.folder / "naive.sh"))


def _house(tally: Tally, house: House, number: int) -> None:
    entries = {name: _entry(house.paths.config.parent / name, name, number) for name in MUTATIONS}
    _write(house, entries)
    for state in house.catalog.states:
        house.consent.approve(state.key, state.digest, "test")
    _expect(tally, house, entries, dict.fromkeys(entries, ApprovalState.APPROVED), attacked=False)
    force = {one.hook.name: one.digest for one in house.stores.ledger.in_order()}
    for name, (folder, entry) in entries.items():
        MUTATIONS[name][0](folder, entry, number)
    _write(house, entries)
    _expect(tally, house, entries, {name: MUTATIONS[name][1] for name in entries}, attacked=True)
    now = {one.hook.name: one.digest for one in house.stores.ledger.in_order()}
    tally.keep("the approved copies stay in force", now == force)


def _entry(folder: Path, name: str, number: int) -> tuple[Path, Entry]:
    """A hook with a script and a file that it reads, in a folder of their own."""
    folder.mkdir()
    (folder / "lib.sh").write_text("LIB=1\n")
    (folder / "guard.sh").write_text(TEXT)
    (folder / "guard.sh").chmod(0o755)
    entry: Entry = {"name": name, "event": "tool_before", "matcher": "rm"}
    if name == "url":
        return folder, entry | {"type": "http", "url": f"https://guard.example.com/{number}"}
    return folder, entry | {"command": f"sh ./{name}/guard.sh", "files": [f"./{name}/lib.sh"]}


def _write(house: House, entries: Mapping[str, tuple[Path, Entry]]) -> None:
    house.configure({"hooks": [entry for _, entry in entries.values()]})


def _expect(
    tally: Tally,
    house: House,
    entries: Mapping[str, tuple[Path, Entry]],
    wanted: Mapping[str, ApprovalState],
    *,
    attacked: bool,
) -> None:
    found = {one.hook.name: one.state for one in house.catalog.states}
    for name in entries:
        said = f"{name}: {found.get(name)}, expected {wanted[name]}"
        if attacked:
            tally.attack(said, found.get(name) is wanted[name])
        else:
            tally.keep(said, found.get(name) is wanted[name])


def _naive_is_fooled(path: Path) -> bool:
    path.write_text(TEXT)
    before = path.stat()
    path.write_text(TEXT.replace("good", "evil"))
    os.utime(path, ns=(before.st_atime_ns, before.st_mtime_ns))
    after = path.stat()
    return (before.st_size, before.st_mtime_ns) == (after.st_size, after.st_mtime_ns)


# ---- what is done to it


def one_bit(folder: Path, entry: Entry, number: int) -> None:
    script = folder / "guard.sh"
    before = script.stat()
    content = bytearray(script.read_bytes())
    content[number % len(content)] ^= 1 << (number % 8)
    script.write_bytes(content)
    os.utime(script, ns=(before.st_atime_ns, before.st_mtime_ns))


def crlf(folder: Path, entry: Entry, number: int) -> None:
    (folder / "guard.sh").write_bytes(TEXT.replace("\n", "\r\n").encode())


def mark_of_order(folder: Path, entry: Entry, number: int) -> None:
    (folder / "guard.sh").write_bytes(b"\xef\xbb\xbf" + TEXT.encode())


def mode(folder: Path, entry: Entry, number: int) -> None:
    (folder / "guard.sh").chmod((0o700, 0o600, 0o777)[number % 3])


def time(folder: Path, entry: Entry, number: int) -> None:
    os.utime(folder / "guard.sh", (number, number))


def renamed(folder: Path, entry: Entry, number: int) -> None:
    (folder / "guard.sh").rename(folder / "other.sh")


def folder_moved(folder: Path, entry: Entry, number: int) -> None:
    folder.rename(folder.with_name(f"{folder.name}-moved"))


def link_to_the_same(folder: Path, entry: Entry, number: int) -> None:
    (folder / "guard.sh").rename(folder / "real.sh")
    (folder / "guard.sh").symlink_to("real.sh")


def link_to_another(folder: Path, entry: Entry, number: int) -> None:
    (folder / "real.sh").write_text(TEXT.replace("good", "evil"))
    (folder / "guard.sh").unlink()
    (folder / "guard.sh").symlink_to("real.sh")


def argument(folder: Path, entry: Entry, number: int) -> None:
    entry["command"] = entry["command"].replace("sh ./", "sh -e ./")


def sourced_file(folder: Path, entry: Entry, number: int) -> None:
    (folder / "lib.sh").write_text(f"LIB={number + 2}\n")


def matcher(folder: Path, entry: Entry, number: int) -> None:
    entry["matcher"] = f"rm{number}"


def url(folder: Path, entry: Entry, number: int) -> None:
    entry["url"] = f"https://guard.example.org/{number}"


# The digest is of bytes: whose they are, and when they were written, changes nothing of what runs.
MUTATIONS: Mapping[str, tuple[Mutation, ApprovalState]] = {
    "argument": (argument, ApprovalState.CHANGED),
    "bom": (mark_of_order, ApprovalState.CHANGED),
    "crlf": (crlf, ApprovalState.CHANGED),
    "link-other": (link_to_another, ApprovalState.CHANGED),
    "link-same": (link_to_the_same, ApprovalState.APPROVED),
    "matcher": (matcher, ApprovalState.CHANGED),
    "mode": (mode, ApprovalState.APPROVED),
    "moved": (folder_moved, ApprovalState.CHANGED),
    "one-bit": (one_bit, ApprovalState.CHANGED),
    "renamed": (renamed, ApprovalState.CHANGED),
    "sourced": (sourced_file, ApprovalState.CHANGED),
    "time": (time, ApprovalState.APPROVED),
    "url": (url, ApprovalState.CHANGED),
}
