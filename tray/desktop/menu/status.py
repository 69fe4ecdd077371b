"""The first row: what is not as usual, else what a hook does just now, else the last thing that happened."""

from __future__ import annotations

from tray.approvals.user_action import UserAction
from tray.desktop.labels import agent_label, clean, last_event, short_problem
from tray.desktop.menu.actions import (
    GoToSession,
    Review,
    RunDoctor,
    ShowAgents,
    ShowIncident,
    ShowProblem,
    ToggleSwitch,
)
from tray.desktop.menu.agents import connect_rows, wanted_rows
from tray.desktop.menu.approvals import request_rows
from tray.desktop.menu.items import Item, check, click, label, submenu
from tray.desktop.menu.pause import paused_until
from tray.desktop.menu.questions import session_text, waiting_sessions
from tray.desktop.menu.state import MenuState
from tray.language import count, say
from tray.text import sanitise

STATUS_LIMIT = 60  # characters; this row is the one that would stretch the whole menu


def status(state: MenuState) -> Item:
    if state.incident:
        return click("status", clean(state.incident, STATUS_LIMIT), ShowIncident())
    if text := tampered(state):
        return click("status", clean(text, STATUS_LIMIT), ShowAgents())
    if state.problem:
        return click("status", clean(short_problem(state.problem), STATUS_LIMIT), ShowProblem())
    if row := _switch_cause(state) or _cause(state):
        return row
    if rows := connect_rows(state):
        return submenu("offer", say("No agent is connected"), rows)
    one, rows = wanted_rows(state)
    if one is not None:
        text = say("A hook needs more events of {agent}", agent=clean(one.name, 30))
        return submenu("wanted", text, rows)
    text = clean(sanitise(state.running, STATUS_LIMIT) or _default_text(state), STATUS_LIMIT, "Hooktray")
    return click("status", text, ShowAgents()) if _silent(state) and not state.running else label("status", text)


def _switch_cause(state: MenuState) -> Item | None:
    """Hooks are off or paused, with the row that ends it."""
    if not state.enabled:
        enable = check("switch/enabled", say("Hooks enabled"), False, ToggleSwitch())
        return submenu("switch", say("Hooks are off"), (enable,))
    if until := paused_until(state):
        text = say("Hooks are paused until {time}", time=until)
        return submenu("switch", text, (click("switch/resume", say("Resume"), UserAction(action="resume")),))
    return None


def _cause(state: MenuState) -> Item | None:
    """What the icon shows beside "on": a click opens it."""
    if state.questions:
        one = state.questions[0]
        text = say("{agent} asks you", agent=agent_label(one.agent, one.project))
        return click("status", clean(text, STATUS_LIMIT), GoToSession(one.agent, one.session))
    if waiting := waiting_sessions(state):
        text = say("{agent} waits for you", agent=session_text(waiting[0]))
        return click("status", clean(text, STATUS_LIMIT), GoToSession(waiting[0].agent, waiting[0].session))
    if state.approvals:
        first = state.approvals[0]
        text = count("{n} approval waits for you", "{n} approvals wait for you", len(state.approvals))
        return click("status", text, Review(first.key, first.digest))
    if rows := request_rows(state):
        text = count("{n} request waits for you", "{n} requests wait for you", len(rows))
        return submenu("requests", text, rows)
    if rows := request_rows(state, is_undo=True):
        text = count("{n} change can be undone", "{n} changes can be undone", len(rows))
        return submenu("done", text, rows)
    if state.unjudged or state.failing_hooks:
        return click("status", trouble(state), RunDoctor())
    return None


def trouble(state: MenuState) -> str:
    """Returns the row about calls that ran unjudged, or else about hooks that fail."""
    if state.unjudged:
        return count("{n} call ran unjudged", "{n} calls ran unjudged", state.unjudged)
    return count("{n} hook in trouble", "{n} hooks in trouble", state.failing_hooks)


def tampered(state: MenuState) -> str:
    """Which agents no longer ask Hooktray as before; "" when all do, or the user left them so."""
    names = ", ".join(one.name for one in state.agents if one.changed and not one.is_wanted)
    return say("{agent} no longer asks Hooktray as before", agent=clean(names, 30)) if names else ""


def _default_text(state: MenuState) -> str:
    """How many agents, which of them do not fire, what is wrong with hooks, and the last event."""
    parts = []
    if state.active_agents:
        parts.append(count("{n} agent", "{n} agents", state.active_agents))
    if silent := _silent(state):
        parts.append(say("{agent} is not firing", agent=clean(", ".join(silent), 30)))
    if state.dropped_rows:
        parts.append(count("{n} decision not written down", "{n} decisions not written down", state.dropped_rows))
    if last := next((one for one in state.recent if not one.test), None):
        parts.append(say("last: {what}", what=last_event(last, state.now)))
    while len(parts) > 1 and len(" · ".join(parts)) > STATUS_LIMIT:
        parts.pop()  # the last event is among the recent decisions, too
    return " · ".join(parts) or say("No event yet")


def _silent(state: MenuState) -> list[str]:
    return [one.name for one in state.agents if one.connected and False in (one.trusted, one.firing)]
