"""What clicks do beside switching and approving: pauses of some, single hooks, classes, questions, start at login."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from counts.file_moves import APPROVAL, FileMoves
from house import House
from msgspec.structs import replace

from desktop.hall import RECORD, Hall, labels
from desktop.recorded_parts import RecordedParts
from tray.approvals.user_action import UserAction
from tray.desktop.menu import actions
from tray.desktop.menu.state import MenuAgent, MenuPreview
from tray.engine.user_questions import UserQuestion
from tray.model.decision import Decision, Verdict
from tray.model.event import Event, EventKind, Tool


@pytest.fixture
def hall(house: House) -> Iterator[Hall]:
    hall = Hall(house)
    hall.others.page.has_browser = True
    preview = MenuPreview(digest="1a2b", summary="adds 4 entries")
    hall.others.agents.found = (MenuAgent(agent="shelley", name="Shelley", installed=True, connect=preview),)
    yield hall
    hall.presenter.close()


@pytest.fixture
def others(hall: Hall) -> RecordedParts:
    return hall.others


def test_a_pause_of_one_session_is_shown_with_its_project_and_ended_by_resume(hall: Hall) -> None:
    hall.presenter.recent.appendleft(replace(RECORD, session="s1", project="api", agent="claude-code"))

    hall.click("Pause", "Only claude-code · api", "1 hour")

    assert any(label.startswith("claude-code · api is paused until") for label in labels(hall.rows("Pause")))
    assert [(one.agent, one.session) for one in hall.house.stores.switch.state().pauses] == [("claude-code", "s1")]
    hall.click("Pause", "Resume")
    assert hall.house.stores.switch.state().pauses == ()


def test_a_single_hook_is_switched_off_and_on_again_and_keeps_its_approval(hall: Hall) -> None:
    hall.house.hook("guard", on="tool_before", script="echo no >&2; exit 2", dialect="claude-code")
    blocked = hall.house.tool()

    hall.click("Settings", "Hooks", "guard")
    off = hall.house.tool()
    (row,) = hall.rows("Settings", "Hooks")
    hall.click("Settings", "Hooks", "guard")

    assert "deny" in str(blocked)
    assert off == {}
    assert (row.checked, row.enabled) == (False, True)
    assert hall.house.tool() == blocked
    assert hall.house.decisions[1][2].hooks[0]["cause"] == "disabled"


def test_a_class_of_alerts_is_turned_off_and_on(hall: Hall) -> None:
    hall.click("Alerts", "Blocked")
    off = hall.house.stores.switch.current.muted_classes
    (row,) = (row for row in hall.rows("Alerts") if row.label == "Blocked")
    hall.controller.act(actions.SetAlertClass("blocked", on=True))

    assert (off, row.checked, hall.house.stores.switch.current.muted_classes) == (
        frozenset({"blocked"}),
        False,
        frozenset(),
    )


@pytest.mark.parametrize(
    ("action", "asked"),
    [
        (actions.AnswerQuestion("q", allow=True), ("q", True)),
        (actions.Snooze(None), ("snooze", None)),
        (actions.EndSnooze(), "wake"),
        (actions.SetQuietHours(on=False), ("quiet", False)),
        (actions.ShowDeferred(), "held"),
        (actions.GoToSession("shelley", "s1"), ("go", "shelley", "s1")),
        (actions.ShowIncident(), "incident"),
        (actions.OpenPage(), ("page", "")),
        (actions.OpenPage("questions/q"), ("page", "questions/q")),
        (actions.ShowAgents(), "agents"),
        (actions.ReviewConnection("shelley", connect=True), ("review", "shelley", True)),
        (actions.ProbeAgent("shelley"), ("probe", "shelley")),
        (actions.ConnectAll(("1a2b", "3c4d")), ("take all", "1a2b", "3c4d")),
        (actions.PutEntriesBack("shelley"), ("put back", "shelley")),
        (actions.LeaveEntries("shelley", "1a2b"), ("leave", "shelley", "1a2b")),
        (actions.QuitTray(), "quit"),
    ],
)
def test_what_others_supply_is_asked_of_them(
    hall: Hall, others: RecordedParts, action: object, asked: object
) -> None:
    hall.controller.act(action)  # type: ignore[arg-type]

    assert others.asked == [asked]


def test_the_doctors_report_is_opened_so_that_its_calls_count_as_seen_and_so_is_the_configuration(
    hall: Hall, others: RecordedParts
) -> None:
    hall.controller.act(actions.RunDoctor())
    hall.controller.act(actions.OpenConfiguration())

    assert others.asked == ["doctor", "acknowledge"]
    assert others.opener.opened == [Path("doctor.txt"), hall.house.paths.config]


def test_what_was_summed_up_of_an_agent_is_written_by_a_click_and_told(hall: Hall, others: RecordedParts) -> None:
    hall.click("Settings", "Agents", "Shelley", "Connect Shelley", "Connect Shelley")

    assert others.asked == [("take", "shelley", "1a2b")]
    assert hall.told == [("", "shelley is connected")]


def test_a_fresh_look_at_agents_and_sources_is_taken_when_the_menu_opens(hall: Hall, others: RecordedParts) -> None:
    hall.controller.opened()

    assert others.asked == ["look", "sources"]


def test_a_decision_is_shown_on_its_page_and_where_none_can_be_had_in_an_alert(
    hall: Hall, others: RecordedParts
) -> None:
    hall.presenter.recent.appendleft(replace(RECORD, id="d1", reason="guard: no"))

    hall.controller.act(actions.ShowReason("d1"))
    shown, told = list(others.asked), list(hall.told)
    others.page.has_browser = False
    hall.controller.act(actions.ShowReason("d1"))

    assert (shown, told) == ([("page", "d1")], [])
    assert [text for _, text in hall.told] == ["End of turn · guard: no"]


def test_an_open_question_draws_attention(hall: Hall, others: RecordedParts) -> None:
    event = Event(
        id="e" * 32, agent="shelley", name="permission", kind=EventKind.PERMISSION_REQUEST, session="s", cwd="/w/vm",
        tool=Tool(name="bash", input={}),
    )  # fmt: skip
    others.alerts.open_questions = (UserQuestion(id="q", event=event, decision=Decision(verdict=Verdict.ASK)),)

    hall.presenter.show()

    assert hall.icon.shown[0].state.value == "waiting"
    assert labels(hall.rows("Needs you (1)")) == ["bash · shelley · vm"]


def test_start_at_login_is_said_when_it_is_so_and_refused_with_its_cure(hall: Hall, others: RecordedParts) -> None:
    hall.controller.act(actions.StartAtLogin(True))
    others.login.refuses = True
    hall.controller.act(actions.StartAtLogin(False))

    assert others.login.on
    assert hall.told == [
        ("", "Hooktray starts when you log in"),
        ("it could not be set", "check the permissions there"),
    ]


def test_a_click_that_approves_refreshes_the_catalogue_once_and_moves_between_few_files(house: House) -> None:
    shown = house.hook("guard", on="tool_before", script="exit 0", approved=False)
    hall = Hall(house)

    with FileMoves() as found:
        hall.controller.act(UserAction(action="approve", key=shown.key, digest=shown.digest))

    assert found.calls["HookCatalog.refresh"] == 1
    assert found.moves <= APPROVAL
    assert house.stores.ledger.state.approved[shown.key].digest == shown.digest
