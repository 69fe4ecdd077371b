"""An edit of hooktray.yaml that silences notifications of guards is found once, and its undo edits the file."""

from __future__ import annotations

import contextlib
import sys
from collections.abc import Mapping
from typing import Any

import pytest
from house import House

from tray.approvals import silenced
from tray.approvals.silenced import CLASSES, Silenced
from tray.engine.stores import open_stores
from tray.errors import HooktrayError
from tray.notify.alert import rules
from tray.strict.yaml_reader import load_yaml

OFF, ON = {"notify": False}, {"notify": True}


def saved(house: House, document: Mapping[str, Any] | str) -> Silenced | None:
    """Returns what the tray finds after this edit."""
    house.configure(document)
    return silenced.record(house.catalog.configuration.settings, house.stores.ledger, house.paths.config)


def found(house: House, document: Mapping[str, Any] | str) -> str:
    edit = saved(house, document)
    return edit.text.removeprefix("hooktray.yaml:1 silences ") if edit else ""


def notifies(house: House, cls: str, project: str = "") -> bool:
    house.catalog.refresh()
    rule = rules(house.catalog.settings_in_force, project).get(cls)
    return rule is None or rule.notify is not False


def silencing(house: House, text: str | None = None) -> Silenced:
    """Returns the edit that the tray finds in the file; writes this text first, if one is given."""
    if text is not None:
        house.paths.config.write_bytes(text.encode())
    house.catalog.refresh()
    edit = silenced.record(house.catalog.configuration.settings, house.stores.ledger, house.paths.config)
    assert edit is not None
    return edit


@pytest.mark.parametrize("cls", CLASSES)
def test_a_class_of_guards_that_is_turned_off_is_found_once(house: House, cls: str) -> None:
    first, again = (found(house, {"alerts": {cls: OFF}}) for _ in range(2))
    back, later = found(house, {}), found(house, {"alerts": {cls: OFF}})

    assert (first, again, back, later) == (cls, "", "", cls)


@pytest.mark.parametrize(
    "document",
    [
        {"alerts": {"turn_end": OFF, "changed": OFF, "switched": OFF, "information": OFF}},
        {"alerts": {"blocked": {"sound": "none", "urgency": "low"}}, "volume": 0},
        {"quiet_hours": {"from": "00:00", "to": "00:00"}},
        {"projects": {"api": {"asked": ON, "needs_you": OFF}}, "alerts": {"blocked": ON}},
    ],
)
def test_other_edits_are_not_found(house: House, document: dict[str, Any]) -> None:
    assert found(house, document) == ""


@pytest.mark.parametrize(
    ("before", "after", "text"),
    [
        ({}, {"projects": {"api": {"asked": OFF}}}, "api: asked"),
        ({}, {"alerts": {"asked": OFF, "blocked": OFF}}, "asked, blocked"),
        ({}, {"alerts": {"asked": OFF}, "projects": {"api": {"asked": OFF, "blocked": OFF}}}, "asked, api: blocked"),
        ({"alerts": {"asked": OFF}}, {"alerts": {"asked": OFF, "blocked": OFF}}, "blocked"),
        ({"alerts": {"asked": OFF}}, {"alerts": {"asked": OFF}, "projects": {"api": {"asked": OFF}}}, ""),
        ({"alerts": {"asked": OFF}, "projects": {"api": {"asked": ON}}}, {"alerts": {"asked": OFF}}, "api: asked"),
        ({"projects": {"api": {"asked": OFF}}}, {"alerts": {"asked": OFF}}, "asked"),
        ({}, {"alerts": {"asked": OFF}, "projects": {"": {"asked": ON}}}, "asked"),
        ({}, {"projects": {"": {"asked": OFF}}}, ": asked"),
    ],
)
def test_only_what_is_newly_silent_is_named_with_its_project(
    house: House, before: dict[str, Any], after: dict[str, Any], text: str
) -> None:
    saved(house, before)

    assert found(house, after) == text


def test_an_edit_while_no_tray_ran_is_found_by_the_next_one_and_not_again(house: House) -> None:
    saved(house, {"alerts": {"asked": OFF}})
    house.configure({"alerts": {"asked": OFF, "blocked": OFF}})
    edits = []
    for _ in range(2):
        stores = open_stores(house.paths, create=False)
        edits.append(silenced.record(house.catalog.configuration.settings, stores.ledger, house.paths.config))
        stores.journal.close()

    assert [edit and edit.classes for edit in edits] == [((None, "blocked"),), None]


FILE = """\ufeff# my settings
alerts:
  asked: {sound: bell, notify: false}  # too loud
  blocked:
    notify:   False
  turn_end: {notify: false}
projects:
  "a b": {hook_failed: {notify: false, urgency: "low"}, note: {notify: false}}
volume: 0
"""


@pytest.mark.parametrize("text", [FILE, FILE.replace("\n", "\r\n"), FILE[1:]])
def test_undo_turns_the_classes_on_in_the_file_and_changes_nothing_else(house: House, text: str) -> None:
    edit = silencing(house, text)
    assert edit.text == "hooktray.yaml:3 silences asked, blocked, a b: hook_failed"

    assert edit.undo() == "hooktray.yaml no longer silences asked, blocked, a b: hook_failed"

    wanted = text.replace("bell, notify: false", "bell, notify: true").replace("False", "true")
    wanted = wanted.replace("hook_failed: {notify: false", "hook_failed: {notify: true")
    assert house.paths.config.read_bytes().decode() == wanted
    assert [notifies(house, *one) for one in (("asked",), ("blocked",), ("hook_failed", "a b"))] == [True] * 3
    assert not notifies(house, "turn_end")
    settings = house.catalog.configuration.settings
    assert silenced.record(settings, house.stores.ledger, house.paths.config) is None


@pytest.mark.skipif(sys.platform == "win32", reason="symbolic links need a right there")
def test_undo_goes_through_a_link_and_keeps_the_mode(house: House) -> None:
    real = house.root / "dotfiles.yaml"
    real.write_text("alerts: {asked: {notify: false}}")
    real.chmod(0o640)
    house.paths.config.unlink(missing_ok=True)
    house.paths.config.symlink_to(real)

    silencing(house).undo()

    assert house.paths.config.is_symlink()
    assert (real.read_text(), real.stat().st_mode & 0o777) == ("alerts: {asked: {notify: true}}", 0o640)


def test_undo_of_a_removed_exception_turns_the_class_on_for_all_projects(house: House) -> None:
    saved(house, {"alerts": {"asked": OFF}, "projects": {"api": {"asked": ON}}})
    house.configure({"alerts": {"asked": OFF}})

    silencing(house).undo()

    assert notifies(house, "asked", "api")


@pytest.mark.parametrize("later", [{}, {"alerts": {"asked": ON}}, "alerts: []", "alerts: [", None])
def test_undo_does_not_change_a_later_edit_or_create_a_missing_file(
    house: House, later: dict[str, Any] | str | None
) -> None:
    house.configure({"alerts": {"asked": OFF}})
    edit = silencing(house)
    if later is None:
        house.paths.config.unlink()
    else:
        house.configure(later)
    before = house.paths.config.read_bytes() if later is not None else None

    with pytest.raises(HooktrayError):
        edit.undo()

    assert (house.paths.config.read_bytes() if house.paths.config.exists() else None) == before


@pytest.mark.parametrize(
    "text",
    [
        'alerts: {asked: {notify: !!bool "false"}}',
        "# \x85\nalerts: {asked: {notify: false}}",
        "alerts: {asked: {notify:\r  false}}",
    ],
)
def test_undo_edits_unusual_yaml_correctly_or_not_at_all(house: House, text: str) -> None:
    edit = silencing(house, text)

    with contextlib.suppress(HooktrayError):
        edit.undo()

    now = house.paths.config.read_bytes()
    assert now == text.encode() or load_yaml(now, "").value == {"alerts": {"asked": {"notify": True}}}
