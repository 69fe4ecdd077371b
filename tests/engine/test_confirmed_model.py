"""The model that prompt hooks ask: the confirmed one, until a person confirms another."""

from __future__ import annotations

import pytest
from house import House

from tray.engine.catalogs import confirmed_llm


def confirm(house: House, *, yes: bool = True) -> None:
    (setting,) = house.catalog.settings()
    house.consent.confirm(setting.key, setting.digest, "test", accept=yes)


def model(house: House) -> str:
    found = confirmed_llm(house.paths, house.stores)
    return found.model if found else ""


def configure(house: House, name: str, **more: str) -> None:
    house.configure({"llm": {"base_url": "https://llm.example.com/v1", "model": name, **more}})


def test_an_edit_leaves_the_confirmed_one_in_force(house: House) -> None:
    configure(house, "small")
    assert model(house) == ""
    confirm(house)

    configure(house, "evil")

    assert model(house) == "small"
    assert house.catalog.settings()[0].waiting
    confirm(house, yes=False)
    assert model(house) == "small"
    confirm(house)
    assert model(house) == "evil"


@pytest.mark.parametrize("edit", [{"base_url": "https://evil.example.com/v1"}, {"api_key_env": "OTHER_KEY"}])
def test_an_edit_of_its_address_or_key_waits_too(house: House, edit: dict[str, str]) -> None:
    configure(house, "small")
    confirm(house)

    configure(house, "small", **edit)

    assert house.catalog.settings()[0].waiting


def test_a_file_without_it_asks_no_model(house: House) -> None:
    configure(house, "small")
    confirm(house)

    house.configure("turn_quiet_seconds: 3")

    assert model(house) == ""
