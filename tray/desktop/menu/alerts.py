"""Alerts: sounds, snooze, quiet hours, what is held back, and each class on or off."""

from __future__ import annotations

from tray.desktop.labels import clean, clock
from tray.desktop.menu.actions import EndSnooze, SetAlertClass, SetQuietHours, ShowDeferred, Snooze, ToggleSound
from tray.desktop.menu.items import Item, Items, check, click, separator, submenu
from tray.desktop.menu.pause import LENGTHS
from tray.desktop.menu.state import AlertsState, MenuState
from tray.language import count, phrase, say
from tray.settings import CLASSES

NAMES = {
    "turn_end": phrase("Turn ended"),
    "session_end": phrase("Session ended"),
    "needs_you": phrase("Agent needs you"),
    "asked": phrase("Asked"),
    "blocked": phrase("Blocked"),
    "rewritten": phrase("Rewritten"),
    "note": phrase("Note from a hook"),
    "hook_failed": phrase("Hook failed"),
    "hook_timed_out": phrase("Hook timed out"),
    "approval_pending": phrase("Approval pending"),
    "changed": phrase("Changed since approval"),
    "information": phrase("Information"),
}
ALWAYS = ("switched",)  # who switches hooks off shall not be able to do it unheard


def alerts(state: MenuState) -> Item:
    return submenu("alerts", say("Alerts"), _rows(state))


def _rows(state: MenuState) -> Items:
    telling = state.alerts
    return (
        check("mute", say("Mute sounds"), state.muted, ToggleSound()),
        *_snooze(state),
        *_quiet(telling),
        *_deferred(telling),
        separator("alerts/line"),
        *(_class(cls, telling) for cls in CLASSES if cls not in ALWAYS),
    )


def _class(cls: str, telling: AlertsState) -> Item:
    off = cls in telling.muted_classes
    return check(f"alerts/class/{cls}", say(NAMES.get(cls, cls)), not off, SetAlertClass(cls, on=off))


def _snooze(state: MenuState) -> Items:
    telling = state.alerts
    if not telling.snoozable:
        return ()
    until = telling.snoozed_until
    asleep = until is not None and until > state.now
    word = say("Snoozed until {time}", time=clock(until or 0.0, state.now)) if asleep else say("Snooze")
    wake = (click("alerts/snooze/wake", say("End the snooze"), EndSnooze()), separator("alerts/snooze/line"))
    lengths = (click(f"alerts/snooze/{key}", say(text), Snooze(seconds)) for key, text, seconds in LENGTHS)
    return (submenu("alerts/snooze", word, (*(wake if asleep else ()), *lengths)),)


def _quiet(telling: AlertsState) -> Items:
    if not telling.quiet_hours:
        return ()
    text = say("Quiet hours {hours}", hours=clean(telling.quiet_hours, 40))
    return (check("alerts/quiet", text, telling.quiet_hours_on, SetQuietHours(on=not telling.quiet_hours_on)),)


def _deferred(telling: AlertsState) -> Items:
    if telling.deferred < 1:
        return ()
    return (
        click("alerts/held", count("Show {n} held alert", "Show {n} held alerts", telling.deferred), ShowDeferred()),
    )
