"""What clicks do beside switching and approving: pauses of some, single hooks, classes, questions, start at login."""

from __future__ import annotations

from collections.abc import Collection, Iterator
from dataclasses import dataclass, field

import pytest
from counts.file_moves import APPROVAL, FileMoves
from house import House
from msgspec.structs import replace

from desktop.test_presenter import RECORD, Hall, labels
from tray.desktop.clicks import PRESSES
from tray.desktop.menu import (
    AlertsState,
    AnswerQuestion,
    ApplyConnection,
    Approve,
    ConnectAll,
    EndSnooze,
    LeaveEntries,
    MenuAgent,
    MenuPreview,
    MenuQuestion,
    OpenConfiguration,
    OpenPage,
    PauseHooks,
    ProbeAgent,
    PutEntriesBack,
    ResumeHooks,
    ReviewConnection,
    RunDoctor,
    SetAlertClass,
    SetQuietHours,
    ShowAgents,
    ShowDeferred,
    ShowReason,
    Snooze,
    StartAtLogin,
    SwitchHook,
)
from tray.desktop.menu_services import MenuServices
from tray.errors import HooktrayError


@dataclass
class Others:
    """Whoever supplies the rest of the menu; remembers what it is asked for."""

    asked: list[object] = field(default_factory=list)
    on: bool = False

    def is_on(self) -> bool:
        return self.on

    def turn(self, on: bool) -> None:
        if self.asked[-1:] == ["refuse"]:
            raise HooktrayError("it could not be set", hint="check the permissions there")
        self.on = on

    # ---- agents

    def rows(self) -> tuple[MenuAgent, ...]:
        preview = MenuPreview(digest="1a2b", summary="adds 4 entries")
        return (MenuAgent(agent="shelley", name="Shelley", installed=True, connect=preview),)

    def refresh(self) -> None:
        self.asked.append("look")

    def review(self, agent: str, *, connect: bool) -> None:
        self.asked.append(("review", agent, connect))

    def apply(self, agent: str, digest: str) -> str:
        self.asked.append(("take", agent, digest))
        return "Shelley is connected"

    def connect_all(self, digests: Collection[str]) -> str:
        self.asked.append(("take all", *digests))
        return "Connected: Shelley"

    def probe(self, agent: str) -> None:
        self.asked.append(("probe", agent))

    def put_back(self, agent: str) -> str:
        self.asked.append(("put back", agent))
        return "its entries are back"

    def leave(self, agent: str, digest: str) -> str:
        self.asked.append(("leave", agent, digest))
        return "left as it is"

    def show(self) -> None:
        self.asked.append("agents")

    def decision(self, id: str) -> None:
        if self.asked[-1:] == ["refuse"]:
            raise HooktrayError("nothing here can open a browser", hint="install one")
        self.asked.append(("decision", id))

    def services(self) -> MenuServices:
        note = self.asked.append
        return MenuServices(
            alerts=lambda: AlertsState(snoozable=True, deferred=2),
            questions=lambda: (MenuQuestion(id="q", agent="shelley", project="vm", subject="bash"),),
            answer=lambda question, allow: note((question, allow)),
            snooze=lambda seconds: note(("snooze", seconds)),
            end_snooze=lambda: note("wake"),
            set_quiet_hours=lambda on: note(("quiet", on)),
            show_deferred=lambda: note("held"),
            login=self,
            open_configuration=lambda: note("configuration"),
            open_page=lambda: note("page"),
            open_decision=self.decision,
            agents=self,
            doctor=lambda: note("doctor"),
        )


@pytest.fixture
def others() -> Others:
    return Others()


@pytest.fixture
def hall(house: House, others: Others) -> Iterator[Hall]:
    hall = Hall(house, others.services())
    yield hall
    hall.presenter.close()


def test_a_pause_of_one_session_is_shown_with_its_project_and_ended_by_resume(hall: Hall) -> None:
    hall.presenter.recent.appendleft(replace(RECORD, session="s1", project="api", agent="claude-code"))

    hall.click("Pause", "Only claude-code · api", "1 hour")

    assert any(label.startswith("claude-code · api is paused until") for label in labels(hall.rows("Pause")))
    assert [(one.agent, one.session) for one in hall.house.stores.switch.state().pauses] == [("claude-code", "s1")]
    hall.click("Pause", "Resume")
    assert hall.house.stores.switch.state().pauses == ()


def test_no_press_on_the_icon_loosens_anything() -> None:
    assert set(PRESSES.values()) == {OpenPage()}


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


def test_a_hook_that_is_switched_off_stays_off_after_a_restart(hall: Hall) -> None:
    hall.house.hook("guard", on="tool_before", script="exit 0")
    (standing,) = hall.house.catalog.states

    hall.controller.act(SwitchHook(standing.key, on=False))

    assert hall.house.stores.switch.load().hooks_off == {standing.key}


def test_a_class_of_alerts_is_turned_off_and_on(hall: Hall) -> None:
    hall.click("Alerts", "Blocked")
    off = hall.house.stores.switch.current.muted_classes
    (row,) = (row for row in hall.rows("Alerts") if row.label == "Blocked")
    hall.controller.act(SetAlertClass("blocked", on=True))

    assert (off, row.checked, hall.house.stores.switch.current.muted_classes) == (
        frozenset({"blocked"}),
        False,
        frozenset(),
    )


@pytest.mark.parametrize(
    ("action", "asked"),
    [
        (AnswerQuestion("q", allow=True), ("q", True)),
        (Snooze(None), ("snooze", None)),
        (EndSnooze(), "wake"),
        (SetQuietHours(on=False), ("quiet", False)),
        (ShowDeferred(), "held"),
        (OpenConfiguration(), "configuration"),
        (OpenPage(), "page"),
        (ShowAgents(), "agents"),
        (ReviewConnection("shelley", connect=True), ("review", "shelley", True)),
        (ProbeAgent("shelley"), ("probe", "shelley")),
        (ConnectAll(("1a2b", "3c4d")), ("take all", "1a2b", "3c4d")),
        (PutEntriesBack("shelley"), ("put back", "shelley")),
        (LeaveEntries("shelley", "1a2b"), ("leave", "shelley", "1a2b")),
        (RunDoctor(), "doctor"),
    ],
)
def test_what_others_supply_is_asked_of_them(hall: Hall, others: Others, action: object, asked: object) -> None:
    hall.controller.act(action)  # type: ignore[arg-type]

    assert others.asked == [asked]


def test_what_was_summed_up_of_an_agent_is_written_by_a_click_and_told(hall: Hall, others: Others) -> None:
    hall.click("Settings", "Agents", "Shelley", "Connect Shelley", "Connect Shelley")

    assert others.asked == [("take", "shelley", "1a2b")]
    assert hall.told == [("", "Shelley is connected")]


def test_a_fresh_look_at_agents_is_taken_when_the_menu_opens(hall: Hall, others: Others) -> None:
    hall.presenter.opened()

    assert others.asked == ["look"]


def test_without_agents_their_rows_do_nothing(house: House) -> None:
    hall = Hall(house)

    hall.controller.act(ApplyConnection("shelley", "1a2b"))

    assert hall.told == []
    hall.presenter.close()


def test_a_decision_is_shown_on_its_page_and_where_none_can_be_had_in_an_alert(hall: Hall, others: Others) -> None:
    hall.presenter.recent.appendleft(replace(RECORD, id="d1", reason="guard: no"))

    hall.controller.act(ShowReason("d1"))
    shown, told = list(others.asked), list(hall.told)
    others.asked.append("refuse")
    hall.controller.act(ShowReason("d1"))

    assert (shown, told) == ([("decision", "d1")], [])
    assert [text for _, text in hall.told] == ["End of turn · guard: no"]


def test_an_open_question_draws_attention(hall: Hall) -> None:
    hall.presenter.show()

    assert hall.icon.shown[0].state.value == "waiting"
    assert labels(hall.rows("Needs you (1)")) == ["bash · shelley · vm"]


def test_start_at_login_is_said_when_it_is_so_and_refused_with_its_cure(hall: Hall, others: Others) -> None:
    hall.controller.act(StartAtLogin(True))
    others.asked.append("refuse")
    hall.controller.act(StartAtLogin(False))

    assert others.on
    assert hall.told == [
        ("", "Hooktray starts when you log in"),
        ("it could not be set", "check the permissions there"),
    ]


def test_pausing_an_agent_leaves_the_others_alone(hall: Hall) -> None:
    hall.controller.act(PauseHooks(60.0, "shelley"))

    switch, now = hall.house.stores.switch, hall.presenter.state(0.0).now
    assert switch.gate(now, agent="shelley") is not None
    assert switch.gate(now, agent="x-code") is None
    hall.controller.act(ResumeHooks())


def test_a_click_that_approves_refreshes_the_catalogue_once_and_moves_between_few_files(house: House) -> None:
    shown = house.hook("guard", on="tool_before", script="exit 0", approved=False)
    hall = Hall(house)

    with FileMoves() as found:
        hall.controller.act(Approve(shown.key, shown.digest))

    assert found.calls["HookCatalog.refresh"] == 1
    assert found.moves <= APPROVAL
    assert house.stores.ledger.state.approved[shown.key].digest == shown.digest
