"""Whether the icon is on the bus or in the old tray, with stand-ins that record."""

from __future__ import annotations

from collections.abc import Callable

from tray.desktop.artwork import IconState
from tray.desktop.fallback_icon import FallbackIcon
from tray.desktop.headless import HeadlessIcon


class Bus(HeadlessIcon):
    def __init__(self) -> None:
        super().__init__("no host")
        self.present = False
        self.on_host_change: Callable[[bool], None] = lambda present: None

    def turn(self, present: bool) -> None:
        self.present = present
        self.on_host_change(present)


class Old(HeadlessIcon):
    visible = True

    def __init__(self) -> None:
        super().__init__("no menu")
        self.life: list[str] = []

    def begin(self) -> None:
        self.life.append("begin")

    def end(self) -> None:
        self.life.append("end")


def test_it_goes_to_the_old_tray_and_leaves_it_when_a_host_comes() -> None:
    bus, old = Bus(), Old()
    icon = FallbackIcon(bus, lambda: old)
    icon.fall_back()
    icon.show(IconState.OFF, "off", ())
    before = icon.name, icon.reason, icon.visible

    bus.turn(True)

    assert before == ("pystray", "no menu", True)
    assert (icon.name, icon.reason, old.life) == ("sni", "no host", ["begin", "end"])


def test_when_the_host_goes_the_old_tray_shows_what_was_shown_last() -> None:
    bus, old = Bus(), Old()
    icon = FallbackIcon(bus, lambda: old)
    bus.turn(True)
    icon.show(IconState.PAUSED, "paused", ())

    bus.turn(False)
    bus.turn(False)

    assert old.life == ["begin"]
    assert [(shown.state, shown.tooltip) for shown in old.shown] == [(IconState.PAUSED, "paused")]


def test_without_an_old_tray_it_waits_on_the_bus() -> None:
    bus = Bus()
    icon = FallbackIcon(bus, lambda: None)

    bus.turn(False)

    assert (icon.name, icon.visible) == ("sni", False)


def test_a_host_that_came_and_went_at_once_is_nobody() -> None:
    bus, old = Bus(), Old()
    icon = FallbackIcon(bus, lambda: old)

    bus.on_host_change(True)

    assert icon.name == "pystray"


def test_a_tray_that_quits_does_not_go_to_the_old_tray() -> None:
    bus, old = Bus(), Old()
    icon = FallbackIcon(bus, lambda: old)
    bus.turn(True)

    icon.stop()
    bus.turn(False)

    assert (icon.name, old.life) == ("sni", [])
