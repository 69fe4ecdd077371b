"""What `list` says of hooks: where each stands, and what to do about one that cannot be approved."""

from __future__ import annotations

import json
import time

import pytest
from house import House

from tray.cli import run_command
from tray.errors import HooktrayError
from tray.model.decision import Record, Verdict

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
    assert house.stores.ledger.load().tampered
    for command in ("status", "list"):
        hooktray(house, command)
        assert "Another program altered the approvals" in capsys.readouterr().out

    with house.stores.database.write() as connection:
        connection.execute("INSERT INTO meta VALUES ('damage', '')")
    for command in ("status", "list"):
        hooktray(house, command)
        assert "The database was deleted or replaced · All approvals are lost" in capsys.readouterr().out


def test_calls_that_ran_unjudged_in_the_last_day_are_a_problem_in_every_report(
    house: House, capsys: pytest.CaptureFixture[str]
) -> None:
    now = time.time()
    for id, at in (("a", now - 90_000), ("b", now - 60), ("c", now)):
        row = Record(
            id=id * 32, at=at, agent="claude-code", session="s", project="shop", event="PostToolUse",
            kind="tool_after", verdict=Verdict.UNJUDGED, reason="nothing saw it", ms=0.0, tool="Bash", subject="make",
        )  # fmt: skip
        house.stores.journal.append_now(row)
    (house.paths.state / "unjudged-calls").write_bytes(b"x-code\x1fPreToolUse\n")

    hooktray(house, "status", "--json")
    row = json.loads(capsys.readouterr().out)
    assert row["unjudged"] == 3
    assert row["problems"] == [
        {
            "problem": "unjudged",
            "cause": "claude-code",
            "at": now,
            "solved": False,
            "text": "2 calls of claude-code ran unjudged; the last: Bash done · make · nothing saw it",
        }
    ]
    hooktray(house, "status")
    shown = capsys.readouterr().out
    assert "Calls that ran unjudged lately: 3; `hooktray doctor` shows more." in shown
    assert "2 calls of claude-code ran unjudged" in shown
    hooktray(house, "doctor", "--static")
    shown = capsys.readouterr().out
    assert "calls: claude-code: ran unjudged in the last 24 hours: 2; the last: Bash done · make" in shown
    assert "`hooktray log --verdict unjudged` lists them" in shown
    hooktray(house, "log", "--verdict", "unjudged", "--json")
    rows = [json.loads(line) for line in capsys.readouterr().out.splitlines()]
    assert [(one["id"][0], one["verdict"]) for one in rows] == [
        ("c", "unjudged"),
        ("b", "unjudged"),
        ("a", "unjudged"),
    ]
    hooktray(house, "stats", "--since", "2d", "--json")
    agents = [json.loads(line) for line in capsys.readouterr().out.splitlines()]
    assert next(one for one in agents if one["of"] == "agent")["unjudged"] == 3
    hooktray(house, "stats")
    assert "unjudged" in capsys.readouterr().out
    hooktray(house, "why", "c" * 8)
    assert "Verdict: unjudged, because nothing saw it" in capsys.readouterr().out
