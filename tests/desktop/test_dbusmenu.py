"""Rows on the wire: they keep their numbers, and only changes are sent."""

from __future__ import annotations

from hypothesis import given, settings
from hypothesis import strategies as st

from tray.desktop.dbusmenu import ROOT, MenuChange, MenuRow, MenuTable
from tray.desktop.menu.actions import QuitTray, ToggleSound, ToggleSwitch
from tray.desktop.menu.items import Item, ItemKind

ENABLED = Item(id="enabled", kind=ItemKind.CHECK, label="Hooks enabled", checked=True, action=ToggleSwitch())
DISABLED = Item(id="enabled", kind=ItemKind.CHECK, label="Hooks enabled", checked=False, action=ToggleSwitch())
LINE = Item(id="line", kind=ItemKind.SEPARATOR)
QUIT = Item(id="quit", kind=ItemKind.ACTION, label="Quit", action=QuitTray())


def recent(*names: str) -> Item:
    rows = tuple(Item(id=f"recent/{name}", kind=ItemKind.ACTION, label=name, action=ToggleSound()) for name in names)
    return Item(id="recent", kind=ItemKind.SUBMENU, label="Recent", children=rows)


def row(table: MenuTable, label: str) -> tuple[int, MenuRow]:
    return next((number, row) for number, row in table.rows.items() if row.properties.get("label") == label)


def test_an_equal_menu_sends_no_signal_and_a_check_mark_no_new_layout() -> None:
    table = MenuTable()
    table.update((ENABLED, LINE, QUIT))

    same, change = table.update((ENABLED, LINE, QUIT)), table.update((DISABLED, LINE, QUIT))

    number, _ = row(table, "Hooks enabled")
    assert (same, change.parents) == (MenuChange(), ())
    assert [(changed, shown["toggle-state"]) for changed, shown in change.rows] == [(number, 0)]


def test_a_new_row_is_told_to_its_parent_and_the_others_keep_their_numbers() -> None:
    table = MenuTable()
    table.update((recent("a", "b"), QUIT))
    before = {label: row(table, label)[0] for label in ("Recent", "a", "b", "Quit")}

    change = table.update((recent("c", "a", "b"), QUIT))

    assert change == MenuChange(parents=(before["Recent"],))
    assert {label: row(table, label)[0] for label in before} == before


def test_a_number_is_not_given_to_another_row_after_its_row_is_gone() -> None:
    table = MenuTable()
    table.update((recent("a"),))
    gone, _ = row(table, "a")

    table.update((recent("b"),))
    table.update((recent("a"),))

    assert gone not in table.rows


def test_an_underscore_is_not_a_shortcut_and_a_disabled_row_has_no_action() -> None:
    table = MenuTable()
    table.update((Item(id="x", kind=ItemKind.ACTION, label="tool_before", enabled=False, action=QuitTray()),))

    assert row(table, "tool__before")[1].action is None


names = st.lists(st.sampled_from("abcdefg"), unique=True, max_size=5)


@settings(max_examples=40)
@given(st.lists(names, max_size=6))
def test_what_is_told_is_enough_to_follow(menus: list[list[str]]) -> None:
    """A host that applies the changes, and reads the reported parents again, has the rows of the menu."""
    table, seen = MenuTable(), {ROOT: MenuRow({"children-display": "submenu"})}

    for shown in menus:
        change = table.update((recent(*shown), QUIT))
        seen |= {number: MenuRow(dict(properties), seen[number].children) for number, properties in change.rows}
        for parent in change.parents:
            seen |= subtree(table, parent)

    assert visible(seen) == visible(table.rows) or not menus


def subtree(table: MenuTable, number: int) -> dict[int, MenuRow]:
    below = [subtree(table, child) for child in table.rows[number].children]
    return {number: table.rows[number]} | {key: value for part in below for key, value in part.items()}


def visible(rows: dict[int, MenuRow], number: int = ROOT) -> list[object]:
    row = rows[number]
    return [number, dict(row.properties), *(visible(rows, child) for child in row.children)]
