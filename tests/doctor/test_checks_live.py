"""The doctor inside the tray: which hooks fail, in short, and the full report as a file."""

from __future__ import annotations

import os
import stat
import sys
from pathlib import Path

import pytest
from desk import wait
from house import House

from tray.doctor.live import LiveDoctor
from tray.ipc.health import TrayHealth

by_shell = pytest.mark.skipif(sys.platform == "win32", reason="scripts for a POSIX shell")


class Hidden:
    """Stand-in for the tray whose icon is not shown."""

    def health(self) -> TrayHealth:
        return {"icon": "", "reason": "no display"}


@pytest.fixture
def doctor(house: House) -> LiveDoctor:
    return LiveDoctor(house.paths, house.stores, house.catalog, Hidden())


def test_the_report_is_a_file_of_the_users_alone(house: House, doctor: LiveDoctor) -> None:
    house.hook("guard", on="tool_before", script="exit 0")

    path = doctor.report()

    assert path.parent == house.paths.state / "reviews"
    assert stat.S_IMODE(Path(path.parent).stat().st_mode) == 0o700
    assert "hook: guard" in path.read_text()


@by_shell
def test_typed_it_tries_each_hook_in_force_on_a_test_event(house: House, doctor: LiveDoctor) -> None:
    house.hook("guard", on="tool_before", script="cat >/dev/null; echo no >&2; exit 2")
    house.hook("silent", on="turn_end", script="cat >/dev/null; exit 3")
    house.hook("waiting", on="turn_end", script=f"touch {house.root}/ran", approved=False)

    said = doctor.summary(60).splitlines()

    assert any(line.startswith("ok         hook: guard: deny on claude-code's PreToolUse") for line in said)
    assert any(line.startswith("broken     hook: silent: ") for line in said)
    assert any("hook: waiting: " in line for line in said)
    assert not (house.root / "ran").exists()


@by_shell
def test_typed_it_answers_before_a_slow_hook_has_ended_and_the_next_call_has_the_rest(
    house: House, doctor: LiveDoctor
) -> None:
    house.hook("quick", on="tool_before", script="cat >/dev/null")
    house.hook("slow", on="tool_before", timeout=100, script=f"echo run >>{house.root}/runs; cat {house.root}/go")
    os.mkfifo(house.root / "go")

    first = doctor.summary(0)
    wait(lambda: "hook: quick" in doctor.summary(0), 60, "the quick one is there")
    again = doctor.summary(0)
    (house.root / "go").write_text("")
    last = doctor.summary(60)

    goes_on = "This goes on: type it again for the rest"
    assert [text.splitlines()[-1] == goes_on for text in (first, again, last)] == [True, True, False]
    assert "hook: slow" not in again
    assert (house.root / "runs").read_text() == "run\n"
