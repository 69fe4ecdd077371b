"""What loosens a gate, reduces notifications or sends data counts only once it is confirmed (decisions 32, 39)."""

from __future__ import annotations

from typing import Any

import msgspec
import pytest
from house import House

from tray.app import build_catalog, open_stores
from tray.approvals import guarded_settings
from tray.approvals.notification_settings import HELD_CLASSES
from tray.notify.alert import DEFAULTS, AlertClass, rules
from tray.settings import AlertRule, AskOnDesktop, JournalLimits, PushTarget, QuietHours, Settings
from tray.text import push_urls


def exceptions(house: House) -> tuple[str, ...]:
    return guarded_settings.exceptions(house.catalog.configuration.settings, house.stores.ledger.state)


def test_an_exception_of_the_protection_counts_only_once_confirmed_as_it_stands(house: House) -> None:
    house.configure({"protection": {"allow": ["hooktray pause"]}})
    before = exceptions(house)
    (setting,) = house.catalog.settings()
    house.consent.confirm(setting.key, setting.digest, "test", accept=True)
    confirmed = exceptions(house)
    house.configure({"protection": {"allow": ["hooktray pause", "hooktray off"]}})

    assert (before, confirmed, exceptions(house)) == ((), ("hooktray pause",), ())


def in_force(house: House) -> Settings:
    guarded_settings.record_additions(house.catalog.configuration.settings, house.stores.ledger)
    return house.catalog.settings_in_force


def confirm(house: House) -> None:
    (setting,) = (one for one in house.catalog.settings() if one.waiting)
    house.consent.confirm(setting.key, setting.digest, "test", accept=True)


def hours(**more: Any) -> QuietHours:
    return msgspec.convert({"from": "22:00", "to": "07:00", **more}, QuietHours)


@pytest.mark.parametrize("cls", HELD_CLASSES)
@pytest.mark.parametrize(
    "rule",
    [
        {"notify": False},
        {"sound": "none"},
        {"sound": ""},
        {"sound": "/tmp/silence.wav"},
        {"sound_name": "no-such-sound"},
        {"urgency": "low"},
    ],
)
@pytest.mark.parametrize("scope", ["alerts", "project"])
def test_a_class_that_only_a_person_may_mute_stays_as_it_was_until_it_is_confirmed(
    house: House, cls: str, rule: dict[str, Any], scope: str
) -> None:
    house.configure({"alerts": {cls: rule}} if scope == "alerts" else {"projects": {"api": {cls: rule}}})

    held = rules(in_force(house), "api").get(cls) or AlertRule()
    waits = [one.text for one in house.catalog.settings() if one.waiting]
    confirm(house)
    counts = rules(in_force(house), "api")[cls]

    assert held == AlertRule()
    assert len(waits) == 1
    assert f"{cls}.{next(iter(rule))}" in waits[0]
    assert counts == msgspec.convert(rule, AlertRule)
    assert house.catalog.settings() == ()


@pytest.mark.parametrize(
    ("document", "key", "usual"),
    [
        ({"quiet_hours": {"from": "22:00", "to": "07:00"}}, "quiet_hours", None),
        ({"volume": 0}, "volume", 1.0),
        ({"sound_pack": "/packs/silence"}, "sound_pack", ""),
        ({"volume": 0.05}, "volume", 1.0),
        ({"journal": {"days": 1}}, "journal", JournalLimits()),
        ({"journal": {"rows": 100}}, "journal", JournalLimits()),
        ({"journal": {"megabytes": 1}}, "journal", JournalLimits()),
        ({"ask_on_desktop": {"seconds": 5}}, "ask_on_desktop", AskOnDesktop()),
    ],
)
def test_each_other_key_that_mutes_or_sends_data_waits(
    house: House, document: dict[str, Any], key: str, usual: object
) -> None:
    house.configure(document)

    held = getattr(in_force(house), key)
    confirm(house)

    assert held == usual
    assert getattr(in_force(house), key) == getattr(house.catalog.configuration.settings, key)


@pytest.mark.parametrize(
    "document",
    [
        {"alerts": {"turn_end": {"notify": False, "sound": "none"}, "information": {"notify": False}}},
        {"alerts": {"blocked": {"sound": "alarm", "urgency": "critical"}}},
        {"projects": {"api": {"needs_you": {"urgency": "low"}, "asked": {"sound": "tick"}}}},
        {"volume": 0.5, "min_turn_seconds": 60, "turn_quiet_seconds": 5},
        {"journal": {"days": 365}, "ask_on_desktop": {"seconds": 300}},
    ],
)
def test_everything_else_counts_when_it_is_saved(house: House, document: dict[str, Any]) -> None:
    house.configure(document)

    assert in_force(house) == house.catalog.configuration.settings
    assert house.catalog.settings() == ()


def test_what_an_edit_adds_cannot_be_taken_away_by_the_next_one(house: House) -> None:
    house.configure({"alerts": {"blocked": {"urgency": "critical"}}, "journal": {"days": 365}})
    in_force(house)
    house.configure({})

    counted = in_force(house)

    assert rules(counted)["blocked"].urgency == "critical"
    assert counted.journal.days == 365
    (waits,) = house.catalog.settings()
    assert waits.text == "notifications: alerts.blocked.urgency as usual, journal.days 90"


def test_of_one_edit_what_adds_counts_at_once_and_what_takes_away_waits(house: House) -> None:
    house.configure({"alerts": {"blocked": {"notify": False}, "changed": {"urgency": "critical"}}})

    counted = rules(in_force(house))

    assert "blocked" not in counted
    assert counted["changed"].urgency == "critical"


def test_a_project_cannot_be_muted_by_taking_its_exception_away(house: House) -> None:
    house.configure({"alerts": {"blocked": {"notify": False}}, "projects": {"api": {"blocked": {"notify": True}}}})
    confirm(house)
    muted = rules(in_force(house))["blocked"].notify
    house.configure({"alerts": {"blocked": {"notify": False}}})

    assert (muted, rules(in_force(house), "api")["blocked"].notify) == (False, True)


@pytest.mark.parametrize(
    ("more", "counts"),
    [
        ({"to": "06:00"}, True),
        ({"days": ["mon", "fri"]}, True),
        ({"to": "07:01"}, False),
        ({"from": "21:59"}, False),
        ({"to": "22:00"}, False),  # the whole day
        ({"from": "12:00", "to": "13:00"}, False),
    ],
)
def test_quiet_hours_may_be_shortened_and_not_be_lengthened(house: House, more: dict[str, Any], counts: bool) -> None:
    house.configure({"quiet_hours": {"from": "22:00", "to": "07:00"}})
    confirm(house)
    house.configure({"quiet_hours": {"from": "22:00", "to": "07:00", **more}})

    assert in_force(house).quiet_hours == (hours(**more) if counts else hours())


def test_the_night_from_sunday_to_monday_is_a_night_of_sunday(house: House) -> None:
    house.configure({"quiet_hours": {"from": "22:00", "to": "07:00", "days": ["sun"]}})
    confirm(house)
    house.configure({"quiet_hours": {"from": "00:00", "to": "07:00", "days": ["mon"]}})

    assert in_force(house).quiet_hours == hours(**{"from": "00:00", "days": ["mon"]})


def test_a_restart_and_a_broken_file_let_no_muting_pass(house: House) -> None:
    house.configure({"alerts": {"asked": {"notify": False}}})
    stores = open_stores(house.paths, migrate=False)
    catalog = build_catalog(house.paths, stores)
    catalog.refresh()
    restarted = rules(catalog.settings_in_force).get("asked")
    house.configure("alerts: [")

    assert restarted is None
    assert house.catalog.configuration.problem
    assert "asked" not in rules(house.catalog.settings_in_force)
    stores.journal.close()


def test_turned_down_it_waits_no_longer_and_does_not_count(house: House) -> None:
    house.configure({"volume": 0})
    (setting,) = house.catalog.settings()
    house.consent.confirm(setting.key, setting.digest, "test", accept=False)

    assert in_force(house).volume == 1.0
    assert [one.waiting for one in house.catalog.settings()] == [False]


def test_what_was_withdrawn_from_the_file_waits_again_when_it_comes_back(house: House) -> None:
    house.configure({"without_tray": "allow"})
    confirm(house)
    confirmed = house.catalog.without_tray()
    house.configure({})
    in_force(house)
    house.configure({"without_tray": "allow"})

    assert confirmed == "allow"
    assert house.catalog.without_tray() == "once"


@pytest.mark.parametrize("later", [{}, {"show_input": True}])
def test_what_tools_get_is_shown_again_only_by_a_person(house: House, later: dict[str, Any]) -> None:
    at_first = in_force(house).show_input
    house.configure({"show_input": False})
    hidden = in_force(house).show_input
    house.configure(later)
    held, waits = in_force(house).show_input, [one.text for one in house.catalog.settings() if one.waiting]
    confirm(house)

    assert (at_first, hidden, held, in_force(house).show_input) == (True, False, False, True)
    assert waits == ["show_input: true"]
    assert house.catalog.settings() == ()


def test_the_classes_and_their_defaults_are_those_of_the_alerts() -> None:
    for cls, (urgency, sound) in HELD_CLASSES.items():
        default = DEFAULTS[AlertClass(cls)]

        assert (default.notify, default.urgency.name.lower(), default.sound) == (True, urgency, sound)


def push(url: str, **more: Any) -> dict[str, Any]:
    return {"push": [{"url": url, **more}]}


def pushed(house: House) -> list[PushTarget]:
    return in_force(house).push


def test_a_push_address_counts_once_confirmed_and_is_nowhere_to_be_read(house: House) -> None:
    house.configure(push("ntfy://x9topic", classes=["turn_end"]))
    before = pushed(house)
    (setting,) = house.catalog.settings()
    confirm(house)

    assert before == []
    assert setting.text == "push: ntfy://… when away (turn_end)"
    assert [one.url for one in pushed(house)] == ["ntfy://x9topic"]
    assert "x9topic" not in repr(house.stores.ledger.state)


def test_an_edit_of_a_push_address_waits_and_the_confirmed_one_stays_by_its_reference(house: House) -> None:
    house.configure(push("ntfy://x9topic"))
    confirm(house)
    house.configure(push("ntfy://attacker"))

    assert [one.waiting for one in house.catalog.settings()] == [True]
    assert [one.url for one in pushed(house)] == [push_urls.reference("ntfy://x9topic")]


def test_a_reference_in_the_place_of_its_url_is_the_same_setting(house: House) -> None:
    house.configure(push("ntfy://x9topic"))
    confirm(house)
    house.configure(push(push_urls.reference("ntfy://x9topic")))

    assert house.catalog.settings()[0].confirmed
    assert [one.url for one in pushed(house)] == [push_urls.reference("ntfy://x9topic")]


@pytest.mark.parametrize("more", [{"when": "always"}, {"classes": ["blocked"]}, {"show_input": True}])
def test_each_part_of_an_address_waits(house: House, more: dict[str, Any]) -> None:
    house.configure(push("ntfy://x9topic"))
    confirm(house)
    house.configure(push("ntfy://x9topic", **more))

    assert [one.waiting for one in house.catalog.settings()] == [True]
