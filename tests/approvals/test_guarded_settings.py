"""Settings that loosen a gate count only once a person confirmed them as they stand (decision 32)."""

from __future__ import annotations

from house import House

from tray.approvals import guarded_settings


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
