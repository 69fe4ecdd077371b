"""Pause: for everybody, for one session, for one agent."""

from __future__ import annotations

from collections.abc import Iterable
from operator import attrgetter

from tray.approvals.user_action import UserAction
from tray.desktop.labels import agent_label, clean, clock
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
    partial = deduplicate(_partial_pause(one, state.now) for one in state.partial_pauses if one.until > state.now)
    rows = [*_lengths("pause"), *_targets(state)]
    if until or partial:
        resume = click("pause/resume", say("Resume"), UserAction(action="resume"))
        rows = [resume, *partial, separator("pause/line"), *rows]
    word = say("Paused until {time}", time=until) if until else say("Pause")
    return submenu("pause", word, tuple(rows), enabled=state.enabled)


def paused_until(state: MenuState) -> str:
    """Until when; "" when hooks are not paused for everybody."""
    if state.paused_until is None or not state.paused_until > state.now:
        return ""
    return clock(state.paused_until, state.now)


def _partial_pause(one: PartialPause, now: float) -> Item:
    name = agent_label(one.agent, one.project, one.session)
    text = say("{name} is paused until {time}", name=name, time=clock(one.until, now))
    return label(child_id("pause/partial", one.agent, one.session), text)


def _targets(state: MenuState) -> Items:
    """Sessions first, then whole agents, the latest of each on top. A test run is no session."""
    recent = [one for one in reversed(state.recent) if one.agent and not one.test]
    sessions = {(one.agent, one.session): one for one in recent if one.session}
    agents = {one.agent: one for one in recent}
    rows = []
    for one in _latest(sessions.values()):
        key = child_id("pause/session", one.agent, one.session)
        text = say("Only {name}", name=agent_label(one.agent, one.project, one.session))
        rows.append(submenu(key, text, _lengths(key, one.agent, one.session)))
    for one in _latest(agents.values()):
        key = child_id("pause/agent", one.agent)
        rows.append(submenu(key, say("Only {name}", name=clean(one.agent, 30)), _lengths(key, one.agent)))
    return (separator("pause/some"), *rows) if rows else ()


def _latest(found: Iterable[Record]) -> list[Record]:
    """Those with the latest events, newest first."""
    return sorted(found, key=attrgetter("at"), reverse=True)[:ROW_LIMIT]


def _lengths(key: str, agent: str = "", session: str = "") -> Items:
    return tuple(
        click(f"{key}/{word}", say(text), UserAction(action="pause", seconds=seconds, agent=agent, session=session))
        for word, text, seconds in LENGTHS
    )
