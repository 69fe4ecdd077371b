"""The doctor inside the tray: which hooks fail, in short, and the full report as a file."""

from __future__ import annotations

import stat
from pathlib import Path

import pytest
from house import House

from tray.app.checks.live import LiveDoctor


@pytest.fixture
def doctor(house: House) -> LiveDoctor:
    return LiveDoctor(house.paths, house.stores, house.catalog, lambda: {"icon": "", "reason": "no display"})


def test_without_hooks_nobody_is_in_trouble(doctor: LiveDoctor) -> None:
    doctor.refresh()

    assert doctor.broken == frozenset()


def test_of_hooks_that_failed_when_asked_those_that_are_gone_do_not_count(house: House, doctor: LiveDoctor) -> None:
    house.hook("guard", on="tool_before", script="exit 0")

    assert doctor.failing_hooks(frozenset({"guard", "gone"})) == {"guard"}


def test_the_report_is_a_file_of_the_users_alone(house: House, doctor: LiveDoctor) -> None:
    house.hook("guard", on="tool_before", script="exit 0")

    path = doctor.report()

    assert path.parent == house.paths.state / "reviews"
    assert stat.S_IMODE(Path(path.parent).stat().st_mode) == 0o700
    assert "hook: guard" in path.read_text()
