"""Sessions: waiting for the user, working, done; a click goes there."""

from __future__ import annotations

from collections.abc import Mapping

from tray.desktop.labels import PADDING, age, clean
from tray.desktop.menu.actions import GoToSession
from tray.desktop.menu.items import Item, child_id, click, deduplicate, label, submenu, truncated, with_count
from tray.desktop.menu.state import MenuState
from tray.engine.turns import reset_words
from tray.language import say
from tray.model.session import STATE_WORDS, Session, SessionState

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
    rows = deduplicate(_session(one, state.now) for one in state.sessions)
    none = label("sessions/none", say("No session yet"))
    return submenu("sessions", with_count(say("Sessions"), waiting), truncated(rows or [none], "sessions/more"))


def _session(one: Session, now: float) -> Item:
    state = say(STATE_WORDS[one.state])
    if one.usage_limit:
        end = reset_words(one.usage_limit)  # "" if the agent did not give it
        state = say("usage limit") + f" · {clean(end, END)}" if end else say("usage limit")
    what = f"{state} · {age(one.since, now)}"
    who = " · ".join(part for part in (clean(one.agent, 20), clean(one.project, 22) if one.project else "") if part)
    sign = SIGNS[one.state]
    text = f"{sign}{PADDING.get(sign, '')}  {clean(one.name or one.session, NAME)} · {who} · {what}"
    return click(child_id("sessions", one.agent, one.session), text, GoToSession(one.agent, one.session))
