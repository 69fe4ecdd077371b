"""Needs you: what agents wait for."""

from __future__ import annotations

from tray.desktop.menu.actions import Answer
from tray.desktop.menu.items import Item, Items, below, click, counted, label, shortened, submenu, unique
from tray.desktop.menu.state import MenuState, Question
from tray.desktop.words import clean, named
from tray.language import count, say

SHOWN = 20


def questions(state: MenuState) -> Item:
    rows = unique(_question(one) for one in state.questions)
    return submenu("questions", counted(say("Needs you"), len(rows)), _rows(rows))


def _rows(rows: list[Item]) -> Items:
    if not rows:
        return (label("questions/none", say("Nobody waits for an answer")),)
    more = len(rows) - SHOWN
    return shortened(rows, SHOWN, label("questions/more", count("And {n} more", "And {n} more", more)))


def _question(one: Question) -> Item:
    key = below("questions/open", one.id)
    text = f"{clean(one.what, 60)} · {named(one.agent, one.project)}"
    choices = (
        click(f"{key}/allow", say("Allow"), Answer(one.id, allow=True)),
        click(f"{key}/deny", say("Deny"), Answer(one.id, allow=False)),
    )
    return submenu(key, text, choices)
