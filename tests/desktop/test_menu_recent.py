"""The recent decisions in the menu: order, words and what an agent sent."""

from __future__ import annotations

from every import every
from msgspec.structs import replace

from desktop.menu_parts import NOON, RECORD, find
from tray.desktop.labels import SIGNS, clock
from tray.desktop.menu.actions import OpenPage, ShowReason
from tray.desktop.menu.state import MenuState
from tray.model.decision import Record, Verdict


def test_a_recent_row_says_verdict_agent_project_event_and_age() -> None:
    row = find(MenuState(now=NOON, recent=(RECORD,)), "recent/r1")

    assert row.label == "✕  Bash · rm -rf build/ · blocked by guard: no · claude-code · shop · just now"
    assert row.action == ShowReason("r1")


@every(
    ("record", "sign"),
    [
        (RECORD, "✕"),
        (replace(RECORD, verdict=Verdict.ASK), "?"),
        (replace(RECORD, verdict=Verdict.ALLOW), "✓"),
        (replace(RECORD, verdict=Verdict.ABSTAIN), "·"),
        (replace(RECORD, verdict=Verdict.ALLOW, rewrites=("input",)), "✎"),
        (replace(RECORD, verdict=Verdict.ABSTAIN, problem="not JSON"), "!"),
        (replace(RECORD, verdict=Verdict.ABSTAIN, hooks=({"name": "g", "status": "timed_out"},)), "!"),
    ],
)
def test_each_verdict_has_a_mark_of_its_own(record: Record, sign: str) -> None:
    assert SIGNS[record.label] == sign


def test_the_day_is_named_when_it_is_not_today() -> None:
    assert clock(NOON, NOON) == "12:00"
    assert clock(NOON + 86400, NOON) == "05 Mar 12:00"


def test_text_from_an_agent_cannot_break_a_row() -> None:
    hostile = replace(RECORD, agent="a\nb\x1b[31m", project="\u202egpj.exe")

    row = find(MenuState(now=NOON, recent=(hostile,)), "recent/r1")

    assert row.label == "✕  Bash · rm -rf build/ · blocked by guard: no · a b · gpj.exe · just now"


def test_a_reminder_that_made_an_agent_go_on_has_a_row_and_added_context_has_none() -> None:
    hook = {"name": "tests", "status": "ok", "verdict": "abstain"}
    quiet = replace(RECORD, verdict=Verdict.ABSTAIN, kind="turn_end", tool="", subject="", reason="")
    reminder = replace(quiet, id="reminder", hooks=({**hook, "added": "reminder"},))
    context = replace(quiet, id="context", hooks=({**hook, "added": "context"},))

    shown = find(MenuState(now=NOON, recent=(context, reminder)), "recent").children

    assert [row.id for row in shown] == ["recent/reminder", "recent/quiet"]
    assert "End of turn · tests added a reminder" in shown[0].label


def test_refusals_come_first_and_what_nobody_objected_to_is_a_number() -> None:
    quiet = [replace(RECORD, id=f"q{number}", verdict=Verdict.ABSTAIN, hooks=()) for number in range(12)]
    allowed = replace(RECORD, id="allowed", verdict=Verdict.ALLOW)
    records = (*quiet[:6], allowed, *quiet[6:], RECORD)
    many = tuple(replace(RECORD, id=f"r{number}") for number in range(30))

    shown = find(MenuState(now=NOON, recent=records), "recent").children

    assert [row.id for row in shown] == ["recent/r1", "recent/allowed", "recent/quiet"]
    assert shown[-1].label == "12 decisions without an opinion"
    assert shown[-1].action == OpenPage()
    ten = [row.id for row in find(MenuState(now=NOON, recent=many), "recent").children]
    assert ten == [f"recent/r{number}" for number in range(10)]
