"""Needs you: what agents wait for."""

from __future__ import annotations

from tray.desktop.labels import agent_label, clean
from tray.desktop.menu.actions import AnswerQuestion
from tray.desktop.menu.items import Item, Items, child_id, click, deduplicate, label, submenu, truncated, with_count
from tray.desktop.menu.state import MenuQuestion, MenuState
from tray.language import count, say

ROW_LIMIT = 20


def questions(state: MenuState) -> Item:
    rows = deduplicate(_question(one) for one in state.questions)
    return submenu("questions", with_count(say("Needs you"), len(rows)), _rows(rows))


def _rows(rows: list[Item]) -> Items:
    if not rows:
        return (label("questions/none", say("Nobody waits for an answer")),)
    more = len(rows) - ROW_LIMIT
    return truncated(rows, ROW_LIMIT, label("questions/more", count("And {n} more", "And {n} more", more)))


def _question(one: MenuQuestion) -> Item:
    key = child_id("questions/open", one.id)
    text = f"{clean(one.subject, 60)} · {agent_label(one.agent, one.project)}"
    choices = (
        click(f"{key}/allow", say("Allow"), AnswerQuestion(one.id, allow=True)),
        click(f"{key}/deny", say("Deny"), AnswerQuestion(one.id, allow=False)),
    )
    return submenu(key, text, choices)
