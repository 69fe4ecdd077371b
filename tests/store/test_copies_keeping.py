"""The approved copies while others write the same ones: the tray, and whoever lists or approves meanwhile."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from store.bundles import bundle

from tray.store.copies import DRAFT, DRAFT_SECONDS, Bundle, Copies, Manifest

KEEPERS = 3
KEEPER = """
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from tests.store.bundles import bundle
from tray.store.copies import Copies
copies = Copies(Path(sys.argv[1]))
with ThreadPoolExecutor(4) as threads:
    for line in sys.stdin:
        names = set(threads.map(copies.save, [bundle(line.strip())] * 4))
        print(*names, flush=True)
"""


class Keepers:
    """Processes that save the same bundle at the same moment, each with four threads."""

    def __init__(self, folder: Path) -> None:
        argv = [sys.executable, "-c", KEEPER, str(folder)]
        root = Path(__file__).parents[2]
        self._processes = [
            subprocess.Popen(argv, stdin=subprocess.PIPE, stdout=subprocess.PIPE, cwd=root) for _ in range(KEEPERS)
        ]

    def save(self, text: str) -> set[str]:
        """What they say that it is called; nothing of one who failed."""
        for process in self._processes:
            assert process.stdin
            process.stdin.write(f"{text}\n".encode())
            process.stdin.flush()
        return {process.stdout.readline().decode().strip() for process in self._processes if process.stdout}

    def close(self) -> None:
        for process in self._processes:
            process.communicate(timeout=60)
        assert {process.returncode for process in self._processes} == {0}


@pytest.fixture
def keepers(copies: Copies) -> Iterator[Keepers]:
    keepers = Keepers(copies.folder)
    yield keepers
    keepers.close()


def test_several_processes_save_and_restore_one_whole_copy_and_leave_no_draft(
    copies: Copies, keepers: Keepers, tmp_path: Path
) -> None:
    names = {bundle(f"{number}").digest for number in range(25)}
    for number in range(25):
        (name,) = keepers.save(f"{number}")
        copies.check(name)
    assert {path.name for path in copies.folder.iterdir()} == names

    for harm in ("altered", "foreign", "no manifest", "a file", "a link"):
        for _ in range(5):
            spoil(copies.folder / name, harm, tmp_path)
            assert keepers.save("24") == {name}
            copies.save(bundle("24"))  # each of two processes may have removed the other's copy for a moment
            copies.check(name)
    assert {path.name for path in copies.folder.iterdir()} == names


def test_a_whole_copy_is_never_taken_away_by_one_who_came_late(copies: Copies, tmp_path: Path) -> None:
    """Who found no copy writes one; when there is one by then, it is this one that stays."""
    first, late = Copies(copies.folder), Late(copies.folder)
    late.before = lambda: first.save(bundle("same"))
    name = late.save(bundle("same"))
    assert (copies.folder / name).stat().st_ino == late.found
    assert [path.name for path in copies.folder.iterdir()] == [name]


def test_who_finds_the_copy_gone_while_it_is_mended_makes_it(copies: Copies) -> None:
    class Gone(Copies):
        def check(self, name: str) -> Manifest:
            found = super().check(name)
            shutil.rmtree(self.folder / name)
            return found

    copies.save(bundle("same"))
    copies.check(Gone(copies.folder).save(bundle("same")))


class Late(Copies):
    """Looks, and comes to write only after `before`."""

    before: Callable[[], object]
    found = 0

    def _write(self, bundle: Bundle, name: str) -> None:
        self.before()
        self.found = (self.folder / name).stat().st_ino
        super()._write(bundle, name)


def spoil(copy: Path, harm: str, elsewhere: Path) -> None:
    guard = copy / "files" / "work" / "0" / "guard.py"
    if harm == "altered":
        guard.chmod(0o700)
        guard.write_text("evil")
    elif harm == "foreign":
        guard.with_name("evil.py").write_text("evil")
    elif harm == "no manifest":
        (copy / "manifest.json").unlink()
    else:
        shutil.rmtree(copy)
        if harm == "a file":
            copy.write_text("evil")
        else:
            copy.symlink_to(elsewhere)


@pytest.mark.parametrize(("age", "stays"), [(0, True), (DRAFT_SECONDS + 60, False), (-DRAFT_SECONDS - 60, False)])
def test_a_draft_stays_only_while_another_process_may_write_it(copies: Copies, age: float, stays: bool) -> None:
    """A clock that ran ahead and was set back leaves a draft that is dated in the future."""
    draft = copies.folder / f"{DRAFT}left"
    draft.mkdir()
    then = time.time() - age
    os.utime(draft, (then, then))

    wanted = copies.save(bundle("wanted"))
    copies.save(bundle("old"))

    copies.prune({wanted})

    assert {path.name for path in copies.folder.iterdir()} == {wanted, *([draft.name] if stays else [])}
