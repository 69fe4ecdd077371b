"""What the menu turned off is told nowhere, whatever the settings say."""

from __future__ import annotations

from tray.notify.alert import mute_classes
from tray.settings import AlertRule, Settings

LOUD = AlertRule(notify=True, sound="alarm", sound_name="complete")


def test_with_nothing_turned_off_the_settings_are_as_they_stand() -> None:
    settings = Settings(alerts={"blocked": LOUD})

    assert mute_classes(settings, ()) is settings


def test_a_class_that_is_off_is_neither_shown_nor_heard_in_any_project() -> None:
    settings = Settings(alerts={"blocked": LOUD, "note": LOUD}, projects={"api": {"blocked": LOUD}, "web": {}})

    found = mute_classes(settings, {"blocked"})

    rules = [found.alerts["blocked"], found.projects["api"]["blocked"], found.projects["web"]["blocked"]]
    assert {(one.notify, one.sound, one.sound_name) for one in rules} == {(False, "none", "")}
    assert found.alerts["note"] == LOUD
