"""Recent decisions: what was refused, asked about, rewritten or failed, then what was allowed, then how many more."""

from __future__ import annotations

from tray.desktop.labels import record_label
from tray.desktop.menu.actions import OpenPage, ShowReason
from tray.desktop.menu.items import Item, child_id, click, label, submenu
from tray.desktop.menu.state import MenuState
from tray.engine.record import REMINDER
from tray.language import count, say
from tray.model.decision import Record

ROW_LIMIT = 10
RECORD_LIMIT = 200  # records that the menu looks at


def recent(state: MenuState) -> Item:
    records = list({record.id: record for record in reversed(state.recent[:RECORD_LIMIT])}.values())[::-1]
    judged = [one for one in records if not _is_quiet(one)]
    judged = [*(one for one in judged if one.label != "allow"), *(one for one in judged if one.label == "allow")]
    rows = [
        click(child_id("recent", one.id), record_label(one, state.now), ShowReason(one.id))
        for one in judged[:ROW_LIMIT]
    ]
    if quiet := len(records) - len(judged):
        text = count("{n} decision without an opinion", "{n} decisions without an opinion", quiet)
        rows.append(click("recent/quiet", text, OpenPage()))
    none = label("recent/none", say("No decisions yet"))
    return submenu("recent", say("Recent decisions"), tuple(rows or [none]))


def _is_quiet(record: Record) -> bool:
    """No hook had an opinion, and not because the agent is one that no hook is asked about."""
    reminds = any(hook.get("added") == REMINDER for hook in record.hooks)  # with which the agent went on
    return record.label == "abstain" and record.skip_reason is None and not reminds
