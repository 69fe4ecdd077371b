"""Alerts: sounds, snooze, quiet hours, what is deferred, and each class on or off."""

from __future__ import annotations

from tray.desktop.labels import clean, clock
from tray.desktop.menu.actions import EndSnooze, SetAlertClass, SetQuietHours, ShowDeferred, Snooze, ToggleSound
from tray.desktop.menu.items import Item, check, click, label, separator, submenu
from tray.desktop.menu.pause import LENGTHS
from tray.desktop.menu.state import MenuState
from tray.language import count, say
from tray.notify.alert import CLASS_NAMES
from tray.settings import CLASSES

LABEL_LIMIT = 80  # characters
ALWAYS = ("switched",)  # hooks are never switched off without an alert


def alerts(state: MenuState) -> Item:
    current = state.alerts
    rows = [check("mute", say("Mute sounds"), state.muted, ToggleSound()), _snooze(state)]
    if current.quiet_hours:
        text = say("Quiet hours {hours}", hours=clean(current.quiet_hours, 40))
        is_on = current.quiet_hours_on
        rows.append(check("alerts/quiet", text, is_on, SetQuietHours(on=not is_on)))
    if current.sound_pack:
        rows.append(label("alerts/pack", say("Sound pack: {pack}", pack=clean(current.sound_pack, LABEL_LIMIT))))
    if current.deferred > 0:
        text = count("Show {n} held alert", "Show {n} held alerts", current.deferred)
        rows.append(click("alerts/held", text, ShowDeferred()))
    rows.append(separator("alerts/line"))
    for cls in CLASSES:
        if cls not in ALWAYS:
            off = cls in current.muted_classes
            rows.append(check(f"alerts/class/{cls}", say(CLASS_NAMES[cls]), not off, SetAlertClass(cls, on=off)))
    return submenu("alerts", say("Alerts"), tuple(rows))


def _snooze(state: MenuState) -> Item:
    until = state.alerts.snoozed_until
    lengths = tuple(click(f"alerts/snooze/{key}", say(length), Snooze(seconds)) for key, length, seconds in LENGTHS)
    if until is None or until <= state.now:
        return submenu("alerts/snooze", say("Snooze"), lengths)
    end = (click("alerts/snooze/wake", say("End the snooze"), EndSnooze()), separator("alerts/snooze/line"))
    return submenu("alerts/snooze", say("Snoozed until {time}", time=clock(until, state.now)), (*end, *lengths))
