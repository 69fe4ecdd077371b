"""What was done at a terminal can be taken back exactly, and a ledger that was rolled back is noticed."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest
from house import House
from user_controls import Announced

from tray.approvals.controls import TERMINAL, Controls
from tray.engine.stores import open_stores
from tray.errors import HooktrayError
from tray.model.hook import ApprovalState
from tray.store.checkpoint import LEDGER
from tray.store.ledger import LedgerAction


def undo(made: Controls) -> None:
    made.resolve(made.requests[-1].id, accept=True)


def test_undo_returns_an_approval_to_pending_and_restores_a_revoked_approval(house: House) -> None:
    one = house.hook("guard", on="tool_before", script="exit 0", approved=False)
    made = house.controls()
    made.approve(one.key, one.digest, TERMINAL)
    undo(made)
    assert house.state("guard").state is ApprovalState.PENDING

    made.approve(one.key, one.digest, TERMINAL)
    made.revoke(one.key, TERMINAL)
    assert house.state("guard").state is ApprovalState.REVOKED
    undo(made)

    assert (house.state("guard").state, house.state("guard").approved) == (ApprovalState.APPROVED, one.digest)


def test_the_switch_goes_back_to_how_it_stood(house: House) -> None:
    made = house.controls()
    made.pause(600, "tray")
    made.set_enabled(False, TERMINAL)

    undo(made)

    state = house.stores.switch.state()
    assert (state.enabled, len(state.pauses)) == (True, 1)


def test_a_tray_click_offers_no_undo_and_requests_cannot_push_one_out(house: House) -> None:
    made = house.controls()
    made.set_enabled(False, "tray")
    assert not made.requests
    made.set_enabled(True, TERMINAL)

    for number in range(100):
        made.add_request(f"Switch hooks off {number}", "somebody", lambda: None)

    assert made.requests[-1].is_undo


def test_the_ledger_of_another_home_approves_nothing(house: House, tmp_path: Path) -> None:
    house.hook("guard", on="tool_before", script="exit 0")
    other = House(tmp_path / "other")
    other.hook("evil", on="tool_before", script="exit 0")
    other.close()
    shutil.copy(house.paths.database.with_name(LEDGER), other.paths.database.with_name(LEDGER))

    book = open_stores(other.paths, create=False).ledger.state

    assert book.tampered
    assert not book.approved


def test_undo_takes_back_its_own_decision_when_another_row_is_written_at_the_same_moment(house: House) -> None:
    announced = Announced()
    one = house.hook("guard", on="tool_before", script="exit 0", approved=False)
    made = house.controls(announced)
    follow_ledger, ledger = house.catalog.follow_ledger, house.stores.ledger

    def write_beside() -> None:  # as the watch of agents' entries does on its own thread
        if one.key in ledger.state.approved and "setting:beside" not in ledger.state.settings:
            ledger.append(
                LedgerAction.APPROVE, "setting:beside", "yes", definition="", position=(0, 0), channel="file"
            )
        follow_ledger()

    house.catalog.follow_ledger = write_beside  # type: ignore[method-assign]
    made.approve(one.key, one.digest, "tray")

    (undo_approval,) = announced.undos
    undo_approval.undo()

    assert house.state("guard").state is ApprovalState.PENDING
    assert "setting:beside" in ledger.state.settings


def test_an_approval_that_was_taken_back_can_be_put_back_until_it_is_decided_anew(house: House) -> None:
    announced = Announced()
    one = house.hook("guard", on="tool_before", script="exit 0", approved=False)
    made = house.controls(announced)
    made.approve(one.key, one.digest, "tray")

    made.undo_approval(one.key, "tray")

    assert house.state("guard").state is ApprovalState.PENDING
    put_back = announced.undos[-1]
    put_back.undo()
    assert (house.state("guard").state, house.state("guard").approved) == (ApprovalState.APPROVED, one.digest)
    made.revoke(one.key, "tray")
    with pytest.raises(HooktrayError, match="decided anew"):
        put_back.undo()
    assert house.state("guard").state is ApprovalState.REVOKED
