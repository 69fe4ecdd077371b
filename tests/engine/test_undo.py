"""What was done at a terminal can be taken back exactly, and a ledger that was rolled back is noticed."""

from __future__ import annotations

from house import House

from tray.engine.controls import TERMINAL, Controls
from tray.model.hook import State
from tray.store.ledger import HEAD, Ledger


def controls(house: House) -> Controls:
    return Controls(
        switch=house.stores.switch,
        consent=house.consent,
        roster=house.roster,
        switched=lambda what, way, back: None,
        changed=lambda: None,
    )


def undo(made: Controls) -> None:
    made.answer(made.requests[-1].id, yes=True)


def test_an_approval_is_taken_back_to_pending(house: House) -> None:
    one = house.hook("guard", on="tool_before", script="exit 0", approved=False)
    made = controls(house)
    made.approve(one.key, one.digest, TERMINAL)
    assert house.standing("guard").state is State.APPROVED

    undo(made)

    assert house.standing("guard").state is State.PENDING


def test_a_revocation_is_taken_back_to_the_very_approval(house: House) -> None:
    one = house.hook("guard", on="tool_before", script="exit 0")
    made = controls(house)
    made.revoke(one.key, TERMINAL)
    assert house.standing("guard").state is State.REVOKED

    undo(made)

    assert (house.standing("guard").state, house.standing("guard").approved) == (State.APPROVED, one.digest)


def test_the_switch_goes_back_to_how_it_stood(house: House) -> None:
    made = controls(house)
    made.pause(600, "tray")
    made.turn(False, TERMINAL)

    undo(made)

    state = house.stores.switch.state()
    assert (state.enabled, len(state.pauses)) == (True, 1)


def test_what_was_decided_anew_stays(house: House) -> None:
    one = house.hook("guard", on="tool_before", script="exit 0", approved=False)
    made = controls(house)
    made.approve(one.key, one.digest, TERMINAL)
    made.revoke(one.key, "tray")

    assert not house.stores.ledger.undo(1, "undo")
    assert house.standing("guard").state is State.REVOKED


def test_a_tray_click_offers_no_undo_and_requests_cannot_push_one_out(house: House) -> None:
    made = controls(house)
    made.turn(False, "tray")
    assert not made.requests
    made.turn(True, TERMINAL)

    for number in range(100):
        made.ask(f"Switch hooks off {number}", "somebody", lambda: None)

    assert made.requests[-1].done


def test_an_earlier_ledger_in_its_place_is_noticed_and_guards_go_on(house: House) -> None:
    house.hook("guard", on="tool_before", script="exit 0")
    earlier = house.paths.database.with_name(HEAD).read_text()
    house.hook("second", on="tool_before", script="exit 0")
    with house.stores.database.write() as connection:
        connection.execute("DELETE FROM ledger WHERE seq = 2")

    house.stores.ledger.book = house.stores.ledger._load()

    assert "older than it was" in house.stores.ledger.book.broken
    assert len(house.stores.ledger.in_order()) == 1
    house.paths.database.with_name(HEAD).write_text(earlier)
    assert not Ledger(house.stores.database).book.broken
