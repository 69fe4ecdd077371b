"""What `list` says of hooks: where each stands, and what to do about one that cannot be approved."""

from __future__ import annotations

import time

import pytest
from cli.commands import Commands
from house import House

from tray.errors import HooktrayError
from tray.model.decision import Record, Verdict

WHY, REMEDY = "python -m runs what the agent's folder holds", "name the script, or write -I -m"


@pytest.fixture
def refused(house: House) -> House:
    house.hook("module", on="tool_before", command="python3 -m guards", approved=False)
    return house


def test_a_refused_line_is_listed_with_its_remedy(refused: House, typed: Commands) -> None:
    shown = typed("list")
    assert f"pending: {WHY}; {REMEDY}" in shown
    assert "hooktray approve" not in shown, "there is nothing yet to be approved"

    (row,) = typed.rows("list")
    assert (row["health"], row["remedy"]) == (WHY, REMEDY)


def test_trying_a_hook_from_a_refused_line_names_the_remedy(refused: House, typed: Commands) -> None:
    with pytest.raises(HooktrayError, match="module is pending") as caught:
        typed("test", "PreToolUse", "--hook", "module")

    assert caught.value.hint == f"{WHY}; {REMEDY}"


def test_status_and_list_report_a_lost_database_and_an_altered_ledger(house: House, typed: Commands) -> None:
    house.hook("guard", on="tool_before", script="exit 0")
    house.hook("other", on="tool_before", script="exit 0")
    with house.stores.database.write() as connection:
        connection.execute("DELETE FROM ledger WHERE seq = (SELECT max(seq) FROM ledger)")
    assert house.stores.ledger.load().tampered
    for command in ("status", "list"):
        assert "Another program altered the approvals" in typed(command)

    with house.stores.database.write() as connection:
        connection.execute("INSERT INTO meta VALUES ('damage', '')")
    for command in ("status", "list"):
        assert "The database was deleted or replaced · All approvals are lost" in typed(command)


def test_calls_that_ran_unjudged_in_the_last_day_are_a_problem_in_every_report(house: House, typed: Commands) -> None:
    now = time.time()
    for id, at in (("a", now - 90_000), ("b", now - 60), ("c", now)):
        row = Record(
            id=id * 32, at=at, agent="claude-code", session="s", project="shop", event="PostToolUse",
            kind="tool_after", verdict=Verdict.UNJUDGED, reason="nothing saw it", ms=0.0, tool="Bash", subject="make",
        )  # fmt: skip
        house.stores.journal.append_now(row)
    (house.paths.state / "unjudged-calls").write_bytes(b"x-code\x1fPreToolUse\n")

    (report,) = typed.rows("status")
    assert report["unjudged"] == 3
    assert report["problems"] == [
        {
            "problem": "unjudged",
            "cause": "claude-code",
            "at": now,
            "solved": False,
            "text": "2 calls of claude-code ran unjudged; the last: Bash done · make · nothing saw it",
        }
    ]
    shown = typed("status")
    assert "Calls that ran unjudged lately: 3; `hooktray doctor` shows more." in shown
    assert "2 calls of claude-code ran unjudged" in shown
    shown = typed("doctor", "--static")
    assert "calls: claude-code: ran unjudged in the last 24 hours: 2; the last: Bash done · make" in shown
    assert "`hooktray log --verdict unjudged` lists them" in shown
    rows = typed.rows("log", "--verdict", "unjudged")
    assert [(one["id"][0], one["verdict"]) for one in rows] == [(id, "unjudged") for id in "cba"]
    agents = typed.rows("stats", "--since", "2d")
    assert next(one for one in agents if one["of"] == "agent")["unjudged"] == 3
    assert "unjudged" in typed("stats")
    assert "Verdict: unjudged, because nothing saw it" in typed("why", "c" * 8)
