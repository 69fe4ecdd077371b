"""Hooks that wait with the imported content: one review, one click, exactly these bytes."""

from __future__ import annotations

from pathlib import Path

import pytest
from approvals.declared import program
from house import House
from user_controls import Announced, Untried, user_controls

from tray.approvals.batch import render_batch, summary_lines
from tray.approvals.catalog import HookCatalog
from tray.engine.stores import open_stores
from tray.errors import HooktrayError
from tray.model.hook import ApprovalState
from tray.store.approval_file import import_approvals, of_bundle
from tray.store.db import begin_anew


def forget(house: House) -> HookCatalog:
    """The same house on another machine, to which its approvals were brought."""
    exports = [of_bundle(one, house.stores.copies.bundle(one.digest)) for one in house.stores.ledger.in_order()]
    house.stores.journal.close()
    begin_anew(house.paths.database, "damaged")
    import_approvals(house.paths.database, exports)
    house.stores = open_stores(house.paths, create=True)
    house.catalog = HookCatalog(house.paths, house.stores.ledger, house.stores.copies)
    house.consent = user_controls(house.stores, house.catalog)
    house.catalog.refresh()
    return house.catalog


def names(house: House) -> list[str]:
    return [one.hook.name for one in house.consent.batch.hooks]


@pytest.fixture
def two(house: House) -> House:
    """Two hooks that were approved on another machine."""
    for name in ("guard", "second"):
        house.hook(name, on="tool_before", script=f"echo {name} says no >&2; exit 2", dialect="claude-code")
    forget(house)
    return house


def test_what_was_approved_and_is_unchanged_is_approved_by_one_act(two: House) -> None:
    assert {one.state for one in two.catalog.states} == {ApprovalState.PENDING}
    shown = render_batch(two.consent.batch, two.stores.copies, {})

    two.consent.approve_batch(two.consent.batch.digest, "test")

    assert "guard says no" in shown
    assert "second says no" in shown
    rows = [(one.hook.name, one.channel) for one in two.stores.ledger.in_order()]
    assert rows == [("guard", "test"), ("second", "test")]
    assert not two.consent.batch


def test_changed_denied_and_revoked_hooks_are_not_in_the_batch_of_an_import(
    house: House,
) -> None:
    for name in ("edited", "same", "revoked", "denied-later", "revoked-later"):
        house.hook(name, on="tool_before", script="exit 0")
    denied = house.hook("denied", on="tool_before", script="exit 0", approved=False)
    house.consent.deny(denied.key, denied.digest, "test")
    house.consent.revoke(house.state("revoked").key, "test")
    house.hook("new", on="tool_before", script="exit 0", approved=False)
    house.script("edited.sh", "exit 1")
    forget(house)
    assert sorted(names(house)) == ["denied-later", "revoked-later", "same"]

    denied, revoked = house.state("denied-later"), house.state("revoked-later")
    house.consent.deny(denied.key, denied.digest, "test")
    house.consent.approve(revoked.key, revoked.digest, "test")
    house.consent.revoke(revoked.key, "test")

    assert names(house) == ["same"]


@pytest.mark.parametrize("shown", ["as it was shown", "", "0" * 64])
def test_a_batch_that_was_not_shown_or_has_changed_is_refused(two: House, shown: str) -> None:
    digest = two.consent.batch.digest if shown.startswith("as") else shown
    two.script("second.sh", "exit 1")

    with pytest.raises(HooktrayError, match="not the ones that were shown"):
        two.consent.approve_batch(digest, "test")

    assert two.stores.ledger.in_order() == ()
    assert names(two) == ["guard"]


def test_one_undo_reverts_the_whole_batch(two: House) -> None:
    announced = Announced()
    controls = two.controls(announced)
    controls.approve_batch(controls.batch.digest, "tray")
    assert announced.texts == ["2 hooks are approved"]

    announced.undos[0].undo()

    assert two.stores.ledger.in_order() == ()
    assert names(two) == ["guard", "second"]


def test_each_hook_of_the_batch_is_tried_like_one_that_was_approved_by_itself(two: House) -> None:
    trials = Untried()
    controls = two.controls(trials=trials)

    controls.approve_batch(controls.batch.digest, "tray")
    trials.hooks[0][1].undo()  # its own way back leaves the other approved

    assert [name for name, _ in trials.hooks] == ["guard", "second"]
    assert [one.hook.name for one in two.stores.ledger.in_order()] == ["second"]


def test_a_program_found_on_another_path_is_still_the_approved_one(
    house: House, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for place in ("old", "new"):
        program(tmp_path / place / "checker", "#!/bin/sh\nexit 0\n")
    monkeypatch.setenv("PATH", str(tmp_path / "old"), prepend=":")
    house.hook("guard", on="tool_before", command="checker --strict")
    monkeypatch.setenv("PATH", str(tmp_path / "new"), prepend=":")

    forget(house)

    assert names(house) == ["guard"]


def test_all_that_waits_of_a_source_is_one_batch_and_nothing_else_is(house: House) -> None:
    house.hook("old", on="tool_before", script="exit 0")
    house.hook("guard", on="tool_before", script="exit 0", approved=False)
    house.hook("lost", on="tool_before", command="./nowhere.sh", approved=False)
    house.hook("rule", on="tool_before", type="rule", decision="deny", reason="no", approved=False)
    house.script("old.sh", "exit 1")
    house.catalog.refresh()

    (batch,) = house.consent.batches

    assert [one.hook.name for one in batch.hooks] == ["old", "guard", "rule"]
    assert summary_lines(batch) == (
        f"3 hooks of {house.paths.config} wait for you.",
        "1 of them was approved before it changed; its approved copy runs until you decide.",
        "1 more waits and cannot be approved as it stands: `hooktray list` says why.",
    )
    house.script("guard.sh", "exit 2")
    with pytest.raises(HooktrayError, match="not the ones that were shown"):
        house.consent.approve_batch(batch.digest, "test")
    assert [one.hook.name for one in house.stores.ledger.in_order()] == ["old"]
    house.consent.approve_batch(house.consent.batches[0].digest, "test")
    assert {one.hook.name: one.waiting for one in house.catalog.states} == {
        "old": False, "guard": False, "lost": True, "rule": False,
    }  # fmt: skip
