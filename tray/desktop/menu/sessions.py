"""Sessions: waiting for the user, working, done; a click goes there."""

from __future__ import annotations

from collections.abc import Mapping

from tray.desktop.labels import PADDING, age, clean
from tray.desktop.menu.actions import GoToSession
from tray.desktop.menu.items import Item, Items, child_id, click, deduplicate, label, submenu, truncated, with_count
from tray.desktop.menu.state import MenuState
from tray.engine.turns import reset_words
from tray.language import count, say
from tray.model.session import STATE_WORDS, Session, SessionState

ROW_LIMIT = 20
NAME = 36  # characters
END = 40  # characters about when a usage limit ends
SIGNS: Mapping[SessionState, str] = {
    SessionState.WAITING: "?",
    SessionState.FAILED: "!",
    SessionState.WORKING: "▸",
    SessionState.DONE: "✓",
}


def sessions(state: MenuState) -> Item:
    waiting = sum(one.state is SessionState.WAITING for one in state.sessions)
    return submenu("sessions", with_count(say("Sessions"), waiting), _rows(state))


def _rows(state: MenuState) -> Items:
    rows = deduplicate(_session(one, state.now) for one in state.sessions)
    if not rows:
        return (label("sessions/none", say("No session yet")),)
    more = len(rows) - ROW_LIMIT
    return truncated(rows, ROW_LIMIT, label("sessions/more", count("And {n} more", "And {n} more", more)))


def _session(one: Session, now: float) -> Item:
    state = _limit(one.usage_limit) if one.usage_limit else say(STATE_WORDS[one.state])
    what = f"{state} · {age(one.since, now)}"
    who = " · ".join(part for part in (clean(one.agent, 20), clean(one.project, 22) if one.project else "") if part)
    sign = SIGNS[one.state]
    text = f"{sign}{PADDING.get(sign, '')}  {clean(one.name or one.session, NAME)} · {who} · {what}"
    return click(child_id("sessions", one.agent, one.session), text, GoToSession(one.agent, one.session))


def _limit(words: str) -> str:
    """In short, with the time when it ends if the agent gave it."""
    end = reset_words(words)
    return say("usage limit") + f" · {clean(end, END)}" if end else say("usage limit")
