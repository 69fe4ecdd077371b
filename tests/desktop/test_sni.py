"""The StatusNotifierItem on a real session bus, with a real watcher and a foreign process that tries to click."""

from __future__ import annotations

import logging
import os
import sys
import threading
from collections.abc import Iterator

import pytest
from msgspec.structs import replace

if sys.platform != "linux":
    pytest.skip("D-Bus", allow_module_level=True)

from dbus_fast import Message, MessageType
from dbus_fast.aio import MessageBus

from desktop.stage import DEADLINE, MENU, Stage, wait
from desktop.watcher import WATCHER, Watcher
from tray.desktop.artwork import IconState
from tray.desktop.menu import menu
from tray.desktop.menu.actions import OpenPage, QuitTray, ToggleSwitch
from tray.desktop.menu.state import MenuState
from tray.desktop.sni import ITEM_PATH, SniIcon

STATE = MenuState(now=0.0)
PRESSES = (("Activate", "ii", (0, 0)), ("SecondaryActivate", "ii", (0, 0)), ("XAyatanaSecondaryActivate", "u", (0,)))


@pytest.fixture
def stage() -> Iterator[Stage]:
    stage = Stage()
    yield stage
    stage.close()


@pytest.fixture
def host(stage: Stage) -> Watcher:
    """A watcher with the icon's menu on it."""
    watcher = stage.watcher()
    assert stage.icon.start()
    stage.icon.show(IconState.ON, "2 hooks", menu(STATE))
    wait(lambda: len(watcher.registered) == 1, "the icon registers")
    return watcher


def number(stage: Stage, host: Watcher, label: str) -> int:
    return next(int(row[0]) for row in stage.do(host.rows(stage.item)) if row[1].get("label") == label)


def test_the_icon_registers_and_shows_pixels_and_a_tooltip(stage: Stage, host: Watcher) -> None:
    shown = stage.do(host.properties(stage.item, "/StatusNotifierItem", "org.kde.StatusNotifierItem"))

    assert host.registered[0].startswith(":")
    assert (shown["Title"], shown["Status"], shown["Menu"]) == ("Hooktray", "Active", "/MenuBar")
    assert [(width, len(pixels)) for width, _, pixels in shown["IconPixmap"]] == [
        (size, size * size * 4) for size in (16, 22, 24, 32, 48, 64)
    ]
    assert shown["IconAccessibleDesc"] == shown["AttentionAccessibleDesc"] == "2 hooks"
    wait(lambda: stage.icon.visible, "the host lists it")
    assert stage.icon.reason == ""


def test_attention_is_another_status_and_another_picture(stage: Stage, host: Watcher) -> None:
    before = stage.do(host.properties(stage.item, "/StatusNotifierItem", "org.kde.StatusNotifierItem"))

    stage.icon.show(IconState.ATTENTION, "1 hook <waits> & wants", menu(STATE))
    wait(lambda: ("NewStatus", ["NeedsAttention"]) in host.signals, "the host hears of it")

    after = stage.do(host.properties(stage.item, "/StatusNotifierItem", "org.kde.StatusNotifierItem"))
    assert after["Status"] == "NeedsAttention"
    assert after["IconPixmap"] != before["IconPixmap"]
    assert after["ToolTip"][3] == "1 hook &lt;waits&gt; &amp; wants"


def test_the_host_reads_the_menu_as_it_is(stage: Stage, host: Watcher) -> None:
    rows = stage.do(host.rows(stage.item))

    assert [shown.get("label") for _, shown, _ in rows] == [item.label or None for item in menu(STATE)]
    assert rows[2][1] == {"label": "Hooks enabled", "enabled": True, "toggle-type": "checkmark", "toggle-state": 1}


def test_a_click_of_the_host_reaches_the_tray(stage: Stage, host: Watcher) -> None:
    error = stage.do(host.click(stage.item, number(stage, host, "Hooks enabled")))

    wait(lambda: stage.clicks.acted, "the click arrives")
    assert error == ""
    assert stage.clicks.acted == [ToggleSwitch()]


def test_a_press_on_the_icon_opens_the_page(stage: Stage, host: Watcher) -> None:
    for count, (member, signature, words) in enumerate(PRESSES, 1):
        stage.do(host.call(stage.item, ITEM_PATH, "org.kde.StatusNotifierItem", member, signature, *words))
        wait(lambda count=count: len(stage.clicks.acted) == count, f"{member} arrives")  # type: ignore[misc]

    assert stage.clicks.acted == [OpenPage()] * len(PRESSES)


def test_a_click_in_a_group_reaches_the_tray_and_unknown_rows_are_named(stage: Stage, host: Watcher) -> None:
    unknown = stage.do(host.click_all(stage.item, [number(stage, host, "Quit"), 4711]))

    wait(lambda: stage.clicks.acted, "the click arrives")
    assert stage.clicks.acted == [QuitTray()]
    assert unknown == [4711]


def test_a_click_of_a_foreign_process_is_refused(
    stage: Stage, host: Watcher, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.WARNING)
    row = number(stage, host, "Hooks enabled")

    errors = [stage.foreign_click(row, member, named) for member in ("Event", "EventGroup") for named in (MENU, "")]

    stage.flush()
    assert errors == ["org.freedesktop.DBus.Error.AccessDenied"] * 4
    assert (stage.clicks.acted, stage.icon.rejected) == ([], 4)
    assert [one[1:] for one in stage.clicks.rejected] == [(False, (ToggleSwitch(),))] * 4
    assert "refused a click" in caplog.text


def test_a_host_that_is_not_trusted_cannot_click(stage: Stage, host: Watcher) -> None:
    stage.clicks.trusted = ()

    error = stage.do(host.click(stage.item, number(stage, host, "Hooks enabled")))

    stage.flush()
    assert error == "org.freedesktop.DBus.Error.AccessDenied"
    assert stage.clicks.acted == []
    assert stage.clicks.rejected == [(os.getpid(), True, (ToggleSwitch(),))], "which the passphrase may confirm"


EVIL = "org.kde.StatusNotifierHost-evil"


def test_a_foreign_process_that_calls_itself_a_host_is_refused_when_it_is_not_trusted(
    stage: Stage, host: Watcher, caplog: pytest.LogCaptureFixture
) -> None:
    stage.clicks.trusted = (os.getpid(),)

    error = stage.foreign_click(number(stage, host, "Hooks enabled"), own=EVIL)

    stage.flush()
    assert error == "org.freedesktop.DBus.Error.AccessDenied"
    assert (stage.clicks.acted, stage.icon.rejected) == ([], 1)
    assert os.getpid() not in stage.clicks.judged
    assert (
        f"refused a click on the menu from process {stage.clicks.judged[0]}, which calls itself a tray host"
        in caplog.text
    )


def test_a_host_without_the_watchers_name_can_click_under_its_own(stage: Stage, host: Watcher) -> None:
    stage.do(host.rename(WATCHER, f"org.kde.StatusNotifierHost-{os.getpid()}"))

    assert stage.do(host.click(stage.item, number(stage, host, "Hooks enabled"))) == ""
    wait(lambda: stage.clicks.acted, "the click arrives")


def test_who_is_no_host_any_more_cannot_click(stage: Stage, host: Watcher) -> None:
    row = number(stage, host, "Hooks enabled")
    stage.do(host.rename(WATCHER, ""))

    assert stage.do(host.click(stage.item, row)) == "org.freedesktop.DBus.Error.AccessDenied"
    stage.flush()
    assert stage.clicks.acted == []


def test_opening_the_menu_asks_for_fresh_rows(stage: Stage, host: Watcher) -> None:
    stage.do(host.about_to_show(stage.item))
    wait(lambda: stage.clicks.openings == 1, "the tray hears of it")

    stage.do(host.event(stage.item, 0, "opened"))
    wait(lambda: stage.clicks.openings == 2, "the tray hears of it")


def test_an_open_menu_is_told_of_labels_and_marks_without_a_new_layout(stage: Stage, host: Watcher) -> None:
    row = number(stage, host, "Hooks enabled")
    host.signals.clear()

    stage.icon.show(
        IconState.OFF, "off", menu(replace(STATE, enabled=False, problem="hooktray.yaml:3:1: unknown key"))
    )
    wait(lambda: "ItemsPropertiesUpdated" in dict(host.signals), "the host hears of it")

    shown = dict(dict(host.signals)["ItemsPropertiesUpdated"][0])
    assert shown[row]["toggle-state"] == 0
    assert "hooktray.yaml:3:1: unknown key" in {properties.get("label") for properties in shown.values()}
    stage.do(host.rows(stage.item))  # its answer comes behind all that was told before
    assert "LayoutUpdated" not in dict(host.signals)


def test_a_first_row_that_gets_a_submenu_is_another_row_of_the_menu(stage: Stage, host: Watcher) -> None:
    pause = number(stage, host, "Pause")
    host.signals.clear()

    stage.icon.show(IconState.PAUSED, "paused", menu(replace(STATE, paused_until=600.0)))
    wait(lambda: "LayoutUpdated" in dict(host.signals), "the host hears of it")

    rows = stage.do(host.rows(stage.item))
    labels = {row[0]: row[1].get("label", "") for row in rows}
    assert sorted(told_layouts(host)) == [0, pause]
    assert labels[rows[0][0]].startswith("Hooks are paused until")
    assert labels[pause].startswith("Paused until")


def test_a_host_that_reads_one_level_is_told_to_read_the_next_one_once(stage: Stage, host: Watcher) -> None:
    submenus = [row[0] for row in stage.do(host.rows(stage.item)) if row[2]]
    host.signals.clear()

    assert set(submenus) < set(stage.do(host.level(stage.item, 0)))
    wait(lambda: told_layouts(host) == submenus, "the host is told of each submenu")
    for number_of_one in submenus:
        stage.do(host.level(stage.item, number_of_one))
    stage.do(host.rows(stage.item))  # its answer comes behind all that was told before
    deeper = told_layouts(host)[len(submenus) :]
    host.signals.clear()
    for number_of_one in submenus:
        stage.do(host.level(stage.item, number_of_one))
    stage.do(host.rows(stage.item))

    assert len(set(deeper)) == len(deeper)
    assert not set(deeper) & set(submenus)
    assert told_layouts(host) == [], "it has read them all"
    stage.do(host.level(stage.item, 0))
    wait(lambda: told_layouts(host) == submenus, "what reads the menu from its top may be another host")


def told_layouts(host: Watcher) -> list[int]:
    """The parents whose rows the host was told to read again."""
    return [body[1] for member, body in host.signals if member == "LayoutUpdated"]


def test_a_host_that_starts_late_gets_the_icon(stage: Stage) -> None:
    assert not stage.icon.start()
    assert not stage.icon.visible
    assert stage.icon.reason == "no tray host yet: the icon appears when one starts"

    late = stage.watcher()
    stage.icon.show(IconState.ON, "on", menu(STATE))

    wait(lambda: stage.icon.visible, "the host lists it")
    assert len(late.registered) == 1


def test_a_host_that_restarts_gets_the_icon_again(stage: Stage, host: Watcher) -> None:
    stage.leave(host)
    wait(lambda: not stage.icon.visible, "the tray hears of it")

    again = stage.watcher()

    wait(lambda: len(again.registered) == 1, "the icon registers anew")
    assert len(stage.do(again.rows(stage.item))) > 5


def test_an_icon_that_is_closed_stays_on_the_bus_until_the_host_has_answered_its_registration(stage: Stage) -> None:
    host = stage.watcher()
    stage.do(host.set_answering(False))
    assert stage.icon.start()
    stage.icon.show(IconState.ON, "", menu(STATE))
    item = stage.item
    closing = threading.Thread(target=stage.icon.stop)

    closing.start()

    assert all(stage.do(host.has_owner(item)) for _ in range(50)), "an icon that does not wait is gone by then"
    stage.do(host.set_answering(True))
    closing.join(DEADLINE)
    assert not stage.do(host.has_owner(item))


def test_the_icon_returns_to_a_bus_that_died_and_is_there_again(
    stage: Stage, host: Watcher, caplog: pytest.LogCaptureFixture
) -> None:
    stage.kill_bus()
    wait(lambda: "the D-Bus session is gone" in caplog.text, "the loss is logged")
    assert not stage.icon.visible
    stage.raise_bus()
    again = stage.watcher()

    def back() -> bool:
        stage.icon.show(IconState.OFF, "off", menu(replace(STATE, enabled=False)))
        return bool(again.registered)

    wait(back, "the icon registers with the new bus")
    wait(lambda: stage.icon.visible, "the host lists it")
    marks = {row[1].get("label"): row[1].get("toggle-state") for row in stage.do(again.rows(stage.item))}
    assert marks["Hooks enabled"] == 0
    assert stage.do(again.click(stage.item, number(stage, again, "Hooks enabled"))) == ""
    wait(lambda: stage.clicks.acted == [ToggleSwitch()], "its clicks are heard")
    assert len(again.registered) == 1


def test_a_lost_bus_is_logged_once(stage: Stage, host: Watcher, caplog: pytest.LogCaptureFixture) -> None:
    stage.kill_bus()
    wait(lambda: "the D-Bus session is gone" in caplog.text, "the loss is logged")

    def tried() -> bool:
        stage.icon.show(IconState.ON, "on", menu(STATE))
        return "start Hooktray again" in caplog.text

    wait(tried, "the attempt fails")
    for _ in range(20):
        stage.icon.show(IconState.ON, "on", menu(STATE))
    stage.flush()

    assert caplog.text.count("the D-Bus session is gone") == 1
    assert caplog.text.count("start Hooktray again") == 1


def test_a_broken_call_gets_an_error_and_no_traceback(
    stage: Stage, host: Watcher, caplog: pytest.LogCaptureFixture
) -> None:
    async def ask() -> Message:
        bus: MessageBus = host.bus
        return await bus.call(
            Message(
                destination=stage.item,
                path="/MenuBar",
                interface=MENU,
                member="GetLayout",
                signature="iias",
                body=[99, -1, []],
            )
        )

    reply = stage.do(ask())

    assert reply.message_type is MessageType.ERROR
    assert reply.body == ["no row 99"]
    assert caplog.text == ""


def test_an_icon_that_the_host_has_lost_is_registered_again(stage: Stage, host: Watcher) -> None:
    wait(lambda: stage.icon.visible, "the host lists it")

    stage.do(host.lose(stage.item))
    wait(lambda: not stage.icon.visible, "the tray sees that it is gone")

    wait(lambda: stage.icon.visible, "the host lists it again")
    assert len(host.registered) == 2


class RecordedHosts:
    """Stand-in for what is called when a host comes or goes: remembers whether one was there."""

    def __init__(self, icon: SniIcon) -> None:
        self._icon = icon
        self.seen: list[bool] = []

    def host_changed(self) -> None:
        self.seen.append(self._icon.present)


def test_the_icon_is_not_visible_while_nothing_draws_it(stage: Stage, host: Watcher) -> None:
    hosts = stage.icon.host_observer = RecordedHosts(stage.icon)
    wait(lambda: stage.icon.visible, "the host lists it")

    stage.do(host.set_host(False))
    wait(lambda: hosts.seen == [False] and not stage.icon.visible, "the tray sees that no host is there")
    stage.do(host.set_host(True))
    wait(lambda: stage.icon.visible, "a host is back")

    stage.flush()
    assert hosts.seen == [False, True]
    assert len(host.registered) == 1


def test_a_host_that_missed_a_change_while_it_read_the_icon_gets_it_later(stage: Stage, host: Watcher) -> None:
    stage.icon.show(IconState.ATTENTION, "something waits for you", menu(STATE))
    wait(lambda: ("NewStatus", ["NeedsAttention"]) in host.signals, "the change is signalled")

    host.signals.clear()

    for _ in range(2):
        wait(lambda: ("NewStatus", ["NeedsAttention"]) in host.signals, "it is signalled again")
        assert {"NewIcon", "NewAttentionIcon"} <= set(dict(host.signals))
        host.signals.clear()
