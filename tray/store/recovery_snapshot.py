"""What the tray holds in memory to make a deleted state folder anew: approved bytes and small records."""

from __future__ import annotations

import contextlib
from collections.abc import Collection, Mapping
from pathlib import Path

from tray.edit.backups import CONNECTIONS, Backups
from tray.errors import StoreError
from tray.store.approval_file import Export, read_exports, render, write
from tray.store.checkpoint import APPROVALS
from tray.store.copies import Bundle, Copies, DamagedError
from tray.store.ledger import LedgerState

COPIES_SIZE = 16 * 1024 * 1024  # bytes of approved copies; larger ones are read again from the hooks' own files
RECORDS_SIZE = 4 * 1024 * 1024
# What `connect` and `import-hooks` wrote, and ours.
RECORDS = (CONNECTIONS, "last-good.yaml", "welcomed")

Stamp = tuple[int, int, int]


class RecoverySnapshot:
    """Called by one thread."""

    def __init__(self, folder: Path, copies: Copies) -> None:
        self._folder = folder
        self._copies = copies
        self._stamps: dict[str, Stamp] = {}
        self._too_large: set[str] = set()  # digests of copies that did not fit
        self._saved = 0, frozenset[str]()  # the version of the ledger and the switched off hooks that were saved
        self.bundles: dict[str, Bundle] = {}  # by digest
        self.records: dict[str, bytes] = {}  # by their path below the state folder

    def update(self, digests: Collection[str]) -> list[str]:
        """Take what is approved now, and the records, as far as they fit; what changed is read again.

        What `connect` recorded stays while the agent's file is as `connect` wrote it: `disconnect` did not delete it.
        Returns the names of such records that are gone.
        """
        self.bundles = {name: bundle for name, bundle in self.bundles.items() if name in digests}
        left = COPIES_SIZE - sum(map(_size, self.bundles.values()))
        for name in digests:
            if name not in self.bundles and name not in self._too_large:
                with contextlib.suppress(DamagedError):
                    bundle = self._copies.bundle(name)
                    if _size(bundle) <= left:
                        self.bundles[name] = bundle
                        left -= _size(bundle)
                    else:
                        self._too_large.add(name)
        self._too_large &= set(digests)
        found = records(self._folder, self._stamps, self.records)
        gone = (name for name in self.records.keys() - found.keys() if Path(name).parent.name == CONNECTIONS)
        lost = [name for name in gone if Backups.is_in_force(self.records[name])]
        self.records = found | {name: self.records[name] for name in lost}
        return lost

    def add_records(self) -> None:
        """Add the records that are there now; those that are missing stay as they were read last."""
        self.records = self.records | records(self._folder, self._stamps, self.records)

    def save_approvals(self, state: LedgerState, off: frozenset[str]) -> None:
        """Keep on disk what is approved now, so that a lost database ends in one review.

        `off` are the keys of hooks that the menu switched off: as with a damaged file, they are not offered again.
        """
        if (state.version, off) == self._saved:
            return
        file = self._folder / APPROVALS
        known = {one.approved.digest: one for one in read_exports(file)}
        exports = []
        for one in (one for one in state.ordered if one.hook.key not in off):
            try:
                manifest = self._copies.check(one.digest)
                exports.append(Export(approved=one, files=manifest.files, pinned=manifest.pinned))
            except DamagedError:  # it is approved all the same
                exports += [known[one.digest]] if one.digest in known else []
        with contextlib.suppress(StoreError):
            write(file, render(exports, ""))
            self._saved = state.version, off


def records(folder: Path, stamps: dict[str, Stamp], known: Mapping[str, bytes]) -> dict[str, bytes]:
    """The records below a state folder; those whose stamp is the same as before come from `known`."""
    found: dict[str, bytes] = {}
    left = RECORDS_SIZE
    for path in _files(folder):
        name = str(path.relative_to(folder))
        with contextlib.suppress(OSError):
            status = path.stat()
            stamp = (status.st_ino, status.st_mtime_ns, status.st_size)
            if status.st_size > left:
                continue
            if stamps.get(name) != stamp or name not in known:
                found[name] = path.read_bytes()
            else:
                found[name] = known[name]
            stamps[name] = stamp
            left -= status.st_size
    return found


def _files(folder: Path) -> list[Path]:
    files = []
    for name in RECORDS:
        path = folder / name
        if path.is_dir():
            files += [one for one in sorted(path.iterdir()) if one.is_file()]
        elif path.is_file():
            files.append(path)
    return files


def _size(bundle: Bundle) -> int:
    return sum(map(len, bundle.contents.values()))
