"""The installed relay and its table, taken away or altered: put back, and announced once."""

from __future__ import annotations

import shutil
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import cast

import pytest
from house import House

from tray.installation import installed_relay
from tray.installation.relay_files import RelayWatch
from tray.notify.service import AlertService

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="modes of POSIX")


class Recorder:
    """What was announced, and after how many seconds the next look is due. Stands in for the watch's owner."""

    def __init__(self) -> None:
        self.alarms: list[tuple[str, str]] = []
        self.gaps: list[float] = []

    def alarm(self, title: str, text: str, *, about: str = "") -> str:
        self.alarms.append((title, text))
        return title

    def recheck(self, seconds: float) -> None:
        self.gaps.append(seconds)

    def relay_changed(self) -> None: ...


@pytest.fixture
def recorder() -> Recorder:
    return Recorder()


@pytest.fixture
def watch(house: House, recorder: Recorder) -> RelayWatch:
    installed_relay.install(house.paths, house.stores.database)
    installed_relay.write_table(house.paths, (), house.stores.database)
    return RelayWatch(recorder, house.paths, house.stores.database, cast(AlertService, recorder))


def look_twice(watch: RelayWatch, recorder: Recorder) -> None:
    """As the file watch does it."""
    watch.check()
    while recorder.gaps:
        time.sleep(recorder.gaps.pop())
        watch.check()


def delete(file: Path) -> None:
    file.unlink()


def alter(file: Path) -> None:
    file.write_bytes(b"#!/bin/sh\n")


def forbid(file: Path) -> None:
    file.chmod(0o600)


@pytest.mark.parametrize(
    ("name", "change"),
    [("relay", delete), ("relay", alter), ("relay", forbid), ("relay_table", delete), ("relay_table", alter)],
)
def test_a_changed_relay_or_table_is_restored_and_announced_once(
    house: House, watch: RelayWatch, recorder: Recorder, name: str, change: Callable[[Path], None]
) -> None:
    file: Path = getattr(house.paths, name)
    before, mode = file.read_bytes(), file.stat().st_mode

    change(file)
    look_twice(watch, recorder)
    look_twice(watch, recorder)

    assert (file.read_bytes(), file.stat().st_mode) == (before, mode)
    ((title, text),) = recorder.alarms
    assert title == "The relay that agents run was changed"
    assert text.startswith(str(file))
    assert text.endswith("It was put back")
    assert watch.problem == ""


def test_what_is_well_or_was_never_installed_is_not_announced(
    house: House, watch: RelayWatch, recorder: Recorder
) -> None:
    look_twice(watch, recorder)
    installed_relay.remove(house.paths, house.stores.database)
    look_twice(watch, recorder)

    assert recorder.alarms == []
    assert not house.paths.relay.exists()


def test_a_relay_that_cannot_be_restored_is_announced_once_and_retried(
    house: House, watch: RelayWatch, recorder: Recorder
) -> None:
    """Its folder may be taken away in the moment in which the relay is written into it."""
    shutil.rmtree(house.paths.relay_folder)
    house.paths.relay_folder.write_text("in the way")
    look_twice(watch, recorder)
    look_twice(watch, recorder)
    house.paths.relay_folder.unlink()
    announced = watch.problem

    watch.check()

    assert str(house.paths.relay) in announced
    assert house.paths.relay.exists()
    assert [text.rpartition(" · ")[2] for _, text in recorder.alarms] == [
        "Nothing could be put back",
        "It was put back",
    ]
    assert watch.problem == ""
