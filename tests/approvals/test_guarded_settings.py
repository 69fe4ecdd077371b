"""Settings that loosen a gate or send data out wait to be confirmed; others take effect when saved (decision 49)."""

from __future__ import annotations

from typing import Any

import pytest
from house import House

from tray.approvals import guarded_settings
from tray.notify.alert import AlertClass
from tray.settings import PushTarget, Settings
from tray.text import push_urls


def exceptions(house: House) -> tuple[str, ...]:
    return guarded_settings.exceptions(house.catalog.configuration.settings, house.stores.ledger.state)


def test_an_exception_of_the_protection_counts_only_once_confirmed_as_it_stands(house: House) -> None:
    house.configure({"protection": {"allow": ["hooktray pause"]}})
    before = exceptions(house)
    confirm(house)
    confirmed = exceptions(house)
    house.configure({"protection": {"allow": ["hooktray pause", "hooktray off"]}})

    assert (before, confirmed, exceptions(house)) == ((), ("hooktray pause",), ())


def in_force(house: House) -> Settings:
    guarded_settings.record_withdrawn(house.catalog.configuration.settings, house.stores.ledger)
    return house.catalog.settings_in_force


def confirm(house: House) -> None:
    (setting,) = (one for one in house.catalog.settings() if one.waiting)
    house.consent.confirm(setting.key, setting.digest, "test", accept=True)


@pytest.mark.parametrize(
    "document",
    [
        {"alerts": {"turn_end": {"notify": False, "sound": "none"}, "information": {"notify": False}}},
        {"alerts": {cls: {"notify": False, "sound": "none", "urgency": "low"} for cls in AlertClass}},
        {"alerts": {"blocked": {"sound": "/tmp/silence.wav", "sound_name": "no-such-sound"}}},
        {"projects": {"api": {"blocked": {"notify": False}, "asked": {"sound": "tick"}}}},
        {"quiet_hours": {"from": "00:00", "to": "00:00"}},
        {"volume": 0, "sound_pack": "/packs/silence", "while_looking": "hold", "away_after": 1},
        {"journal": {"days": 1, "rows": 100, "megabytes": 1}, "ask_on_desktop": {"seconds": 5}},
        {"ask_on_desktop": {"agents": ["x-code"]}, "notify_headless": True},
    ],
)
def test_other_settings_take_effect_when_saved_and_when_removed(house: House, document: dict[str, Any]) -> None:
    for saved in (document, {}, document):
        house.configure(saved)

        assert in_force(house) == house.catalog.configuration.settings
        assert house.catalog.settings() == ()


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
    reference = push_urls.reference("ntfy://x9topic")
    house.configure(push("ntfy://x9topic"))
    confirm(house)
    for more in ({"when": "always"}, {"classes": ["blocked"]}, {"show_input": True}):
        house.configure(push("ntfy://x9topic", **more))
        assert [one.waiting for one in house.catalog.settings()] == [True], more
    house.configure(push("ntfy://attacker"))
    assert [one.waiting for one in house.catalog.settings()] == [True]
    assert [one.url for one in pushed(house)] == [reference]

    house.configure(push(reference))  # the reference to a kept URL is the same setting as the URL

    assert house.catalog.settings()[0].confirmed
    assert [one.url for one in pushed(house)] == [reference]


def test_a_denied_setting_stops_waiting_and_has_no_effect(house: House) -> None:
    house.configure(push("ntfy://x9topic"))
    (setting,) = house.catalog.settings()
    house.consent.confirm(setting.key, setting.digest, "test", accept=False)

    assert pushed(house) == []
    assert [one.waiting for one in house.catalog.settings()] == [False]
