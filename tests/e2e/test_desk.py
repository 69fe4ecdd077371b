"""The desk itself: faults that other tests would not attribute to it."""

from __future__ import annotations

import sys
from contextlib import suppress
from pathlib import Path

import pytest
from desk import Desk, PartMissing, TrayItem

pytestmark = pytest.mark.desktop


def test_a_desk_leaves_no_process(tmp_path: Path) -> None:
    with Desk(tmp_path / "d", size=(640, 480)) as own:
        own.start(["sh", "-c", "setsid sleep 1000 & wait"])
        own.run(["sh", "-c", "setsid sleep 1000 >/dev/null 2>&1 &"])
        own.wait(lambda: names(own).count("sleep") == 2, what="the grandchildren run")
        assert {"Xvfb", "dbus-daemon", "dunst", "openbox", "pulseaudio", "xfce4-panel", "xfconfd"} <= set(names(own))
        assert own.screenshot().size == (640, 480)

    assert own.pids() == []


def names(desk: Desk) -> list[str]:
    found = []
    for pid in desk.pids():
        with suppress(OSError):  # ended while we looked
            found.append(Path(f"/proc/{pid}/comm").read_text().strip())
    return found


def test_programs_on_a_desk_know_no_folder_outside_it(desk: Desk) -> None:
    told = desk.run(["sh", "-c", "env | grep -E '^(HOME|TMPDIR|XDG_.*_(HOME|DIR))='"]).stdout.decode().split()

    assert {word.split("=")[0] for word in told} >= {"HOME", "TMPDIR", "XDG_CONFIG_HOME", "XDG_RUNTIME_DIR"}
    assert all(word.split("=")[1].startswith(f"{desk.folder}/") for word in told)


LEAVES_AT_ONCE = """
from jeepney import DBusAddress, new_method_call
from jeepney.io.blocking import open_dbus_connection
watcher = DBusAddress("/StatusNotifierWatcher", bus_name="org.kde.StatusNotifierWatcher",
                      interface="org.kde.StatusNotifierWatcher")
for _ in range(20):
    with open_dbus_connection() as item:
        item.send(new_method_call(watcher, "RegisterStatusNotifierItem", "s", (item.unique_name,)))
"""


def test_items_that_the_panel_cannot_forget_are_gone_when_the_desk_is_swept(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("desk.desktop.FORGETTING", 0.5)
    with Desk(tmp_path / "d", notifications=None, sound=False) as own:
        before = own.pids()

        def kept() -> list[TrayItem]:
            assert own.run([sys.executable, "-c", LEAVES_AT_ONCE]).returncode == 0
            return own.items()

        own.wait(kept, what="the panel keeps items of the program that is gone")

        own.leave(before)

        assert own.items() == []


def test_a_part_that_does_not_come_up_is_named_with_its_log(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    broken = tmp_path / "bin" / "openbox"
    broken.parent.mkdir()
    broken.write_text("#!/bin/sh\necho no theme today >&2\nexit 3\n")
    broken.chmod(0o755)
    monkeypatch.setenv("PATH", str(broken.parent), prepend=":")

    own = Desk(tmp_path / "d", panel=None, notifications=None, sound=False)
    with pytest.raises(PartMissing, match="openbox ended with code 3\nno theme today"), own:
        pass
    assert own.pids() == []
