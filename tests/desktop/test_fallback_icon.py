"""Whether the icon is on the bus or in the old tray, with stand-ins that record."""

from __future__ import annotations

from desktop.recorded_clicks import NoClicks
from tray.desktop.artwork import IconState
from tray.desktop.fallback_icon import FallbackIcon
from tray.desktop.headless import HeadlessIcon


class Bus(HeadlessIcon):
    def __init__(self) -> None:
        super().__init__("no host")
        self.present = False


class Old(HeadlessIcon):
    visible = True

    def __init__(self) -> None:
        super().__init__("no menu")
        self.life: list[str] = []

    def begin(self) -> None:
        self.life.append("begin")

    def end(self) -> None:
        self.life.append("end")


class Icon(FallbackIcon):
    """With a stand-in for the XEmbed tray of the screen."""

    def __init__(self, bus: Bus, old: Old | None) -> None:
        super().__init__(bus, NoClicks(), {})
        self.bus, self.old = bus, old

    def make_legacy(self) -> Old | None:
        return self.old

    def turn(self, present: bool) -> None:
        """A host comes or goes."""
        self.bus.present = present
        self.host_changed()


def test_it_goes_to_the_old_tray_and_leaves_it_when_a_host_comes() -> None:
    old = Old()
    icon = Icon(Bus(), old)
    icon.fall_back()
    icon.show(IconState.OFF, "off", ())
    before = icon.name, icon.reason, icon.visible

    icon.turn(True)

    assert before == ("pystray", "no menu", True)
    assert (icon.name, icon.reason, old.life) == ("sni", "no host", ["begin", "end"])


def test_when_the_host_goes_the_old_tray_shows_what_was_shown_last() -> None:
    old = Old()
    icon = Icon(Bus(), old)
    icon.turn(True)
    icon.show(IconState.PAUSED, "paused", ())

    icon.turn(False)
    icon.turn(False)

    assert old.life == ["begin"]
    assert [(shown.state, shown.tooltip) for shown in old.shown] == [(IconState.PAUSED, "paused")]


def test_without_an_old_tray_it_waits_on_the_bus() -> None:
    icon = Icon(Bus(), None)

    icon.turn(False)

    assert (icon.name, icon.visible) == ("sni", False)


def test_a_host_that_came_and_went_at_once_is_nobody() -> None:
    old = Old()
    icon = Icon(Bus(), old)

    icon.host_changed()

    assert icon.name == "pystray"


def test_a_tray_that_quits_does_not_go_to_the_old_tray() -> None:
    old = Old()
    icon = Icon(Bus(), old)
    icon.turn(True)

    icon.stop()
    icon.turn(False)

    assert (icon.name, old.life) == ("sni", [])
