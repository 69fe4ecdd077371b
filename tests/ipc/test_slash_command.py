"""What is typed into an agent after `/hooks`: answered, or put before the user, and never done at an agent's word."""

from __future__ import annotations

import json

import pytest
from house import House
from ipc.tray_parts import TrayParts, unattended_requests

from tray.approvals.controls import Controls
from tray.ipc.server import PeerCredentials
from tray.ipc.slash_command import HooksCommand


@pytest.fixture
def controls(house: House) -> Controls:
    return house.controls()


@pytest.fixture
def typed(house: House, controls: Controls) -> HooksCommand:
    return HooksCommand(controls, unattended_requests(house, controls), TrayParts())


def say(typed: HooksCommand, line: str, own: str = "/hooks") -> str:
    return typed.answer((own, *line.split()), "claude-code")


def test_list_names_every_hook_with_its_event_and_state(house: House, typed: HooksCommand) -> None:
    house.hook("guard", on="tool_before", script="exit 0")
    house.hook("new", on="turn_end", script="exit 0", approved=False)

    assert say(typed, "list").splitlines() == [
        "Hooks are on",
        str(house.paths.config),
        "✓ guard · tool_before ./guard.sh · approved",
        "✗ new · turn_end ./new.sh · pending · to approve it, type: /hooks approve turn_end ./new.sh",
    ]
    assert say(typed, "") == say(typed, "list")
    assert say(typed, "list", "/hooktray").endswith("type: /hooktray approve turn_end ./new.sh")


def test_list_says_what_is_wrong_with_a_hook(house: House, typed: HooksCommand) -> None:
    house.hook("guard", on="tool_before", script="exit 0")
    (house.paths.config.parent / "guard.sh").unlink()
    house.catalog.refresh()

    line = say(typed, "list").splitlines()[-1]
    assert line.startswith("✓ guard · tool_before ./guard.sh · changed · ")
    assert "./guard.sh: there is no such program; write its path, or put it there first" in line


def test_a_long_list_shows_how_many_more_there_are_before_the_first_look(house: House, typed: HooksCommand) -> None:
    hooks = [{"event": "turn_end", "name": f"h{n}", "command": "/bin/true"} for n in range(33)]
    house.paths.config.write_text(json.dumps({"hooks": hooks}))

    lines = say(typed, "list").splitlines()

    assert "✗ h0 · turn_end /bin/true · pending" in lines[2]
    assert (len(lines), lines[-1]) == (33, "and 3 more: `hooktray list`")


@pytest.mark.parametrize("op", ["approve", "deny"])
def test_what_cannot_be_read_is_refused_with_its_cure_and_not_put_before_anybody(
    house: House, controls: Controls, op: str
) -> None:
    house.hook("lost", on="tool_before", command="python3 ./nowhere.py", approved=False)
    requests = unattended_requests(house, controls)

    answer = requests.answer({"op": op, "hook": "lost"}, PeerCredentials(pid=1, uid=1))

    assert answer["error"] == "`lost` cannot be decided as it stands: ./nowhere.py: there is no such file"
    assert str(answer["hint"]).startswith(f"it is looked up in {house.paths.config.parent}; ")
    assert controls.requests == ()


def test_an_approval_is_taken_back_though_the_script_is_gone(house: House, controls: Controls) -> None:
    house.hook("guard", on="tool_before", script="exit 0")
    (house.paths.config.parent / "guard.sh").unlink()
    requests = unattended_requests(house, controls)

    assert "asked" not in requests.enqueue({"op": "revoke", "hook": "guard"}, "somebody")
    assert [one.summary for one in controls.requests] == ["Revoke guard"]


def test_help_says_what_is_answered_and_what_waits(typed: HooksCommand) -> None:
    for line in ("help", "rm -rf /"):
        assert "Hooktray: /hooktray list, doctor" in say(typed, line, "/hooktray")
        assert "off, pause, approve, deny and revoke wait for your click" in say(typed, line)
    assert "nothing" in say(typed, "revoke nothing")


def test_doctor_says_what_was_found_and_where_the_rest_is(typed: HooksCommand) -> None:
    assert say(typed, "doctor").splitlines()[-2:] == [
        "all is well",
        "The whole examination: `hooktray doctor` in a terminal",
    ]


def test_on_is_done_at_once_for_it_loosens_nothing(controls: Controls, typed: HooksCommand) -> None:
    controls.set_enabled(False, "test")

    assert say(typed, "on") == "Hooks are on"
    assert controls.state.enabled


@pytest.mark.parametrize(
    ("line", "asked"),
    [
        ("off", "Switch hooks off"),
        ("pause", "Pause hooks for 30 min"),
        ("pause 1h", "Pause hooks for 60 min"),
        ("deny new", "Deny new"),
        ("revoke guard", "Revoke guard"),
        ("revoke ./guard.sh", "Revoke guard"),
    ],
)
def test_what_loosens_is_asked_for_and_not_done(
    house: House, controls: Controls, typed: HooksCommand, line: str, asked: str
) -> None:
    house.hook("guard", on="tool_before", script="exit 0")
    house.hook("new", on="turn_end", script="exit 0", approved=False)

    answer = say(typed, line)

    assert "only the user can do that" in answer
    assert [(one.summary.startswith(asked), one.requester) for one in controls.requests] == [
        (True, "a prompt in claude-code")
    ]
    assert (controls.state.enabled, controls.state.paused_until) == (True, None)
    assert (house.state("guard").state.value, house.state("new").state.value) == ("approved", "pending")


def test_an_approval_waits_where_it_stood_before(house: House, controls: Controls, typed: HooksCommand) -> None:
    house.hook("new", on="turn_end", script="exit 0", approved=False)

    answer = say(typed, "approve turn_end new")

    assert answer.startswith("new waits for your approval")
    assert controls.requests == ()
    assert house.state("new").state.value == "pending"
