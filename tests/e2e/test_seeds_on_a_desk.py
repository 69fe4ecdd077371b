"""What the hook formats' documents require, seen by a person at a desktop: a click."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from desk import Desk
from house import House
from live import Live

pytestmark = pytest.mark.desktop
SLOW = 60.0  # seconds on a loaded machine


def test_a_revocation_typed_into_an_agent_is_done_at_a_persons_click(
    desk: Desk, house: House, tmp_path: Path
) -> None:
    house.hook("guard", on="tool_before", script="echo no >&2; exit 2")
    live = Live(desk, tmp_path / "home")  # the house's own home, where the hook is approved already
    live.start()
    typed = {"event": "on_user_message", "session_id": "s", "cwd": "/", "message": "/hooks revoke ./guard.sh"}

    answer = json.loads(live.relay("starchild", "on_user_message", typed).stdout)
    live.desk.wait(
        lambda: any(row.label.startswith("Revoke guard") for row in live.menu("Approvals")), SLOW, "it is asked"
    )
    before = live.states()
    live.click("Approvals", "Revoke guard", "Allow")

    live.desk.wait(lambda: live.states() == {"guard": "revoked"}, SLOW, "it is revoked")
    assert (answer["decision"], before) == ("block", {"guard": "approved"})
