"""One approval refreshes the catalogue once, and can be followed from file to file."""

from __future__ import annotations

import pytest
from counts.file_moves import APPROVAL, FileMoves
from house import House

from tray.errors import HooktrayError
from tray.model.hook import ApprovalState


def test_an_approval_refreshes_the_catalogue_once_and_moves_between_few_files(house: House) -> None:
    shown = house.hook("guard", on="tool_before", script="exit 0", approved=False)
    controls = house.controls()

    with FileMoves() as found:
        controls.approve(shown.key, shown.digest, "tray")

    assert found.calls["HookCatalog.refresh"] == 1
    assert found.calls["Copies.check"] == 1, "the approved copy is compared once"
    assert "inspect" not in found.calls, "the hook's bytes were read when it was shown"
    assert found.moves <= APPROVAL
    (state,) = house.catalog.states
    assert (state.state, state.approved) == (ApprovalState.APPROVED, shown.digest)


def test_the_refresh_after_an_approval_reads_no_source_again(house: House) -> None:
    shown = house.hook("guard", on="tool_before", script="exit 0", approved=False)
    house.controls().approve(shown.key, shown.digest, "tray")

    with FileMoves() as found:
        house.catalog.refresh()

    assert "load" not in found.calls


def test_a_script_that_was_edited_after_it_was_shown_is_read_once_more_and_not_approved(house: House) -> None:
    shown = house.hook("guard", on="tool_before", script="exit 0", approved=False)
    house.script("guard.sh", "exit 2")

    with FileMoves() as found, pytest.raises(HooktrayError, match="changed again since you looked at it"):
        house.controls().approve(shown.key, shown.digest, "tray")

    assert (found.calls["HookCatalog.refresh"], found.calls["inspect"]) == (1, 1)
    assert house.stores.ledger.in_order() == ()


def test_a_script_that_is_edited_while_it_is_approved_is_shown_as_changed(
    house: House, monkeypatch: pytest.MonkeyPatch
) -> None:
    shown = house.hook("guard", on="tool_before", script="exit 0", approved=False)
    append = house.stores.ledger.append

    def edit_and_append(*row: object, **more: object) -> object:
        house.script("guard.sh", "exit 2")
        return append(*row, **more)  # type: ignore[arg-type]

    monkeypatch.setattr(house.stores.ledger, "append", edit_and_append)
    house.controls().approve(shown.key, shown.digest, "tray")

    state = house.state("guard")
    assert (state.state, state.approved) == (ApprovalState.CHANGED, shown.digest)
    assert house.stores.copies.bundle(shown.digest).digest == shown.digest
