"""T02: everything that can be changed about an approved hook: each change is seen, and none takes force by itself."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from house import House

from torture.frame import Tally
from tray.model.hook import State

TITLE = "changed since it was approved"
TEXT = "#!/bin/sh\n. ./lib.sh\necho good\n"
Entry = dict[str, Any]
Mutation = Callable[[Path, Entry, int], None]


def torture(tally: Tally) -> None:
    rounds = tally.many(5, 1000)
    for number in range(0, rounds, 5):
        house = House(tally.folder / f"house{number}")
        try:
            _house(tally, house, min(5, rounds - number), number)
        finally:
            house.close()
    tally.control("looking at size and time alone", _naive_is_fooled(tally.folder / "naive.sh"))


def _house(tally: Tally, house: House, rounds: int, offset: int) -> None:
    entries: dict[str, tuple[Path, Entry, str, int]] = {}
    for number in range(rounds):
        for name in MUTATIONS:
            folder = house.paths.config.parent / f"{name}-{number}"
            folder.mkdir()
            (folder / "lib.sh").write_text("LIB=1\n")
            (folder / "guard.sh").write_text(TEXT)
            (folder / "guard.sh").chmod(0o755)
            entry: Entry = {"name": f"{name}-{number}", "event": "tool_before", "matcher": "rm"}
            if name == "url":
                entry |= {"type": "http", "url": f"https://guard.example.com/{number}"}
            else:
                entry |= {"command": f"sh ./{folder.name}/guard.sh", "files": [f"./{folder.name}/lib.sh"]}
            entries[entry["name"]] = (folder, entry, name, offset + number)
    _write(house, entries)
    for standing in house.roster.standings:
        house.consent.approve(standing.key, standing.digest, "test")
    _expect(tally, house, entries, dict.fromkeys(entries, State.APPROVED), attacked=False)
    force = {one.hook.name: one.digest for one in house.stores.ledger.in_order()}
    for folder, entry, name, number in entries.values():
        MUTATIONS[name][0](folder, entry, number)
    _write(house, entries)
    _expect(tally, house, entries, {one: MUTATIONS[entries[one][2]][1] for one in entries}, attacked=True)
    now = {one.hook.name: one.digest for one in house.stores.ledger.in_order()}
    tally.keep("the approved copies stay in force", now == force)


def _write(house: House, entries: Mapping[str, tuple[Path, Entry, str, int]]) -> None:
    house.configure({"hooks": [entry for _, entry, _, _ in entries.values()]})


def _expect(
    tally: Tally,
    house: House,
    entries: Mapping[str, tuple[Path, Entry, str, int]],
    wanted: Mapping[str, State],
    *,
    attacked: bool,
) -> None:
    found = {one.hook.name: one.state for one in house.roster.standings}
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
MUTATIONS: Mapping[str, tuple[Mutation, State]] = {
    "argument": (argument, State.CHANGED),
    "bom": (mark_of_order, State.CHANGED),
    "crlf": (crlf, State.CHANGED),
    "link-other": (link_to_another, State.CHANGED),
    "link-same": (link_to_the_same, State.APPROVED),
    "matcher": (matcher, State.CHANGED),
    "mode": (mode, State.APPROVED),
    "moved": (folder_moved, State.CHANGED),
    "one-bit": (one_bit, State.CHANGED),
    "renamed": (renamed, State.CHANGED),
    "sourced": (sourced_file, State.CHANGED),
    "time": (time, State.APPROVED),
    "url": (url, State.CHANGED),
}
