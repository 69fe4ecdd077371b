"""The harness itself: a small real tray program, notify-send and paplay on a real desk."""

from __future__ import annotations

import math
import struct
import subprocess
import sys
import wave
from contextlib import suppress
from pathlib import Path

import pytest
from desk import Desk, PartMissing, TrayItem, item
from desk.screen import TOOLTIP

pytestmark = pytest.mark.desktop


def play_file(path: Path, seconds: float = 0.4) -> Path:
    """A 440 Hz tone at half of full scale."""
    rate = 22050
    samples = [int(16384 * math.sin(2 * math.pi * 440 * n / rate)) for n in range(int(rate * seconds))]
    with wave.open(str(path), "wb") as file:
        file.setparams((1, 2, rate, len(samples), "NONE", ""))
        file.writeframes(struct.pack(f"<{len(samples)}h", *samples))
    return path


@pytest.fixture
def tray(desk: Desk) -> subprocess.Popen[bytes]:
    process = desk.start([sys.executable, item.__file__])
    desk.wait_item(process.pid)
    return process


def test_an_item_is_found_by_its_process_and_by_its_name(desk: Desk, tray: subprocess.Popen[bytes]) -> None:
    known = desk.wait_item(tray.pid)

    assert known.path == "/StatusNotifierItem"
    assert desk.tray_item("desk-item") == known
    assert desk.tray_item("Desk item") == known


def test_the_icon_is_where_its_colour_is_on_the_panel(desk: Desk, tray: subprocess.Popen[bytes]) -> None:
    x, y = desk.icon_at()

    desk.wait(lambda: desk.screenshot().getpixel((x, y)) == (0x2E, 0xA0, 0x43), what="the green disc")


def test_the_menu_is_read_as_published(desk: Desk, tray: subprocess.Popen[bytes]) -> None:
    rows = desk.menu_labels()

    assert [row.label for row in rows if row.visible and not row.separator] == [
        "Ready, 2 hooks", "Hooks enabled", "Pause", "snake_case", "Quit",
    ]  # fmt: skip
    assert not rows[0].enabled
    assert (rows[1].toggle, rows[1].checked) == ("checkmark", True)
    assert desk.row("Pause", "Longer", "Until").label == "Until tomorrow"


def test_a_click_on_a_check_box_flips_it(desk: Desk, tray: subprocess.Popen[bytes]) -> None:
    desk.click(["Hooks enabled"])

    desk.wait(lambda: desk.row("Hooks enabled").checked is False, what="the box is unticked")
    desk.click(["Hooks"])
    desk.wait(lambda: desk.row("Hooks enabled").checked, what="the box is ticked again")
    assert desk.log(tray) == "clicked Hooks enabled\n" * 2


@pytest.mark.parametrize("path", [["Pause", "30 min"], ["Pause", "Longer", "Until tomorrow"], ["snake_case"]])
def test_a_click_reaches_the_row_of_a_path(desk: Desk, tray: subprocess.Popen[bytes], path: list[str]) -> None:
    desk.click(path)

    label = path[-1].replace("_", "__")
    desk.wait(lambda: desk.log(tray) == f"clicked {label}\n", what=f"exactly {label!r} was clicked")


def test_rows_of_unusual_letters_and_of_a_long_menu_are_met(desk: Desk) -> None:
    labels = ["✗ claude-code · PreToolUse · hooktray · 14:02", "Å É ąg", "i", "=:=", *(f"Row {n}" for n in range(12))]
    process = desk.start([sys.executable, item.__file__], {"DESK_ITEM_ROWS": "\n".join(labels)})
    desk.wait_item(process.pid)

    for label in ("✗ claude-code", "=:=", "Row 11"):
        desk.click([label])

    clicked = f"clicked {labels[0]}\nclicked =:=\nclicked Row 11\n"
    desk.wait(lambda: desk.log(process) == clicked, what="exactly these three were clicked")


def test_a_menu_that_the_panel_has_not_loaded_yet_is_asked_for_again(desk: Desk) -> None:
    """The first press opens the panel's own menu instead, which has five rows."""
    process = desk.start([sys.executable, item.__file__], {"DESK_ITEM_LATE": "1", "DESK_ITEM_ROWS": "Later"})
    desk.wait_item(process.pid)

    desk.click(["snake_case"])

    desk.wait(lambda: desk.log(process) == "clicked snake__case\n", what="the item's own row was clicked")


def test_a_row_that_is_not_there_or_greyed_out_is_said_so(desk: Desk, tray: subprocess.Popen[bytes]) -> None:
    with pytest.raises(LookupError, match="no row 'Approve' among"):
        desk.click(["Approve"])
    with pytest.raises(LookupError, match="'Ready, 2 hooks' is greyed out"):
        desk.click(["Ready"])

    assert desk.screen.popups() == []


def test_an_open_menu_stays_open_to_be_looked_at(desk: Desk, tray: subprocess.Popen[bytes]) -> None:
    with desk.open_menu(["Pause"]) as spots:
        assert [spot.row.label for spot in spots] == ["30 min", "Longer"]
        assert len(desk.screen.popups()) == 2

    assert desk.screen.popups() == []
    assert desk.log(tray) == ""


def test_a_submenu_that_comes_while_the_pointer_is_on_its_row_opens_when_the_pointer_comes_back(desk: Desk) -> None:
    late = desk.start([sys.executable, item.__file__], {"DESK_ITEM_LATE_SUBMENU": "1"})

    with desk.open_menu(["Pause"], desk.wait_item(late.pid)) as spots:
        assert [spot.row.label for spot in spots] == ["30 min", "Longer"]


def test_a_left_press_activates_the_item(desk: Desk, tray: subprocess.Popen[bytes]) -> None:
    desk.press_icon()

    desk.wait(lambda: desk.log(tray) == "activated\n", what="the item was activated")


def test_two_items_are_told_apart(desk: Desk, tray: subprocess.Popen[bytes]) -> None:
    other = desk.start([sys.executable, item.__file__], {"DESK_ITEM_COLOUR": "d03030"})
    second = desk.wait_item(other.pid)

    desk.wait(lambda: two_colours(desk, desk.wait_item(tray.pid), second), what="both icons are drawn")
    desk.click(["Pause", "30 min"], second)
    desk.wait(lambda: desk.log(other) == "clicked 30 min\n", what="the second one was clicked")
    desk.click(["snake_case"], desk.wait_item(tray.pid))
    desk.wait(lambda: desk.log(tray) == "clicked snake__case\n", what="the first one was clicked")


def test_an_icon_is_found_while_its_tooltip_is_open(desk: Desk, tray: subprocess.Popen[bytes]) -> None:
    place = desk.icon_at()
    desk.screen.point(*place)

    desk.wait(lambda: desk.screen.popups(TOOLTIP), what="the tooltip is open")

    assert desk.icon_at() == place


def two_colours(desk: Desk, *items: TrayItem) -> bool:
    picture = desk.screenshot()
    seen = [picture.getpixel(desk.icon_at(known)) for known in items]
    return seen == [(0x2E, 0xA0, 0x43), (0xD0, 0x30, 0x30)]


def test_a_notification_is_read_back_from_the_server(desk: Desk) -> None:
    desk.run(
        ["notify-send", "-a", "claude-code", "-u", "critical", "Blocked · hooktray", "rm -rf &amp; more\nline 2"]
    )
    desk.run(["notify-send", "Second", ""])

    shown = desk.wait_notification(lambda shown: shown.summary.startswith("Blocked"))
    assert (shown.body, shown.urgency, shown.app) == ("rm -rf &amp; more\nline 2", "critical", "claude-code")
    desk.wait_notification(lambda shown: shown.summary == "Second")
    assert [shown.summary for shown in desk.notifications()] == ["Blocked · hooktray", "Second"]


def test_cleared_notifications_are_forgotten(desk: Desk) -> None:
    desk.run(["notify-send", "Earlier"])
    desk.wait_notification()

    desk.clear_notifications()

    desk.run(["notify-send", "Later"])
    assert desk.wait_notification().summary == "Later"


def test_a_played_tone_is_heard_at_its_level_and_length(desk: Desk, tmp_path: Path) -> None:
    tone = play_file(tmp_path / "tone.wav")

    with desk.record() as recording:
        desk.run(["paplay", tone])
        recording.wait_sound()
        recording.wait_silence()

    assert recording.rms == pytest.approx(0.5 / math.sqrt(2), rel=0.15)
    assert recording.peak == pytest.approx(0.5, abs=0.05)
    assert recording.seconds_heard == pytest.approx(0.4, abs=0.06)


def test_nothing_is_heard_when_nothing_plays(desk: Desk) -> None:
    with desk.record() as recording:
        recording.wait_more(0.5)

    assert (recording.rms, recording.peak, recording.seconds_heard) == (0.0, 0.0, 0.0)


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


def test_items_that_the_panel_cannot_forget_are_gone_when_the_desk_is_swept(tmp_path: Path) -> None:
    with Desk(tmp_path / "d", notifications=None, sound=False) as own:
        before = own.pids()

        def kept() -> list[TrayItem]:
            assert own.run([sys.executable, "-c", LEAVES_AT_ONCE]).returncode == 0
            return own.items()

        own.wait(kept, what="the panel keeps items of the program that is gone")

        own.leave(before)

        assert own.items() == []


def test_a_desk_has_only_the_parts_that_were_asked_for(tmp_path: Path) -> None:
    with Desk(tmp_path / "d", panel=None, notifications=None, sound=False) as own:
        assert own.run(["notify-send", "Nobody"]).returncode != 0
        assert set(names(own)) == {"Xvfb", "dbus-daemon", "openbox"}


def test_the_other_notification_server_is_read_too(tmp_path: Path) -> None:
    with Desk(tmp_path / "d", panel=None, notifications="xfce4", sound=False) as own:
        own.run(["notify-send", "-a", "shelley", "Turn ended", "all = done\nline 2"])

        shown = own.wait_notification()
        assert (shown.summary, shown.body, shown.app) == ("Turn ended", "all = done\nline 2", "shelley")
        own.clear_notifications()
        assert own.notifications() == []


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
