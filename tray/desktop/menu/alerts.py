"""Alerts: sounds, snooze, quiet hours, what is deferred, and each class on or off."""

from __future__ import annotations

from tray.desktop.labels import clean, clock
from tray.desktop.menu.actions import EndSnooze, SetAlertClass, SetQuietHours, ShowDeferred, Snooze, ToggleSound
from tray.desktop.menu.items import Item, Items, check, click, label, separator, submenu
from tray.desktop.menu.pause import LENGTHS
from tray.desktop.menu.state import AlertsState, MenuState
from tray.language import count, say
from tray.notify.alert import CLASS_NAMES
from tray.settings import CLASSES

LABEL_LIMIT = 80  # characters
ALWAYS = ("switched",)  # hooks are never switched off without an alert


def alerts(state: MenuState) -> Item:
    return submenu("alerts", say("Alerts"), _rows(state))


def _rows(state: MenuState) -> Items:
    current = state.alerts
    return (
        check("mute", say("Mute sounds"), state.muted, ToggleSound()),
        *_snooze(state),
        *_quiet(current),
        *_sound_pack(current),
        *_deferred(current),
        separator("alerts/line"),
        *(_class(cls, current) for cls in CLASSES if cls not in ALWAYS),
    )


def _class(cls: str, current: AlertsState) -> Item:
    off = cls in current.muted_classes
    return check(f"alerts/class/{cls}", say(CLASS_NAMES[cls]), not off, SetAlertClass(cls, on=off))


def _snooze(state: MenuState) -> Items:
    current = state.alerts
    if not current.snoozable:
        return ()
    until = current.snoozed_until
    snoozed = until is not None and until > state.now
    text = say("Snoozed until {time}", time=clock(until or 0.0, state.now)) if snoozed else say("Snooze")
    end = (click("alerts/snooze/wake", say("End the snooze"), EndSnooze()), separator("alerts/snooze/line"))
    lengths = (click(f"alerts/snooze/{key}", say(length), Snooze(seconds)) for key, length, seconds in LENGTHS)
    return (submenu("alerts/snooze", text, (*(end if snoozed else ()), *lengths)),)


def _quiet(current: AlertsState) -> Items:
    if not current.quiet_hours:
        return ()
    text = say("Quiet hours {hours}", hours=clean(current.quiet_hours, 40))
    return (check("alerts/quiet", text, current.quiet_hours_on, SetQuietHours(on=not current.quiet_hours_on)),)


def _sound_pack(current: AlertsState) -> Items:
    if not current.sound_pack:
        return ()
    return (label("alerts/pack", say("Sound pack: {pack}", pack=clean(current.sound_pack, LABEL_LIMIT))),)


def _deferred(current: AlertsState) -> Items:
    if current.deferred < 1:
        return ()
    text = count("Show {n} held alert", "Show {n} held alerts", current.deferred)
    return (click("alerts/held", text, ShowDeferred()),)
