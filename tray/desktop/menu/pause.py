"""Pause: for everybody, for one session, for one agent."""

from __future__ import annotations

from typing import TypeVar

from tray.desktop.menu.actions import Pause, Resume
from tray.desktop.menu.items import Item, Items, below, click, label, separator, submenu, unique
from tray.desktop.menu.state import Lull, MenuState
from tray.desktop.words import clean, clock, named
from tray.language import phrase, say
from tray.model.decision import Record

K = TypeVar("K")

SHOWN = 3  # sessions, and agents, that can be paused by themselves: those that were heard of last
SHORTEST = 30 * 60.0  # seconds
LENGTHS = (
    ("30m", phrase("30 minutes"), SHORTEST),
    ("1h", phrase("1 hour"), 60 * 60.0),
    ("tomorrow", phrase("Until tomorrow"), None),
)


def pause(state: MenuState) -> Item:
    until = paused(state)
    word = say("Paused until {time}", time=until) if until else say("Pause")
    return submenu("pause", word, _rows(state), enabled=state.enabled)


def paused(state: MenuState) -> str:
    """Until when; "" when hooks are not paused for everybody."""
    if state.paused_until is None or not state.paused_until > state.now:
        return ""
    return clock(state.paused_until, state.now)


def _rows(state: MenuState) -> Items:
    lulls = _lulls(state)
    resuming = bool(paused(state) or lulls)
    return (
        *((click("pause/resume", say("Resume"), Resume()),) if resuming else ()),
        *lulls,
        *((separator("pause/line"),) if resuming else ()),
        *_lengths("pause"),
        *_some(state),
    )


def _lulls(state: MenuState) -> list[Item]:
    return unique(
        label(
            below("pause/lull", one.agent, one.session),
            say("{name} is paused until {time}", name=_name(one), time=clock(one.until, state.now)),
        )
        for one in state.lulls
        if one.until > state.now
    )


def _name(one: Lull) -> str:
    return named(one.agent, one.project, one.session if one.session else "")


def _some(state: MenuState) -> Items:
    """Sessions first, then whole agents, the latest of each on top."""
    sessions = {(one.agent, one.session): one for one in reversed(state.recent) if one.session and one.agent}
    agents = {one.agent: one for one in reversed(state.recent) if one.agent}
    rows = [
        *(_session(agent, session, one.project) for (agent, session), one in _latest(sessions)),
        *(
            submenu(key, say("Only {name}", name=clean(agent, 30)), _lengths(key, agent))
            for agent, _ in _latest(agents)
            for key in (below("pause/agent", agent),)
        ),
    ]
    return (separator("pause/some"), *rows) if rows else ()


def _latest(found: dict[K, Record]) -> list[tuple[K, Record]]:
    """Who was heard of last, with what was heard."""
    return sorted(found.items(), key=lambda pair: pair[1].at, reverse=True)[:SHOWN]


def _session(agent: str, session: str, project: str) -> Item:
    key = below("pause/session", agent, session)
    text = say("Only {name}", name=named(agent, project, session))
    return submenu(key, text, _lengths(key, agent, session))


def _lengths(key: str, agent: str = "", session: str = "") -> Items:
    return tuple(click(f"{key}/{word}", say(text), Pause(seconds, agent, session)) for word, text, seconds in LENGTHS)
