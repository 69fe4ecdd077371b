"""A disk that is really full: clear errors, no half-written file, guards that go on, rows once there is room."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from house import PRE_TOOL_USE, House
from live import Live
from plain import Plain

pytestmark = pytest.mark.skipif(sys.platform != "linux" or os.getuid() != 0, reason="only root can mount a disk")

LONG = 60.0  # seconds; longer than anything here takes
COMMANDS = (
    "approvals export all.json", "approve guard", "connect codex --yes", "disconnect claude-code --yes", "doctor",
    "import-hooks claude-code --yes", "off", "status",
)  # fmt: skip
SETTINGS = {"hooks": {"PreToolUse": [{"matcher": "Bash", "hooks": [{"type": "command", "command": "echo hi"}]}]}}


class Disk:
    """A small file system of its own; everything of a person's is on it."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.settings = folder / ".claude" / "settings.json"
        self.settings.parent.mkdir()
        self.settings.write_text(json.dumps(SETTINGS))

    def fill(self) -> None:
        with (self.folder / "fill").open("ab", buffering=0) as file:
            for size in (65536, 4096, 512):
                try:
                    while file.write(bytes(size)) == size:
                        pass
                except OSError:
                    continue

    def make_room(self) -> None:
        (self.folder / "fill").unlink()


@pytest.fixture
def disk(tmp_path: Path) -> Iterator[Disk]:
    folder = tmp_path / "disk"
    folder.mkdir()
    argv = ["mount", "-t", "tmpfs", "-o", "size=12m,mode=700", "hooktray-test", str(folder)]
    if subprocess.run(argv, capture_output=True, check=False).returncode:
        pytest.skip("this container may not mount a disk")
    yield Disk(folder)
    subprocess.run(["umount", "-l", str(folder)], check=True)


@pytest.fixture
def plain(disk: Disk) -> Iterator[Plain]:
    plain = Plain(disk.folder)
    yield plain
    plain.close()


def test_a_first_start_says_to_make_room_and_leaves_nothing_half_written(disk: Disk, plain: Plain) -> None:
    live = Live(plain, disk.folder / "home")
    live.config.parent.mkdir(parents=True)
    disk.fill()

    done = plain.run(live.argv("run", "--headless"), timeout=LONG)

    assert done.returncode == 1, done.stderr.decode()
    assert b"make room" in done.stderr or b"free space" in done.stderr
    assert list(live.config.parent.iterdir()) == []
    disk.make_room()
    live.start()
    assert live.quit() == 0


def test_a_running_tray_goes_on_guarding_and_writes_down_later_what_it_decided(disk: Disk, plain: Plain) -> None:
    house = House(disk.folder)
    house.hook("guard", on="tool_before", tool="Bash", script="echo no >&2; exit 2")
    house.close()
    live = Live(plain, disk.folder / "home")
    live.start()
    disk.fill()

    answers = [live.relay("claude-code", "PreToolUse", PRE_TOOL_USE | {"tool_use_id": f"t{n}"}) for n in range(3)]

    assert [b'"permissionDecision":"deny"' in one.stdout for one in answers] == [True] * 3
    assert b"The journal cannot be written" in live.cli("status").stdout
    disk.make_room()
    rows = live.wait_log(1)  # a one-shot engine, which a relay asks on a busy machine, can keep none meanwhile
    assert {row["verdict"] for row in rows} == {"deny"}


def test_no_command_fails_by_a_bug_and_none_damages_a_file(disk: Disk, plain: Plain) -> None:
    house = House(disk.folder)
    house.hook("guard", on="tool_before", tool="Bash", script="exit 0")
    house.close()
    live = Live(plain, disk.folder / "home")
    live.start()
    assert live.cli("connect", "claude-code", "--yes").returncode == 0
    disk.fill()
    before = disk.settings.read_bytes()

    for command in COMMANDS:
        done = live.cli(*command.split())

        assert done.returncode in (0, 1), (command, done.stderr.decode())
        assert done.returncode == 0 or len(done.stderr.splitlines()) >= 1 or b"broken" in done.stdout, command
        if command != "disconnect claude-code --yes" or done.returncode:
            assert disk.settings.read_bytes() == before, command
    disk.make_room()
    assert live.cli("disconnect", "claude-code", "--yes").returncode == 0
    assert json.loads(disk.settings.read_text()) == SETTINGS
