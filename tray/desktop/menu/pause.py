"""Pause: for everybody, for one session, for one agent."""

from __future__ import annotations

from collections.abc import Iterable
from operator import attrgetter

from tray.desktop.labels import agent_label, clean, clock
from tray.desktop.menu.actions import PauseHooks, ResumeHooks
from tray.desktop.menu.items import Item, Items, child_id, click, deduplicate, label, separator, submenu
from tray.desktop.menu.state import MenuState, PartialPause
from tray.language import phrase, say
from tray.model.decision import Record

ROW_LIMIT = 3  # sessions, and agents, that can be paused by themselves: those with the latest events
SHORTEST = 30 * 60.0  # seconds
LENGTHS = (
    ("30m", phrase("30 minutes"), SHORTEST),
    ("1h", phrase("1 hour"), 60 * 60.0),
    ("tomorrow", phrase("Until tomorrow"), None),
)


def pause(state: MenuState) -> Item:
    until = paused_until(state)
    word = say("Paused until {time}", time=until) if until else say("Pause")
    return submenu("pause", word, _rows(state), enabled=state.enabled)


def paused_until(state: MenuState) -> str:
    """Until when; "" when hooks are not paused for everybody."""
    if state.paused_until is None or not state.paused_until > state.now:
        return ""
    return clock(state.paused_until, state.now)


def _rows(state: MenuState) -> Items:
    partial = _partial_pauses(state)
    is_paused = bool(paused_until(state) or partial)
    return (
        *((click("pause/resume", say("Resume"), ResumeHooks()),) if is_paused else ()),
        *partial,
        *((separator("pause/line"),) if is_paused else ()),
        *_lengths("pause"),
        *_targets(state),
    )


def _partial_pauses(state: MenuState) -> list[Item]:
    return deduplicate(
        label(
            child_id("pause/partial", one.agent, one.session),
            say("{name} is paused until {time}", name=_name(one), time=clock(one.until, state.now)),
        )
        for one in state.partial_pauses
        if one.until > state.now
    )


def _name(one: PartialPause) -> str:
    return agent_label(one.agent, one.project, one.session if one.session else "")


def _targets(state: MenuState) -> Items:
    """Sessions first, then whole agents, the latest of each on top. A test run is no session."""
    recent = [one for one in reversed(state.recent) if one.agent and not one.test]
    sessions = {(one.agent, one.session): one for one in recent if one.session}
    agents = {one.agent: one for one in recent}
    rows = [
        *(_session(one.agent, one.session, one.project) for one in _latest(sessions.values())),
        *(_agent(one.agent) for one in _latest(agents.values())),
    ]
    return (separator("pause/some"), *rows) if rows else ()


def _latest(found: Iterable[Record]) -> list[Record]:
    """Those with the latest events, newest first."""
    return sorted(found, key=attrgetter("at"), reverse=True)[:ROW_LIMIT]


def _agent(agent: str) -> Item:
    key = child_id("pause/agent", agent)
    return submenu(key, say("Only {name}", name=clean(agent, 30)), _lengths(key, agent))


def _session(agent: str, session: str, project: str) -> Item:
    key = child_id("pause/session", agent, session)
    text = say("Only {name}", name=agent_label(agent, project, session))
    return submenu(key, text, _lengths(key, agent, session))


def _lengths(key: str, agent: str = "", session: str = "") -> Items:
    lengths = ((f"{key}/{word}", say(text), seconds) for word, text, seconds in LENGTHS)
    return tuple(click(id, text, PauseHooks(seconds, agent, session)) for id, text, seconds in lengths)
