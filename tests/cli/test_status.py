"""What `list` says of hooks: where each stands, and what to do about one that cannot be approved."""

from __future__ import annotations

import json

import pytest
from house import House

from tray.cli import run_command
from tray.errors import HooktrayError

WHY, REMEDY = "python -m runs what the agent's folder holds", "name the script, or write -I -m"


@pytest.fixture
def refused(house: House) -> House:
    house.hook("module", on="tool_before", command="python3 -m guards", approved=False)
    return house


def hooktray(house: House, *words: str) -> None:
    run_command(["--home", str(house.root / "home"), *words])


def test_a_refused_line_is_listed_with_its_cure(refused: House, capsys: pytest.CaptureFixture[str]) -> None:
    hooktray(refused, "list")
    shown = capsys.readouterr().out
    assert f"pending: {WHY}; {REMEDY}" in shown
    assert "hooktray approve" not in shown, "there is nothing yet to be approved"

    hooktray(refused, "list", "--json")
    row = json.loads(capsys.readouterr().out)
    assert (row["health"], row["remedy"]) == (WHY, REMEDY)


def test_a_refused_line_that_shall_be_tried_is_told_with_its_cure(refused: House) -> None:
    with pytest.raises(HooktrayError, match="module is pending") as caught:
        hooktray(refused, "test", "PreToolUse", "--hook", "module")

    assert caught.value.hint == f"{WHY}; {REMEDY}"


def test_a_lost_database_and_an_altered_ledger_are_told_by_status_and_list(
    house: House, capsys: pytest.CaptureFixture[str]
) -> None:
    house.hook("guard", on="tool_before", script="exit 0")
    house.hook("other", on="tool_before", script="exit 0")
    with house.stores.database.write() as connection:
        connection.execute("DELETE FROM ledger WHERE seq = (SELECT max(seq) FROM ledger)")
    altered = house.stores.ledger.load().tampered
    assert altered
    for command in ("status", "list"):
        hooktray(house, command)
        assert altered in capsys.readouterr().out

    with house.stores.database.write() as connection:
        connection.execute("INSERT INTO meta VALUES ('damage', '')")
    for command in ("status", "list"):
        hooktray(house, command)
        assert "the database was lost: all approvals are gone" in capsys.readouterr().out
